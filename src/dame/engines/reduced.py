"""From the rows that an engine reduces a table to, to people and what was counted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dame.device.statistics import Statistic
from dame.engines.layout import Layout
from dame.engines.people import Codes, Held, People
from dame.engines.sql import RowNames
from dame.engines.survey import Survey, survey_of
from dame.vectorised.statistics import Ints, Mask

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TablePart:
    """Some users of a table, and the survey of their records."""

    people: People
    survey: Survey


class GroupsOfRows(NamedTuple):
    """The public groups of rows: places in the list of their names, -1 for none; and who names several."""

    codes: Codes
    names: tuple[str, ...]
    several: Mask


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReducedRows:
    """The rows of a reduced table, one a user: her public hash, unless she has no key, and her numbers by their names.

    Where users have groups, `groups` holds those of the rows.
    """

    layout: Layout
    names: RowNames
    hashes: np.ndarray
    known: Mask
    numbers: Mapping[str, Ints]
    groups: GroupsOfRows | None = None

    @property
    def held(self) -> Held:
        """Where people hold what is known of them."""
        return held_in(self.layout, self.names)

    def part(self) -> TablePart:
        """The people in these rows, and their survey."""
        single = self._single()
        counted = self.known if single is None else self.known & single
        sizes = [self.numbers[name] for name in dict.fromkeys(self.names.sizes)]
        has = np.logical_or.reduce([size > 0 for size in sizes])
        kept = counted if self.layout.keep_absent else counted & has
        people = self._people(kept)
        left_out = {
            "without_user": self._without_user,
            "without_records": 0 if self.layout.keep_absent else int(np.count_nonzero(counted & ~has)),
            "several_groups": 0 if self.groups is None else int(np.count_nonzero(self.known & self.groups.several)),
        }
        in_no_group = int(np.count_nonzero(self.known)) - int(np.count_nonzero(counted)) - left_out["several_groups"]
        # Where a user answers with one record, the records themselves are counted, by a query of its own.
        told = [statistic for statistic in self.layout.distributions if not statistic.draws]
        survey = survey_of(people, self._counts(counted), told, **left_out, without_group=in_no_group)
        return TablePart(people=people, survey=survey)

    def _single(self) -> Mask | None:
        """Whose records name exactly one group."""
        return None if self.groups is None else (self.groups.codes >= 0) & ~self.groups.several

    def _people(self, kept: Mask) -> People:
        places = np.flatnonzero(kept)
        codes, groups = None, ()
        if self.groups is not None:
            used, inverse = np.unique(self.groups.codes[places], return_inverse=True)
            codes, groups = inverse.astype(np.int32), tuple(self.groups.names[code] for code in used.tolist())
        totals = [self.numbers[name] for name in self.names.totals if name is not None]
        draws = [np.stack([self.numbers[name] for name in names], axis=1) for names in self.names.draws if names]
        return People(
            held=self.held,
            hashes=self.hashes[places],
            counts=tuple(self.numbers[name][places] for name in dict.fromkeys(self.names.sizes)),
            totals=tuple(total[places] for total in totals),
            draws=tuple(rows[places].astype(np.int32) for rows in draws),
            codes=codes,
            groups=groups,
        )

    def _counts(self, counted: Mask) -> dict[Statistic, dict[str, int]]:
        """What is counted for each statistic: flaws in the records of all users, and who of some users has records."""
        known, who = _where(self.known), _where(counted)
        names = list(zip(self.names.present, self.names.sizes, strict=True))
        columns = {pair: self._column_counts(*pair, known, who) for pair in dict.fromkeys(names)}
        pairs = dict(zip(self.layout.columns, names, strict=True))
        clipped = [0 if name is None else int(self.numbers[name][known].sum()) for name in self.names.outside]
        each = zip(self.layout.statistics, clipped, strict=True)
        return {one: {**columns[pairs[self.layout.column(one)]], "clipped": number} for one, number in each}

    def _column_counts(self, present: str, size: str, known: Mask | slice, who: Mask | slice) -> dict[str, int]:
        sizes = self.numbers[size][who]
        rows, values, finite = (int(self.numbers[name][known].sum()) for name in ("records", present, size))
        having = int(np.count_nonzero(sizes))
        return {
            "present": having,
            "records": int(sizes.sum()),
            "nulls": rows - values,
            "not_finite": values - finite,
            "without_user": self._without_user,
            "without_records": len(sizes) - having,
        }

    @property
    def _without_user(self) -> int:
        return int(self.numbers["records"][~self.known].sum())


def _where(mask: Mask) -> Mask | slice:
    """The same as the mask, and quicker where it is true everywhere."""
    return slice(None) if mask.all() else mask


def held_in(layout: Layout, names: RowNames) -> Held:
    """Where people hold what rows of these names say of them."""
    sizes = dict(zip(layout.columns, names.sizes, strict=True))
    counts = [sizes[layout.column(statistic)] for statistic in layout.statistics]
    return Held.each(layout.statistics, counts, layout.draws, layout.group is not None)


def read_batches(layout: Layout, names: RowNames, batches: Iterable[pa.RecordBatch]) -> Iterator[TablePart]:
    """The people in batches with a column `person`, numbers of these names and, where there are any, groups."""
    for batch in batches:
        # A user without any value that counts has no sum.
        numbers = {name: _numbers(batch.column(name)) for name in names.numbers}
        yield ReducedRows(
            layout=layout,
            names=names,
            hashes=_numbers(batch.column("person")).view(np.uint64),
            known=_known(batch),
            numbers=numbers,
            groups=None if layout.group is None else _groups(batch),
        ).part()


def _known(batch: pa.RecordBatch) -> Mask:
    """Whether each row has a user. Functions of PyArrow are a module that most tables can do without."""
    people = batch.column("person")
    if not people.null_count:
        return np.ones(len(batch), np.bool_)
    return _numbers(people.is_valid().cast("uint8")).view(np.bool_)


def _groups(batch: pa.RecordBatch) -> GroupsOfRows:
    encoded = batch.column("group_name").dictionary_encode()
    codes = np.asarray(np.from_dlpack(encoded.indices.fill_null(-1)), dtype=np.int32)
    return GroupsOfRows(codes, tuple(encoded.dictionary.to_pylist()), _numbers(batch.column("several")) > 0)


def _numbers(column: pa.Array) -> np.ndarray:
    """A column, 0 where it is null; without a copy and, where nothing is null, without a constant of PyArrow, because
    either would load pandas, which takes as long as a small table."""
    return np.from_dlpack(column.fill_null(0) if column.null_count else column)
