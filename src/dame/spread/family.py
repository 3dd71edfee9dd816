"""Plausible populations: how users' means may be spread over [-1, 1], before anything is known of them.

A population is a *crowd* of a typical shape (bell, heavy shoulders, skewed, two clusters) and some width around some
place, alone or with far minorities on its sides; or two clusters anywhere. Real ones follow none of these exactly:
`Beliefs` takes each as the middle of Dirichlet processes, from which populations of every form are drawn, and reports
outvote the shapes where there are enough of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Population = tuple[Floats, Floats]

NARROWEST, WIDEST = 0.05, 0.85
"""Widths (standard deviations of users' means) that are told apart; narrower ones are measured as the narrowest."""
_WIDTH_STEP = 1.5
_APART, _MOST_APART = 0.6, 0.1
"""Places of a shape are so many widths apart, and no farther than this."""
_TAIL = (0.002, 0.004, 0.008, 0.016, 0.03, 0.05, 0.07)
_SHARES = np.array([*_TAIL, *([0.08] * 8), *_TAIL[::-1]])
_SHARES = _SHARES / _SHARES.sum()
CROWD = slice(0, len(_SHARES))
MINORITY = slice(len(_SHARES), None)
"""The atoms of a population's crowd, and of its minority."""

_ANYWHERE, _AT_THE_END = (0.12, 0.37, 0.62, 0.87), (0.8, 0.9, 1.0, 1.0)
"""Where a minority's users are, from where the others end (0) to the end of the range (1). Clipped values pile up at
the end, and it makes a difference to the mean whether they are there or short of it."""
_MINORITIES, _TYPICAL = (0.25, 1.0, 2.2, 4.5, 9.0), 4.0
"""Shares of far minorities, in standard errors of plain bits: those that cannot be seen, those that must be seen, and
those between. Each side has one, independently; its chance falls exponentially with its share, on this scale. A lump
of chance on nobody at all would shrink away what is there, just where it cannot be told from noise."""
_LARGEST = 0.35
"""The minorities on both sides together are no larger than this."""
_ALONE = 0.1
"""The chance of a crowd without minorities, of any shape. Crowds so wide that there is no room for any have this chance
only: most populations are narrower."""
SEEN = 0.03
"""The standard error of plain bits where nothing is said: that of some thousands of users."""
_BEYOND = 2.5
"""A minority begins so many widths away from the middle of the others, if there are at least `_ROOM` left there."""
_ROOM = 0.25
_MARGIN = 1.2
"""With a known width, populations that are wider than this many times the widest are left out."""

_CLUSTERS = 0.25
"""The chance of two clusters, each anywhere."""
_CLUSTER_PLACES = (-1.0, -0.65, -0.33, 0.0, 0.33, 0.65, 1.0)
_CLUSTER_SHARES = (0.12, 0.3, 0.5, 0.7, 0.88)
_CLUSTER_WIDTH = 0.08


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Populations, one a row: the users' means by atom, their shares, the log prior; and the width of each."""

    values: Floats
    shares: Floats
    log_prior: Floats
    widths: Floats

    @classmethod
    def of(cls, values: Floats, shares: Floats, chances: Floats) -> Family:
        """Populations with their chances, which need not sum to 1; the widths follow from the atoms."""
        means = np.sum(shares * values, axis=1)
        widths = np.sqrt(np.maximum(np.sum(shares * values**2, axis=1) - means**2, 0.0))
        return cls(values, shares, np.log(chances / chances.sum()), widths)

    def part(self, rows: NDArray[np.bool_]) -> Family:
        """Some of the populations."""
        return Family(self.values[rows], self.shares[rows], self.log_prior[rows], self.widths[rows])


@lru_cache(maxsize=16)
def family(narrowest: float = NARROWEST, widest: float = WIDEST, seen: float = SEEN) -> Family:
    """Populations of all shapes with widths from narrowest to widest, alone, with far minorities, and in two clusters.

    Where the width is known, those that are much wider are left out. `seen` is the standard error of plain bits: the
    measure of minorities.
    """
    widths = _widths(narrowest, widest)
    parts = [part for width in widths for part in _around(float(width), seen)]
    values, shares, chances = (np.concatenate(parts_) for parts_ in zip(*parts, strict=True))
    chances = chances / chances.sum()
    far, far_shares = _two_clusters(values.shape[1])
    every = Family.of(
        np.concatenate([values, far]),
        np.concatenate([shares, far_shares]),
        np.concatenate([(1 - _CLUSTERS) * chances, np.full(len(far), _CLUSTERS / len(far))]),
    )
    if widest >= WIDEST:
        return every
    from scipy import special  # slow to load

    kept = every.part(every.widths <= _MARGIN * widest)
    return Family(kept.values, kept.shares, kept.log_prior - special.logsumexp(kept.log_prior), kept.widths)


def bell(width: float, middle: float = 0.0) -> Population:
    """A population shaped like a bell: the users' means by atom, and their shares."""
    return np.clip(middle + width * _standardised(_normal()), -1.0, 1.0), _SHARES


def _widths(narrowest: float, widest: float) -> Floats:
    count = max(round(math.log(widest / narrowest) / math.log(_WIDTH_STEP)), 0) + 1
    return np.geomspace(narrowest, widest, count)


def _around(width: float, seen: float) -> list[tuple[Floats, Floats, Floats]]:
    """Populations of one width, of every shape and at every place: their atoms, shares and chances."""
    apart = min(_APART * width, _MOST_APART)
    places = np.arange(-1 + apart / 2, 1, apart)
    room = np.stack([1 + places, 1 - places]) - _BEYOND * width
    (bell, _), *_ = shapes = _shapes()
    nobody, anybody = np.zeros_like(room), (room > _ROOM).any(axis=0)
    found = [
        _beside(places, width * shape, room, nobody, _ANYWHERE, np.full(len(places), _ALONE * chance))
        for shape, chance in shapes
    ]
    for ends, *pair in itertools.product((_ANYWHERE, _AT_THE_END), _minorities(seen), _minorities(seen)):
        # Where a side has no room, nobody is there: that is counted once, for the smallest minority.
        sides = [
            (np.where(roomy, share, 0.0), np.where(roomy, chance, float(smallest)))
            for roomy, (share, chance, smallest) in zip(room > _ROOM, pair, strict=True)
        ]
        (left, left_chance), (right, right_chance) = sides
        chances = anybody * (1 - _ALONE) / 2 * left_chance * right_chance
        found.append(_beside(places, width * bell, room, np.stack([left, right]), ends, chances))
    return found


def _minorities(seen: float) -> list[tuple[float, float, bool]]:
    """Minorities on one side: their shares and chances, and which is the smallest."""
    levels = np.array(_MINORITIES)
    borders = np.concatenate([[0.0], (levels[:-1] + levels[1:]) / 2, [np.inf]])
    chances = -np.diff(np.exp(-borders / _TYPICAL))
    return [(float(levels[row] * seen), float(chances[row]), row == 0) for row in range(len(levels))]


def _beside(
    places: Floats, crowd: Floats, room: Floats, shares: Floats, ends: tuple[float, ...], chances: Floats
) -> tuple[Floats, Floats, Floats]:
    """Crowds at these places with minorities on both sides, left and right, as far as there is a chance of them."""
    shares = shares * np.minimum(_LARGEST / np.maximum(shares.sum(axis=0), _LARGEST), 1.0)
    short = room[:, :, None] * (1 - np.array(ends))
    values = np.concatenate([places[:, None] + crowd, short[0] - 1, 1 - short[1]], axis=1)
    minorities = np.repeat(shares.T, len(ends), axis=1) / len(ends)
    weights = np.concatenate([(1 - shares.sum(axis=0))[:, None] * _SHARES, minorities], axis=1)
    likely = chances > 0
    return np.clip(values, -1.0, 1.0)[likely], weights[likely], chances[likely] / len(places)


def _two_clusters(atoms: int) -> Population:
    """Two narrow clusters at any two places, with several shares; unused atoms have no share."""
    from scipy import special  # slow to load

    each = special.ndtri((np.arange(8) + 0.5) / 8) * _CLUSTER_WIDTH
    pairs = list(itertools.product(itertools.combinations(_CLUSTER_PLACES, 2), _CLUSTER_SHARES))
    values, shares = np.zeros((len(pairs), atoms)), np.zeros((len(pairs), atoms))
    for row, ((one, other), share) in enumerate(pairs):
        values[row, :16] = np.clip(np.concatenate([one + each, other + each]), -1.0, 1.0)
        shares[row, :8], shares[row, 8:16] = share / 8, (1 - share) / 8
    return values, shares


@lru_cache(maxsize=1)
def _shapes() -> tuple[tuple[Floats, float], ...]:
    """Typical shapes with mean 0 and standard deviation 1, each with its prior chance; the bell comes first."""
    from scipy import special  # slow to load

    bell, skewed = _normal(), np.asarray(special.gammaincinv(2.0, _levels()))
    shapes = (
        (bell, 0.3),
        (special.stdtrit(3.0, _levels()), 0.3),
        (skewed, 0.12),
        (-skewed[::-1], 0.12),
        (np.sign(bell) + bell / 5, 0.16),
    )
    return tuple((_standardised(shape), chance) for shape, chance in shapes)


@lru_cache(maxsize=1)
def _normal() -> Floats:
    """The atoms of a normal law; those who need no other shape need nothing of SciPy, which takes a while to load."""
    return np.array([NormalDist().inv_cdf(level) for level in _levels().tolist()])


def _levels() -> Floats:
    """The share of users below each atom of a crowd, with half of its own."""
    return np.asarray(np.cumsum(_SHARES) - _SHARES / 2)


def _standardised(shape: ArrayLike) -> Floats:
    points = np.asarray(shape, dtype=np.float64)
    centred = points - _SHARES @ points
    return np.asarray(centred / math.sqrt(_SHARES @ centred**2), dtype=np.float64)
