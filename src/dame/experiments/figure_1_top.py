"""Figure 1, top: both bounds for Poisson, uniform and binomial sizes of growing mean λ, at nα² = 500.

Drawn twice: with the printed constants, and with unit constants (all one but c4 = 8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dame.experiments import style
from dame.experiments.base import Experiment, Task
from dame.experiments.bound_rows import NAMES, BoundsTask, between, draw_bounds
from dame.experiments.report import bullets, grid, short
from dame.experiments.slopes import slope
from dame.experiments.tidy import TidyTable

N_ALPHA2 = 500.0
POINTS, QUICK_POINTS = 100, 25
LARGEST = 500.0
STRAIGHT = (5.0, LARGEST)
"""Where the curves are straight: below, few records make every distribution look different."""
DISTRIBUTIONS = {"poisson": "Poisson(λ)", "uniform": "Uniform{1, …, 2λ-1}", "binomial": "Binomial(1000, λ/1000)"}


def sizes_of(distribution: str, mean: float) -> tuple[float, str]:
    """λ and the sizes; a uniform distribution has a whole largest size, so its λ is rounded to a half."""
    if distribution == "uniform":
        largest = round(2 * mean - 1)
        return (largest + 1) / 2, f"uniform:1:{largest}"
    return mean, f"poisson:{mean!r}" if distribution == "poisson" else f"binomial:1000:{mean / 1000!r}"


def tasks(quick: bool) -> Sequence[Task]:
    """One task for each distribution and choice of constants."""
    means = np.geomspace(1, LARGEST, QUICK_POINTS if quick else POINTS)
    return [
        BoundsTask(
            points=tuple(
                ((("distribution", distribution), ("lambda", centre)), spec, N_ALPHA2)
                for centre, spec in (sizes_of(distribution, float(mean)) for mean in means)
            ),
            constants=constants,
        )
        for constants in NAMES
        for distribution in DISTRIBUTIONS
    ]


def draw(table: TidyTable) -> Figure:
    """A row of panels for each distribution, a column for each choice of constants."""
    figure, panels = style.panels(len(DISTRIBUTIONS), len(NAMES), 4.9, sharex=True, sharey="col")
    places = [(distribution, constants) for distribution in DISTRIBUTIONS for constants in NAMES]
    for axes, (distribution, constants) in zip(panels, places, strict=True):
        draw_bounds(axes, table.where(distribution=distribution, constants=constants), "lambda")
        axes.set_title(f"{DISTRIBUTIONS[distribution]}\n{NAMES[constants]}", loc="left")
    for axes in panels[:: len(NAMES)]:
        axes.set_ylabel("mean squared error")
    for axes in panels[-len(NAMES) :]:
        axes.set_xlabel("λ, mean records per user")
    style.legend(figure, ("upper", "lower"), title=f"nα² = {N_ALPHA2:g}", title_fontsize=6.5)
    return figure


def section(table: TidyTable) -> str:
    """What the figure shows."""
    printed = table.where(constants="paper")
    trivial = printed.column("upper") == 4
    most, least = int(printed.column("m_tilde").max()), short(float(printed.column("phi").min()))
    head = [
        "distribution",
        "slope of lower",
        "slope of upper",
        "slope of upper / its logarithm",
        "upper / lower at ends",
    ]
    return "\n\n".join(
        (
            bullets(
                "**Does not agree**: with the printed constants the upper bound is the trivial 4 at "
                f"{int(trivial.sum())} of {len(trivial)} points, m̃ is at most {most} and φ(m̃) at least {least}: at "
                "nα² = 500 Theorem 2 says nothing. The published lines cannot come from the printed constants.",
                "**Agrees** with unit constants: two almost parallel straight lines of slope about -1 (below, for λ "
                f"from {STRAIGHT[0]:g} to {STRAIGHT[1]:g}). The upper one is flatter by the logarithm that it carries.",
            ),
            grid(head, [_slopes(table, distribution) for distribution in DISTRIBUTIONS]),
        )
    )


def _slopes(table: TidyTable, distribution: str) -> list[str]:
    part = between(table.where(distribution=distribution, constants="unit"), "lambda", *STRAIGHT)
    means, lower, upper = (part.column(name) for name in ("lambda", "lower", "upper"))
    ratio = upper / lower
    slopes = [slope(means, lower), slope(means, upper), slope(means, upper / part.column("logarithm"))]
    return [DISTRIBUTIONS[distribution], *(f"{value:.3f}" for value in slopes), f"{ratio[0]:.2f}, {ratio[-1]:.2f}"]


EXPERIMENT = Experiment(
    name="figure-1-top", title="both bounds against the mean size", tasks=tasks, draw=draw, section=section
)
