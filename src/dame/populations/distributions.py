"""Distributions of records on [-1, 1] for synthetic populations: of one record, and of the mean of m of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame import checks
from dame.errors import InvalidInput, Mismatch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RECORDS_AT_ONCE = 2**20


class RecordDistribution(ABC):
    """The distribution μ of one record; all records of all users are drawn from it."""

    name: ClassVar[str]
    form: ClassVar[str]

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean θ of a record."""

    @abstractmethod
    def user_means(self, rng: Generator, sizes: Ints) -> Floats:
        """The mean of `size` records, for each size."""

    def squared(self) -> RecordDistribution:
        """The distribution of 2x² - 1 for a record x: its square on the inner scale."""
        raise Mismatch(f"squares of {type(self).__name__} records cannot be simulated")

    def above(self, number: float) -> float:
        """The probability of a record above a number."""
        raise Mismatch(f"shares of {type(self).__name__} records cannot be simulated")

    def equal(self, number: float) -> float:
        """The probability of a record that is a number: 0 unless a class says otherwise."""
        del number
        return 0.0


@dataclass(frozen=True, slots=True)
class TwoPoint(RecordDistribution):
    """Records of x1 and x2, with probability p of x2. A user's mean is one binomial draw, whatever her size."""

    x1: float
    x2: float
    p: float
    name: ClassVar[str] = "two-point"
    form: ClassVar[str] = "two-point:x1:x2:p"

    def __post_init__(self) -> None:
        checks.real("x1", self.x1, -1.0, 1.0)
        checks.real("x2", self.x2, -1.0, 1.0)
        checks.real("p", self.p, 0.0, 1.0)

    @property
    def mean(self) -> float:
        """The mean θ of a record."""
        return self.x1 + self.p * (self.x2 - self.x1)

    def squared(self) -> RecordDistribution:
        """The distribution of 2x² - 1 for a record x."""
        return TwoPoint(2 * self.x1**2 - 1, 2 * self.x2**2 - 1, self.p)

    def above(self, number: float) -> float:
        """The probability of a record above a number."""
        return (1 - self.p) * (self.x1 > number) + self.p * (self.x2 > number)

    def equal(self, number: float) -> float:
        """The probability of a record that is a number."""
        return (1 - self.p) * (self.x1 == number) + self.p * (self.x2 == number)

    def atoms(self, size: int) -> tuple[Floats, Floats]:
        """The values that the mean of `size` records takes, and their probabilities; tails below 1e-15 are left out."""
        from scipy import special  # slow to load

        spread = math.sqrt(size * self.p * (1 - self.p))
        low = max(0, math.floor(size * self.p - 8 * spread - 12))
        hits = np.arange(low, min(size, math.ceil(size * self.p + 8 * spread + 12)) + 1, dtype=np.float64)
        ways = special.gammaln(size + 1) - special.gammaln(hits + 1) - special.gammaln(size - hits + 1)
        chances = np.exp(ways + special.xlogy(hits, self.p) + special.xlog1py(size - hits, -self.p))
        return self.x1 + hits / size * (self.x2 - self.x1), chances / chances.sum()

    def user_means(self, rng: Generator, sizes: Ints) -> Floats:
        """Means by one binomial draw for each user."""
        share = rng.binomial(sizes, self.p) / sizes
        share *= self.x2 - self.x1
        share += self.x1
        return share


