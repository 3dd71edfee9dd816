"""The power-law experiment of the authors' code: sizes m1 + (m2 - m1)·Power(a), m1 = 1e5, m2 = 1e8, n = 1e5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dame.experiments.base import Experiment, Task
from dame.experiments.figure_2_published import LARGE, SMALL, USERS
from dame.experiments.report import bullets, short
from dame.experiments.risk import CHEAP, PROTOCOLS, SEEDS, risk_tasks
from dame.experiments.risk_panels import average, draw_risk, lost_bins, ratios, span, to_limit, wrong_divisor
from dame.experiments.tidy import TidyTable
from dame.sizes import Sizes

EXPONENTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
ATOMS = 1000
"""The continuous distribution is cut into so many equally likely sizes."""


def power_sizes(exponent: float) -> Sizes:
    """Sizes m1 + (m2 - m1)·U^(1/a), where U^(1/a) has density a·x^(a-1), at the middle of each of the equal shares."""
    places = (np.arange(ATOMS) + 0.5) / ATOMS
    sizes = np.rint(SMALL + (LARGE - SMALL) * places ** (1 / exponent)).astype(np.int64)
    return Sizes.from_weights(sizes, np.ones(ATOMS))


def tasks(quick: bool) -> Sequence[Task]:
    """Every protocol at every exponent."""
    exponents = (EXPONENTS[4],) if quick else EXPONENTS
    columns = [(("m1", SMALL), ("m2", LARGE), ("a", exponent)) for exponent in exponents]
    points = [(column, power_sizes(exponent).spec) for column, exponent in zip(columns, exponents, strict=True)]
    return risk_tasks(points, USERS, CHEAP if quick else PROTOCOLS, 5 if quick else SEEDS)


def draw(table: TidyTable) -> Figure:
    """Risk against the exponent."""
    return draw_risk(table, "a", "a, exponent of the sizes 1e5 + (1e8 - 1e5)·Power(a)")


def section(table: TidyTable) -> str:
    """What the figure shows."""
    paper = table.where(protocol="paper", theta=0.0)
    gain = ratios(table, "kent", "paper")
    return bullets(
        f"**Agrees**: DAME is below Kent by a factor of {span(gain)} in mean risk at θ = 0 (geometric mean "
        f"{short(average(gain))}), more with larger a; m̃ goes from {short(paper.column('m_tilde')[0])} to "
        f"{short(paper.column('m_tilde')[-1])}.",
        f"DAME is below Duchi (Laplace) by a factor of {span(ratios(table, 'duchi', 'paper'))}.",
        "The paper does not show this experiment; its settings are those of the authors' code. The continuous "
        "distribution of the sizes is cut into equally likely whole sizes.",
        to_limit(table),
        wrong_divisor(table, "a", "a"),
        lost_bins(table),
    )


EXPERIMENT = Experiment(
    name="power-law", title="risk for sizes that follow a power law", tasks=tasks, draw=draw, section=section
)
