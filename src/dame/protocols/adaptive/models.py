"""What may be true beside θ: how records scatter around it, and how many of them users have.

A *model* is a distribution of the records and one of the sizes. The first has a variance, from none to the largest that
its mean allows, and leans to one side or the other, as far as it can or less. Sizes are most likely those that the plan
assumes; but there may be more or fewer records throughout, or very unequal numbers. Each model predicts what a round
hears if θ lies at some distance from its centre.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dame.device.lenses import Windows, effective_records
from dame.planning.brief import Brief
from dame.protocols.adaptive.tuning import TUNING
from dame.sizes import Sizes
from dame.theory.response import (
    SizeGroups,
    UserMeans,
    between,
    delta_grid,
    fitted_weights,
    group_sizes,
    record_variance,
    user_means,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_TINY = 1e-12
TABULATED: Floats = np.array(TUNING.tabulated_rooms)
LEANINGS: Floats = np.array(TUNING.leanings)
EITHER_WAY: Floats = np.array([0.5])


def _with_middles(by_distribution: Floats) -> Floats:
    """Rows for each tabulated distribution, and between any two of them their mean."""
    rows = np.repeat(by_distribution, 2, axis=0)[:-1]
    rows[1::2] = (by_distribution[:-1] + by_distribution[1:]) / 2
    return rows


ROOMS: Floats = 1 - np.sqrt(1 - _with_middles(np.sqrt(record_variance(TABULATED))) ** 2)
"""All distributions: the tabulated ones, and those whose standard deviation, and about so all that they predict, is
halfway."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spot:
    """Where to look: about at which θ, and at which crowds and leanings."""

    place: float
    crowds: Ints
    leanings: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Models:
    """Possible sizes with their log chances; every distribution may hold with each, and a spread between users.

    What they predict is tabulated for the distances of θ from a centre in `grid`.
    """

    spread: float
    crowds: tuple[SizeGroups, ...]
    log_chances: Floats
    grid: Floats

    def predicted(self, lens: Windows, theta: Floats, centre: float, at: Spot) -> Floats:
        """The expected z by sizes, leaning, distribution and θ, for the sizes and leanings of a spot."""
        deltas = theta - centre
        if in_whole_range(lens):
            return np.broadcast_to(deltas, (len(at.crowds), len(at.leanings), len(ROOMS), len(deltas)))
        window, place = _Shape.of(lens), _rounded_place(at.place)
        tables = [_table(self, int(crowd), window, place) for crowd in at.crowds]
        told = _between(self.grid, np.stack(tables, axis=1), deltas)
        if not self.spread:
            # Where all users have the same mean the ramp has corners, which no grid hits.
            told[0] = [_same_mean(self.crowds[crowd], window, deltas)[None] for crowd in at.crowds]
        told = _with_middles(told)
        left, right = (np.moveaxis(told[:, :, side], 0, 1)[:, None] for side in (0, 1))
        part = at.leanings[:, None, None]
        return np.asarray(left + part * (right - left))


class _Shape(NamedTuple):
    """What decides how people respond: half the width of the windows, and the weights of users in them."""

    half: float
    most: float
    least: float

    @classmethod
    def of(cls, lens: Windows) -> _Shape:
        """The shape of a lens, so that those that are nearly alike share their tables."""
        most = math.inf if lens.cap is None else math.sqrt(lens.cap)
        return cls(lens.windows[0].right, most, _rounded(lens.least_weight))

    def weights(self, crowd: SizeGroups, spread: float = 0.0) -> Floats:
        """The weights of the users in each group."""
        roots = np.sqrt(effective_records(crowd.roots**2, spread))
        return fitted_weights(roots, self.most, self.least)


def in_whole_range(lens: Windows) -> bool:
    """Whether everybody has the weight 1 in a window that cuts nobody, so that z is her mean, whatever the model."""
    return lens.cap == 1.0 and not lens.least_weight


def plausible(brief: Brief, trust: float) -> Models:
    """All models, where the sizes that the plan assumes have the chance `trust`."""
    return _among(brief.sizes, brief.spread, trust, few=False)


def a_few(brief: Brief) -> Models:
    """Models to plan with: sizes may be as assumed, or four times larger or smaller."""
    return _among(brief.sizes, brief.spread, TUNING.trust, few=True)


@lru_cache(maxsize=64)
def _among(assumed: Sizes, spread: float, trust: float, few: bool) -> Models:
    # Kept by sizes, not by study: models, and all that they predict, are the same for every α.
    others = _scaled(assumed, TUNING.planned_times) if few else _other_crowds(assumed)
    crowds = (group_sizes(assumed, count=TUNING.groups), *others)
    chances = [trust, *[(1 - trust) / (len(crowds) - 1)] * (len(crowds) - 1)]
    grid = delta_grid(max(float(crowd.roots.max()) for crowd in crowds), TUNING.deltas)
    return Models(spread=spread, crowds=crowds, log_chances=np.log(chances), grid=grid)


