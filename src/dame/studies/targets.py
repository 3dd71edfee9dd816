"""Targets: what a study shall tell. Each kind is one class, which says what is measured for it and how that is read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self
from typing import Protocol as Interface

from dame import checks
from dame.device.statistics import LONGEST_NAME, RELATIONS, Indicator, Present, Square, Statistic, Value
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning.brief import SCALES
from dame.sizes import Sizes
from dame.studies.combining import among_present, standard_deviation

LONGEST = 48
"""Characters of a target's name."""
PRESENCE_SHARE = 0.2
"""The share of a target's people who are asked whether they have its column, where not everybody has."""
PRESENCE_PROTOCOL = "one-bit"
"""People have a column or not: nothing tells their share better than plain bits."""
TYPICAL_DISTANCE = 0.5
"""How far from the middle a mean is taken to be when errors are predicted, as a fraction of the half-range."""
TYPICAL_SPREAD = 0.5
"""How large a standard deviation is taken to be when its error is predicted, as a fraction of the half-range."""


class Measure(NamedTuple):
    """One mean that a target needs, and the share of the target's people who tell it."""

    name: str
    statistic: Statistic
    share: float = 1.0
    protocol: str | None = None
    """The protocol, where that is not the study's choice."""
    levels: tuple[float, ...] = ()
    """The quantiles that are wanted instead of the mean."""
    scale: str = SCALES[0]
    sizes: Sizes | None = None
    """The sizes, where everybody is known to count as one record."""


