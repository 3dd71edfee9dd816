"""What the risk figures share: the drawing, and the sentences about it."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dame.experiments import style
from dame.experiments.report import short
from dame.experiments.risk import THETAS
from dame.experiments.style import AUTHORS
from dame.experiments.tidy import TidyTable

CURVES = ("duchi", "one-bit", "kent", "paper", AUTHORS, "adaptive")


def draw_risk(table: TidyTable, x: str, x_label: str) -> Figure:
    """A panel for each θ: medians as lines, 10–90 % bands, means as hollow markers, and the limit."""
    figure, panels = style.panels(len(THETAS), 1, 5.4, sharex=True)
    for axes, theta in zip(panels, THETAS, strict=True):
        _panel(axes, table.where(theta=theta), x)
        axes.set_title(f"θ = {theta:g}", loc="left")
        axes.set_ylabel("squared error (records in [-1, 1])")
    panels[-1].set_xlabel(x_label)
    style.legend(
        figure,
        [*_present(table), "limit"],
        title="lines: medians, bands: 10–90 %, open markers: means",
        title_fontsize=6.5,
    )
    return figure


def _panel(axes: Axes, table: TidyTable, x: str) -> None:
    for name in _present(table):
        part = table.where(protocol=name)
        places = part.column(x)
        style.band(axes, name, places, part.column("p10"), part.column("p90"))
        style.curve(axes, name, places, part.column("median"), marker="")
        style.curve(axes, name, places, part.column("mean"), ls="", mfc="none", mew=0.7)
    part = table.where(protocol="paper")
    style.curve(axes, "limit", part.column(x), part.column("limit"))
    style.logarithmic(axes, x=False)


def _present(table: TidyTable) -> list[str]:
    """The curves that were computed: a quick run may leave some out."""
    return [name for name in CURVES if name in table.distinct("protocol")]


def ratios(table: TidyTable, one: str, other: str, statistic: str = "mean", theta: float = 0.0) -> NDArray[np.float64]:
    """The risk of one protocol over that of another (or over the limit), point by point."""
    part = table.where(protocol=one, theta=theta)
    if other == "limit":
        return part.column(statistic) / part.column("limit")
    return part.column(statistic) / table.where(protocol=other, theta=theta).column(statistic)


def span(values: NDArray[np.float64]) -> str:
    """The range of some ratios in words."""
    low, high = float(values.min()), float(values.max())
    return short(low) if short(low) == short(high) else f"{short(low)} to {short(high)}"


def average(values: NDArray[np.float64]) -> float:
    """The geometric mean."""
    return math.exp(float(np.log(values).mean()))


def to_limit(table: TidyTable) -> str:
    """One sentence: how far every protocol is from the information limit at θ = 0."""
    names = [name for name in _present(table) if name != AUTHORS]
    parts = [f"{style.SERIES[name].label} {span(ratios(table, name, 'limit'))}" for name in names]
    return "Mean risk over the information limit at θ = 0: " + "; ".join(parts) + "."


def wrong_divisor(table: TidyTable, x: str, symbol: str) -> str:
    """One sentence: what the authors' divisor makes of θ = 0.5."""
    wrong = table.where(protocol=AUTHORS, theta=0.5)
    right = table.where(protocol="paper", theta=0.5)
    estimates = wrong.column("mean_estimate")
    off = np.abs(estimates - right.column("mean_estimate")) > 1e-3
    if not off.any():
        return "The divisor of the authors' code, E min(m, sqrt(m̃)), makes no difference here: m̃ is the smallest size."
    worst = int(np.abs(estimates - 0.5).argmax())
    error, usual = wrong.column("mean")[worst], right.column("mean")[worst]
    return (
        f"At θ = 0.5 the divisor of the authors' code, E min(m, sqrt(m̃)) in place of E sqrt(min(m, m̃)), is biased at "
        f"{int(off.sum())} of {len(off)} points, most at {symbol} = {short(wrong.column(x)[worst])}: the mean estimate "
        f"is {estimates[worst]:.3f}, not {right.column('mean_estimate')[worst]:.3f}, a risk of {short(error)}, not "
        f"{short(usual)}. At θ = 0, the only θ of the paper, it does not show: the risk is even lower, by a "
        f"factor of up to {short(ratios(table, 'paper', AUTHORS).max())}."
    )


def lost_bins(table: TidyTable) -> str:
    """One sentence: how often the vote of DAME or Kent went wrong."""
    votes = [row for row in table.rows if row["protocol"] in ("paper", "kent", "adaptive")]
    failed, studies = sum(int(row["failures"]) for row in votes), sum(int(row["repetitions"]) for row in votes)
    return f"A wrong bin was elected in {failed} of {studies:,} studies with a vote."
