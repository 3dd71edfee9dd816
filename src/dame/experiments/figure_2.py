"""Figure 2 as the text sets it: two sizes, m1 = 1e5 and m2 = 1e6 with share ρ; n = 1e4, α = 22/35."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dame.experiments.base import Experiment, Task
from dame.experiments.report import bullets, short
from dame.experiments.risk import PROTOCOLS, SEEDS, risk_tasks
from dame.experiments.risk_panels import draw_risk, lost_bins, ratios, span, to_limit, wrong_divisor
from dame.experiments.tidy import TidyTable, Value

USERS = 10**4
SMALL, LARGE = 10**5, 10**6
SHARES = tuple(float(share) for share in np.linspace(0, 1, 10))
QUICK_SHARES = (0.0, SHARES[7], 1.0)


def two_sizes(small: int, large: int, share: float) -> tuple[tuple[tuple[str, Value], ...], str]:
    """The columns and the sizes of a point: a share ρ of the users has `large` records."""
    return (("m1", small), ("m2", large), ("rho", share)), f"two-point:{small}:{large}:{share!r}"


def tasks(quick: bool) -> Sequence[Task]:
    """Every protocol at every ρ."""
    points = [two_sizes(SMALL, LARGE, share) for share in (QUICK_SHARES if quick else SHARES)]
    return risk_tasks(points, USERS, PROTOCOLS, 10 if quick else SEEDS)


def draw(table: TidyTable) -> Figure:
    """Risk against ρ."""
    return draw_risk(table, "rho", "ρ, share of the users with 1e6 records (others: 1e5)")


def section(table: TidyTable) -> str:
    """What the figure shows."""
    paper = table.where(protocol="paper", theta=0.0)
    same = paper.column("m_tilde") == SMALL
    twin = bool((ratios(table, "paper", "kent")[same] == 1).all())
    return bullets(
        f"**Agrees**: DAME is far below Duchi (Laplace): mean risk lower by a factor of "
        f"{span(ratios(table, 'duchi', 'paper'))} at θ = 0.",
        f"**Does not agree**: the rule for m̃ with the printed constants gives m̃ = m1 at {int(same.sum())} of "
        f"{len(same)} values of ρ (all below 1), where DAME is Kent; their measured risks there "
        f"are {'identical' if twin else 'not identical, which is an error of ours'}. The published figure shows DAME "
        "below Kent.",
        f"The risk of DAME does not fall with ρ before ρ = 1: {span(paper.column('mean')[same])}; "
        f"that of `adaptive` falls from {short(_adaptive(table)[0])} to {short(_adaptive(table)[-1])}.",
        to_limit(table),
        wrong_divisor(table, "rho", "ρ"),
        lost_bins(table),
    )


def _adaptive(table: TidyTable) -> list[float]:
    return [float(value) for value in table.where(protocol="adaptive", theta=0.0).column("mean")]


EXPERIMENT = Experiment(
    name="figure-2", title="risk against ρ, in the setting of the text", tasks=tasks, draw=draw, section=section
)
