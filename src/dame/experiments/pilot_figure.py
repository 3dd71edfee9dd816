"""The picture of a pilot: truth, intervals of single studies, and how far off each protocol is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dame.errors import InvalidInput
from dame.experiments.style import SERIES, images, panels
from dame.experiments.tidy import TidyTable
from dame.planning.files import drafted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dame.engines.pilot import Pilot

MOST_INTERVALS = 16
KINDS = (".png", ".svg")


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
    pilots = (pilot, *pilot.rivals)
    shown = min(len(pilot.outcomes), MOST_INTERVALS)
    figure, (left, right) = panels(1, 2, 1.1 + 0.035 * len(pilots) * shown, width_ratios=[3, 2])
    _intervals(left, pilots, shown, pilot.true_mean)
    _errors(right, pilots)
    plan = pilot.plan
    figure.suptitle(f"{pilot.survey.users:,} users, {pilot.survey.records:,} records, α = {plan.alpha:.3g}", fontsize=8)
    return figure


def _intervals(axes: Axes, pilots: tuple[Pilot, ...], shown: int, truth: float) -> None:
    """Every interval a line; those that miss the truth have an open dot."""
    for block, pilot in enumerate(pilots):
        colour = SERIES[pilot.plan.protocol].colour if pilot.plan.protocol in SERIES else "#7F7F7F"
        for row, outcome in enumerate(pilot.outcomes[:shown]):
            low, high = outcome.estimate.interval
            place = block * (shown + 2) + row
            axes.plot([low, high], [place, place], color=colour, lw=0.9, solid_capstyle="butt")
            face = colour if low <= truth <= high else "white"
            axes.plot(outcome.estimate.value, place, "o", color=colour, ms=2.2, mfc=face, mew=0.7)
    axes.axvline(truth, color="black", lw=0.8, ls=(0, (4, 2)))
    axes.set_yticks([block * (shown + 2) + (shown - 1) / 2 for block in range(len(pilots))])
    axes.set_yticklabels([pilot.plan.protocol for pilot in pilots])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("estimate and 95 % interval; dashed: truth")


def _errors(axes: Axes, pilots: tuple[Pilot, ...]) -> None:
    """The root mean squared error of each protocol as a bar, with the coverage of its intervals beside it."""
    for row, pilot in enumerate(pilots):
        colour = SERIES[pilot.plan.protocol].colour if pilot.plan.protocol in SERIES else "#7F7F7F"
        axes.barh(row, pilot.rmse, color=colour, height=0.6)
        text = f"{pilot.rmse:.3g}"
        if len(pilot.outcomes) > 1:
            text += f", covers {pilot.coverage:.0%}"
        axes.annotate(text, (pilot.rmse, row), xytext=(2, 0), textcoords="offset points", va="center", fontsize=6)
    axes.set_xlim(0, max(pilot.rmse for pilot in pilots) * 1.75 or 1.0)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("RMSE" if len(pilots[0].outcomes) > 1 else "error of this study")
