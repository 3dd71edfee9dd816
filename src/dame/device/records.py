"""A person's records, and the two numbers of them that an answer depends on: how many, and a mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

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


def summary(total: int, size: int) -> Summary:
    """The summary of so many records whose grid values sum to `total`."""
    if not size:
        raise BadRecords("records must be a non-empty list of numbers: there is none")
    return Summary(size=size, mean=grid_mean(total, size))


def grid_mean(total: int, size: int) -> float:
    """The mean in [-1, 1] of `size` records whose grid values sum to `total`; each step rounds as IEEE doubles do."""
    return min(max(float(total) / size / HALF_GRID, -1.0), 1.0)


def numbers(records: Iterable[object]) -> Iterable[float]:
    """The records, if all of them are finite numbers."""
    try:
        items = iter(records)
    except TypeError:
        raise BadRecords("records must be a list of numbers") from None
    if isinstance(records, _TEXTS):
        raise BadRecords("records must be a list of numbers, not a text")
    for place, item in enumerate(items, start=1):
        # Finite floats, which most records are, need no conversion.
        yield item if type(item) is float and -math.inf < item < math.inf else _number(place, item)


def _number(place: int, item: object) -> float:
    # Neither the message nor the chain of exceptions may carry the record itself, whatever its type raises.
    try:
        value = math.nan if isinstance(item, _TEXTS) else float(item)  # type: ignore[arg-type]
    except Exception:
        value = math.nan
    if not -math.inf < value < math.inf:
        raise BadRecords(f"record number {place} must be a finite number")
    return value
