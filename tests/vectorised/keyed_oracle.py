"""A second opinion on keyed coins, without numpy: the same words in Python integers, for the device's own code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    """The mixer of SplitMix64."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


class UserCoins:
    """A user's keyed words, one after the other, for the device's code."""

    def __init__(self, hash_: int, *purpose: str | int) -> None:
        digest = hashlib.blake2b(json.dumps(purpose).encode(), digest_size=16, person=b"dame coins 1").digest()
        self._start = mix(hash_ ^ int.from_bytes(digest[:8], "big"))
        self._key = int.from_bytes(digest[8:], "big")
        self._read = 0

    def words(self, count: int) -> Sequence[int]:
        """The next words."""
        numbers = range(self._read + 1, self._read + count + 1)
        self._read += count
        return [mix(self._start + mix(self._key + number * GAMMA & MASK) & MASK) for number in numbers]
