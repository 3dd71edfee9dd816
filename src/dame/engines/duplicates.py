"""Which reports share an id: copies count once, and an id that comes with two different reports counts for none.

The outcome does not depend on the order of files or rows. Only the first halves of the ids are held in memory, and
of these one slice of their range at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dame.vectorised.unary import Bytes

IDS_AT_ONCE = 2**26
"""Ids compared together: half a GiB, and as much again to sort them."""

Halves = NDArray[np.uint64]
Dropped = NDArray[np.int64]
"""Numbers of rows that do not count."""


class Source(Protocol):
    """Reports and their ids, in the same groups of rows."""

    def __len__(self) -> int: ...

    def ids(self) -> Iterator[Bytes]:
        """The ids, a row each."""

    def contents(self) -> Iterator[Bytes]:
        """What each row holds besides its id, in as many bytes."""


def duplicate_rows(sources: Sequence[Source]) -> list[Dropped]:
    """For each source, the rows that do not count."""
    suspects = _repeated_halves(sources)
    dropped = [np.empty(0, np.int64) for _ in sources]
    if suspects.size:
        which, rows, ids, reports = _suspected(sources, suspects)
        bad = _not_counted(ids, reports)
        dropped = [rows[bad & (which == index)] for index in range(len(sources))]
    return dropped


def _repeated_halves(sources: Sequence[Source]) -> Halves:
    """First halves that occur more than once."""
    slices = -(-sum(map(len, sources)) // IDS_AT_ONCE)
    found = [np.empty(0, np.uint64)]
    for index in range(slices):
        parts = [_in_slice(_halves(ids), index, slices) for source in sources for ids in source.ids()]
        # Each file is sorted by id, and this kind of sorting merges what is sorted already.
        halves = np.sort(np.concatenate(parts), kind="stable")
        again = halves[1:] == halves[:-1]
        found.append(halves[1:][again & ~np.append(False, again[:-1])])
    return np.sort(np.concatenate(found))


def _halves(ids: Bytes) -> Halves:
    # Read in the order of their bytes: a file is sorted by id, so look-ups go through memory from end to end.
    return ids.view(">u8")[:, 0].astype(np.uint64)


def _in_slice(halves: Halves, index: int, slices: int) -> Halves:
    return halves if slices == 1 else halves[halves % np.uint64(slices) == index]


def _suspected(sources: Sequence[Source], suspects: Halves) -> tuple[Dropped, Dropped, Bytes, Bytes]:
    """Source, row, id and report of every row whose first half is suspected."""
    found = []
    for index, source in enumerate(sources):
        start = 0
        for ids, reports in zip(source.ids(), source.contents(), strict=True):
            places = _places(_halves(ids), suspects)
            found.append((np.full(len(places), index), start + places, ids[places], reports[places]))
            start += len(ids)
    which, rows, ids, reports = zip(*found, strict=True)
    return np.concatenate(which), np.concatenate(rows), np.concatenate(ids), np.concatenate(reports)


def _places(halves: Halves, suspects: Halves) -> Dropped:
    """Where a sorted list of suspects holds the half."""
    nearest = np.minimum(np.searchsorted(suspects, halves), len(suspects) - 1)
    return np.flatnonzero(suspects[nearest] == halves)


def _not_counted(ids: Bytes, reports: Bytes) -> NDArray[np.bool_]:
    """The rows that are copies of an earlier one, and all rows of an id with different reports."""
    order = _order(ids)
    same = np.append(False, (ids[order[1:]] == ids[order[:-1]]).all(axis=1))
    differs = np.append(False, (reports[order[1:]] != reports[order[:-1]]).any(axis=1))
    starts = np.flatnonzero(~same)
    torn = np.logical_or.reduceat(same & differs, starts)
    bad = np.empty(len(ids), np.bool_)
    bad[order] = same | np.repeat(torn, np.diff(np.append(starts, len(ids))))
    return bad


def _order(ids: Bytes) -> NDArray[np.intp]:
    """An order of the rows in which equal ids are neighbours."""
    first, second = _halves(ids), ids.view(np.uint64)[:, 1]
    order = np.argsort(first, kind="stable")
    equal, next_ = first[order[1:]] == first[order[:-1]], second[order[1:]] == second[order[:-1]]
    # Two ids that agree in one half only are next to impossible, unless somebody makes them up.
    return order if (equal <= next_).all() else np.lexsort((second, first))
