"""What the figures of the bounds share: the rows, slopes, and the panels with both bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.axes import Axes

from dame.experiments import style
from dame.experiments.base import Task
from dame.experiments.tidy import Row, TidyTable, Value
from dame.sizes import Sizes
from dame.theory import PAPER, UNIT, Constants, bounds

NAMES = {PAPER.name: "printed constants", UNIT.name: "unit constants"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsTask(Task):
    """Both bounds at every point: its columns, its sizes and nα²."""

    points: tuple[tuple[tuple[tuple[str, Value], ...], str, float], ...]
    constants: str

    def rows(self, seed: int) -> list[Row]:
        """One row for each point; nothing here is random."""
        return [_row(dict(point), sizes, n_alpha2, self.constants) for point, sizes, n_alpha2 in self.points]


def _row(point: dict[str, Value], sizes: str, n_alpha2: float, name: str) -> Row:
    constants = Constants.named(name)
    found = bounds(Sizes.parse(sizes), n_alpha2, constants)
    return {
        **point,
        "sizes": sizes,
        "n_alpha2": n_alpha2,
        "constants": name,
        "lower": found.lower,
        "lower_at": found.lower_at,
        "upper": found.upper,
        "m_tilde": found.m_tilde,
        "phi": found.phi,
        "logarithm": math.log(constants.c4 * max(math.sqrt(found.m_tilde * n_alpha2), 1.0)),
    }


def between(table: TidyTable, name: str, low: float, high: float) -> TidyTable:
    """The rows in which a column lies in a range."""
    return TidyTable.of(row for row in table.rows if low <= float(row[name]) <= high)


def draw_bounds(axes: Axes, table: TidyTable, x: str) -> None:
    """Both bounds on logarithmic axes."""
    for name in ("upper", "lower"):
        style.curve(axes, name, table.column(x), table.column(name))
    style.logarithmic(axes)