def distribution_chances(theta: Floats) -> Floats:
    """Log chances of distributions by distribution and θ: near a bound records cannot vary much.

    The one that varies most has the largest chance, since it is the worst for a study: errors and intervals that are
    right for it cost the others little.
    """
    most, variances = np.maximum(1 - theta**2, _TINY), record_variance(ROOMS)[:, None]
    chances = 1 + TUNING.worst * np.minimum(variances / most, 1.0) ** TUNING.steep
    chances = np.where(variances <= TUNING.to_spare * most, chances, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances / chances.sum(axis=0)))


def _other_crowds(assumed: Sizes) -> Iterator[SizeGroups]:
    from scipy import special  # slow to load

    yield from _scaled(assumed, TUNING.times_as_large)
    middle = math.exp(assumed.expectation(np.log))
    levels = (np.arange(TUNING.other_groups) + 0.5) / TUNING.other_groups
    for times in TUNING.unequal_times:
        yield _crowd(
            middle * times * np.exp(TUNING.unequal * special.ndtri(levels)),
            np.full(TUNING.other_groups, 1 / TUNING.other_groups),
        )
    largest = float(assumed.nodes()[0][-1])
    for times in TUNING.power_laws:
        yield _power_law(max(largest * times, 16.0))


def _scaled(assumed: Sizes, factors: Sequence[float]) -> Iterator[SizeGroups]:
    groups = group_sizes(assumed, count=TUNING.other_groups)
    for times in factors:
        yield _crowd(groups.sizes * times, groups.shares)


def _power_law(largest: float) -> SizeGroups:
    """Sizes with P(m) ~ m^-TUNING.exponent up to the largest, in groups evenly apart on a logarithmic scale."""
    from scipy import special  # slow to load

    ends = np.unique(np.round(np.geomspace(1, largest + 1, TUNING.groups + 1)))
    shares = -np.diff(special.zeta(TUNING.exponent, ends))
    return _crowd(np.sqrt(ends[:-1] * (ends[1:] - 1)), shares / shares.sum())


def _crowd(sizes: Floats, shares: Floats) -> SizeGroups:
    whole = np.maximum(np.round(sizes), 1.0)
    return SizeGroups(sizes=whole, roots=np.sqrt(whole), shares=shares)


def _rounded(positive: float) -> float:
    if not positive:
        return 0.0
    return TUNING.like_each_other ** round(math.log(positive) / math.log(TUNING.like_each_other))


def _rounded_place(theta: float) -> float:
    """A place with nearly the same room up to the nearer bound."""
    room = max(1 - abs(theta), TUNING.least_room)
    return math.copysign(max(1 - TUNING.same_room ** round(math.log(room) / math.log(TUNING.same_room)), 0.0), theta)


@lru_cache(maxsize=2048)
def _table(models: Models, which: int, window: _Shape, place: float) -> Floats:
    """The expected z of one of the possible sizes by tabulated distribution, side and distance of θ from a centre."""
    crowd = models.crowds[which]
    weights = window.weights(crowd, models.spread)
    rows = [means.clipped(models.grid, weights, window.half) for means in _means(crowd, place, models.spread)]
    return np.reshape(rows, (len(TABULATED), 2, len(models.grid)))


def _same_mean(crowd: SizeGroups, window: _Shape, deltas: Floats) -> Floats:
    """The expected z, if everybody's mean lies at these distances from the centre."""
    return np.asarray(crowd.shares @ np.clip(window.weights(crowd)[:, None] * deltas, -window.half, window.half))


@lru_cache(maxsize=1024)
def _means(crowd: SizeGroups, place: float, spread: float) -> list[UserMeans]:
    """Users' means for each distribution and side, if θ is at a place."""
    return [
        _two_valued(crowd, float(room), side, place, spread) for room, side in itertools.product(TABULATED, (-1, 1))
    ]


def _two_valued(crowd: SizeGroups, room: float, side: int, place: float, spread: float) -> UserMeans:
    """Users' means, if records have two values, one of them the bound on that side, and a given variance.

    No distribution with that mean and variance leans further to this side.
    """
    far = 1 - side * place
    near = min(record_variance(room), 1 - place**2) / far
    stretch, own_side = (far + near) / 2, 1 if far >= near else -1
    return user_means(2 * min(near, far) / (far + near), crowd, spread / stretch, side * own_side * stretch)


def _between(grid: Floats, table: Floats, deltas: Floats) -> Floats:
    """The table at distances between those of its grid."""
    left, part = between(grid, deltas)
    lower = table[..., left]
    return np.asarray(lower + (table[..., left + 1] - lower) * part)
