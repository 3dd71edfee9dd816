"""The families of size distributions: each function returns one law with its text, ends, sums and draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import draw
from dame.sizes.sums import HEAD, TABLE_LIMIT, Density, Floats, LongTail, Smooth, Sums, Table, bell

LARGEST = 10**15
"""The largest number of records that one user can have here; all whole numbers up to it are floats."""
LARGEST_VARIANCE = 1e10
"""The largest variance of a Poisson or binomial law, whose table then reaches out to ten standard deviations."""

Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeDistribution:
    """A distribution M of the number of records per user."""

    spec: str
    """The text that is parsed to an equal law."""
    smallest: int
    """The smallest size that occurs."""
    largest: int | None
    """The largest size that occurs, or None when there is none."""
    build: Callable[[], Sums]
    """Returns the sums; called once, when they are first needed, since drawing does not need them."""
    sample: Callable[[Rng, int], draw.Ints]
    """Returns n independent sizes."""
    label: str = ""
    """A short text for people; the spec where it is empty."""

    @cached_property
    def sums(self) -> Sums:
        """The sums of this law."""
        return self.build()


def constant(size: int) -> SizeDistribution:
    """The law of users who all have the same number of records."""
    size = checks.whole("size", size, 1, LARGEST)
    return SizeDistribution(
        spec=f"constant:{size}",
        smallest=size,
        largest=size,
        build=lambda: Table(np.array([float(size)]), np.ones(1)),
        sample=lambda rng, n: np.full(n, size, dtype=np.int64),
    )


def two_point(first: int, second: int, share: float) -> SizeDistribution:
    """The law of two sizes, the second with probability `share` (the paper's ρ)."""
    first, second = (checks.whole("size", size, 1, LARGEST) for size in (first, second))
    share = checks.real("share", share, 0.0, 1.0)
    weights = {first: 1.0 - share} if first != second else {}
    weights[second] = share if first != second else 1.0
    used = [size for size, weight in weights.items() if weight > 0]
    return SizeDistribution(
        spec=f"two-point:{first}:{second}:{number_text(share)}",
        smallest=min(used),
        largest=max(used),
        build=lambda: _table_of(weights),
        sample=lambda rng, n: np.where(rng.random(n) < share, np.int64(second), np.int64(first)),
    )


def histogram(sizes: Floats, weights: Floats) -> SizeDistribution:
    """The law of the given sizes (checked, increasing) with the given positive weights."""
    table = Table(sizes, weights)
    pairs = zip(sizes.tolist(), weights.tolist(), strict=True)
    smallest, largest = int(sizes[0]), int(sizes[-1])
    return SizeDistribution(
        spec="histogram:" + ",".join(f"{int(size)}={number_text(weight)}" for size, weight in pairs),
        smallest=smallest,
        largest=largest,
        build=lambda: table,
        sample=lambda rng, n: draw.from_table(table, rng, n),
        label=f"histogram of {len(sizes)} sizes from {smallest} to {largest}, mean {table.mean:.4g}",
    )


def uniform(low: int, high: int) -> SizeDistribution:
    """The law of all sizes from low to high, equally likely."""
    low = checks.whole("low", low, 1, LARGEST)
    high = checks.whole("high", high, low, LARGEST)
    count = high - low + 1

    def survival(a: Floats) -> Floats:
        share: Floats = (high + 1 - np.ceil(a)) / count
        return np.clip(share, 0.0, 1.0)

    return SizeDistribution(
        spec=f"uniform:{low}:{high}",
        smallest=low,
        largest=high,
        build=lambda: smooth(np.ones_like, low, high, survival),
        sample=lambda rng, n: rng.integers(low, high, size=n, endpoint=True),
    )


def zipf(exponent: float, largest: int) -> SizeDistribution:
    """The law P(i) ∝ i^-exponent on 1..largest."""
    exponent = checks.positive("exponent", exponent, 50.0)
    largest = checks.whole("largest", largest, 1, LARGEST)
    return SizeDistribution(
        spec=f"zipf:{number_text(exponent)}:{largest}",
        smallest=1,
        largest=largest,
        build=lambda: smooth(lambda x: x**-exponent, 1, largest),
        sample=lambda rng, n: draw.zipf(exponent, largest, rng, n),
    )


def geometric(success: float) -> SizeDistribution:
    """The law P(i) = p·(1-p)^(i-1) on 1, 2, …."""
    if not 1e-12 <= success <= 1:
        raise InvalidInput("success", success, "a probability from 1e-12 to 1")
    if success == 1:
        return _renamed(constant(1), "geometric:1")
    decay = float(np.log1p(-success))
    # Beyond this the survival is under the smallest float.
    last = int(-750 / decay) + 2

    def survival(a: Floats) -> Floats:
        failures: Floats = np.maximum(np.ceil(a) - 1, 0.0)
        return np.exp(failures * decay)

    return SizeDistribution(
        spec=f"geometric:{number_text(success)}",
        smallest=1,
        largest=None,
        build=lambda: smooth(lambda x: np.exp((x - 1) * decay), 1, last, survival),
        sample=lambda rng, n: rng.geometric(success, size=n),
    )


def poisson(mean: float) -> SizeDistribution:
    """The Poisson law conditioned on at least one record."""
    mean = checks.positive("mean", mean, LARGEST_VARIANCE)
    reach = _reach(mean)
    mode = max(1, int(mean))

    def build() -> Sums:
        return bell(mode, max(1, mode - reach), mode + reach, lambda i: mean / (i + 1))

    return _conditioned(
        SizeDistribution(
            spec=f"poisson:{number_text(mean)}",
            smallest=1,
            largest=None,
            build=build,
            sample=lambda rng, n: draw.positive(lambda k: rng.poisson(mean, size=k), n),
        ),
        mean,
    )


def binomial(trials: int, success: float) -> SizeDistribution:
    """The binomial law conditioned on at least one record."""
    trials = checks.whole("trials", trials, 1, LARGEST)
    success = checks.positive("success", success, 1.0)
    variance = trials * success * (1 - success)
    if not variance <= LARGEST_VARIANCE:
        raise InvalidInput("variance", variance, f"at most {LARGEST_VARIANCE:g}")
    spec = f"binomial:{trials}:{number_text(success)}"
    if success == 1:
        return _renamed(constant(trials), spec)
    reach, odds = _reach(variance), success / (1 - success)
    mode = min(trials, max(1, int((trials + 1) * success)))

    def build() -> Sums:
        first, last = max(1, mode - reach), min(trials, mode + reach)
        return bell(mode, first, last, lambda i: (trials - i) / (i + 1) * odds)

    return _conditioned(
        SizeDistribution(
            spec=spec,
            smallest=1,
            largest=trials,
            build=build,
            sample=lambda rng, n: draw.positive(lambda k: rng.binomial(trials, success, size=k), n),
        ),
        trials * success,
    )


def smooth(density: Density, first: int, last: int, survival: Density | None = None) -> Sums:
    """The sums of a law whose probabilities are proportional to `density` at the sizes first..last.

    Where a closed form of P(m ≥ a) is known it replaces the summed one.
    """
    if last - first < TABLE_LIMIT:
        atoms = np.arange(first, last + 1, dtype=np.float64)
        with np.errstate(under="ignore"):
            return Smooth(Table(atoms, density(atoms)), density, first, last, survival)
    return Smooth(LongTail(density, first, last), density, first, last, survival)


def number_text(value: float) -> str:
    """The shortest text that is read back as the same number."""
    return str(int(value)) if abs(value) < 1e16 and value == int(value) else repr(float(value))


def _reach(variance: float) -> int:
    """How far from the mode a table goes: 40 standard deviations, and enough for skewed small means."""
    return min(int(40 * variance**0.5) + 400, HEAD)


def _table_of(weights: dict[int, float]) -> Table:
    sizes = sorted(weights)
    return Table(np.array(sizes, dtype=np.float64), np.array([weights[size] for size in sizes]))


def _conditioned(law: SizeDistribution, mean: float) -> SizeDistribution:
    """The law with a sampler that does not reject most of its draws when zeros are frequent."""
    if mean >= 2:
        return law

    def sample(rng: Rng, n: int) -> draw.Ints:
        assert isinstance(law.sums, Table)
        return draw.from_table(law.sums, rng, n)

    return SizeDistribution(spec=law.spec, smallest=1, largest=law.largest, build=lambda: law.sums, sample=sample)


def _renamed(law: SizeDistribution, spec: str) -> SizeDistribution:
    return SizeDistribution(spec=spec, smallest=law.smallest, largest=law.largest, build=law.build, sample=law.sample)
