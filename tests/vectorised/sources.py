"""Statistics with a declared false-alarm rate, and scripted sources of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from dame.errors import InvalidInput
from dame.vectorised.bernoulli import PLANES
from dame.vectorised.words import FastWords, WordArray

FALSE_ALARM = 1e-6
"""The chance that a right sampler fails one test. Seeds are fixed, so a passing test passes always."""

EDGES = (0, 1, 2**63, 2**64 - 1, 2**64)
EXAMPLES = (*EDGES, 2**64 // 3, 0x45D8_F7A2_0000_0001, 0xFFFF_FFFF_0000_0000, 2**8, 2**56 - 1)


def fast(seed: int) -> FastWords:
    return FastWords(np.random.default_rng(seed))


def binomial_p(ones: int, trials: int, probability: float) -> float:
    """The two-sided p-value of a number of ones."""
    return float(stats.binomtest(int(ones), int(trials), probability).pvalue)


def chi_square_p(observed: Sequence[float], expected: Sequence[float]) -> float:
    """The p-value of counts against expected counts; cells with fewer than ten expected are pooled."""
    seen, hoped = np.asarray(observed, float), np.asarray(expected, float)
    large = hoped >= 10
    seen = np.append(seen[large], seen[~large].sum())
    hoped = np.append(hoped[large], hoped[~large].sum())
    if hoped[-1] < 10:
        seen, hoped = seen[:-1], hoped[:-1]
    return float(stats.chi2.sf(((seen - hoped) ** 2 / hoped).sum(), len(hoped) - 1))


class ReplayWords:
    """Words given in advance, for tests; asking for more of them than are left is an error."""

    def __init__(self, words: Sequence[int]) -> None:
        self._words = np.array(words, dtype=np.uint64)

    def take(self, count: int) -> WordArray:
        """The next `count` words; the caller does not write into them."""
        if not 0 <= count <= self.left:
            raise InvalidInput("count", count, f"at most the {self.left} words that are left")
        taken, self._words = self._words[:count], self._words[count:]
        return taken

    @property
    def left(self) -> int:
        """The number of words that were not taken yet."""
        return self._words.size


class ConstantPlanes:
    """Each take is one plane, and the same word everywhere in it."""

    def __init__(self, planes: Iterable[int]) -> None:
        self._planes = iter(planes)
        self.taken = 0

    def take(self, count: int) -> np.ndarray:
        self.taken += 1
        return np.full(count, next(self._planes), np.uint64)


class WordPlanes:
    """Each word has its own 64 planes, `planes[digit, word]`, and after every eighth only open words are served."""

    def __init__(self, planes: np.ndarray) -> None:
        self._planes = planes
        self._digit = 0
        self._open = np.arange(planes.shape[1])

    def take(self, count: int) -> np.ndarray:
        if self._digit and self._digit % PLANES == 0:
            agreed = np.bitwise_and.reduce(self._planes[: self._digit], axis=0)
            self._open = np.flatnonzero(agreed)
        assert count == self._open.size
        self._digit += 1
        return self._planes[self._digit - 1, self._open]


class RepeatedWords:
    """A known-bad source: it hands out the same few words again and again."""

    def __init__(self, seed: int, period: int) -> None:
        self._words = fast(seed).take(period)

    def take(self, count: int) -> np.ndarray:
        return np.resize(self._words, count)


def unpacked(words: np.ndarray, count: int) -> np.ndarray:
    """The bits of packed words, lane by lane."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little", count=count)


def ones(words: np.ndarray) -> int:
    """The number of ones in all words."""
    return int(np.unpackbits(words.view(np.uint8)).sum(dtype=np.int64))
