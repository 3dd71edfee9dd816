"""Statistics: public, bounded functions of a record, which a device averages over its records.

Each maps a record to an integer grid, so that sums are exact: a phone, a browser, numpy and a database engine all
arrive at the same mean, bit for bit.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from dame import checks
from dame.device.parts import Kinds, Part
from dame.device.records import ABSENT, HALF_GRID, Summary, numbers, numbers_or_texts, summary
from dame.errors import InvalidInput

LONGEST_NAME = 128
"""Characters of a column's name."""


class Statistic(Part):
    """What a device averages over its records, on a scale from -1 to 1.

    `column` names the value in records that have several; where it is empty, records are bare numbers. Where `draws` is
    true, a random word chooses one of a person's records, which stands for all of them.
    """

    __slots__ = ()
    column: str
    draws: ClassVar[bool] = False

    @abstractmethod
    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """The number of records that have the column, and the mean of the statistic over them.

        The word, 64 random bits, matters only where the statistic draws.
        """

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """What -1 and 1 stand for, in the units of the statistic's mean."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is averaged, in a few words."""

    def _check_column(self) -> None:
        if not isinstance(self.column, str) or self.column:
            checks.text("column", self.column, LONGEST_NAME)

    @property
    def _named(self) -> str:
        return self.column or "value"


STATISTICS: Kinds[Statistic] = Kinds("statistic")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounded(Statistic):
    """A function of a number that is clipped to [low, high]."""

    column: str = ""
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        self._check_column()
        checks.bounds(self.low, self.high)
        self._set_real("low", -math.inf, math.inf)
        self._set_real("high", -math.inf, math.inf)

    def _steps(self, records: Iterable[object]) -> Iterator[int]:
        """The grid value of each record."""
        low, high, scale = self.low, self.high, 2 * HALF_GRID / (self.high - self.low)
        for record in numbers(records, self.column):
            yield math.floor((min(max(record, low), high) - low) * scale + 0.5) - HALF_GRID


def _summed(steps: Iterable[int]) -> Summary:
    """The summary of records with these grid values."""
    total = size = 0
    for step in steps:
        total += step
        size += 1
    return summary(total, size)


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Value(_Bounded):
    """The value itself, a number, clipped to [low, high]."""

    kind = "value"

    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """The number of records, and the mean of the clipped values, rescaled to [-1, 1]."""
        return _summed(self._steps(records))

    @property
    def range(self) -> tuple[float, float]:
        """The bounds."""
        return self.low, self.high

    @property
    def words(self) -> str:
        """What is averaged, in a few words."""
        return f"{self._named}, between {self.low:g} and {self.high:g}"


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Square(_Bounded):
    """The squared distance of the value, a number clipped to [low, high], from the middle of these bounds."""

    kind = "square"

    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """The number of records, and the mean of the squares, -1 for no distance and 1 for that of a bound."""
        return _summed(map(grid_square, self._steps(records)))

    @property
    def range(self) -> tuple[float, float]:
        """From no distance to that of the bounds, squared."""
        return 0.0, ((self.high - self.low) / 2) ** 2

    @property
    def words(self) -> str:
        """What is averaged, in a few words."""
        return f"the squared distance of {self._named} from {(self.low + self.high) / 2:g}"


def grid_square(step: int) -> int:
    """The grid value, -HALF_GRID to HALF_GRID, of the square of a grid value; each step rounds as IEEE doubles do."""
    return 2 * math.floor(float(step) * float(step) / HALF_GRID + 0.5) - HALF_GRID


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(_Bounded):
    """One of a person's values, which her device draws, each as likely; a number, clipped to [low, high].

    So everybody has the same weight, however many records she has. Privacy does not depend on the draw: whatever it
    is, one person goes through the channel.
    """

    kind = "drawn"
    draws = True

    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """One record: in ascending order, the one that the word falls on; its value, rescaled to [-1, 1]."""
        # All are read and sorted before one is chosen: neither time nor errors may tell which.
        steps = sorted(self._steps(records))
        return summary(steps[drawn_place(word, len(steps))], 1) if steps else ABSENT

    @property
    def range(self) -> tuple[float, float]:
        """The bounds."""
        return self.low, self.high

    @property
    def words(self) -> str:
        """What is averaged, in a few words."""
        return f"one value of {self._named}, drawn by your device, between {self.low:g} and {self.high:g}"


def drawn_place(word: int, count: int) -> int:
    """The place, from 0, that 64 random bits draw among so many: each as likely, up to count / 2^64."""
    return word * count >> 64


RELATIONS = ("above", "below", "is")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""Numbers that every language reads alike."""


def number_in(text: str) -> float | None:
    """The finite number that a text stands for, if it does."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number + 0.0 if math.isfinite(number) else None


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator(Statistic):
    """Whether the value is above or below a number, or is a given text or number.

    `than` is a text as people type it: a number after `above` and `below`; after `is`, text values are compared with
    the text, and numbers with the number that it stands for, if it stands for one.
    """

    kind = "indicator"
    column: str = ""
    relation: str
    than: str

    def __post_init__(self) -> None:
        self._check_column()
        checks.one_of("relation", self.relation, RELATIONS)
        checks.text("than", self.than, LONGEST_NAME)
        if self.relation != "is" and self.number is None:
            raise InvalidInput(self.relation, self.than, "a finite number")

    @property
    def number(self) -> float | None:
        """The number that `than` stands for, if it does."""
        return number_in(self.than)

    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """The number of records, and the mean of 1 where the value is so and -1 where it is not."""
        if self.relation == "is":
            found = [value in (self.than, self.number) for value in numbers_or_texts(records, self.column)]
        else:
            border, sign = float(self.than), 1.0 if self.relation == "above" else -1.0
            found = [sign * value > sign * border for value in numbers(records, self.column)]
        return summary((2 * sum(found) - len(found)) * HALF_GRID, len(found))

    @property
    def range(self) -> tuple[float, float]:
        """From none to all."""
        return 0.0, 1.0

    @property
    def words(self) -> str:
        """What is averaged, in a few words."""
        return f"whether {self._named} is {'' if self.relation == 'is' else f'{self.relation} '}{self.than}"


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Present(Statistic):
    """Whether a person has any record with the column, whatever it holds: everybody counts as one record."""

    kind = "present"
    column: str

    def __post_init__(self) -> None:
        self._check_column()

    def summarise(self, records: Iterable[object], word: int = 0) -> Summary:
        """One record: 1 for somebody who has such records, -1 for anybody else."""
        count = sum(1 for _ in numbers_or_texts(records, self.column))  # all are read: neither time nor errors may tell
        return Summary(size=1, mean=1.0 if count else -1.0)

    @property
    def range(self) -> tuple[float, float]:
        """From nobody to everybody."""
        return 0.0, 1.0

    @property
    def words(self) -> str:
        """What is averaged, in a few words."""
        return f"whether you have any record of {self._named}"
