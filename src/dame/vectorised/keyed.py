"""Repeatable coins: word n of a user is a keyed function of (seed, study, slot, repetition, user) and nothing else.

So a study with a seed gives the same reports on any engine, for any partitioning and any order. Each user's words are
read in the order in which a device reads its own, so her report is the one that `dame.device` would give with them.
Whoever knows the seed knows the coins: they serve pilots and tests, never a report that leaves a site for real.

    start = mix(hash xor k0)      word n = mix(start + mix(k1 + (n+1)·γ))

with k0 and k1 from BLAKE2b, and mix and γ those of SplitMix64 (Steele, Lea, Flood 2014; mixer by Stafford).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import Question
from dame.vectorised.words import WordArray

Ints = NDArray[np.int64]
Users = NDArray[np.intp]
Flags = NDArray[np.bool_]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def mix(words: WordArray) -> WordArray:
    """The words, each replaced by a scrambled one, one to one. The argument is used up."""
    room = np.empty_like(words)
    for shift, multiplier in zip(_SHIFTS, (*_MULTIPLIERS, None), strict=True):
        np.right_shift(words, shift, out=room)
        words ^= room
        if multiplier is not None:
            words *= multiplier
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The two 64-bit keys of a purpose."""

    first: int
    second: int

    @classmethod
    def of(cls, *purpose: str | int) -> Keys:
        """The keys that belong to a list of texts and numbers."""
        digest = hashlib.blake2b(json.dumps(purpose).encode(), digest_size=16, person=b"dame coins 1").digest()
        return cls(first=int.from_bytes(digest[:8], "big"), second=int.from_bytes(digest[8:], "big"))

    def scrambled(self, hashes: WordArray) -> WordArray:
        """The hashes, scrambled by the first key."""
        return mix(hashes ^ np.uint64(self.first))


def coin_keys(seed: int, question: Question, repetition: int) -> Keys:
    """The keys of the coins of one slot, in one repetition of its study."""
    return Keys.of("coins", seed, question.study, question.target, question.round, repetition)


class Lanes:
    """The words of some users: each has a stream of her own."""

    def __init__(self, keys: Keys, hashes: WordArray) -> None:
        self._keys = keys
        self._starts = keys.scrambled(hashes)

    def __len__(self) -> int:
        return len(self._starts)

    def words(self, first: int, count: int, users: slice = slice(None)) -> WordArray:
        """Words first … first + count - 1 of each of the users, one row a user."""
        numbers = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        return mix(self._starts[users, None] + self._offsets(numbers))

    def each(self, users: Users, numbers: WordArray) -> WordArray:
        """One word of each of the users, whose number is given for each."""
        return mix(self._starts[users] + self._offsets(numbers + np.uint64(1)))

    def _offsets(self, numbers: WordArray) -> WordArray:
        return mix(np.uint64(self._keys.second) + numbers * GAMMA)


def discrete_laplace(lanes: Lanes, scale: int, taken: int = 0) -> Ints:
    """One integer k for each user with probability proportional to exp(-|k|/scale), after so many words of hers.

    Word for word what `dame.device.coins.discrete_laplace` draws (Canonne, Kamath, Steinke 2020, algorithm 2): users
    who are at the same step take it together, and those who are refused start again.
    """
    reader = _Reader(lanes, taken)
    values = np.zeros(len(lanes), np.int64)
    left = np.arange(len(lanes))
    while left.size:
        accepted, drawn = reader.attempt(left, scale)
        values[left[accepted]] = drawn[accepted]
        left = left[~accepted]
    return values


class _Reader:
    """Steps of the sampler; keeps how many words each user has read."""

    def __init__(self, lanes: Lanes, taken: int) -> None:
        self._lanes = lanes
        self._read = np.full(len(lanes), taken, np.uint64)

    def attempt(self, users: Users, scale: int) -> tuple[Flags, Ints]:
        """For each user, whether her attempt gave a value, and which."""
        accepted, values = np.zeros(len(users), np.bool_), np.zeros(len(users), np.int64)
        fractions = self.below(users, scale)
        going = np.flatnonzero(self.exponential(users, fractions, scale))
        magnitudes = fractions[going].astype(np.int64) + scale * self.wholes(users[going])
        negative = self.below(users[going], 2) == 1
        values[going] = np.where(negative, -magnitudes, magnitudes)
        accepted[going] = ~(negative & (magnitudes == 0))
        return accepted, values

    def wholes(self, users: Users) -> Ints:
        """How often in a row a coin of probability 1/e comes up."""
        counts = np.zeros(len(users), np.int64)
        going = np.arange(len(users))
        while going.size:
            going = going[self.exponential(users[going], np.ones(going.size, np.uint64), 1)]
            counts[going] += 1
        return counts

    def exponential(self, users: Users, numerators: WordArray, denominator: int) -> Flags:
        """True with probability exp(-numerator/denominator), the quotient being in [0, 1]."""
        odd = np.zeros(len(users), np.bool_)
        going, flips = np.arange(len(users)), 1
        while going.size:
            more = self.below(users[going], denominator * flips) < numerators[going]
            odd[going[~more]] = flips % 2 == 1
            going, flips = going[more], flips + 1
        return odd

    def below(self, users: Users, limit: int) -> WordArray:
        """A uniform integer in [0, limit) for each user."""
        values = np.zeros(len(users), np.uint64)
        shift = 64 - (limit - 1).bit_length()
        left = np.arange(len(users))
        while left.size:
            readers = users[left]
            words = self._lanes.each(readers, self._read[readers])
            self._read[readers] += np.uint64(1)
            drawn = words >> np.uint64(shift) if shift < 64 else np.zeros_like(words)
            fits = drawn < np.uint64(limit)
            values[left[fits]] = drawn[fits]
            left = left[~fits]
        return values
