"""The SQL form of each statistic: from a value that counts to its place on the grid, and to a user's exact total.

The arithmetic is that of `dame.device.statistics`, step by step in doubles, so that engine and device agree bit for
bit. Each has a second form for columns without a flaw, in which sums of whole numbers in doubles, which are quicker,
are exact for users with at most MOST_EXACT records. Whoever adds a statistic registers its form here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

from dame.device.records import HALF_GRID
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from dame.engines.dialects import Dialect, double
from dame.errors import Mismatch

MOST_EXACT = 2**53 // HALF_GRID
"""Records of one user up to which a sum of grid values is exact in doubles, whatever the order."""
FAR_OUT = 2**52
"""Grid steps beyond which clipping without a branch is not exact."""

_HALF, _WHOLE = double(HALF_GRID), double(2 * HALF_GRID)


class SqlForm(ABC):
    """How one statistic is computed in SQL; `value` is an expression for a value, a double or a text.

    Most statistics need a total of each user: first the reading of each record, then their sum.
    """

    shows_nan = False
    """Whether a NaN that no footer told of makes the quick total null."""

    def near(self, value: str) -> str | None:
        """Whether the quick form is exact for a finite value, unless it always is."""
        return None

    def within(self, value: str) -> str | None:
        """Whether a value is not clipped, unless none ever is."""
        return None

    @abstractmethod
    def reading(self, value: str) -> str | None:
        """What is read from a finite value; null when that is. None where users' totals are not needed."""

    @abstractmethod
    def total(self, reading: str) -> str:
        """The sum over a user's readings: whole numbers of grid steps, null for a user without any."""

    def draw(self, reading: str, chance: str) -> str | None:
        """The reading of a user whose chance, a column of random numbers, is the smallest; None where none is drawn.

        The generator of a database is good enough for this: nobody's privacy depends on which record is drawn, since
        any record goes through the same channel, and the estimate needs no more than that each is as likely.
        """
        return None

    def quick_draw(self, reading: str, chance: str) -> str | None:
        """The same from a quick reading, as a double."""
        return None

    @abstractmethod
    def quick_reading(self, value: str) -> str | None:
        """The same as `reading` for values that are near, as a double."""

    @abstractmethod
    def quick_total(self, reading: str, within: bool) -> str:
        """The same as `total` for these, as a double; `within` says that no value is clipped."""


@singledispatch
def sql_form(statistic: Statistic, dialect: Dialect, text: bool) -> SqlForm:
    """The form of a statistic in a kind of SQL; `text` says whether its column holds texts."""
    raise Mismatch(f"no engine computes the statistic {statistic.kind!r}")


@dataclass(frozen=True, slots=True)
class _BoundedSql(SqlForm):
    """Numbers that are clipped to bounds and rounded to the grid."""

    shows_nan = True
    low: float
    high: float

    def near(self, value: str) -> str:
        return f"abs({self._rounded(value)}) < {double(FAR_OUT)}"

    def within(self, value: str) -> str:
        return f"{value} BETWEEN {double(self.low)} AND {double(self.high)}"

    def reading(self, value: str) -> str:
        lower, upper = double(self.low), double(self.high)
        # Values within come first: an engine that works on columns has nothing more to look at when all of them are.
        cases = f"WHEN {self.within(value)} THEN {value} WHEN {value} < {lower} THEN {lower} WHEN {value} > {upper}"
        return f"{self._rounded(f'CASE {cases} THEN {upper} END')} - {_HALF}"

    def quick_reading(self, value: str) -> str:
        return self._rounded(value)

    def _rounded(self, value: str) -> str:
        """Steps from the lower bound to which a value is rounded."""
        scale = double(2 * HALF_GRID / (self.high - self.low))
        return f"floor(({value} - {double(self.low)}) * {scale} + {double(0.5)})"


class _ValueSql(_BoundedSql):
    __slots__ = ()

    def total(self, reading: str) -> str:
        return f"sum(CAST({reading} AS BIGINT))"

    def quick_total(self, reading: str, within: bool) -> str:
        if within:
            return f"sum({reading} - {_HALF})"
        # All of these are integers below 2^53, and the sum is even, so every step is exact.
        return f"sum({_twice_clipped(reading)}) * {double(0.5)}"


@dataclass(frozen=True, slots=True)
class _DrawnSql(_ValueSql):
    first_by: str

    def draw(self, reading: str, chance: str) -> str:
        return f"{self.first_by}({reading}, {chance}) FILTER (WHERE {reading} IS NOT NULL)"

    def quick_draw(self, reading: str, chance: str) -> str:
        return f"least(greatest({self.first_by}({reading}, {chance}), {double(0)}), {_WHOLE}) - {_HALF}"


class _SquareSql(_BoundedSql):
    __slots__ = ()

    def total(self, reading: str) -> str:
        return f"sum(CAST({_square(f'{reading} * {reading} / {_HALF}')} AS BIGINT))"

    def quick_total(self, reading: str, within: bool) -> str:
        twice = f"({_twice_clipped(reading)})"
        return f"sum({_square(f'{twice} * {twice} / {double(4 * HALF_GRID)}')})"


def _twice_clipped(reading: str) -> str:
    """Twice the clipped grid value, seen from the middle of the bounds, without a branch."""
    return f"abs({reading}) - abs({reading} - {_WHOLE})"


def _square(scaled: str) -> str:
    """As `dame.device.statistics.grid_square`."""
    return f"{double(2)} * floor({scaled} + {double(0.5)}) - {_HALF}"


@sql_form.register
def _value_sql(statistic: Value, dialect: Dialect, text: bool) -> SqlForm:
    return _ValueSql(statistic.low, statistic.high)


@sql_form.register
def _drawn_sql(statistic: Drawn, dialect: Dialect, text: bool) -> SqlForm:
    return _DrawnSql(statistic.low, statistic.high, dialect.first_by)


@sql_form.register
def _square_sql(statistic: Square, dialect: Dialect, text: bool) -> SqlForm:
    return _SquareSql(statistic.low, statistic.high)


@dataclass(frozen=True, slots=True)
class _IndicatorSql(SqlForm):
    statistic: Indicator
    dialect: Dialect
    text: bool

    def reading(self, value: str) -> str:
        holds = self._holds(value)
        return f"CASE WHEN {holds} THEN {_HALF} WHEN NOT {holds} THEN {double(-HALF_GRID)} END"

    def total(self, reading: str) -> str:
        return f"sum(CAST({reading} AS BIGINT))"

    def quick_reading(self, value: str) -> str:
        return f"CASE WHEN {self._holds(value)} THEN {_HALF} ELSE {double(-HALF_GRID)} END"

    def quick_total(self, reading: str, within: bool) -> str:
        return f"sum({reading})"

    def _holds(self, value: str) -> str:
        sign = {"above": ">", "below": "<", "is": "="}[self.statistic.relation]
        if self.text:
            return f"({value} {sign} {self.dialect.text_constant(self.statistic.than)})"
        assert self.statistic.number is not None
        return f"({value} {sign} {double(self.statistic.number)})"


@sql_form.register
def _indicator_sql(statistic: Indicator, dialect: Dialect, text: bool) -> SqlForm:
    return _IndicatorSql(statistic, dialect, text)


class _PresentSql(SqlForm):
    """A user's number of records says it all."""

    def reading(self, value: str) -> None:
        return None

    def total(self, reading: str) -> str:
        raise AssertionError("nothing is read")

    quick_reading, quick_total = reading, total  # type: ignore[assignment]


@sql_form.register
def _present_sql(statistic: Present, dialect: Dialect, text: bool) -> SqlForm:
    return _PresentSql()
