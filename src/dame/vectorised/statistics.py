"""The numpy form of each statistic: grid values of a column, and what its users' counts and totals come to.

The arithmetic is that of `dame.device.statistics`, step by step. Whoever adds a statistic registers its form here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from dame.device.records import HALF_GRID
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from dame.errors import InvalidInput, Mismatch
from dame.vectorised.coins import ManyCoins
from dame.vectorised.words import WordArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Column = NDArray[np.float64] | NDArray[np.object_]
"""Values that count: finite numbers, or texts as objects."""
Mask = NDArray[np.bool_]
Draws = NDArray[np.int32]
"""Grid values of records that were drawn of each user, a row each."""


class ArrayForm(ABC):
    """How one statistic is computed on arrays."""

    @property
    def summed(self) -> bool:
        """Whether the total of each user's grid values is needed."""
        return True

    @property
    def reads_texts(self) -> bool:
        """Whether the column may hold texts instead of numbers."""
        return False

    @property
    def draws(self) -> bool:
        """Whether a user answers with one of her records, for which some that were drawn of her are needed."""
        return False

    def check_numbers(self, column: str) -> None:  # noqa: B027  numbers suit most statistics
        """Refuses a statistic that is of texts, since the column holds numbers."""

    @abstractmethod
    def steps(self, values: Column) -> Ints:
        """The grid value of each value."""

    def clipped(self, values: Column) -> Mask:
        """Which values lie outside the bounds."""
        return np.zeros(len(values), np.bool_)

    def sizes(self, counts: Ints) -> Ints:
        """For how many records each user stands, who has so many in the column; 0 where she has no mean."""
        return counts

    def summaries(self, counts: Ints, totals: Ints) -> tuple[Ints, Floats]:
        """The size and the mean of each user, every step rounded as in `dame.device.records.summary`.

        Somebody without records has size 1 and mean 0.
        """
        sizes = np.maximum(counts, 1)
        means = totals.astype(np.float64)
        means /= sizes
        means /= HALF_GRID
        return sizes, np.clip(means, -1.0, 1.0, out=means)

    def answering(self, counts: Ints, totals: Ints, draws: Draws, coins: ManyCoins) -> tuple[Ints, Floats]:
        """The size and the mean with which each user answers, after the words that a device takes for them."""
        del draws, coins
        return self.summaries(counts, totals)


@singledispatch
def array_form(statistic: Statistic) -> ArrayForm:
    """The form of a statistic on arrays."""
    raise Mismatch(f"no engine computes the statistic {statistic.kind!r}")


@dataclass(frozen=True, slots=True)
class _ValueArrays(ArrayForm):
    low: float
    high: float

    def steps(self, values: Column) -> Ints:
        scale = 2 * HALF_GRID / (self.high - self.low)
        steps = np.floor((np.clip(values.astype(np.float64), self.low, self.high) - self.low) * scale + 0.5)
        return np.asarray(steps, dtype=np.int64) - HALF_GRID

    def clipped(self, values: Column) -> Mask:
        return np.asarray(~((values >= self.low) & (values <= self.high)), dtype=np.bool_)


class _SquareArrays(_ValueArrays):
    __slots__ = ()

    def steps(self, values: Column) -> Ints:
        steps = _ValueArrays.steps(self, values).astype(np.float64)
        return 2 * np.floor(steps * steps / HALF_GRID + 0.5).astype(np.int64) - HALF_GRID


class _DrawnArrays(_ValueArrays):
    """A user's size is 1; her mean in a survey is that of all her records, which is what a draw has on average."""

    __slots__ = ()

    @property
    def draws(self) -> bool:
        return True

    def sizes(self, counts: Ints) -> Ints:
        return np.minimum(counts, 1)

    def summaries(self, counts: Ints, totals: Ints) -> tuple[Ints, Floats]:
        _, means = ArrayForm.summaries(self, counts, totals)
        return np.ones_like(counts), means

    def answering(self, counts: Ints, totals: Ints, draws: Draws, coins: ManyCoins) -> tuple[Ints, Floats]:
        # Of a user without records zeros were drawn, the middle of the bounds.
        one = draws[np.arange(len(draws)), drawn_places(coins.each(), draws.shape[1])]
        return np.ones_like(counts), one / np.float64(HALF_GRID)


def drawn_places(words: WordArray, count: int) -> NDArray[np.intp]:
    """As `dame.device.statistics.drawn_place`, for a count below 2^32."""
    low = (words & np.uint64(2**32 - 1)) * np.uint64(count) >> np.uint64(32)
    return ((words >> np.uint64(32)) * np.uint64(count) + low >> np.uint64(32)).astype(np.intp)


@array_form.register
def _drawn_arrays(statistic: Drawn) -> ArrayForm:
    return _DrawnArrays(statistic.low, statistic.high)


@array_form.register
def _value_arrays(statistic: Value) -> ArrayForm:
    return _ValueArrays(statistic.low, statistic.high)


@array_form.register
def _square_arrays(statistic: Square) -> ArrayForm:
    return _SquareArrays(statistic.low, statistic.high)


@dataclass(frozen=True, slots=True)
class _IndicatorArrays(ArrayForm):
    statistic: Indicator

    @property
    def reads_texts(self) -> bool:
        return self.statistic.relation == "is"

    @property
    def draws(self) -> bool:
        """Whether a user answers with one of her records, for which some that were drawn of her are needed."""
        return False

    def check_numbers(self, column: str) -> None:
        if self.statistic.number is None:
            raise InvalidInput("is", self.statistic.than, f"a number, since the column {column} holds numbers")

    def steps(self, values: Column) -> Ints:
        than, number = self.statistic.than, self.statistic.number
        if self.statistic.relation == "is":
            holds = np.array([value in (than, number) for value in values.tolist()], dtype=np.bool_)
        else:
            sign = 1.0 if self.statistic.relation == "above" else -1.0
            holds = np.asarray(sign * values > sign * float(than), dtype=np.bool_)
        return np.where(holds, np.int64(HALF_GRID), np.int64(-HALF_GRID))


@array_form.register
def _indicator_arrays(statistic: Indicator) -> ArrayForm:
    return _IndicatorArrays(statistic)


class _PresentArrays(ArrayForm):
    @property
    def summed(self) -> bool:
        return False

    @property
    def reads_texts(self) -> bool:
        return True

    def steps(self, values: Column) -> Ints:
        raise AssertionError("a user's number of records says it all")

    def sizes(self, counts: Ints) -> Ints:
        return np.ones_like(counts)

    def summaries(self, counts: Ints, totals: Ints) -> tuple[Ints, Floats]:
        return self.sizes(counts), np.where(counts > 0, 1.0, -1.0)


@array_form.register
def _present_arrays(statistic: Present) -> ArrayForm:
    return _PresentArrays()