class RealDraws(RecordDistribution):
    """A law whose user means are sums of real draws, taken in blocks of bounded memory."""

    @abstractmethod
    def records(self, rng: Generator, count: int) -> Floats:
        """So many records."""

    @property
    def mean_square(self) -> float:
        """The mean of a record's square."""
        raise Mismatch(f"squares of {type(self).__name__} records cannot be simulated")

    def squared(self) -> RecordDistribution:
        """The distribution of 2x² - 1 for a record x."""
        return _Squared(self)

    def user_means(self, rng: Generator, sizes: Ints) -> Floats:
        """Means of real records; a block may end in the middle of a user."""
        ends = np.cumsum(sizes)
        sums = np.zeros(len(sizes))
        for start in range(0, int(ends[-1]) if len(ends) else 0, RECORDS_AT_ONCE):
            stop = min(start + RECORDS_AT_ONCE, int(ends[-1]))
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            cuts = np.concatenate(([0], ends[first:last] - start))
            sums[first : last + 1] += np.add.reduceat(self.records(rng, stop - start), cuts)
        return np.clip(sums / sizes, -1.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Squared(RealDraws):
    """2x² - 1 for records x of another distribution."""

    of: RealDraws

    @property
    def mean(self) -> float:
        return 2 * self.of.mean_square - 1

    def records(self, rng: Generator, count: int) -> Floats:
        return 2 * self.of.records(rng, count) ** 2 - 1


@dataclass(frozen=True, slots=True)
class Beta(RealDraws):
    """A beta law stretched from [0, 1] to [-1, 1]."""

    a: float
    b: float
    name: ClassVar[str] = "beta"
    form: ClassVar[str] = "beta:a:b"

    def __post_init__(self) -> None:
        checks.positive("a", self.a, 1e6)
        checks.positive("b", self.b, 1e6)

    @property
    def mean(self) -> float:
        """The mean θ of a record."""
        return 2 * self.a / (self.a + self.b) - 1

    @property
    def mean_square(self) -> float:
        """The mean of a record's square."""
        total = self.a + self.b
        return self.mean**2 + 4 * self.a * self.b / (total**2 * (total + 1))

    def above(self, number: float) -> float:
        """The probability of a record above a number."""
        from scipy import special  # slow to load

        return float(special.betaincc(self.a, self.b, min(max((number + 1) / 2, 0.0), 1.0)))

    def records(self, rng: Generator, count: int) -> Floats:
        """So many records."""
        return 2 * rng.beta(self.a, self.b, count) - 1


@dataclass(frozen=True, slots=True)
class Uniform(RealDraws):
    """A uniform law on [low, high]."""

    low: float
    high: float
    name: ClassVar[str] = "uniform"
    form: ClassVar[str] = "uniform:lo:hi"

    def __post_init__(self) -> None:
        checks.real("lo", self.low, -1.0, 1.0)
        checks.real("hi", self.high, self.low, 1.0)

    @property
    def mean(self) -> float:
        """The mean θ of a record."""
        return (self.low + self.high) / 2

    @property
    def mean_square(self) -> float:
        """The mean of a record's square."""
        return (self.low**2 + self.low * self.high + self.high**2) / 3

    def above(self, number: float) -> float:
        """The probability of a record above a number."""
        width = self.high - self.low
        return min(max((self.high - number) / width, 0.0), 1.0) if width else float(self.low > number)

    def records(self, rng: Generator, count: int) -> Floats:
        """So many records."""
        return rng.uniform(self.low, self.high, count)


def rademacher(theta: float) -> TwoPoint:
    """Records of -1 and 1 with mean θ."""
    checks.real("theta", theta, -1.0, 1.0)
    return TwoPoint(-1.0, 1.0, (1 + theta) / 2)


def point(x: float) -> TwoPoint:
    """Records that are all x."""
    return TwoPoint(x, x, 0.5)


_FORMS: dict[str, tuple[int, str, Callable[..., RecordDistribution]]] = {
    "rademacher": (1, "rademacher:θ", rademacher),
    "beta": (2, Beta.form, Beta),
    "uniform": (2, Uniform.form, Uniform),
    "point": (1, "point:x", point),
    "two-point": (3, TwoPoint.form, TwoPoint),
}
FORMS = " ".join(form for _, form, _ in _FORMS.values())


def parse_distribution(spec: str) -> RecordDistribution:
    """The law that a text such as `rademacher:0.5` or `beta:2:6` stands for."""
    name, *words = spec.split(":") if isinstance(spec, str) else [str(spec)]
    if name not in _FORMS:
        raise InvalidInput("data", spec, f"a law of the form {FORMS}")
    count, form, make = _FORMS[name]
    if len(words) != count:
        raise InvalidInput("data", spec, f"of the form {form}")
    try:
        return make(*(checks.number_from_text(form, word) for word in words))
    except InvalidInput as problem:
        raise InvalidInput("data", spec, f"of the form {form}, with {problem.field} {problem.allowed}") from None