class Known(Interface):
    """A population whose truth is known, in the units of its statistics."""

    def mean(self, statistic: Statistic) -> float:
        """The mean of a statistic, among people who have the column."""

    def quantile(self, statistic: Statistic, at: float) -> float:
        """The point that such a share of people lies below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(ABC):
    """One thing that a study shall tell of a column.

    `weight` says how many people it gets beside the other targets. `present` is the share of people who are expected
    to have records of the column: where it is below 1, that share is estimated too, and the result is about those who
    have them.
    """

    kind: ClassVar[str]
    column: str
    name: str = ""
    weight: float = 1.0
    present: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or self.column:
            checks.text("column", self.column, LONGEST_NAME)
        if self.name != "" and "/" in checks.text("name of a target", self.name, LONGEST):
            raise InvalidInput("name of a target", self.name, "a text without '/'")
        object.__setattr__(self, "weight", checks.positive("weight", self.weight, 1e6))
        object.__setattr__(self, "present", checks.positive("present", self.present, 1.0))

    @abstractmethod
    def _means(self) -> Sequence[tuple[str, Statistic]]:
        """The statistics whose means are needed, each with a word for it."""

    def _read(self, means: Sequence[Estimate]) -> Estimate:
        """The target from the means, among people who have the column: the only one, unless a kind says otherwise."""
        return means[0]

    def true_value(self, means: Sequence[float]) -> float:
        """The target where the true means are known, among people who have the column."""
        return means[0]

    def truth(self, known: Known) -> float:
        """The target of a population that is known."""
        return self.true_value([known.mean(statistic) for _, statistic in self._means()])

    def truths(self, known: Known) -> tuple[float, ...]:
        """The true quantiles, where it tells some."""
        del known
        return ()

    @property
    def distributions(self) -> frozenset[Statistic]:
        """The statistics whose distribution is told."""
        return frozenset()

    def _sensitivities(self) -> Sequence[float]:
        """How much an error in each mean is felt in the target, where people are typical."""
        return [1.0]

    def _typical(self) -> tuple[str, ...]:
        """For which people its error is predicted, in sentences, where that matters."""
        return ()

    @abstractmethod
    def own_name(self) -> str:
        """What the target is called where its column has several."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is told, in a few words."""

    @property
    def counted(self) -> str:
        """Whose distribution is told, where one is."""
        return f"people's own means of {self.column or 'the value'}"

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """The least and the largest that the target can be."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is measured, each on people of its own."""
        means = self._means()
        share = (1 - PRESENCE_SHARE * (self.present < 1)) / len(means)
        single = len(means) == 1 and self.present == 1
        measures = [Measure(self.name if single else f"{self.name}/{word}", what, share) for word, what in means]
        if self.present < 1:
            presence = Present(column=self.column)
            measures.append(
                Measure(f"{self.name}/present", presence, PRESENCE_SHARE, PRESENCE_PROTOCOL, sizes=Sizes.constant(1))
            )
        return tuple(measures)

    def read(self, found: Sequence[Estimate]) -> Estimate:
        """The target from what was measured."""
        statistics = [statistic for _, statistic in self._means()]
        if self.present == 1:
            return self._read(found)
        *means, present = found
        pairs = zip(means, statistics, strict=True)
        estimate = self._read([among_present(mean, present, statistic.range) for mean, statistic in pairs])
        # Those who told whether they have the column served every mean, and count once.
        users = tuple(count for each in found for count in each.users)
        fewest, most = present.interval
        note = f"{present.value:.1%} of people have records of it ({fewest:.1%} to {most:.1%}): it is about these"
        return replace(estimate, users=users, notes=(*estimate.notes, note))

    @property
    def sensitivities(self) -> tuple[float, ...]:
        """How much an error in each measure is felt in the target, where people are typical."""
        own = self._sensitivities()
        if self.present == 1:
            return tuple(own)
        distances = [TYPICAL_DISTANCE * (high - low) / 2 for low, high in (what.range for _, what in self._means())]
        presence = math.hypot(*(each * distance for each, distance in zip(own, distances, strict=True)))
        return (*(each / self.present for each in own), presence / self.present)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What its predicted error takes for granted, in sentences."""
        if self.present == 1:
            who = "everybody is taken to have records of every column; say so with present=… where not"
        else:
            who = f"{self.present:.0%} of people are expected to have records of {self.column}; how many is estimated"
        return (who, *self._typical())

    def to_json(self) -> dict[str, object]:
        """The target as a JSON object, and as the table of a study file."""
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The target that the fields of a document describe."""
        return cls._of_fields(given)

    @classmethod
    def _of_fields(cls, given: Mapping[str, Any]) -> Self:
        """The target with exactly these fields."""
        required = frozenset(field.name for field in fields(cls) if field.default is MISSING)
        names = frozenset(field.name for field in fields(cls))
        return cls(**dict[str, Any](checks.keys("target", given, required, names)))

    @classmethod
    @abstractmethod
    def from_words(cls, words: Sequence[str], **options: Any) -> Self:
        """The target as people type it, after its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinBounds(Target):
    """A target about values within bounds."""

    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        Target.__post_init__(self)
        try:
            low, high = self.bounds
        except (TypeError, ValueError):
            raise InvalidInput("bounds", self.bounds, "two numbers") from None
        object.__setattr__(self, "bounds", checks.bounds(low, high))

    @property
    def _value(self) -> Value:
        return Value(column=self.column, low=self.bounds[0], high=self.bounds[1])

    @property
    def _half(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / 2

    def to_json(self) -> dict[str, object]:
        """The target as a JSON object."""
        return {**Target.to_json(self), "bounds": list(self.bounds)}

    @classmethod
    def from_words(cls, words: Sequence[str], **options: Any) -> Self:
        """The target as people type it: COLUMN:LO:HI."""
        if len(words) != 3:
            raise InvalidInput("target", ":".join((cls.kind, *words)), f"{cls.kind}:COLUMN:LO:HI")
        low, high = (checks.number_from_text("bounds", word) for word in words[1:])
        return cls(column=words[0], bounds=(low, high), **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(WithinBounds):
    """The mean of people's own means of a column."""

    kind = "mean"

    def _means(self) -> Sequence[tuple[str, Statistic]]:
        return [("mean", self._value)]

    def own_name(self) -> str:
        """What it is called where its column has several targets."""
        return self.column

    @property
    def words(self) -> str:
        """What is told, in a few words."""
        return f"the mean of {self._value.words}"

    @property
    def range(self) -> tuple[float, float]:
        """The bounds."""
        return self.bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Sd(WithinBounds):
    """The standard deviation of the records of a column, every person with the same weight."""

    kind = "sd"

    def _means(self) -> Sequence[tuple[str, Statistic]]:
        low, high = self.bounds
        return [("mean", self._value), ("square", Square(column=self.column, low=low, high=high))]

    def _read(self, means: Sequence[Estimate]) -> Estimate:
        mean, square = means
        noted = replace(square, notes=tuple(f"of the squares: {note}" for note in square.notes))
        return standard_deviation(mean, noted, self.bounds)

    def true_value(self, means: Sequence[float]) -> float:
        """The true standard deviation, from the mean and the mean squared distance from the middle."""
        mean, square = means
        return math.sqrt(max(square - (mean - sum(self.bounds) / 2) ** 2, 0.0))

    def _sensitivities(self) -> Sequence[float]:
        # σ² = s - d², where d is the distance of the mean from the middle: dσ = (ds - 2d·dd) / 2σ.
        sd, distance = TYPICAL_SPREAD * self._half, TYPICAL_DISTANCE * self._half
        return [distance / sd, 1 / (2 * sd)]

    def _typical(self) -> tuple[str, ...]:
        middle, distance = sum(self.bounds) / 2, TYPICAL_DISTANCE * self._half
        return (
            f"the error of {self.name} is predicted for a standard deviation of {TYPICAL_SPREAD * self._half:g} "
            f"around a mean {distance:g} away from {middle:g}",
        )

    def own_name(self) -> str:
        """What it is called where its column has several targets."""
        return f"{self.column}-sd"

    @property
    def words(self) -> str:
        """What is told, in a few words."""
        return f"the standard deviation of {self._value.words}"

    @property
    def range(self) -> tuple[float, float]:
        """From none to that of records at both bounds."""
        return 0.0, self._half


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Target):
    """The share of the records of a column that are above or below a number, or are a given text or number."""

    kind = "share"
    relation: str
    than: str

    def __post_init__(self) -> None:
        Target.__post_init__(self)
        self._means()  # an indicator checks itself

    def _means(self) -> Sequence[tuple[str, Statistic]]:
        return [("share", Indicator(column=self.column, relation=self.relation, than=self.than))]

    def own_name(self) -> str:
        """What it is called where its column has several targets."""
        return f"{self.column}-{self.relation}-{self.than}"

    @property
    def words(self) -> str:
        """What is told, in a few words."""
        relation = "is" if self.relation == "is" else f"is {self.relation}"
        return f"the share of records whose {self.column or 'value'} {relation} {self.than}"

    @property
    def range(self) -> tuple[float, float]:
        """From none to all."""
        return 0.0, 1.0

    def to_json(self) -> dict[str, object]:
        """The target as a JSON object, in which the relation is a key."""
        common = {name: value for name, value in Target.to_json(self).items() if name not in ("relation", "than")}
        return {**common, self.relation: self.than}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The target with the fields of a document; one of `above`, `below` and `is` holds what is compared with."""
        found = [name for name in RELATIONS if name in given]
        if len(found) != 1:
            raise InvalidInput("share", found, "given one of above, below and is")
        than = given[found[0]]
        rest = {name: value for name, value in given.items() if name not in RELATIONS}
        text = than if isinstance(than, str) else repr(int(than) if isinstance(than, bool) else than)
        return cls._of_fields({**rest, "relation": found[0], "than": text})

    @classmethod
    def from_words(cls, words: Sequence[str], **options: Any) -> Self:
        """The target as people type it: COLUMN:above:X, COLUMN:below:X or COLUMN:is:VALUE."""
        if len(words) < 3 or words[1] not in RELATIONS:
            raise InvalidInput("target", ":".join((cls.kind, *words)), "share:COLUMN:above:X, :below:X or :is:VALUE")
        return cls(column=words[0], relation=words[1], than=":".join(words[2:]), **options)


def mean(column: str, bounds: tuple[float, float], **options: Any) -> Mean:
    """The target of the mean of a column whose values lie within the bounds; `name`, `weight`, `present` may follow."""
    return Mean(column=column, bounds=bounds, **options)


def sd(column: str, bounds: tuple[float, float], **options: Any) -> Sd:
    """The target of the standard deviation of the records of a column, every person with the same weight."""
    return Sd(column=column, bounds=bounds, **options)


def share(
    column: str,
    *,
    above: float | None = None,
    below: float | None = None,
    is_: str | float | None = None,
    **options: Any,
) -> Share:
    """The target of the share of a column's records that are above or below a number, or are a given value."""
    given = {name: value for name, value in zip(RELATIONS, (above, below, is_), strict=True) if value is not None}
    return Share.from_json({"column": column, **given, **options})
