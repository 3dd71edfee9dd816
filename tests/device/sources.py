"""Sources of random words for tests, and the exact law of a program that draws from one."""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

from dame.device.coins import Coins, ReplayCoins


def replayed(*words: int) -> ReplayCoins:
    """Given words, in order, and then no more."""
    return ReplayCoins(struct.pack(f">{len(words)}Q", *words))


class SeededCoins:
    """Words from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def words(self, count: int) -> Sequence[int]:
        return [self._random.getrandbits(64) for _ in range(count)]


class CountingCoins:
    """Words from a seed, counted."""

    def __init__(self, seed: int) -> None:
        self._source = SeededCoins(seed)
        self.used = 0

    def words(self, count: int) -> Sequence[int]:
        self.used += count
        return self._source.words(count)


class StuckCoins:
    """A broken source that repeats one word within a draw."""

    def __init__(self, source: Coins) -> None:
        self._source = source

    def words(self, count: int) -> Sequence[int]:
        return list(self._source.words(1)) * count


class ReusedCoins:
    """A broken source that repeats its first word for ever: the window's word draws the bit as well."""

    def __init__(self, source: Coins) -> None:
        self._word = source.words(1)[0]

    def words(self, count: int) -> Sequence[int]:
        return [self._word] * count


class _NextChoice(Exception):
    def __init__(self, weights: Sequence[Fraction]) -> None:
        self.weights = weights


class _Choices:
    """Stands for coins while a program is explored: it replays given choices and asks for the next."""

    def __init__(self, made: tuple[int, ...]) -> None:
        self._left = list(made)

    def below(self, limit: int) -> int:
        return self._choose([Fraction(1, limit)] * limit)

    def chance(self, probability: Fraction) -> bool:
        return self._choose([1 - probability, probability]) == 1

    def _choose(self, weights: Sequence[Fraction]) -> int:
        if not self._left:
            raise _NextChoice(weights)
        return self._left.pop(0)


def explore(program: Callable[[_Choices], Hashable], cutoff: Fraction) -> tuple[dict[Hashable, Fraction], Fraction]:
    """The exact law of a program, and the weight of the paths left unexplored.

    All choices of every draw are walked through; a path less likely than the cutoff is given up.
    """
    law: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    unexplored = Fraction(0)
    paths: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while paths:
        made, weight = paths.pop()
        if weight < cutoff:
            unexplored += weight
            continue
        try:
            law[program(_Choices(made))] += weight
        except _NextChoice as need:
            paths.extend(((*made, index), weight * part) for index, part in enumerate(need.weights) if part)
    return dict(law), unexplored
