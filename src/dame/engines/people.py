"""What a table is reduced to: for each user a public hash, numbers of records, exact sums, and her public group."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dame.device.statistics import Statistic
from dame.errors import Mismatch
from dame.vectorised.coins import ManyCoins
from dame.vectorised.statistics import Draws, Floats, Ints, array_form

Hashes = NDArray[np.uint64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The statistics that a table was reduced for, and where people hold them: for each statistic the place of its
    count, and those of its total and of its drawn records if it has any. Counts that are the same for all users are
    held once; `drawn` records of each user are held."""

    statistics: tuple[Statistic, ...]
    counts: tuple[int, ...]
    totals: tuple[int | None, ...]
    draws: tuple[int | None, ...]
    drawn: int = 1
    grouped: bool = False

    @classmethod
    def each(
        cls, statistics: Sequence[Statistic], counts: Sequence[str], drawn: int = 1, grouped: bool = False
    ) -> Held:
        """Statistics whose counts have these names, one for each."""
        names, forms = list(dict.fromkeys(counts)), list(map(array_form, statistics))
        return cls(
            statistics=tuple(statistics),
            counts=tuple(names.index(name) for name in counts),
            totals=_places(form.summed for form in forms),
            draws=_places(form.draws for form in forms),
            drawn=drawn,
            grouped=grouped,
        )

    @property
    def count_columns(self) -> int:
        """How many different counts there are."""
        return len(set(self.counts))

    @property
    def total_columns(self) -> int:
        """How many totals there are."""
        return len(self.totals) - self.totals.count(None)

    @property
    def draw_columns(self) -> int:
        """For how many statistics records are drawn."""
        return len(self.draws) - self.draws.count(None)

    @property
    def bytes_each(self) -> int:
        """Memory that one user takes."""
        words = 1 + self.count_columns + self.total_columns
        return 8 * words + 4 * (self.drawn * self.draw_columns + self.grouped)

    def place(self, statistic: Statistic) -> int:
        """The place of a statistic; one that the table was not reduced for is a Mismatch."""
        if statistic not in self.statistics:
            known = "; ".join(known.words for known in self.statistics)
            raise Mismatch(f"the table was not read for {statistic.words}, but for {known}")
        return self.statistics.index(statistic)


def _places(has: Iterable[bool]) -> tuple[int | None, ...]:
    """Places from 0 for those who have something."""
    numbers = itertools.count()
    return tuple(next(numbers) if each else None for each in has)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Some users of a table: the public hash of each, her numbers of records, and the sums of their grid values.

    `draws` are grid values of records that were drawn of each user, for statistics that are of one record. Where users
    have public groups, `codes` are the places of their groups in the list `groups`.
    """

    held: Held
    hashes: Hashes
    counts: tuple[Ints, ...]
    totals: tuple[Ints, ...]
    draws: tuple[Draws, ...] = ()
    codes: Codes | None = None
    groups: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.hashes)

    def of(self, statistic: Statistic) -> tuple[Ints, Floats]:
        """The size and the mean, in [-1, 1], of each user; of one without such records, those that her device takes.

        Where a user answers with one of her records, the mean is that of all of them.
        """
        counts, totals, _ = self._held(statistic)
        return array_form(statistic).summaries(counts, totals)

    def answering(self, statistic: Statistic, coins: ManyCoins) -> tuple[Ints, Floats]:
        """The size and the mean with which each user answers; coins choose where she answers with one record."""
        return array_form(statistic).answering(*self._held(statistic), coins)

    def sizes(self, statistic: Statistic) -> Ints:
        """For how many records each user stands; 0 where she has no mean."""
        return array_form(statistic).sizes(self._held(statistic)[0])

    def _held(self, statistic: Statistic) -> tuple[Ints, Ints, Draws]:
        place = self.held.place(statistic)
        counts, total, draw = self.counts[self.held.counts[place]], self.held.totals[place], self.held.draws[place]
        draws = np.empty((len(self), 0), np.int32) if draw is None else self.draws[draw]
        return counts, counts if total is None else self.totals[total], draws

    def only(self, statistic: Statistic) -> People:
        """The same people, with one statistic."""
        counts, totals, draws = self._held(statistic)
        held = Held.each([statistic], ["count"], self.held.drawn, self.held.grouped)
        summed, drawn = (totals,) * held.total_columns, (draws,) * held.draw_columns
        return replace(self, held=held, counts=(counts,), totals=summed, draws=drawn)

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
            draws=tuple(rows[who] for rows in self.draws),
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
        length = np.array([len(self)], np.uint64)
        columns: list[np.ndarray] = [length, self.hashes, *self.counts, *self.totals, *self.draws]
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
        drawn = (held.draw_columns, length, held.drawn)
        draws = np.frombuffer(packed, np.int32, math.prod(drawn), 8 * (1 + columns * length)).reshape(drawn)
        codes = np.frombuffer(packed, np.int32, length, end - 4 * length) if held.grouped else None
        return cls(
            held=held,
            hashes=hashes,
            counts=tuple(numbers[: held.count_columns]),
            totals=tuple(numbers[held.count_columns :]),
            draws=tuple(draws),
            codes=codes,
            groups=tuple(json.loads(packed[end:])),
        )
