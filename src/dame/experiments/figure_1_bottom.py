"""Figure 1, bottom: both bounds for Poisson(5) sizes and growing nα², with printed and with unit constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dame.experiments import style
from dame.experiments.base import Experiment, Task
from dame.experiments.bound_rows import NAMES, BoundsTask, between, draw_bounds
from dame.experiments.report import bullets, short
from dame.experiments.slopes import slope
from dame.experiments.tidy import TidyTable

SIZES = "poisson:5"
POINTS, QUICK_POINTS = 100, 25
RANGE = (10.0, 1e6)
"""The paper does not say which nα² it takes."""
STRAIGHT = (1e3, 1e6)


def tasks(quick: bool) -> Sequence[Task]:
    """One task for each choice of constants."""
    grid = np.geomspace(*RANGE, QUICK_POINTS if quick else POINTS)
    points = tuple(((("distribution", "poisson"), ("lambda", 5.0)), SIZES, float(n_alpha2)) for n_alpha2 in grid)
    return [BoundsTask(points=points, constants=constants) for constants in NAMES]


def draw(table: TidyTable) -> Figure:
    """A panel for each choice of constants."""
    figure, panels = style.panels(len(NAMES), 1, 3.9, sharex=True)
    for axes, constants in zip(panels, NAMES, strict=True):
        draw_bounds(axes, table.where(constants=constants), "n_alpha2")
        axes.set_title(f"Poisson(5), {NAMES[constants]}", loc="left")
        axes.set_ylabel("mean squared error")
    panels[-1].set_xlabel("nα², users times squared privacy budget")
    style.legend(figure, ("upper", "lower"))
    return figure


def section(table: TidyTable) -> str:
    """What the figure shows."""
    printed, unit = table.where(constants="paper"), between(table.where(constants="unit"), "n_alpha2", *STRAIGHT)
    useful = printed.column("n_alpha2")[printed.column("upper") < 4]
    grown = printed.column("n_alpha2")[printed.column("m_tilde") > 1]
    x, lower, upper = (unit.column(name) for name in ("n_alpha2", "lower", "upper"))
    gap = printed.column("upper") / printed.column("lower")
    return bullets(
        f"**Agrees** with unit constants: for nα² from {STRAIGHT[0]:g} to {STRAIGHT[1]:g} the slopes are "
        f"{slope(x, lower):.3f} (lower), {slope(x, upper):.3f} (upper) and "
        f"{slope(x, upper / unit.column('logarithm')):.3f} (upper without its logarithm); the upper bound is "
        f"{short(upper[0] / lower[0])} to {short(upper[-1] / lower[-1])} times the lower one.",
        "**Does not agree** with the printed constants: the upper bound is the trivial 4 up to "
        f"nα² = {_first(useful)}, m̃ stays 1 up to nα² = {_first(grown)}, and the bounds are apart by a factor of "
        f"{short(float(gap.min()))} to {short(float(gap.max()))}.",
    )


def _first(values: NDArray[np.float64]) -> str:
    return short(float(values[0])) if len(values) else "the end"


EXPERIMENT = Experiment(
    name="figure-1-bottom", title="both bounds against nα²", tasks=tasks, draw=draw, section=section
)
