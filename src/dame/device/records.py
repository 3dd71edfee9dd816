"""A person's records, and the two numbers of them that an answer depends on: how many, and a mean.

A record is a number, or a mapping from names of columns to values. A record without a value in the column that a
question is about does not count for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dame.errors import BadRecords

HALF_GRID = 2**30
"""Grid steps from the middle of the bounds to either end."""
MOST_RECORDS = 2**62

_TEXTS = (str, bytes, bytearray)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A person's number of records and their mean, the bounds being -1 and 1. Private: it never shows its contents."""

    size: int = field(repr=False)
    mean: float = field(repr=False)


ABSENT = Summary(size=1, mean=0.0)
"""Somebody without any record that counts answers like somebody with one record in the middle of the bounds."""


def summary(total: int, size: int) -> Summary:
    """The summary of so many records whose grid values sum to `total`."""
    return Summary(size=size, mean=grid_mean(total, size)) if size else ABSENT


def grid_mean(total: int, size: int) -> float:
    """The mean in [-1, 1] of `size` records whose grid values sum to `total`; each step rounds as IEEE doubles do."""
    return min(max(float(total) / size / HALF_GRID, -1.0), 1.0)


def numbers(records: Iterable[object], column: str) -> Iterator[float]:
    """The values of a column in the records that have one, if all of them are finite numbers."""
    return _values(records, column, _number)


def numbers_or_texts(records: Iterable[object], column: str) -> Iterator[float | str]:
    """The values of a column in the records that have one, if all of them are texts or finite numbers."""
    return _values(records, column, _number_or_text)


def _values(records: Iterable[object], column: str, read: Callable[[int, object], float | str]) -> Iterator[Any]:
    try:
        items = iter(records)
    except TypeError:
        raise BadRecords("records must be a list of records") from None
    if isinstance(records, (*_TEXTS, Mapping)):
        raise BadRecords("records must be a list of records, not a single one")
    for place, item in enumerate(items, start=1):
        if type(item) is float and -math.inf < item < math.inf:  # what most records are needs no conversion
            yield item
        elif not column or not isinstance(item, Mapping):  # where no column is named, a mapping is a bad record
            yield read(place, item)
        elif (value := _cell(item, column)) is not None:
            yield read(place, value)


def _cell(record: Mapping[object, object], column: str) -> object:
    try:
        return record.get(column)
    except Exception:  # a mapping of somebody else's making, whose error may show the record
        return math.nan


def _number(place: int, item: object, allowed: str = "a finite number") -> float:
    # Neither the message nor the chain of exceptions may carry the record itself, whatever its type raises.
    try:
        value = math.nan if isinstance(item, _TEXTS) else float(item)  # type: ignore[arg-type]
    except Exception:
        value = math.nan
    if not -math.inf < value < math.inf:
        raise BadRecords(f"record number {place} must be {allowed}")
    return value


def _number_or_text(place: int, item: object) -> float | str:
    return item if isinstance(item, str) else _number(place, item, "a text or a finite number")
