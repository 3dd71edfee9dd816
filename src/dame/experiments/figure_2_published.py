"""Figure 2 in the setting of the authors' public code: m1 = 1e5, m2 = 1e8 with share ρ; n = 1e5, α = 22/35."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from dame.experiments.base import Experiment, Task
from dame.experiments.figure_2 import SHARES, two_sizes
from dame.experiments.report import bullets, short
from dame.experiments.risk import CHEAP, PROTOCOLS, SEEDS, risk_tasks
from dame.experiments.risk_panels import draw_risk, lost_bins, ratios, span, to_limit, wrong_divisor
from dame.experiments.tidy import TidyTable

USERS = 10**5
SMALL, LARGE = 10**5, 10**8
QUICK_SHARES = (SHARES[3], 0.78)


def tasks(quick: bool) -> Sequence[Task]:
    """Every protocol at every ρ."""
    points = [two_sizes(SMALL, LARGE, share) for share in (QUICK_SHARES if quick else SHARES)]
    return risk_tasks(points, USERS, CHEAP if quick else PROTOCOLS, 5 if quick else SEEDS)


def draw(table: TidyTable) -> Figure:
    """Risk against ρ."""
    return draw_risk(table, "rho", "ρ, share of the users with 1e8 records (others: 1e5)")


def section(table: TidyTable) -> str:
    """What the figure shows."""
    paper = table.where(protocol="paper", theta=0.0)
    apart = paper.column("m_tilde") > SMALL
    gain = ratios(table, "kent", "paper")
    first, grown = paper.column("rho")[apart][0], paper.column("m_tilde")[apart][0]
    before = f"Below that ρ the two are the same: risk ratio {span(gain[~apart])}." if not apart.all() else ""
    return bullets(
        f"**Agrees**: DAME separates from Kent from ρ = {first:.2f} on, where m̃ = {short(grown)}; its mean risk at "
        f"θ = 0 is lower by a factor of {span(gain[apart & (paper.column('rho') < 1)])} for ρ < 1. {before}",
        f"DAME is below Duchi (Laplace) by a factor of {span(ratios(table, 'duchi', 'paper'))}.",
        "**Does not agree**: this is the setting of the authors' code (n = 1e5, m2 = 1e8), not that of the text.",
        to_limit(table),
        wrong_divisor(table, "rho", "ρ"),
        lost_bins(table),
    )


EXPERIMENT = Experiment(
    name="figure-2-published",
    title="risk against ρ, in the setting of the authors' code",
    tasks=tasks,
    draw=draw,
    section=section,
)
