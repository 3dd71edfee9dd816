"""The look of every figure: one colour, marker and line for each protocol everywhere, readable at column width.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; lines and markers differ
too, for paper without colour.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from dame.experiments.tidy import TidyTable

COLUMN = 3.5
"""Width of a column of a paper, in inches."""
DPI = 220

_LOOK: dict[Any, Any] = {
    "backend": "agg",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.35,
    "grid.color": "#d9d9d9",
    "axes.axisbelow": True,
    # The same drawing must give the same bytes: no random names inside the file.
    "svg.hashsalt": "dame",
    "svg.fonttype": "path",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """How one curve looks: its name in the legend, colour, marker and line; a wider line shows under another."""

    label: str
    colour: str
    marker: str = ""
    line: str | tuple[int, tuple[float, ...]] = "-"
    width: float = 1.1


AUTHORS = "authors-divisor"
"""DAME with its tallies read as the authors' code reads them."""

SERIES: Mapping[str, Series] = MappingProxyType(
    {
        "duchi": Series(label="Duchi (Laplace)", colour="#E69F00", marker="s"),
        "one-bit": Series(label="one-bit", colour="#009E73", marker="v"),
        "kent": Series(label="Kent", colour="#56B4E9", marker="o", width=2.6),
        "paper": Series(label="DAME (paper)", colour="#0072B2", marker="D", line=(0, (3, 1.2))),
        AUTHORS: Series(label="DAME, authors' divisor", colour="#CC79A7", marker="x", line=(0, (1, 1))),
        "adaptive": Series(label="adaptive (ours)", colour="#D55E00", marker="^"),
        "one-round": Series(label="one-round (ours)", colour="#CC79A7", marker="P"),
        "one-round-bound": Series(label="bound for one round", colour="#7F7F7F", line=(0, (1, 1))),
        "frontier": Series(label="frontier of one bit", colour="#7F7F7F", line=(0, (4, 1, 1, 1))),
        "limit": Series(label="information limit", colour="#000000", line=(0, (5, 2))),
        "small": Series(label="limit, small users alone", colour="#7F7F7F", line=(0, (1, 1))),
        "rate": Series(label="rate of the table", colour="#7F7F7F", width=0.8),
        "upper": Series(label="upper bound (Theorem 2)", colour="#999933", line=(0, (3, 1.2))),
        "lower": Series(label="lower bound (Theorem 1)", colour="#332288"),
    }
)


def images(draw: Callable[[TidyTable], Figure], table: TidyTable) -> dict[str, bytes]:
    """The drawing of a table as the contents of a .png and a .svg file, without dates or versions in them."""
    # From the defaults up: a matplotlibrc of the machine must not change the files.
    with mpl.rc_context(rc={**mpl.rcParamsDefault, **_LOOK}):
        figure = draw(table)
        return {
            ".png": _image(figure, "png", {"Software": None}),
            ".svg": _image(figure, "svg", {"Date": None, "Creator": None}),
        }


def _image(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def panels(rows: int, columns: int, height: float, **share: Any) -> tuple[Figure, list[Axes]]:
    """A figure of one column's width and its panels, row by row."""
    figure = Figure(figsize=(COLUMN, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **share)
    return figure, list(axes.flat)


def curve(axes: Axes, name: str, x: ArrayLike, y: ArrayLike, **more: Any) -> None:
    """One curve in the look of its series; keywords change the look."""
    series = SERIES[name]
    look = {"color": series.colour, "marker": series.marker, "ls": series.line, "lw": series.width}
    axes.plot(x, y, label=series.label, **{**look, **more})


def band(axes: Axes, name: str, x: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
    """The range between two curves, lightly in the colour of the series."""
    axes.fill_between(x, low, high, color=SERIES[name].colour, alpha=0.16, lw=0)


def legend(figure: Figure, names: Sequence[str], columns: int = 2, **more: Any) -> None:
    """One legend for all panels, above them, in the order of the names."""
    figure.legend(handles=handles(names), loc="outside upper center", ncols=columns, **more)


def handles(names: Sequence[str]) -> list[Line2D]:
    """The entries of a legend."""
    return [
        Line2D([], [], label=s.label, color=s.colour, marker=s.marker, ls=s.line, lw=s.width)
        for s in (SERIES[name] for name in names)
    ]


def logarithmic(axes: Axes, x: bool = True) -> None:
    """Makes the vertical axis logarithmic, and the horizontal one too unless told otherwise; decades only."""
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())
    if x:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
