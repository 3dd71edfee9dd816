"""What may be true beside θ: how records scatter around it, and how many of them users have.

A *world* is a law of the records and a crowd (the sizes of the users). A law has a variance, from none to the largest
that its mean allows, and leans to one side or the other, as far as it can or less. The crowd is most likely the one
that the plan assumes; but it may have more or fewer records throughout, or very unequal ones. Each world foretells what
a round hears if θ lies at some distance from its centre.
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

from dame.device.questions import Measure
from dame.plans import Brief
from dame.sizes import Sizes, effective
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

TABULATED: Floats = np.array([0.0, 0.01, 0.04, 0.12, 0.25, 0.45, 0.7, 1.0])
"""Laws by their variance room·(2 - room), see `dame.theory.response`."""


def _with_middles(by_law: Floats) -> Floats:
    """Rows for each tabulated law, and between any two of them their mean."""
    rows = np.repeat(by_law, 2, axis=0)[:-1]
    rows[1::2] = (by_law[:-1] + by_law[1:]) / 2
    return rows


ROOMS: Floats = 1 - np.sqrt(1 - _with_middles(np.sqrt(record_variance(TABULATED))) ** 2)
"""All laws: the tabulated ones, and those whose standard deviation, and about so all that they foretell, is halfway."""
LEANINGS: Floats = np.array([0.0, 0.5, 1.0])
"""How a law leans, from as far as one with its mean and variance can to one side, to as far as it can to the other."""
EITHER_WAY: Floats = np.array([0.5])
TRUST = 0.8
"""The chance that sizes are as the plan assumes."""
TIMES_AS_LARGE = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1 / math.sqrt(2), math.sqrt(2), 2.0, 4.0, 8.0, 16.0)
A_FEW = (1 / 4, 4.0)
UNEQUAL_TIMES = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
UNEQUAL = 1.2
"""Standard deviation of the logarithm of sizes in a crowd that is more unequal than was assumed."""
POWER_LAWS = (1.0, 8.0, 64.0)
"""Largest sizes of crowds after a power law, as multiples of the largest that was assumed."""
EXPONENT = 1.5
GROUPS, OTHER_GROUPS = 12, 6
"""Groups of sizes in the crowd that is assumed, and in each of the others."""
DELTAS = 101
WORST, STEEP = 11.0, 8
"""How much the chance of a law of the largest variance adds to that of one without any, in parts of the latter; and
how soon that wears off below the largest."""
_TINY = 1e-12
_TO_SPARE = 1.25
"""A law of the grid stands for its neighbours too: one with so much too large a variance is not ruled out."""
_LIKE_EACH_OTHER = 1.06
"""Least weights within this factor share their table."""
_SAME_ROOM = 1.2
_LEAST_ROOM = 0.003


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spot:
    """Where to look: about at which θ, and at which crowds and leanings."""

    place: float
    crowds: Ints
    leanings: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Worlds:
    """Crowds with their log chances; every law may hold in each of them, with a spread between users beside it.

    What they foretell is tabulated for the distances of θ from a centre in `grid`.
    """

    spread: float
    crowds: tuple[SizeGroups, ...]
    log_chances: Floats
    grid: Floats

    def heard(self, question: Measure, theta: Floats, centre: float, at: Spot) -> Floats:
        """The expected z by crowd, leaning, law and θ, for the crowds and leanings of a spot."""
        deltas = theta - centre
        if in_whole_range(question):
            return np.broadcast_to(deltas, (len(at.crowds), len(at.leanings), len(ROOMS), len(deltas)))
        window, place = _Window.of(question), _rounded_place(at.place)
        tables = [_table(self, int(crowd), window, place) for crowd in at.crowds]
        told = _between(self.grid, np.stack(tables, axis=1), deltas)
        if not self.spread:
            # Where all users have the same mean the ramp has corners, which no grid hits.
            told[0] = [_same_mean(self.crowds[crowd], window, deltas)[None] for crowd in at.crowds]
        told = _with_middles(told)
        left, right = (np.moveaxis(told[:, :, side], 0, 1)[:, None] for side in (0, 1))
        part = at.leanings[:, None, None]
        return np.asarray(left + part * (right - left))


class _Window(NamedTuple):
    """What decides how a crowd responds: half the width of the window, and the weights of users in it."""

    half: float
    most: float
    least: float

    @classmethod
    def of(cls, question: Measure) -> _Window:
        """The window of a question, so that questions that are nearly alike share their tables."""
        most = math.inf if question.cap is None else math.sqrt(question.cap)
        return cls(question.right, most, _rounded(question.least_weight))

    def weights(self, crowd: SizeGroups, spread: float = 0.0) -> Floats:
        """The weights of the users in each group."""
        roots = np.sqrt(effective(crowd.roots**2, spread)) if spread else crowd.roots
        return fitted_weights(roots, self.most, self.least)


def in_whole_range(question: Measure) -> bool:
    """Whether everybody has the weight 1 in a window that cuts nobody, so that z is her mean, whatever the world."""
    return question.cap == 1.0 and not question.least_weight


def plausible(brief: Brief, trust: float = TRUST) -> Worlds:
    """All worlds, where the sizes that the plan assumes have the chance `trust`."""
    return _among(brief.sizes, brief.spread, trust, few=False)


def a_few(brief: Brief) -> Worlds:
    """Worlds to plan with: sizes may be as assumed, or four times larger or smaller."""
    return _among(brief.sizes, brief.spread, TRUST, few=True)


@lru_cache(maxsize=64)
def _among(assumed: Sizes, spread: float, trust: float, few: bool) -> Worlds:
    # Kept by sizes, not by study: worlds, and all that they foretell, are the same for every α.
    others = _scaled(assumed, A_FEW) if few else _other_crowds(assumed)
    crowds = (group_sizes(assumed, count=GROUPS), *others)
    chances = [trust, *[(1 - trust) / (len(crowds) - 1)] * (len(crowds) - 1)]
    grid = delta_grid(max(float(crowd.roots.max()) for crowd in crowds), DELTAS)
    return Worlds(spread=spread, crowds=crowds, log_chances=np.log(chances), grid=grid)


def law_chances(theta: Floats) -> Floats:
    """Log chances of laws by law and θ: near a bound records cannot vary much.

    The law that varies most has the largest chance, since it is the worst for a study: errors and intervals that are
    right for it cost the others little.
    """
    most, variances = np.maximum(1 - theta**2, _TINY), record_variance(ROOMS)[:, None]
    chances = 1 + WORST * np.minimum(variances / most, 1.0) ** STEEP
    chances = np.where(variances <= _TO_SPARE * most, chances, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances / chances.sum(axis=0)))


def _other_crowds(assumed: Sizes) -> Iterator[SizeGroups]:
    from scipy import special  # slow to load

    yield from _scaled(assumed, TIMES_AS_LARGE)
    middle = math.exp(assumed.expectation(np.log))
    levels = (np.arange(OTHER_GROUPS) + 0.5) / OTHER_GROUPS
    for times in UNEQUAL_TIMES:
        yield _crowd(middle * times * np.exp(UNEQUAL * special.ndtri(levels)), np.full(OTHER_GROUPS, 1 / OTHER_GROUPS))
    largest = float(assumed.nodes()[0][-1])
    for times in POWER_LAWS:
        yield _power_law(max(largest * times, 16.0))


def _scaled(assumed: Sizes, factors: Sequence[float]) -> Iterator[SizeGroups]:
    groups = group_sizes(assumed, count=OTHER_GROUPS)
    for times in factors:
        yield _crowd(groups.sizes * times, groups.shares)


def _power_law(largest: float) -> SizeGroups:
    """Sizes with P(m) ~ m^-EXPONENT up to the largest, in groups evenly apart on a logarithmic scale."""
    from scipy import special  # slow to load

    ends = np.unique(np.round(np.geomspace(1, largest + 1, GROUPS + 1)))
    shares = -np.diff(special.zeta(EXPONENT, ends))
    return _crowd(np.sqrt(ends[:-1] * (ends[1:] - 1)), shares / shares.sum())


def _crowd(sizes: Floats, shares: Floats) -> SizeGroups:
    whole = np.maximum(np.round(sizes), 1.0)
    return SizeGroups(sizes=whole, roots=np.sqrt(whole), shares=shares)


def _rounded(positive: float) -> float:
    if not positive:
        return 0.0
    return _LIKE_EACH_OTHER ** round(math.log(positive) / math.log(_LIKE_EACH_OTHER))


def _rounded_place(theta: float) -> float:
    """A place with nearly the same room up to the nearer bound."""
    room = max(1 - abs(theta), _LEAST_ROOM)
    return math.copysign(max(1 - _SAME_ROOM ** round(math.log(room) / math.log(_SAME_ROOM)), 0.0), theta)


@lru_cache(maxsize=2048)
def _table(worlds: Worlds, which: int, window: _Window, place: float) -> Floats:
    """The expected z of one of the crowds by tabulated law, side and distance of θ from a centre."""
    crowd = worlds.crowds[which]
    weights = window.weights(crowd, worlds.spread)
    rows = [means.clipped(worlds.grid, weights, window.half) for means in _means(crowd, place, worlds.spread)]
    return np.reshape(rows, (len(TABULATED), 2, len(worlds.grid)))


def _same_mean(crowd: SizeGroups, window: _Window, deltas: Floats) -> Floats:
    """The expected z, if everybody's mean lies at these distances from the centre."""
    return np.asarray(crowd.shares @ np.clip(window.weights(crowd)[:, None] * deltas, -window.half, window.half))


@lru_cache(maxsize=1024)
def _means(crowd: SizeGroups, place: float, spread: float) -> list[UserMeans]:
    """Users' means for each law and side, if θ is at a place."""
    return [
        _two_valued(crowd, float(room), side, place, spread) for room, side in itertools.product(TABULATED, (-1, 1))
    ]


def _two_valued(crowd: SizeGroups, room: float, side: int, place: float, spread: float) -> UserMeans:
    """Users' means, if records have two values, one of them the bound on that side, and a given variance.

    No law with that mean and variance leans further to this side.
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
