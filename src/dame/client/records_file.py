"""A person's own file of records, read and checked as a whole before anybody is contacted.

A CSV file with a header has a column for each name; so has a JSON list of objects. A JSON list of numbers, or a file
with one number a line and no header, has values without a name. Empty cells and nulls are missing.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dame.device.questions import Question
from dame.device.statistics import Statistic, number_in
from dame.errors import BadRecords, InvalidInput

_CELLS = (str, int, float, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecords:
    """The records of a file. Private: it never shows them.

    `columns` are the names that the file has, none where its records are bare values. `value` is the column to use
    where a question names none.
    """

    records: tuple[object, ...] = field(repr=False)
    columns: tuple[str, ...] = ()
    value: str = ""

    def __post_init__(self) -> None:
        if self.value and self.columns and self.value not in self.columns:
            raise InvalidInput("value column", self.value, f"one of {', '.join(self.columns)}")

    def asked_for(self, question: Question) -> Sequence[object]:
        """The records that a question is answered with."""
        return self.by(question.statistic)

    def by(self, statistic: Statistic) -> Sequence[object]:
        """The records that a statistic is taken of: those of its column, or of the one that this person named."""
        return self.records if statistic.column or not self.columns else self._values(self._nameless)

    def check(self, statistic: Statistic) -> None:
        """Refuses records that the statistic cannot be taken of."""
        statistic.summarise(self.by(statistic))

    def missing(self, statistic: Statistic) -> str:
        """A sentence for this person alone, where nothing in her file counts for the statistic; else an empty text."""
        name = self._column(statistic)
        if self._values(name):
            return ""
        if not self.columns:
            return "your file has no records"
        if name not in self.columns:
            return f"your file has no column '{name}': it has {', '.join(self.columns)}"
        return f"your file has nothing in column '{name}'"

    def left_out(self, statistic: Statistic) -> int:
        """How many of the records have nothing in the statistic's column, where others have something."""
        counted = len(self._values(self._column(statistic)))
        return len(self.records) - counted if counted else 0

    def _column(self, statistic: Statistic) -> str:
        return statistic.column if statistic.column or not self.columns else self._nameless

    def _values(self, name: str) -> list[object]:
        """The values of a column, and all values without a name."""
        values = [record.get(name) if isinstance(record, dict) else record for record in self.records]
        return [value for value in values if value is not None]

    @property
    def _nameless(self) -> str:
        """The column to use where a question names none."""
        if self.value or len(self.columns) == 1:
            return self.value or self.columns[0]
        raise InvalidInput("value column", None, f"one of {', '.join(self.columns)}: the study names none")


def read_records(path: Path, value: str = "") -> OwnRecords:
    """The records of a file, by its ending a JSON list or else a CSV file; nothing else is ever read of it."""
    read = _from_json if path.suffix.lower() == ".json" else _from_csv
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise InvalidInput("data", str(path), "a text file in UTF-8") from None
    return read(str(path), text, value)


# --- JSON


def _from_json(path: str, text: str, value: str) -> OwnRecords:
    try:
        items = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list):
        raise InvalidInput("data", path, "a JSON list of numbers or of objects")
    records = tuple(_record(place, item) for place, item in enumerate(items, start=1))
    names = dict.fromkeys(name for item in items if isinstance(item, dict) for name in item)
    return OwnRecords(records=records, columns=tuple(names), value=value)


def _refused(_: str) -> None:
    raise ValueError  # JSON has no NaN and no infinity


def _record(place: int, item: object) -> object:
    record = {name: cell for name, cell in item.items() if cell is not None} if isinstance(item, dict) else {"": item}
    if not all(isinstance(cell, _CELLS) for cell in record.values()):
        raise BadRecords(f"record number {place} must be a number, or an object of texts and numbers")
    return record if isinstance(item, dict) else item


# --- CSV


def _from_csv(path: str, text: str, value: str) -> OwnRecords:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(map(str.strip, row))]
    except csv.Error:
        raise InvalidInput("data", path, "a CSV file with a header line") from None
    if not rows:
        return OwnRecords(records=())
    header, *rest = [[cell.strip() for cell in row] for row in rows]
    if len(header) == 1 and header[0] != value and number_in(header[0]) is not None:
        return OwnRecords(records=tuple(_bare(place, row) for place, row in enumerate([header, *rest], start=1)))
    if len(set(header)) < len(header):
        raise InvalidInput("data", path, "a CSV file whose columns have different names")
    for place, row in enumerate(rest, start=1):
        if any(row[len(header) :]):
            raise InvalidInput("data", path, f"a CSV file in which no row is longer than the header: record {place} is")
    records = [{name: _cell(cell) for name, cell in zip(header, row, strict=False) if cell} for row in rest]
    return OwnRecords(records=tuple(records), columns=tuple(header), value=value)


def _cell(text: str) -> float | str:
    number = number_in(text)
    return text if number is None else number


def _bare(place: int, row: list[str]) -> float:
    number = number_in(row[0]) if len(row) == 1 else None
    if number is None:
        raise BadRecords(f"record number {place} must be a finite number")  # without the record, which is private
    return number
