"""Coins for the scripts: words that were chosen, then words of a seed; those that were used are remembered."""

from __future__ import annotations

import random
from collections.abc import Sequence

LARGEST = 2**64 - 1
"""The largest word."""
MINUS_ZERO = [0, 0, 0, 1 << 63, LARGEST]
"""Words from which discrete Laplace noise draws zero with a minus sign, and must start again."""


class RecordedCoins:
    """Words from a script, then from a seed; it remembers those that were used."""

    def __init__(self, seed: int, script: Sequence[int] = ()) -> None:
        self._source = random.Random(seed)
        self._script = list(script)
        self.used: list[int] = []

    def words(self, count: int) -> Sequence[int]:
        """The next words."""
        taken = [self._script.pop(0) if self._script else self._source.getrandbits(64) for _ in range(count)]
        self.used += taken
        return taken

    def hex(self) -> str:
        """The words that were used, as the vectors write them."""
        return "".join(f"{word:016x}" for word in self.used)


def far_noise(wholes: int, negative: bool) -> list[int]:
    """Words from which discrete Laplace noise draws ± wholes·scale: the tails that random words never reach."""
    once_more, stop = [0, 0, 1 << 62], [0, 1 << 63]
    return [0, 0, *once_more * wholes, *stop, LARGEST if negative else 0]
