"""Where people are, drawn: the cumulative curve with its band and quantiles, and the histogram."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dame.curves import Distribution, Quantile
    from dame.engines.pilot import Pilot

CURVE_HEIGHT = 1.7
"""Inches of a row with a curve and a histogram."""
PEOPLE = "#0072B2"
"""The blue of Okabe and Ito."""
QUANTILE = "#D55E00"
BARS = 16


def draws_people(pilot: Pilot, place: int) -> bool:
    """Whether the target in this place tells a distribution."""
    return pilot.results[0].targets[place].estimate.distribution is not None


def draw_people(left: Axes, right: Axes, pilot: Pilot, place: int) -> None:
    """The distribution that the first study found, beside the table's own where that is known."""
    planned, estimate = pilot.plan.targets[place], pilot.results[0].targets[place].estimate
    curve = estimate.distribution
    assert curve is not None
    scale = planned.machines[0].brief.scale
    for axes in (left, right):
        axes.set_xscale(scale)
    _curve(left, curve, estimate.quantiles, pilot.true_curve(place, curve.edges))
    _histogram(right, curve, scale, pilot, place)
    left.set_title(f"{planned.target.counted}, with a 95 % band", fontsize=6, loc="left")


def _curve(axes: Axes, curve: Distribution, quantiles: tuple[Quantile, ...], truth: list[float] | None) -> None:
    """The share at or below each point, its band, and each quantile with its interval."""
    axes.fill_between(curve.edges, curve.low, curve.high, color=PEOPLE, alpha=0.2, lw=0)
    axes.plot(curve.edges, curve.cdf, color=PEOPLE, lw=1.1)
    if truth is not None:
        axes.plot(curve.edges, truth, color="black", lw=0.8, ls=(0, (4, 2)))
    for quantile in quantiles:
        axes.plot(quantile.interval, [quantile.at] * 2, color=QUANTILE, lw=1.0, solid_capstyle="butt")
        axes.plot(quantile.value, quantile.at, "D", color=QUANTILE, ms=2.4)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("share at or below")
    axes.set_xlabel("diamonds: quantiles; dashed: truth" if truth else "curve with 95 % band")


def _histogram(axes: Axes, curve: Distribution, scale: str, pilot: Pilot, place: int) -> None:
    """The share in each bar, what the band allows it to be, and the truth."""
    bars = curve.histogram(BARS, scale)
    left = [bar.left for bar in bars]
    axes.bar(left, [bar.share for bar in bars], [bar.right - bar.left for bar in bars], align="edge", color=PEOPLE)
    for bar in bars:
        middle = (bar.left * bar.right) ** 0.5 if scale == "log" else (bar.left + bar.right) / 2
        axes.plot([middle] * 2, [bar.low, bar.high], color="#7F7F7F", lw=0.6)
    edges = [*left, bars[-1].right]
    truth = pilot.true_curve(place, edges)
    if truth is not None:
        shares = [truth[1], *(high - low for low, high in pairwise(truth[1:]))]
        axes.stairs(shares, edges, color="black", lw=0.8, ls=(0, (4, 2)), baseline=None)
    # The band allows single bars far more than they have: the axis follows what was found.
    axes.set_ylim(0, 2 * max(bar.share for bar in bars) or 1.0)
    axes.set_ylabel("share in each bar")
    axes.set_xlabel("thin: within the band")
