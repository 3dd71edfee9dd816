"""What was measured, as a page: tables for people, and one figure."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.accuracy import versions
from benchmarks.peers.rows import Row, grid, short
from benchmarks.peers.speed import COUNT, NUMBER
from dame.experiments import style

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
OURS, OTHERS, CENTRAL = "#D55E00", "#0072B2", "#7F7F7F"
MARKS = "osD^v"


def markdown(rows: list[Row], facts: str) -> str:
    """All that was measured, as tables."""
    parts = [
        *_accuracy(rows, "accuracy", "Risk over the information limit (worst of three laws)"),
        *_people(rows),
        *_accuracy(rows, "real", "Real tables: RMSE in percent of the half-range"),
        *(_listed(rows, part, title) for part, title in (("speed", "Speed"), ("footprint", "Footprint"))),
    ]
    measured = f"Measured with {', '.join([*versions(), f'Python {platform.python_version()}'])} in {facts}."
    return "\n\n".join([part for part in parts if part] + [measured]) + "\n"


def _accuracy(rows: list[Row], part: str, title: str) -> Iterator[str]:
    chosen = [row for row in rows if row.part == part]
    if not chosen:
        return
    cell = _percent if part == "real" else (lambda row: short(row.ratio))
    yield f"### {title}"
    yield _pivot(chosen, cell)
    yield _absences(chosen)


def _people(rows: list[Row]) -> Iterator[str]:
    chosen = [row for row in rows if row.part == "accuracy"]
    last = {re.sub(r", n = .*", "", row.setting) for row in chosen}
    if not any(row.people for row in chosen):
        return
    yield "### People needed for ±0.01 (95 % interval, on the scale −1 … 1)"
    unique = {(re.sub(r", n = .*", "", row.setting), row.contestant): row for row in chosen}
    kept = [
        Row(part="people", setting=setting, contestant=name, people=row.people)
        for (setting, name), row in unique.items()
        if setting in last
    ]
    yield _pivot(kept, lambda row: short(row.people))


def _pivot(rows: list[Row], cell) -> str:
    names = list(dict.fromkeys(row.contestant for row in rows))
    cells = {(row.setting, row.contestant): cell(row) for row in rows}
    settings = dict.fromkeys(row.setting for row in rows)
    return grid(["", *names], ([setting, *(cells[setting, name] for name in names)] for setting in settings))


def _percent(row: Row) -> str:
    return "" if row.value is None else f"{100 * math.sqrt(row.value):.3g}"


def _absences(rows: list[Row]) -> str:
    absent = dict.fromkeys((row.contestant, row.note) for row in rows if row.note)
    return "\n".join(f"- {name}: {note}" for name, note in absent)


def _listed(rows: list[Row], part: str, title: str) -> str:
    chosen = [row for row in rows if row.part == part]
    if not chosen:
        return ""
    heads = {"speed": "ours is faster by", "footprint": "times the first"}
    lines = ([row.setting, row.contestant, _amount(row), short(row.ratio)] for row in chosen)
    return f"### {title}\n\n{grid(['job', 'who', 'figure', heads[part]], lines)}"


def _amount(row: Row) -> str:
    return row.note if row.value is None else f"{short(row.value)} {row.unit}"


def into_page(page: Path, text: str, table: str, picture: dict[str, bytes]) -> None:
    """Puts the tables between the markers of a document, the csv beside it and the figure into its `figures`."""
    words = page.read_text("utf-8")
    before, rest = words.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", "utf-8")
    page.with_suffix(".csv").write_text(table, "utf-8")
    (page.parent / "figures" / f"{page.stem}.png").write_bytes(picture[".png"])


def draw(rows: list[Row]) -> dict[str, bytes]:
    """The figure as a .png and a .svg file."""
    return style.images(lambda _: _figure(rows), [])  # type: ignore[arg-type]


def _figure(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    _risks(left, [row for row in rows if row.part == "accuracy" and row.ratio])
    _speeds(right, [row for row in rows if row.setting in (COUNT, NUMBER) and row.value])
    return figure


def _plain_name(name: str) -> str:
    return name.replace("*", "").replace("`", "")


def _risks(axes: Axes, rows: list[Row]) -> None:
    if not rows:
        axes.set_axis_off()
        return
    # One privacy and number of users: the first α and the largest n.
    alpha = re.search(r"α = (\S+),", rows[0].setting)[1]
    users = re.search(r"n = (\S+)", rows[-1].setting)[1]
    shown = [row for row in rows if row.setting.endswith(f"α = {alpha}, n = {users}")]
    names = list(dict.fromkeys(row.contestant for row in shown))[::-1]
    for mark, setting in zip(MARKS, dict.fromkeys(row.setting for row in shown), strict=False):
        own = [row for row in shown if row.setting == setting]
        colours = [_colour(row.contestant) for row in own]
        heights = [names.index(row.contestant) for row in own]
        axes.scatter([row.ratio for row in own], heights, c=colours, marker=mark, s=18, zorder=3)
        axes.scatter([], [], c="#555555", marker=mark, s=18, label=setting.split(",")[0])
    axes.set_xscale("log")
    axes.axvline(1, color="black", lw=0.8, ls=(0, (5, 2)))
    axes.set_yticks(range(len(names)), [_plain_name(name) for name in names])
    axes.set_xlabel("risk over the information limit")
    axes.set_title(f"Accuracy, α = {alpha}, n = {users}")
    axes.figure.legend(loc="outside lower left", ncols=4)


def _speeds(axes: Axes, rows: list[Row]) -> None:
    if not rows:
        axes.set_axis_off()
        return
    places, labels, place = [], [], 0.0
    for job in (NUMBER, COUNT):
        own = sorted((row for row in rows if row.setting == job), key=lambda row: row.value)
        for row in own:
            axes.barh(place, row.value, color=_colour(row.contestant), height=0.75)
            axes.text(row.value * 1.15, place, short(row.value), va="center", fontsize=5.5)
            places.append(place)
            labels.append(_plain_name(row.contestant))
            place += 1
        axes.text(9e9, place - 0.2, job, fontsize=6.5, fontweight="bold", va="center", ha="right")
        place += 1.2
    axes.set_xscale("log")
    axes.set_xlim(1e3, 1e10)
    axes.set_xticks(10.0 ** np.arange(3, 10, 2))
    axes.set_yticks(places, labels)
    axes.set_xlabel("users per second")
    axes.set_title("Speed, with aggregation")


def _colour(name: str) -> str:
    if name.startswith("central"):
        return CENTRAL
    return OURS if "DAME" in name else OTHERS
