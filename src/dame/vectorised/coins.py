"""Coins for many people at once, as channels need them: from one stream of words, or from a stream for each person."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dame.vectorised.keyed import Lanes
from dame.vectorised.keyed import discrete_laplace as keyed_laplace
from dame.vectorised.laplace import discrete_laplace
from dame.vectorised.unary import Ballots, Bytes, Ints, count_votes, vote_rows
from dame.vectorised.words import SecureWords, WordArray, Words

_WORDS_AT_ONCE = 2**15
"""Words of votes drawn together: they stay in a processor's cache."""


class ManyCoins(ABC):
    """Coins of many people: each draw is one of every person."""

    @abstractmethod
    def each(self) -> WordArray:
        """The next word of each person."""

    @abstractmethod
    def vote_rows(self, ballots: Ballots) -> Bytes:
        """The noisy bits of each person's votes, a row of bytes each: bin j is bit j % 8 of byte j // 8."""

    @abstractmethod
    def vote_counts(self, ballots: Ballots) -> Ints:
        """The number of ones on each bin of such noisy bits, which are not kept."""

    @abstractmethod
    def laplace(self, scale: int) -> Ints:
        """An integer k for each person with probability proportional to exp(-|k|/scale)."""


class StreamCoins(ManyCoins):
    """Coins of so many people from one stream of words: secure, unless another stream is given."""

    def __init__(self, people: int, words: Words | None = None) -> None:
        self._people = people
        self._words = SecureWords() if words is None else words

    def each(self) -> WordArray:
        """The next word of each person."""
        return self._words.take(self._people)

    def vote_rows(self, ballots: Ballots) -> Bytes:
        """The noisy bits of each person's votes."""
        return vote_rows(self._words, ballots)

    def vote_counts(self, ballots: Ballots) -> Ints:
        """The number of ones on each bin."""
        return count_votes(self._words, ballots)

    def laplace(self, scale: int) -> Ints:
        """Noise for each person."""
        return discrete_laplace(self._words, scale, self._people)


class KeyedCoins(ManyCoins):
    """Coins from a stream for each person, read in the order in which a device reads its own."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._taken = 0

    def each(self) -> WordArray:
        """The next word of each person."""
        words = self._lanes.words(self._taken, 1).reshape(-1)
        self._taken += 1
        return words

    def vote_rows(self, ballots: Ballots) -> Bytes:
        """The noisy bits of each person's votes, bin after bin."""
        rows = np.empty((len(self._lanes), (ballots.bins + 7) // 8), np.uint8)
        for people, bins, bits in self._bits(ballots):
            packed = np.packbits(bits, axis=1, bitorder="little")
            rows[people, bins.start // 8 : bins.start // 8 + packed.shape[1]] = packed
        return rows

    def vote_counts(self, ballots: Ballots) -> Ints:
        """The number of ones on each bin."""
        counts = np.zeros(ballots.bins, np.int64)
        for _, bins, bits in self._bits(ballots):
            # Fewer people than 2^16 in a block: in 16 bits they add up four times as fast as in 64.
            counts[bins.start : bins.stop] += np.add.reduce(bits.view(np.uint8), axis=0, dtype=np.uint16)
        return counts

    def laplace(self, scale: int) -> Ints:
        """Noise for each person, from the last words that are taken of her: how many these are differs."""
        return keyed_laplace(self._lanes, scale, self._taken)

    def _bits(self, ballots: Ballots) -> Iterator[tuple[slice, range, NDArray[np.bool_]]]:
        """The noisy bits in blocks of some people and some bins."""
        at_once = min(ballots.bins, _WORDS_AT_ONCE)  # a multiple of eight, unless it is all of them
        step = max(_WORDS_AT_ONCE // at_once, 1)
        for top in range(0, len(self._lanes), step):
            people = slice(top, top + step)
            for left in range(0, ballots.bins, at_once):
                bins = range(left, min(left + at_once, ballots.bins))
                yield people, bins, self._block(ballots, people, bins)
        self._taken += ballots.bins

    def _block(self, ballots: Ballots, people: slice, bins: range) -> NDArray[np.bool_]:
        words = self._lanes.words(self._taken + bins.start, len(bins), people)
        places = np.arange(bins.start, bins.stop)
        marked = (places >= ballots.first[people, None]) & (places <= ballots.last[people, None])
        return np.asarray((words < np.uint64(ballots.no)) | (marked & (words < np.uint64(ballots.yes))))
