"""One tidy table for everything that is measured."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of one contestant.

    `ratio` is that to the limit (accuracy), of our speed to this one, or to the first of its kind (footprint). `people`
    is how many it takes for a 95 % interval of ±0.01 on the scale -1 … 1; an empty `value` is explained by the
    note.
    """

    part: str
    setting: str
    contestant: str
    value: float | None = None
    unit: str = ""
    ratio: float | None = None
    people: float | None = None
    note: str = ""


def to_csv(rows: Iterable[Row]) -> str:
    """All rows as a csv file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _plain(value) for name, value in asdict(row).items()})
    return text.getvalue()


def _plain(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def short(value: float | None) -> str:
    """A number as people read it: two or three digits, thousands separated."""
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "never"
    if value == 0:
        return "0"
    if abs(value) >= 100:
        digits = 2 - math.floor(math.log10(abs(value)))
        return f"{round(value, digits):,.0f}"
    return f"{value:.1e}" if abs(value) < 1e-3 else f"{value:.3g}"


def grid(head: list[str], lines: Iterable[list[str]]) -> str:
    """A markdown table."""
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*rows, *(f"| {' | '.join(line)} |" for line in lines)])
