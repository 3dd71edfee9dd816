"""True distributions: where the people of a table are, or their records, in cells of the inner scale.

Cells are counted like all that a survey counts: exact integers that add up in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dame.device.records import HALF_GRID
from dame.errors import Mismatch
from dame.vectorised.statistics import Floats, Ints

CELLS = 4096
"""Cells of the range: cell j holds what lies in (edge j - 1, edge j], and cell 0 what lies at the lower bound."""
STEPS_OF_CELL = 2 * HALF_GRID // CELLS
USER_WEIGHT = 2**32
"""What the records of a user weigh together, where everybody has the same weight: each of m about this over m."""

_LEAST_SHARE = 1e-300

Cells = Counter[int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrueDistribution:
    """A distribution on the inner scale: `cdf` is the share at or below each of the rising `edges`.

    Within a cell, between two edges, it is taken to be even.
    """

    edges: Floats
    cdf: Floats

    @classmethod
    def of(cls, cells: Cells) -> TrueDistribution:
        """The distribution of what was counted in cells."""
        if not cells:
            raise Mismatch("the table was not read for a distribution")
        weights = np.array([cells[cell] for cell in range(CELLS + 1)], np.float64)
        return cls(edges=np.linspace(-1.0, 1.0, CELLS + 1), cdf=np.cumsum(weights) / weights.sum())

    def at(self, x: float) -> float:
        """The share at or below x."""
        return float(np.interp(x, self.edges, self.cdf, left=0.0))

    def quantile(self, q: float) -> float:
        """The least x at or below which a share of q lies; for q = 0 the least that there is."""
        right = min(int(np.searchsorted(self.cdf, max(q, _LEAST_SHARE))), CELLS)
        if right == 0:
            return float(self.edges[0])
        low, high = self.cdf[right - 1 : right + 1]
        part = (q - low) / (high - low) if high > low else 1.0
        return float(self.edges[right - 1] + part * (self.edges[right] - self.edges[right - 1]))


def cells_of_means(means: Floats) -> Ints:
    """The cell of each mean: a product with a power of two and a ceiling, both exact."""
    return (np.ceil(means * (CELLS // 2)) + CELLS // 2).astype(np.int64)


def cells_of_steps(steps: Ints) -> Ints:
    """The cell of each grid value."""
    return -(-(steps + HALF_GRID) // STEPS_OF_CELL)


def counted_cells(cells: Ints) -> Cells:
    """How many there are of each cell."""
    return Counter({cell: number for cell, number in enumerate(np.bincount(cells).tolist()) if number})


def weighted_cells(pairs: Iterable[tuple[int, int]]) -> Cells:
    """The sum of the weights of each cell."""
    cells: Cells = Counter()
    for cell, weight in pairs:
        cells[cell] += weight
    return cells
