"""Noisy unary votes of many users: each votes yes on a run of bins and no elsewhere, and every bit is a coin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.errors import InvalidInput
from dame.vectorised.bernoulli import BLOCK, LANES, check_threshold, clear_beyond, packed_bits
from dame.vectorised.bitmatrix import SIDE, ones_per_row, transpose_squares
from dame.vectorised.words import WordArray, Words

IntArray = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_MOST_BINS = 2**24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteBits:
    """The noisy bits of all users, bin by bin: bit i % 64 of words[j, i // 64] is user i's bit on bin j."""

    bins: int
    users: int
    words: WordArray

    def counts(self) -> IntArray:
        """The number of ones on each bin."""
        return ones_per_row(self.words)

    def reports(self) -> Bytes:
        """One row of bytes per user: her bit on bin j is bit j % 8 of byte j // 8, unused bits are zero."""
        reports = np.empty((self.users, _report_bytes(self.bins)), np.uint8)
        for top in range(0, self.bins, SIDE):
            for columns in _column_blocks(self.users, SIDE):
                rows = slice(columns.start * LANES, columns.stop * LANES)
                part = reports[rows, top // 8 : (top + SIDE) // 8]
                part[:] = _rows(self.words[top : top + SIDE, columns])[: len(part), : part.shape[1]]
        return reports


def vote_matrix(words: Words, yes: int, no: int, bins: int, first: IntArray, last: IntArray) -> VoteBits:
    """The noisy votes of users who each say yes on bins first … last, and no elsewhere; first > last is all no.

    Privacy: a bit is one with probability yes/2^64 on a bin of the vote and no/2^64 on any other, exactly, and all
    bits are independent; the privacy loss follows from these integers and the lengths of the runs.
    """
    ballot = _Ballot.checked(yes, no, bins, first, last)
    matrix = np.empty((ballot.bins, -(-ballot.users // LANES)), np.uint64)
    for columns in _column_blocks(ballot.users, ballot.bins):
        matrix[:, columns] = ballot.part(columns).draw(words)
    return VoteBits(bins=ballot.bins, users=ballot.users, words=matrix)


def count_votes(
    words: Words, yes: int, no: int, bins: int, first: IntArray, last: IntArray, chunk: int | None = None
) -> IntArray:
    """The number of ones on each bin of such noisy votes, drawn for `chunk` users at a time and not kept."""
    ballot = _Ballot.checked(yes, no, bins, first, last)
    step = None if chunk is None else -(-checks.whole("chunk", chunk, 1, 2**40) // LANES)
    counts = np.zeros(ballot.bins, np.int64)
    for columns in _column_blocks(ballot.users, ballot.bins, step):
        counts += ones_per_row(ballot.part(columns).draw(words))
    return counts


def count_reports(reports: Bytes, bins: int) -> IntArray:
    """The number of ones on each bin of reports as `VoteBits.reports` gives them; unused bits are not looked at."""
    counts = np.zeros(checks.whole("bins", bins, 1, _MOST_BINS), np.int64)
    if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != _report_bytes(bins):
        raise InvalidInput("reports", reports.shape, f"rows of {_report_bytes(bins)} bytes")
    for top in range(0, bins, SIDE):
        for columns in _column_blocks(len(reports), SIDE):
            rows = slice(columns.start * LANES, columns.stop * LANES)
            ones = ones_per_row(_columns(reports[rows, top // 8 : (top + SIDE) // 8]))
            counts[top : top + SIDE] += ones[: bins - top]
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ballot:
    """What a number of users vote, and the thresholds of their coins."""

    yes: int
    no: int
    bins: int
    first: IntArray
    last: IntArray

    @classmethod
    def checked(cls, yes: int, no: int, bins: int, first: IntArray, last: IntArray) -> _Ballot:
        """The ballot, once every field of it is known to be usable."""
        bins = checks.whole("bins", bins, 1, _MOST_BINS)
        yes, no = check_threshold("yes", yes), check_threshold("no", no)
        first, last = _integers("first", first), _integers("last", last)
        if first.size != last.size:
            raise InvalidInput("last", last.size, f"an array as long as first, {first.size}")
        if _some_outside(bins, first, last):
            raise InvalidInput("votes", "one outside", f"runs of bins from 0 to {bins - 1}")
        return cls(yes=yes, no=no, bins=bins, first=first, last=last)

    @property
    def users(self) -> int:
        """The number of users."""
        return self.first.size

    def part(self, columns: slice) -> _Ballot:
        """The ballot of the users in these columns of words."""
        rows = slice(columns.start * LANES, columns.stop * LANES)
        return _Ballot(yes=self.yes, no=self.no, bins=self.bins, first=self.first[rows], last=self.last[rows])

    def draw(self, words: Words) -> WordArray:
        """The noisy bits, one row of words per bin: all drawn as no, then those of the votes overwritten."""
        votes = self._coins(words, self.no, self.bins)
        voters = np.flatnonzero(self.first <= self.last)
        if voters.size:
            first, last = self.first[voters], self.last[voters]
            longest = int((last - first).max()) + 1
            # A run of at most `longest` bins meets each row of coins, taken in turn, at most once.
            ayes = self._coins(words, self.yes, longest)[np.arange(self.bins) % longest]
            ayes ^= votes
            ayes &= self._marks(voters, first, last if longest > 1 else None)
            votes ^= ayes
        return clear_beyond(votes, self.users)

    def _coins(self, words: Words, threshold: int, rows: int) -> WordArray:
        """Coins for every user, in so many rows of words."""
        columns = -(-self.users // LANES)
        return packed_bits(words, threshold, rows * columns * LANES).reshape(rows, columns)

    def _marks(self, voters: IntArray, first: IntArray, last: IntArray | None) -> WordArray:
        """The votes without noise, one row of words per bin; without `last`, each voter has one bin."""
        marks = np.zeros((self.bins + 1, -(-self.users // LANES)), np.uint64)
        _flip(marks, first, voters)
        if last is not None:
            # A flip where a run starts and one behind its end, added up over the bins, leave the run itself.
            _flip(marks, last + 1, voters)
            for row in range(1, self.bins):
                marks[row] ^= marks[row - 1]
        return marks[:-1]


def _some_outside(bins: int, first: IntArray, last: IntArray) -> bool:
    """Whether a vote that is not empty leaves the bins; the extremes mostly tell without a look at each vote."""
    if first.min(initial=0) >= 0 and last.max(initial=0) < bins:
        return False
    return bool(((first <= last) & ((first < 0) | (last >= bins))).any())


def _flip(marks: WordArray, rows: IntArray, users: IntArray) -> None:
    """Flip one bit per user in place, on the row given for her."""
    lanes = np.uint64(1) << (users & (LANES - 1)).astype(np.uint64)
    np.bitwise_xor.at(marks.reshape(-1), rows * marks.shape[1] + (users >> 6), lanes)


def _rows(columns: WordArray) -> Bytes:
    """Eight bytes for each of the users in these columns of words, from at most 64 bins."""
    squares = np.zeros((SIDE, columns.shape[1]), np.uint64)
    squares[: len(columns)] = columns
    return transpose_squares(squares).T.astype("<u8", order="C").view(np.uint8).reshape(-1, SIDE // 8)


def _columns(rows: Bytes) -> WordArray:
    """64 rows of words, one per bin, from at most eight bytes for each user."""
    padded = np.zeros((-(-len(rows) // LANES) * LANES, SIDE // 8), np.uint8)
    padded[: len(rows), : rows.shape[1]] = rows
    return transpose_squares(padded.view("<u8").reshape(-1, LANES).T.astype(np.uint64, order="C"))


def _column_blocks(users: int, bins: int, step: int | None = None) -> Iterator[slice]:
    """Slices that cover the columns of words, each of a size that stays in a processor's cache over these bins."""
    columns = -(-users // LANES)
    step = step or max(1, BLOCK // bins)
    for start in range(0, columns, step):
        yield slice(start, min(start + step, columns))


def _integers(field: str, values: IntArray) -> IntArray:
    """`values` as a one-dimensional array of 64-bit integers; floats and unsigned 64-bit integers are refused."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not np.can_cast(array.dtype, np.int64):
        raise InvalidInput(field, array.dtype, "a one-dimensional array of integers")
    return array.astype(np.int64, copy=False)


def _report_bytes(bins: int) -> int:
    """The number of bytes that hold one bit per bin."""
    return -(-bins // 8)
