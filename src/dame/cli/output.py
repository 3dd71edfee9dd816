"""What commands print: JSON for programs on standard output, tables and bars for people, progress on standard error."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from dame.errors import plain
from dame.planning.files import drafted

if TYPE_CHECKING:
    from dame.curves import Distribution

# Without emoji: the sizes two-point:100:1000:0.5 would lose their ":100:" to one.
people = Console(highlight=False, emoji=False)
notes = Console(stderr=True, highlight=False, emoji=False)

SHOW_PROGRESS_AFTER = 2.0
BAR_WIDTH = 40


def print_json(document: Mapping[str, object]) -> None:
    """Prints one JSON object; numbers that are not finite become null, as JSON has no word for them."""
    print(json.dumps(_finite(document), allow_nan=False))


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Writes a JSON file under a temporary name first, so that nobody ever sees half of it."""
    with drafted(path) as draft:
        draft.write_text(json.dumps(_finite(document), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def figures(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    """A table of names and values, which are shown as they are, whoever wrote them."""
    table = Table(title=escape(plain(title)), title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(bold(name), escape(plain(value)))
    return table


def bold(name: str) -> str:
    """A name in bold, whatever it contains."""
    return f"[bold]{escape(plain(name))}[/bold]"


def bar(fraction: float, width: int = BAR_WIDTH) -> str:
    """A bar of blocks as long as a fraction of the width."""
    return "█" * round(min(max(fraction, 0.0), 1.0) * width)


def histogram(curve: Distribution, bars: int = 16, scale: str = "linear") -> Table:
    """A sketch of where people are: a bar for each stretch of the range."""
    listed = curve.histogram(bars, scale)
    most = max(one.share for one in listed) or 1.0
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for one in listed:
        table.add_row(f"{one.left:.5g} to {one.right:.5g}", f"{one.share:.1%}", bar(one.share / most, 24))
    return table


def ruler(low: float, high: float, marks: Mapping[str, float], width: int = 60) -> str:
    """A line from low to high with letters at the places of the marks; later marks win where two meet."""
    line = ["─"] * width
    for letter, place in marks.items():
        line[min(max(round((place - low) / (high - low) * (width - 1)), 0), width - 1)] = letter
    return "".join(line)


@contextmanager
def progress_of(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function that is told how many steps are done; a bar appears on standard error once it takes two seconds."""
    started = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as progress:
        task = progress.add_task(label, total=total, visible=False)

        def done(steps: int) -> None:
            late = time.monotonic() - started > SHOW_PROGRESS_AFTER
            progress.update(task, completed=steps, visible=late)

        yield done


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
