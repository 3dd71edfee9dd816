"""Table 2: users with one record and users with m, a share ρ of them; regimes of ρ, m̃, predicted and measured risk."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dame.experiments import style
from dame.experiments.base import Experiment, Task
from dame.experiments.report import bullets, grid, short
from dame.experiments.risk import ALPHA, PROTOCOLS, SEEDS, RiskTask
from dame.experiments.risk_panels import span
from dame.experiments.tidy import TidyTable, Value
from dame.theory import bin_half_width, corollary_two_sizes, phi
from dame.theory.lemmas import WINDOW

USERS = 10**5
LARGE = 10**6
N_ALPHA2 = USERS * ALPHA**2
SHARES = (0.0, 0.2, 0.4, 0.48, 0.5, 0.52, 0.55, 0.58, 0.61, 0.64, 0.67, 0.7, 0.72, 0.8, 0.9, 1.0)
QUICK_SHARES = (0.4, 0.9)
THETA = 0.3


def tasks(quick: bool) -> Sequence[Task]:
    """Every protocol at every ρ."""
    return [
        RiskTask(
            index=index,
            point=_point(share),
            sizes=f"two-point:1:{LARGE}:{share!r}",
            users=USERS,
            protocol=protocol,
            thetas=(THETA,),
            repetitions=5 if quick else SEEDS,
        )
        for index, share in enumerate(QUICK_SHARES if quick else SHARES)
        for protocol in PROTOCOLS
    ]


def _point(share: float) -> tuple[tuple[str, Value], ...]:
    """ρ and what the corollary says of it; `rate` is the entry of Table 2, without its logarithm and constants."""
    said = corollary_two_sizes(LARGE, share, N_ALPHA2)
    rate = 1 / (N_ALPHA2 * ((1 - share) + share * math.sqrt(said.m_tilde)) ** 2)
    return (
        ("m1", 1),
        ("m2", LARGE),
        ("rho", share),
        ("regime", said.m_tilde),
        ("rate", rate),
        ("corollary", said.upper),
    )


def draw(table: TidyTable) -> Figure:
    """m̃ against ρ, and below it the risks."""
    figure, (above, below) = style.panels(2, 1, 5.0, sharex=True, height_ratios=(1, 2.4))
    paper = table.where(protocol="paper")
    above.plot(paper.column("rho"), paper.column("m_tilde"), color=style.SERIES["paper"].colour, marker="D", ms=2.5)
    above.set_ylabel("effective size m̃ (records)")
    style.logarithmic(above, x=False)
    _risks(below, table)
    for axes in (above, below):
        for level in (2, LARGE):
            axes.axvline(math.sqrt(phi(level, N_ALPHA2)), color="#7f7f7f", lw=0.7, ls=":")
    above.set_title("dotted: ρ² = φ(2) and ρ² = φ(m)", loc="left")
    below.set_xlabel(f"ρ, share of the users with {LARGE:,} records (others: 1)")
    style.legend(figure, (*PROTOCOLS, "limit", "upper", "rate"))
    return figure


def _risks(axes: Axes, table: TidyTable) -> None:
    for name in PROTOCOLS:
        part = table.where(protocol=name)
        style.curve(axes, name, part.column("rho"), part.column("mean"))
    paper = table.where(protocol="paper")
    style.curve(axes, "limit", paper.column("rho"), paper.column("limit"))
    style.curve(axes, "upper", paper.column("rho"), paper.column("corollary"))
    style.curve(axes, "rate", paper.column("rho"), paper.column("rate"))
    axes.set_ylabel("mean squared error")
    style.logarithmic(axes, x=False)


def section(table: TidyTable) -> str:
    """What the table shows."""
    paper, whole = table.where(protocol="paper"), _whole_range(table)
    head = ["ρ", "m̃", "rate of Table 2", "corollary", "DAME predicted", "DAME", "Kent", "one-bit", "adaptive", "limit"]
    worse = max(float(row["mean"]) for row in paper.rows if int(row["m_tilde"]) in whole)
    same = bool((paper.column("m_tilde") == paper.column("regime")).all())
    ours, studies = table.where(protocol="adaptive"), int(paper.rows[0]["repetitions"])
    far = ours.column("mean") / ours.column("limit")
    least, kent, bits = paper.column("mean").min(), _average(table, "kent"), _average(table, "one-bit")
    return "\n\n".join(
        (
            f"n = {USERS:,}, α = 22/35, m = {LARGE:,}, θ = {THETA:g}. Regimes: m̃ = 1 up to ρ = "
            f"{math.sqrt(phi(2, N_ALPHA2)):.3f}, m̃ = m from ρ = {math.sqrt(phi(LARGE, N_ALPHA2)):.3f} on.",
            grid(head, [_line(table, float(str(share))) for share in table.distinct("rho")]),
            bullets(
                f"**Agrees**: m̃ of the rule is {'' if same else 'not '}that of the corollary at every ρ; from ρ² = "
                f"φ(m) on the risk of DAME falls to {short(least)}. Its predicted risk (over measured: "
                f"{span(paper.column('predicted') / paper.column('mean'))}, {studies} studies each) is almost the "
                "corollary's bound once the window is narrow: c3 = 1570 is the variance of its noise, with little to "
                "spare.",
                "**Does not agree**: in the regimes between, Table 2 promises less risk as soon as m̃ = 2. The window "
                f"of DAME is {WINDOW:g}τ wide, which is the whole range until m̃ = {_first_narrow():,}; up to there "
                f"DAME does not gain but lose by a larger m̃: a risk of up to {short(worse)}, against {short(kent)} of "
                f"Kent and {short(bits)} of one-bit.",
                f"The risk of `adaptive` is {span(far)} times the limit, farthest from it at ρ = "
                f"{ours.column('rho')[far.argmax()]:g}.",
            ),
        )
    )


def _whole_range(table: TidyTable) -> set[int]:
    return {
        int(str(value)) for value in table.where(protocol="paper").distinct("m_tilde") if int(value) < _first_narrow()
    }


def _first_narrow() -> int:
    """The smallest m̃ for which the window is narrower than the range."""
    m_tilde = 1
    while WINDOW * bin_half_width(m_tilde, N_ALPHA2) >= 2:
        m_tilde += 1
    return m_tilde


def _average(table: TidyTable, protocol: str) -> float:
    return float(table.where(protocol=protocol).column("mean").mean())


def _line(table: TidyTable, share: float) -> list[str]:
    part = table.where(rho=share)
    paper = part.where(protocol="paper")
    measured = [short(part.one("mean", protocol=name)) for name in ("paper", "kent", "one-bit", "adaptive")]
    known = [short(float(paper.column(name)[0])) for name in ("m_tilde", "rate", "corollary", "predicted")]
    return [f"{share:.2f}", *known, *measured, short(float(paper.column("limit")[0]))]


EXPERIMENT = Experiment(
    name="table-2", title="two sizes, 1 and m: regimes of the share ρ", tasks=tasks, draw=draw, section=section
)
