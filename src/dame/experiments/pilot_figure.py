"""The picture of a pilot: for each target a panel with truth and intervals, and how far off each protocol is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dame.errors import InvalidInput
from dame.experiments.people_figure import CURVE_HEIGHT, PEOPLE, draw_people, draws_people
from dame.experiments.style import SERIES, images, panels
from dame.experiments.tidy import TidyTable
from dame.planning.files import drafted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dame.engines.pilot import Pilot
from dame.engines.scores import Score

MOST_INTERVALS = 16
KINDS = (".png", ".svg")
GREY = "#7F7F7F"

Row = tuple[str, str, "Score"]
"""A block of a panel: its name, its colour, and what was found beside the truth."""


def check_picture_name(path: Path) -> None:
    """Refuses a name that no picture can be written to, before the work is done."""
    if path.suffix not in KINDS or not path.parent.is_dir():
        raise InvalidInput("plot", str(path), f"a file in a folder that exists, ending in {' or '.join(KINDS)}")


def draw_pilot(pilot: Pilot, path: Path) -> None:
    """Writes the picture, under a temporary name first."""
    content = images(lambda _: _figure(pilot), TidyTable(()))[path.suffix]
    with drafted(path) as draft:
        draft.write_bytes(content)


def _figure(pilot: Pilot) -> Figure:
    each = [_blocks(pilot, place) for place in range(len(pilot.plan.targets))]
    shown = min(len(pilot.results), MOST_INTERVALS)
    drawn = [draws_people(pilot, place) for place in range(len(each))]
    heights: list[float] = []
    for blocks, people in zip(each, drawn, strict=True):
        heights += [0.62 + 0.035 * len(blocks) * (shown + 2), *([CURVE_HEIGHT] if people else [])]
    figure, axes = panels(len(heights), 2, 0.5 + sum(heights), width_ratios=[3, 2], height_ratios=heights)
    pairs = zip(axes[::2], axes[1::2], strict=True)
    for place, (blocks, people) in enumerate(zip(each, drawn, strict=True)):
        left, right = next(pairs)
        _intervals(left, blocks, shown)
        _errors(right, blocks)
        left.set_title(pilot.plan.targets[place].target.words, fontsize=7, loc="left")
        if people:
            draw_people(*next(pairs), pilot, place)
    users, records = pilot.survey.users, pilot.survey.records
    figure.suptitle(f"{users:,} users, {records:,} records, α = {pilot.plan.alpha:.3g}", fontsize=8)
    return figure


def _blocks(pilot: Pilot, place: int) -> list[Row]:
    """What a panel shows: protocols or quantiles, or, where there are groups, everybody and each group."""
    colours = {name: series.colour for name, series in SERIES.items()}
    blocks = [
        (name, colours.get(name, GREY), one.score(place))
        for one in (pilot, *pilot.rivals)
        for name in [one.plan.targets[place].machines[0].protocol]
    ]
    if not pilot.results[0].groups:
        quantiles = pilot.value_scores(place)
        return [(name, PEOPLE, score) for name, _, score in quantiles] or blocks
    groups = [(each.group, GREY, pilot.group_score(each.group, place)) for each in pilot.results[0].groups]
    return [("everybody", blocks[0][1], blocks[0][2]), *groups]


def _intervals(axes: Axes, blocks: list[Row], shown: int) -> None:
    """Every interval a line, beside its truth; those that miss it have an open dot."""
    step = shown + 2
    for block, (_, colour, score) in enumerate(blocks):
        for row, estimate in enumerate(score.estimates[:shown]):
            (low, high), place = estimate.interval, block * step + row
            axes.plot([low, high], [place, place], color=colour, lw=0.9, solid_capstyle="butt")
            face = colour if low <= score.truth <= high else "white"
            axes.plot(estimate.value, place, "o", color=colour, ms=2.2, mfc=face, mew=0.7)
        ends = [block * step - 1, block * step + shown]
        axes.plot([score.truth] * 2, ends, color="black", lw=0.8, ls=(0, (4, 2)))
    axes.set_yticks([block * step + (shown - 1) / 2 for block in range(len(blocks))])
    axes.set_yticklabels([name for name, _, _ in blocks])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("estimate and 95 % interval; dashed: truth")


def _errors(axes: Axes, blocks: list[Row]) -> None:
    """The root mean squared error of each block as a bar, with the coverage of its intervals beside it."""
    for row, (_, colour, score) in enumerate(blocks):
        axes.barh(row, score.rmse, color=colour, height=0.6)
        text = f"{score.rmse:.3g}"
        if len(score.estimates) > 1:
            text += f", covers {score.coverage:.0%}"
        axes.annotate(text, (score.rmse, row), xytext=(2, 0), textcoords="offset points", va="center", fontsize=6)
    axes.set_xlim(0, max(score.rmse for _, _, score in blocks) * 1.75 or 1.0)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("RMSE" if len(blocks[0][2].estimates) > 1 else "error of this study")
