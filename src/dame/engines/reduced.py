"""From the rows that an engine reduces a table to, to people and what was counted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dame.device.records import HALF_GRID
from dame.engines.people import Ints, People
from dame.engines.sql import COUNTS
from dame.engines.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TablePart:
    """Some users of a table, and the survey of their records."""

    people: People
    survey: Survey


def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[TablePart]:
    """The people in batches with a column `person` and those of COUNTS."""
    for batch in batches:
        # A user without any finite value has no sum.
        hashes, *counts = (_numbers(batch.column(name)) for name in ("person", *COUNTS))
        yield part_of(hashes.view(np.uint64), _known(batch), dict(zip(COUNTS, counts, strict=True)))


def _known(batch: pa.RecordBatch) -> np.ndarray:
    """Whether each row has a user. Functions of PyArrow are a module that most tables can do without."""
    people = batch.column("person")
    if not people.null_count:
        return np.ones(len(batch), np.bool_)
    return _numbers(people.is_valid().cast("uint8")).view(np.bool_)


def _numbers(column: pa.Array) -> np.ndarray:
    """A column, 0 where it is null; without a copy and, where nothing is null, without a constant of PyArrow, because
    either would load pandas, which takes as long as a small table."""
    return np.from_dlpack(column.fill_null(0) if column.null_count else column)


def part_of(hashes: np.ndarray, known: np.ndarray, counts: dict[str, Ints]) -> TablePart:
    """The part that the columns of a reduced table hold; `known` is false in rows without a user."""
    size, not_finite = counts["size"], counts["present"] - counts["size"]
    usable = known & (size > 0)
    people = People(hashes=hashes, sizes=size, totals=counts["steps"] - size * HALF_GRID).chosen(usable)
    survey = Survey.of(
        people,
        clipped=_sum(counts["outside"], known),
        nulls=_sum(counts["records"] - counts["present"], known),
        not_finite=_sum(not_finite, known),
        without_user=_sum(counts["records"], ~known),
        without_records=int(np.count_nonzero(known & (size == 0))),
    )
    return TablePart(people=people, survey=survey)


def _sum(values: Ints, mask: np.ndarray) -> int:
    return int(values[mask].sum())
