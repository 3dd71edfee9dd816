"""Theorem 1: no user-level private protocol has a smaller worst-case risk."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dame.sizes import Sizes
from dame.theory.constants import PAPER, Constants
from dame.theory.effective import checked

Points = NDArray[np.float64]

STATED_TAIL = 1e-13
"""An unbounded support is searched until larger a can gain no more than this, relatively."""

_GRID = 4096
_ZOOM = 65
_PEAKS = 24


def lower_bound(sizes: Sizes, n_alpha2: float, constants: Constants = PAPER) -> tuple[float, int]:
    """The lower bound of Theorem 1 on the worst-case mean squared error, and the smallest a that attains it.

    Statement: R ≥ max over a ≥ 0 of c1·exp(-c2·nα²·P(m > a)²) / (nα²·(E[sqrt(m)·1{m ≤ a}])² ∨ 1).
    Assumes: records in [-1, 1], known M, α ≤ 22/35. Side of error: every a gives a valid bound, so a maximum that is
    missed can only make the answer too small.
    The maximum is over all sizes that occur, exactly, where these are at most 2**21 (in between, nothing changes).
    A longer support is searched on a grid that is fine at both ends, then by zooming in on its best peaks; an
    unbounded one up to the a beyond which nothing can gain more than 1e-13.
    """
    checked(n_alpha2)
    support = sizes.support()
    if support is None:
        at, best = _search(sizes, n_alpha2, constants)
    else:
        points = np.concatenate(([0.0], support.astype(np.float64)))
        at, best = _best(points, _logarithm(sizes, n_alpha2, constants, points))
    return constants.c1 * math.exp(best), at


def lower_bound_at(sizes: Sizes, n_alpha2: float, a: int, constants: Constants = PAPER) -> float:
    """The value of Theorem 1 at one a: a valid lower bound, not the best one."""
    logarithm = _logarithm(sizes, checked(n_alpha2), constants, np.array([float(a)]))
    return constants.c1 * math.exp(float(logarithm[0]))


def _logarithm(sizes: Sizes, n_alpha2: float, constants: Constants, a: Points) -> Points:
    """The logarithm of the value of Theorem 1 at each a, without ln c1."""
    exponent = constants.c2 * n_alpha2 * sizes.survival(np.floor(a) + 1) ** 2
    information = n_alpha2 * sizes.mean_sqrt_below(a) ** 2
    result: Points = -exponent - np.log(np.maximum(information, 1.0))
    return result


def _best(points: Points, values: Points) -> tuple[int, float]:
    first = int(np.argmax(values))
    return int(points[first]), float(values[first])


def _search(sizes: Sizes, n_alpha2: float, constants: Constants) -> tuple[int, float]:
    """The best a of a long support and its value."""
    grid = _grid(float(sizes.largest or _stated_end(sizes, n_alpha2, constants)))
    values = _logarithm(sizes, n_alpha2, constants, grid)
    found = [_best(grid, values)]
    for low, high in _peaks(grid, values):
        found.append(_zoom(sizes, n_alpha2, constants, low, high))
    return min(found, key=lambda pair: (-pair[1], pair[0]))


def _stated_end(sizes: Sizes, n_alpha2: float, constants: Constants) -> int:
    """An a beyond which exp(-c2·nα²·P(m > a)²) is within the stated tail of 1, while the divisor only grows."""
    end = 2 * sizes.smallest
    while constants.c2 * n_alpha2 * sizes.survival(end) ** 2 > STATED_TAIL:
        end *= 2
    return end


def _grid(end: float) -> Points:
    """Whole numbers from 0 to `end`: all small ones, then both ends approached by constant ratios."""
    from_start = np.geomspace(1, end, 2 * _GRID)
    return np.unique(
        np.floor(np.concatenate((np.arange(_GRID), from_start, end - from_start, [0.0, end]))).clip(0, end)
    )


def _peaks(grid: Points, values: Points) -> Iterator[tuple[float, float]]:
    """The neighbourhoods of the highest local maxima of the grid."""
    padded = np.concatenate(([-math.inf], values, [-math.inf]))
    tops = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    for top in tops[np.argsort(-values[tops], kind="stable")][:_PEAKS]:
        yield float(grid[max(top - 1, 0)]), float(grid[min(top + 1, len(grid) - 1)])


def _zoom(sizes: Sizes, n_alpha2: float, constants: Constants, low: float, high: float) -> tuple[int, float]:
    """The best a between low and high, where the function has one peak."""
    while True:
        points = np.unique(np.floor(np.linspace(low, high, _ZOOM)))
        values = _logarithm(sizes, n_alpha2, constants, points)
        top = int(np.argmax(values))
        if high - low < _ZOOM:
            return _best(points, values)
        low, high = float(points[max(top - 1, 0)]), float(points[min(top + 1, len(points) - 1)])
