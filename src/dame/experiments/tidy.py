"""Tidy tables: one row for each setting and curve, the settings in columns. Figures and reports read nothing else."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Value = str | int | float
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class TidyTable:
    """Rows with the same columns, or with some of them left out."""

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> TidyTable:
        """The table of some rows."""
        return cls(tuple(rows))

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order in which they first occur."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def where(self, **values: Value) -> TidyTable:
        """The rows that have these values."""
        return TidyTable.of(row for row in self.rows if all(row.get(name) == value for name, value in values.items()))

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a column."""
        return np.array([float(row[name]) for row in self.rows])

    def distinct(self, name: str) -> list[Value]:
        """The values of a column, each once, in the order in which they first occur."""
        return list(dict.fromkeys(row[name] for row in self.rows if name in row))

    def one(self, name: str, **values: Value) -> float:
        """The number in a column of the only row that has these values."""
        (row,) = self.where(**values).rows
        return float(row[name])

    def csv(self) -> str:
        """The table as text; floats with all their digits, so that the file says exactly what was computed."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _plain(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()


def _plain(value: Value) -> Value:
    # numpy's own floats would print as np.float64(…) or with other digits.
    return value if isinstance(value, (str, int)) else repr(float(value))
