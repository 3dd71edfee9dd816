"""How a crowd responds to a window: the expected clipped place of a user, against the worst laws that records can have.

Records with mean θ on [-1, 1] vary most, and are most skewed, when they are -1 and 1 only (Hoeffding 1963: every
other law is below this one in the convex order). The planner and the frontier therefore look at the family of such
laws, from fair ones (θ = 0) to records that are all the same (θ = 1); by symmetry θ ≥ 0 is enough.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dame.device.lenses import effective_records
from dame.sizes import Sizes

Floats = NDArray[np.float64]

ROOMS: Floats = np.array([0.0, 0.01, 0.04, 0.12, 0.3, 0.6, 1.0])
"""Distances 1 - |θ| from θ to the nearer bound: one law each. The variance of a record is room·(2 - room)."""

_ATOMS = 65
_GROUPS = 16
_DELTAS = 61
_FINEST = 0.02
_FAR, _FAR_LEFT, _FAR_RIGHT, _APART = 8.0, -16.0, 200.0, 256.0
"""Further than any mean can be from any centre; left and right of all atoms, those without a chance too, and of all
that is then asked for; and more than between these."""


def record_variance(room: Any) -> Any:
    """The variance of a record under the law with so much room."""
    return room * (2 - room)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizeGroups:
    """M in a few groups: a typical size, the mean sqrt(size) and the share of each."""

    sizes: Floats
    roots: Floats
    shares: Floats


def group_sizes(sizes: Sizes, smallest: float = 1.0, count: int = _GROUPS) -> SizeGroups:
    """M given m ≥ smallest, in at most `count` groups that keep E sqrt(m)."""
    points, weights = sizes.nodes()
    kept = points >= smallest
    points, weights = points[kept], weights[kept] / weights[kept].sum()
    roots = np.sqrt(points)
    if len(points) <= count:
        return SizeGroups(sizes=points, roots=roots, shares=weights)
    # Groups of equal share and equal records alike: rare users with many records matter as much as many with few.
    reach = np.cumsum(weights * roots)
    place = (reach / reach[-1] + np.cumsum(weights)) / 2
    group = np.minimum((place * count).astype(np.intp), count - 1)
    shares = np.asarray(np.bincount(group, weights, count), dtype=np.float64)
    used = shares > 0
    means = np.bincount(group, weights * roots, count)[used] / shares[used]
    return SizeGroups(sizes=np.maximum(np.round(means**2), 1.0), roots=means, shares=shares[used])


@lru_cache(maxsize=4096)
def mean_atoms(room: float, size: int, between_sd: float = 0.0) -> tuple[Floats, Floats]:
    """Values and probabilities of a user's mean minus θ, for records of -1 and 1 with 1 - |θ| = room.

    With `between_sd`, users' own expectations differ from θ by so much (normal).

    Exact (binomial) where so many atoms suffice; else cells of the normal law with Edgeworth's correction for skewness.
    """
    if between_sd:
        own = math.sqrt(record_variance(room) / size)
        skewness = 2 * (1 - room) / math.sqrt(record_variance(room) * size) if room else 0.0
        both = math.hypot(own, between_sd)
        return _edgeworth_atoms(both, skewness * (own / both) ** 3)
    if room == 0.0:
        return np.zeros(_ATOMS), np.eye(1, _ATOMS)[0]
    rare = room / 2
    spread = math.sqrt(size * rare * (1 - rare))
    low = max(0, math.floor(size * rare - 7 * spread - 8))
    high = min(size, math.ceil(size * rare + 7 * spread + 8))
    if high - low < _ATOMS:
        return _binomial_atoms(size, rare, low)
    return _edgeworth_atoms(2 * spread / size, (1 - 2 * rare) / spread)


def _binomial_atoms(size: int, rare: float, low: int) -> tuple[Floats, Floats]:
    from scipy import special  # slow to load

    hits = np.arange(low, low + _ATOMS, dtype=np.float64)
    misses = np.maximum(size - hits, 0.0)
    ways = math.lgamma(size + 1) - special.gammaln(hits + 1) - special.gammaln(misses + 1)
    chance = np.exp(ways + hits * math.log(rare) + misses * math.log1p(-rare)) * (hits <= size)
    return 2 * hits / size - 2 * rare, chance / chance.sum()


def _edgeworth_atoms(deviation: float, skewness: float) -> tuple[Floats, Floats]:
    middle, normal, skew = _cells()
    below = normal - skewness * skew
    below[0], below[-1] = 0.0, 1.0
    below = np.maximum.accumulate(np.minimum(np.maximum(below, 0.0), 1.0))
    chance = below[1:] - below[:-1]
    return deviation * (middle - chance @ middle), chance


@lru_cache(maxsize=1)
def _cells() -> tuple[Floats, Floats, Floats]:
    """Middles of cells, and at their edges the normal distribution and its correction for a skewness of 1."""
    from scipy import special  # slow to load

    edges = np.linspace(-6, 6, _ATOMS + 1)
    density = np.exp(-edges * edges / 2) / math.sqrt(2 * math.pi)
    return (edges[1:] + edges[:-1]) / 2, special.ndtr(edges), (edges * edges - 1) * density / 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTable:
    """E clip(weight·(X̄ - θ + δ), ±k) for every cap, clip k, law of the family and centre error δ of a grid.

    The weight is sqrt(m ∧ cap), but at least k / (1 + |θ|), as in a fitted round. `mean[cap, clip, law]` is the mean
    weight: the slope in δ that there would be without clipping.
    """

    caps: Floats
    clips: Floats
    deltas: Floats
    mean: NDArray[np.float64]
    response: NDArray[np.float64]

    @classmethod
    def of(cls, sizes: Sizes, caps: Floats, clips: Floats, between_sd: float = 0.0) -> ResponseTable:
        """The table for sizes M; with `between_sd` a size counts as its effective size."""
        groups = group_sizes(sizes)
        roots = np.sqrt(effective_records(groups.roots**2, between_sd))
        deltas = delta_grid(float(groups.roots.max()), _DELTAS)
        mean = np.empty((len(caps), len(clips), len(ROOMS)))
        response = np.empty((*mean.shape, len(deltas)))
        for law, room in enumerate(ROOMS):
            means = user_means(float(room), groups, between_sd)
            for (cap, most), (clip, half) in itertools.product(enumerate(np.sqrt(caps)), enumerate(clips)):
                weights = fitted_weights(roots, most, half / (2 - room))
                mean[cap, clip, law] = weights @ groups.shares
                response[cap, clip, law] = means.clipped(deltas, weights, half)
        return cls(caps=caps, clips=clips, deltas=deltas, mean=mean, response=response)

    def at(self, delta: Floats, caps: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """The response at centre errors delta[law, node] or delta[cap, law, node], for all caps or some of them.

        Interpolated, and indexed by cap, clip, law, node.
        """
        left, part = between(self.deltas, delta)
        chosen = np.arange(len(self.caps)) if caps is None else caps
        law = np.arange(len(ROOMS))[:, None]
        # Where delta has an axis of caps, one of clips goes after it.
        left, part = (left[:, None], part[:, None]) if delta.ndim == 3 else (left, part)
        index = (chosen[:, None, None, None], np.arange(len(self.clips))[:, None, None], law)
        lower = self.response[*index, left]
        return np.asarray(lower + (self.response[*index, left + 1] - lower) * part)


def between(grid: Floats, points: Floats) -> tuple[NDArray[np.intp], Floats]:
    """For each point the place of its left neighbour in a grid, and which part of the way to the next it is."""
    inside = np.clip(points, grid[0], grid[-1])
    left = np.clip(np.searchsorted(grid, inside) - 1, 0, len(grid) - 2)
    return left, (inside - grid[left]) / (grid[left + 1] - grid[left])


def fitted_weights(roots: Floats, most: float, least: float) -> Floats:
    """Weights of users by the roots of their sizes: at most that of the cap, at least what fits the window."""
    return np.maximum(np.minimum(roots, most), least)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserMeans:
    """Users' means minus θ, as the excess G(t) = share·E max(mean - t, 0) of each group of sizes.

    Means have finitely many values, and between two of them G is linear: it is known from its knots.
    """

    shares: Floats
    knots: Floats
    excess: Floats

    @classmethod
    def of(cls, values: Floats, chances: Floats, shares: Floats) -> UserMeans:
        """From values in rising order and their chances, by group and value."""
        knots = np.concatenate((np.full((len(values), 1), _FAR_LEFT), values), axis=1)
        above = np.cumsum(chances[:, ::-1], axis=1)
        falls = above * (knots[:, :0:-1] - knots[:, -2::-1])
        excess = np.zeros_like(knots)
        excess[:, -2::-1] = np.cumsum(falls, axis=1) * shares[:, None]
        # All groups lie side by side on one axis, on which each has its own stretch; after the last knot there is none.
        rows = np.arange(len(values))[:, None]
        knots = np.concatenate((knots, np.full((len(values), 1), _FAR_RIGHT)), axis=1) + _APART * rows
        excess = np.concatenate((excess, np.zeros((len(values), 1))), axis=1)
        return cls(shares=shares, knots=knots.ravel(), excess=excess.ravel())

    def clipped(self, deltas: Floats, weights: Floats, half: float) -> Floats:
        """E clip(weight·(mean + δ), ±half) by δ, where the groups have these weights."""
        # A clip is the difference of two excesses; one beyond all that can be is none.
        reaches = np.minimum(half / weights, _FAR)
        total = -float(self.shares @ (weights * reaches))
        points = np.clip(np.stack((-reaches[:, None] - deltas, reaches[:, None] - deltas)), _FAR_LEFT, _FAR)
        low, high = np.interp(points + _APART * np.arange(len(reaches))[:, None], self.knots, self.excess)
        return np.asarray(total + weights @ (low - high))


def user_means(room: float, groups: SizeGroups, between_sd: float = 0.0, stretch: float = 1.0) -> UserMeans:
    """Users' means under one law of the family, stretched; a negative stretch turns the law round."""
    pairs = [mean_atoms(room, int(size), between_sd) for size in groups.sizes]
    values, chances = (np.array(column) for column in zip(*pairs, strict=True))
    order = 1 if stretch > 0 else -1
    return UserMeans.of(stretch * values[:, ::order], chances[:, ::order], groups.shares)


def delta_grid(largest_root: float, count: int) -> Floats:
    """Centre errors from -2 to 2, fine near 0 where large users still tell them apart."""
    scale = _FINEST / max(largest_root, 1.0)
    half = scale * np.sinh(np.linspace(0, 1, count // 2 + 1) * math.asinh(2.0 / scale))
    return np.concatenate((-half[:0:-1], half))
