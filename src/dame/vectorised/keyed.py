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

from dame.device.questions import Question
from dame.vectorised.words import WordArray

Hashes = WordArray


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

    def scrambled(self, hashes: Hashes) -> Hashes:
        """The hashes, scrambled by the first key."""
        return mix(hashes ^ np.uint64(self.first))


def coin_keys(seed: int, question: Question, repetition: int) -> Keys:
    """The keys of the coins of one slot, in one repetition of its study."""
    return Keys.of("coins", seed, question.study, question.target, question.round, repetition)


class Lanes:
    """The words of some users: each has a stream of her own."""

    def __init__(self, keys: Keys, hashes: Hashes) -> None:
        self._keys = keys
        self._starts = keys.scrambled(hashes)

    def __len__(self) -> int:
        return len(self._starts)

    def words(self, first: int, count: int, users: slice = slice(None)) -> WordArray:
        """Words first … first + count - 1 of each of the users, one row a user."""
        numbers = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        return mix(self._starts[users, None] + self._offsets(numbers))

    def each(self, users: np.ndarray, numbers: WordArray) -> WordArray:
        """One word of each of the users, whose number is given for each."""
        return mix(self._starts[users] + self._offsets(numbers + np.uint64(1)))

    def _offsets(self, numbers: WordArray) -> WordArray:
        return mix(np.uint64(self._keys.second) + numbers * GAMMA)
