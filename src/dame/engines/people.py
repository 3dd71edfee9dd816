"""What a table is reduced to: for each user a public hash, numbers of records, exact sums, and her public group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dame.device.statistics import Statistic
from dame.engines.statistic_arrays import Floats, Ints, array_form
from dame.errors import Mismatch

Hashes = NDArray[np.uint64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The statistics that a table was reduced for, and where people hold them: for each statistic the place of its
    count, and that of its total if it has one. Counts that are the same for all users are held once."""

    statistics: tuple[Statistic, ...]
    counts: tuple[int, ...]
    totals: tuple[int | None, ...]
    grouped: bool = False

    @classmethod
    def each(cls, statistics: Sequence[Statistic], counts: Sequence[str], grouped: bool = False) -> Held:
        """Statistics whose counts have these names, one for each."""
        names = list(dict.fromkeys(counts))
        totals: list[int | None] = []
        for statistic in statistics:
            totals.append(len(totals) - totals.count(None) if array_form(statistic).summed else None)
        places = tuple(names.index(name) for name in counts)
        return cls(statistics=tuple(statistics), counts=places, totals=tuple(totals), grouped=grouped)

    @property
    def count_columns(self) -> int:
        """How many different counts there are."""
        return len(set(self.counts))

    @property
    def total_columns(self) -> int:
        """How many totals there are."""
        return len(self.totals) - self.totals.count(None)

    @property
    def bytes_each(self) -> int:
        """Memory that one user takes."""
        return 8 * (1 + self.count_columns + self.total_columns) + 4 * self.grouped

    def place(self, statistic: Statistic) -> int:
        """The place of a statistic; one that the table was not reduced for is a Mismatch."""
        if statistic not in self.statistics:
            known = "; ".join(known.words for known in self.statistics)
            raise Mismatch(f"the table was not read for {statistic.words}, but for {known}")
        return self.statistics.index(statistic)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Some users of a table: the public hash of each, her numbers of records, and the sums of their grid values.

    Where users have public groups, `codes` are the places of their groups in the list `groups`.
    """

    held: Held
    hashes: Hashes
    counts: tuple[Ints, ...]
    totals: tuple[Ints, ...]
    codes: Codes | None = None
    groups: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.hashes)

    def of(self, statistic: Statistic) -> tuple[Ints, Floats]:
        """The size and the mean, in [-1, 1], of each user; of one without such records, those that her device takes."""
        counts, totals = self._held(statistic)
        return array_form(statistic).summaries(counts, totals)

    def sizes(self, statistic: Statistic) -> Ints:
        """For how many records each user stands; 0 where she has no mean."""
        return array_form(statistic).sizes(self._held(statistic)[0])

    def _held(self, statistic: Statistic) -> tuple[Ints, Ints]:
        place = self.held.place(statistic)
        counts, total = self.counts[self.held.counts[place]], self.held.totals[place]
        return counts, counts if total is None else self.totals[total]

    def only(self, statistic: Statistic) -> People:
        """The same people, with one statistic."""
        counts, totals = self._held(statistic)
        held = Held.each([statistic], ["count"], self.held.grouped)
        return replace(self, held=held, counts=(counts,), totals=(totals,) * held.total_columns)

    def chosen(self, who: NDArray[np.bool_] | NDArray[np.intp] | slice) -> People:
        """The users that a mask, places or a slice choose."""
        if isinstance(who, np.ndarray) and who.dtype == np.bool_:
            # One search through the mask instead of many takes a fraction of the time.
            who = np.flatnonzero(who)
        return replace(
            self,
            hashes=self.hashes[who],
            counts=tuple(column[who] for column in self.counts),
            totals=tuple(column[who] for column in self.totals),
            codes=None if self.codes is None else self.codes[who],
        )

    def by_group(self) -> Iterator[tuple[str, People]]:
        """Each group by its name, and its users here, of whom there may be none."""
        assert self.codes is not None
        order = np.argsort(self.codes, kind="stable")
        borders = np.searchsorted(self.codes[order], np.arange(len(self.groups) + 1))
        for place, name in enumerate(self.groups):
            yield name, self.chosen(order[borders[place] : borders[place + 1]])

    def packed(self) -> bytes:
        """The people in `held.bytes_each` bytes each, and the names of their groups, for whoever keeps them."""
        columns: list[np.ndarray] = [np.array([len(self)], np.uint64), self.hashes, *self.counts, *self.totals]
        if self.codes is not None:
            columns.append(self.codes)
        return b"".join([*(column.tobytes() for column in columns), json.dumps(self.groups).encode()])

    @classmethod
    def unpacked(cls, packed: bytes, held: Held) -> People:
        """The people in what `packed` gave."""
        length = int(np.frombuffer(packed, np.uint64, 1)[0])
        columns = 1 + held.count_columns + held.total_columns
        hashes, *words = np.frombuffer(packed, np.uint64, columns * length, 8).reshape(columns, length)
        numbers = [column.view(np.int64) for column in words]
        end = 8 + held.bytes_each * length
        codes = np.frombuffer(packed, np.int32, length, end - 4 * length) if held.grouped else None
        return cls(
            held=held,
            hashes=hashes,
            counts=tuple(numbers[: held.count_columns]),
            totals=tuple(numbers[held.count_columns :]),
            codes=codes,
            groups=tuple(json.loads(packed[end:])),
        )
