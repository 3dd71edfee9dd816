"""Noisy unary votes of many users: each votes yes on a run of bins and no elsewhere, and every bit is a coin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.errors import InvalidInput
from dame.vectorised.bernoulli import BLOCK, LANES, clear_beyond, packed_bits
from dame.vectorised.bitmatrix import SIDE, ones_per_row, transpose_squares
from dame.vectorised.words import WordArray, Words

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ballots:
    """What users vote: yes on bins first … last and no elsewhere, first > last is all no; and their coins' thresholds.

    Privacy: a bit is one with probability yes/2^64 on a bin of the vote and no/2^64 on any other, exactly, and all
    bits are independent; the privacy loss follows from these integers and the lengths of the runs.
    """

    yes: int
    no: int
    bins: int
    first: Ints
    last: Ints

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            array = getattr(self, name)
            if array.shape != (self.first.size,) or not np.can_cast(array.dtype, np.int64):
                raise InvalidInput(name, array.dtype, f"a one-dimensional array of {self.first.size} integers")
            object.__setattr__(self, name, array.astype(np.int64, copy=False))
        # The extremes mostly tell without a look at each vote; an empty one may lie anywhere.
        if self.first.min(initial=0) < 0 or self.last.max(initial=0) >= self.bins:
            outside = (self.first < 0) | (self.last >= self.bins)
            if (outside & (self.first <= self.last)).any():
                raise InvalidInput("votes", "one outside", f"runs of bins from 0 to {self.bins - 1}")


def vote_matrix(words: Words, ballots: Ballots) -> WordArray:
    """The noisy bits of all users, bin by bin: bit i % 64 of [j, i // 64] is user i's bit on bin j."""
    matrix = np.empty((ballots.bins, -(-ballots.first.size // LANES)), np.uint64)
    for columns, users in _blocks(ballots.first.size, ballots.bins):
        matrix[:, columns] = _drawn(words, ballots, users)
    return matrix


def vote_rows(words: Words, ballots: Ballots) -> Bytes:
    """Such bits, one row of bytes per user: her bit on bin j is bit j % 8 of byte j // 8, unused bits are zero."""
    matrix = vote_matrix(words, ballots)
    rows = np.empty((ballots.first.size, -(-ballots.bins // 8)), np.uint8)
    for top in range(0, ballots.bins, SIDE):
        for columns, users in _blocks(len(rows), SIDE):
            part = rows[users, top // 8 : (top + SIDE) // 8]
            part[:] = _rows(matrix[top : top + SIDE, columns])[: len(part), : part.shape[1]]
    return rows


def count_votes(words: Words, ballots: Ballots) -> Ints:
    """The number of ones on each bin of such bits, which are drawn for some users at a time and not kept."""
    counts = np.zeros(ballots.bins, np.int64)
    for _, users in _blocks(ballots.first.size, ballots.bins):
        counts += ones_per_row(_drawn(words, ballots, users))
    return counts


def count_rows(rows: Bytes, bins: int) -> Ints:
    """The number of ones on each bin of rows as `vote_rows` gives them; unused bits are not looked at."""
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != -(-bins // 8):
        raise InvalidInput("reports", rows.shape, f"rows of {-(-bins // 8)} bytes")
    counts = np.zeros(bins, np.int64)
    for top in range(0, bins, SIDE):
        for _, users in _blocks(len(rows), SIDE):
            ones = ones_per_row(_columns(rows[users, top // 8 : (top + SIDE) // 8]))
            counts[top : top + SIDE] += ones[: bins - top]
    return counts


def _drawn(words: Words, ballots: Ballots, users: slice) -> WordArray:
    """The noisy bits of some users, one row of words per bin: all drawn as no, then those of the votes overwritten."""
    first, last = ballots.first[users], ballots.last[users]
    columns = -(-first.size // LANES)

    def coins(threshold: int, rows: int) -> WordArray:
        return packed_bits(words, threshold, rows * columns * LANES).reshape(rows, columns)

    votes = coins(ballots.no, ballots.bins)
    voters = np.flatnonzero(first <= last)
    if voters.size:
        longest = int((last - first)[voters].max()) + 1
        # A run of at most `longest` bins meets each row of coins, taken in turn, at most once.
        ayes = coins(ballots.yes, longest)[np.arange(ballots.bins) % longest]
        ayes ^= votes
        ayes &= _marks(votes.shape, voters, first[voters], last[voters] if longest > 1 else None)
        votes ^= ayes
    return clear_beyond(votes, first.size)


def _marks(shape: tuple[int, ...], voters: Ints, first: Ints, last: Ints | None) -> WordArray:
    """The votes without noise, one row of words per bin; without `last`, each voter has one bin."""
    bins, columns = shape
    marks = np.zeros((bins + 1, columns), np.uint64)
    _flip(marks, first, voters)
    if last is not None:
        # A flip where a run starts and one behind its end, added up over the bins, leave the run itself.
        _flip(marks, last + 1, voters)
        for row in range(1, bins):
            marks[row] ^= marks[row - 1]
    return marks[:-1]


def _flip(marks: WordArray, rows: Ints, users: Ints) -> None:
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


def _blocks(users: int, bins: int) -> Iterator[tuple[slice, slice]]:
    """Columns of words and the users in them, block by block; each stays in a processor's cache over these bins."""
    columns, step = -(-users // LANES), max(1, BLOCK // bins)
    for start in range(0, columns, step):
        yield slice(start, start + step), slice(start * LANES, (start + step) * LANES)
