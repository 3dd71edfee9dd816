"""Targets that tell where people are: quantiles, and the whole distribution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dame import checks
from dame.device.statistics import Drawn, Statistic, Value
from dame.errors import InvalidInput
from dame.planning.brief import MOST_LEVELS, SCALES
from dame.studies.targets import Known, Measure, WithinBounds

WHOSE = ("people", "records")
_STATISTICS = {"people": Value, "records": Drawn}
_MEDIAN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfPeople(WithinBounds):
    """A target about a distribution: that of people's own means, or of one record of each person.

    `whose` is "people" or "records": in the second case every person's device draws one of her records, so that
    each person has the same weight. `scale` is "log" for values that differ by factors, such as incomes.
    """

    protocol: ClassVar[str]
    whose: str = WHOSE[0]
    scale: str = SCALES[0]

    def __post_init__(self) -> None:
        WithinBounds.__post_init__(self)
        checks.one_of("whose", self.whose, WHOSE)
        checks.one_of("scale", self.scale, SCALES)
        if self.scale == "log" and self.bounds[0] <= 0:
            raise InvalidInput("scale", self.scale, f"linear where values may be as low as {self.bounds[0]:g}")
        if self.present != 1:
            raise InvalidInput("present", self.present, f"1: {self.kind} of those who have a column cannot be told yet")

    @property
    def _statistic(self) -> Statistic:
        low, high = self.bounds
        return _STATISTICS[self.whose](column=self.column, low=low, high=high)

    def _means(self) -> Sequence[tuple[str, Statistic]]:
        return [(self.kind, self._statistic)]

    @property
    @abstractmethod
    def levels(self) -> tuple[float, ...]:
        """The levels of the quantiles that are told."""

    @property
    def asked_levels(self) -> tuple[float, ...]:
        """The levels that the people are asked around: none for the whole distribution."""
        return ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        """One machine, with a protocol of its own."""
        own = Measure(self.name, self._statistic, protocol=self.protocol, levels=self.asked_levels, scale=self.scale)
        return (own,)

    @property
    def distributions(self) -> frozenset[Statistic]:
        """That of its statistic."""
        return frozenset({self._statistic})

    def truth(self, known: Known) -> float:
        """The true quantile that stands for the target: the median, or the one next to it."""
        return known.quantile(self._statistic, min(self.levels, key=lambda level: abs(level - _MEDIAN)))

    def truths(self, known: Known) -> tuple[float, ...]:
        """The true quantiles."""
        return tuple(known.quantile(self._statistic, level) for level in self.levels)

    @property
    def _whose_words(self) -> str:
        return "people's own means" if self.whose == "people" else "records, one of each person,"

    @property
    def counted(self) -> str:
        """Whose distribution is told."""
        return f"{self._whose_words} of {self.column or 'the value'}"

    def _typical(self) -> tuple[str, ...]:
        return (f"{self.name} is about {self.counted}: `whose` says which",)

    @property
    def range(self) -> tuple[float, float]:
        """The bounds."""
        return self.bounds

    @classmethod
    def _ending(cls, words: Sequence[str], count: int) -> tuple[Sequence[str], dict[str, Any]]:
        """The words without `people` or `records` at their end, and what that says."""
        last = {"whose": words[-1]} if len(words) == count + 1 and words[-1] in WHOSE else {}
        return words[: len(words) - len(last)], dict[str, Any](last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(_OfPeople):
    """The points that given shares of people, or of their records, lie below."""

    kind = "quantiles"
    protocol = "quantiles"
    at: tuple[float, ...]

    def __post_init__(self) -> None:
        _OfPeople.__post_init__(self)
        given = self.at if isinstance(self.at, (list, tuple)) else None
        if not given or len(given) > MOST_LEVELS:
            raise InvalidInput("at", self.at, f"1 to {MOST_LEVELS} numbers between 0 and 1")
        levels = sorted(checks.real("at", level, 0.001, 0.999) for level in given)
        if len(set(levels)) != len(levels):
            raise InvalidInput("at", self.at, "different numbers")
        object.__setattr__(self, "at", tuple(levels))

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that were asked for."""
        return self.at

    @property
    def asked_levels(self) -> tuple[float, ...]:
        """The same."""
        return self.at

    def own_name(self) -> str:
        """What it is called where its column has several targets."""
        return f"{self.column}-quantiles"

    @property
    def words(self) -> str:
        """What is told, in a few words."""
        levels = ", ".join(f"{level:g}" for level in self.at)
        return f"the quantiles {levels} of {self.counted}"

    def to_json(self) -> dict[str, object]:
        """The target as a JSON object."""
        return {**WithinBounds.to_json(self), "at": list(self.at)}

    @classmethod
    def from_words(cls, words: Sequence[str], **options: Any) -> Self:
        """The target as people type it: COLUMN:LO:HI:Q1,Q2…[:people|records]."""
        rest, whose = cls._ending(words, 4)
        if len(rest) != 4:
            pattern = "quantiles:COLUMN:LO:HI:Q1,Q2…, then :people or :records if wanted"
            raise InvalidInput("target", ":".join((cls.kind, *words)), pattern)
        low, high = (checks.number_from_text("bounds", word) for word in rest[1:3])
        levels = tuple(checks.number_from_text("at", word) for word in rest[3].split(","))
        return cls(column=rest[0], bounds=(low, high), at=levels, **whose, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeDistribution(_OfPeople):
    """Where all people, or their records, are: a cumulative curve with a band."""

    kind = "distribution"
    protocol = "distribution"

    @property
    def levels(self) -> tuple[float, ...]:
        """The median, the quartiles and the outer tenths."""
        return (0.1, 0.25, 0.5, 0.75, 0.9)

    def own_name(self) -> str:
        """What it is called where its column has several targets."""
        return f"{self.column}-distribution"

    @property
    def words(self) -> str:
        """What is told, in a few words."""
        return f"the distribution of {self.counted}"

    @classmethod
    def from_words(cls, words: Sequence[str], **options: Any) -> Self:
        """The target as people type it: COLUMN:LO:HI[:people|records]."""
        rest, whose = cls._ending(words, 3)
        return super(_OfPeople, cls).from_words(rest, **whose, **options)


def quantiles(column: str, bounds: tuple[float, float], at: Sequence[float] = (_MEDIAN,), **options: Any) -> Quantiles:
    """The target of quantiles of people's own means, or with whose="records" of one record of each person.

    `at` are the shares of people below: 0.5 for the median. scale="log" is for values that differ by factors.
    """
    return Quantiles(column=column, bounds=bounds, at=tuple(at), **options)


def distribution(column: str, bounds: tuple[float, float], **options: Any) -> WholeDistribution:
    """The target of the whole distribution of people's own means, or with whose="records" of one record of each."""
    return WholeDistribution(column=column, bounds=bounds, **options)
