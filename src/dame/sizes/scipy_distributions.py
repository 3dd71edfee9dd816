"""Discrete laws of scipy.stats as sizes, conditioned on at least one record.

Only their probabilities are used: the distribution functions of some of them sum over all smaller sizes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from dame.errors import InvalidInput
from dame.sizes import draw, observed
from dame.sizes.distributions import LARGEST, SizeDistribution, number_text
from dame.sizes.sums import TABLE_LIMIT, Floats, LongTail, Sums, Table

_MASS_ERROR = 1e-9
"""How far the probabilities may be from the mass that they should have; beyond it, something was missed."""
_LAST_SHARE = 1e-9
"""The share of E m that the last panel of an unbounded law may have."""
_EDGE = 1e-18
"""What size × probability must have fallen to at the end of a table of an unbounded law."""


class Discrete(Protocol):
    """What is used of a frozen law."""

    def pmf(self, k: Floats) -> Any:
        """The probabilities of the sizes k."""

    def support(self) -> tuple[float, float]:
        """The smallest and the largest value."""

    def mean(self) -> Any:
        """The mean."""

    def std(self) -> Any:
        """The standard deviation."""


def named(name: str, arguments: tuple[float, ...]) -> SizeDistribution:
    """The law that scipy.stats has under this name, with these arguments."""
    from scipy import stats  # slow to import, and only needed here

    family = getattr(stats, name, None) if name.isidentifier() else None
    if not isinstance(family, stats.rv_discrete):
        raise InvalidInput("law", name, "the name of a discrete law of scipy.stats")
    spec = ":".join(["scipy", name, *map(number_text, arguments)])
    with _quiet(spec):
        return _law(family(*arguments), spec)


def from_frozen(frozen: object) -> SizeDistribution:
    """The law of a frozen discrete law of scipy.stats; one that has no name there must have a finite support."""
    for method in ("pmf", "support", "mean", "std"):
        if not callable(getattr(frozen, method, None)):
            raise InvalidInput("law", frozen, "a frozen discrete law of scipy.stats")
    spec = _spec_of(frozen)
    if spec is not None:
        return named(spec[0], spec[1])
    with _quiet("law"):
        law = _law(frozen, "law")  # type: ignore[arg-type]
        atoms, weights = law.sums.nodes()
    if law.largest is None or not isinstance(law.sums, Table):
        raise InvalidInput("law", frozen, "a law that scipy.stats knows by name, or one on few sizes")
    return observed.from_weights(atoms, weights)


def _spec_of(frozen: object) -> tuple[str, tuple[float, ...]] | None:
    """The name and all arguments of a frozen law that `named` can find again."""
    from scipy import stats

    family: Any = getattr(frozen, "dist", object())
    name = str(getattr(family, "name", ""))
    if not _same_family(family, getattr(stats, name, None)):
        return None
    shapes = family.shapes.split(", ") if family.shapes else []
    given = dict(zip([*shapes, "loc"], frozen.args, strict=False)) | frozen.kwds  # type: ignore[attr-defined]
    location = [float(given["loc"])] if given.get("loc") else []
    try:
        return name, (*(float(given[shape]) for shape in shapes), *location)
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("law", frozen, "a frozen law with one number for each argument") from None


def _same_family(one: object, other: object) -> bool:
    return type(one) is type(other)


def _law(frozen: Discrete, spec: str) -> SizeDistribution:
    low, high = frozen.support()
    # Wrong arguments give NaN for both ends.
    mass = _mass(frozen, low) if low <= high else 0.0
    if not mass > 0:
        raise InvalidInput("law", spec, "a law with valid arguments and some mass on sizes of at least 1")
    smallest = int(max(1.0, low))
    largest = int(high) if high <= LARGEST else None
    sums = _sums(frozen, spec, smallest, largest, mass)
    return SizeDistribution(
        spec=spec,
        smallest=smallest,
        largest=largest,
        build=lambda: sums,
        sample=lambda rng, n: _sample(frozen, sums, rng, n),
    )


def _mass(frozen: Discrete, low: float) -> float:
    """P(m ≥ 1) before conditioning."""
    if low >= 1:
        return 1.0
    start = max(low, -float(2**16))
    return 1.0 - float(np.sum(frozen.pmf(np.arange(start, 1.0))))


def _sums(frozen: Discrete, spec: str, smallest: int, largest: int | None, mass: float) -> Sums:
    """The sums over all sizes, or around the mean of a narrow law, or over a long tail, whichever holds the mass."""
    if largest is not None and largest - smallest < TABLE_LIMIT:
        found: Table | LongTail | None = _table(frozen, smallest, largest, mass)
    else:
        found = _around_mean(frozen, smallest, mass) or _long_tail(frozen, smallest, largest, mass)
    if found is None:
        raise InvalidInput("law", spec, "a law whose mass can be summed; for heavy tails use zipf:EXPONENT:LARGEST")
    return found


def _table(frozen: Discrete, first: int, last: int, mass: float) -> Table | None:
    atoms = np.arange(first, last + 1, dtype=np.float64)
    weights = np.asarray(frozen.pmf(atoms), dtype=np.float64)
    return Table(atoms, weights) if abs(weights.sum() - mass) <= _MASS_ERROR * mass else None


def _around_mean(frozen: Discrete, smallest: int, mass: float) -> Table | None:
    mean, spread = float(frozen.mean()), float(frozen.std())
    if not (80 * spread + 800 < TABLE_LIMIT and abs(mean) <= LARGEST):
        return None
    last = int(mean + 40 * spread) + 400
    if not last * float(np.sum(frozen.pmf(np.array([float(last)])))) < _EDGE * mass:
        return None
    return _table(frozen, max(smallest, int(mean - 40 * spread) - 400), last, mass)


def _long_tail(frozen: Discrete, smallest: int, largest: int | None, mass: float) -> LongTail | None:
    tail = LongTail(lambda x: _between(frozen, x), smallest, largest or LARGEST)
    ends = largest is not None or tail.last_share < _LAST_SHARE
    return tail if ends and abs(tail.total - mass) <= _MASS_ERROR * mass else None


def _between(frozen: Discrete, x: Floats) -> Floats:
    """The probabilities, continued between whole numbers by straight lines of their logarithms."""
    below = np.floor(x)
    with np.errstate(divide="ignore", under="ignore", invalid="ignore"):
        low = np.log(frozen.pmf(below))
        # A whole number is its own value, also next to the end of the support.
        high = np.where(x == below, low, np.log(frozen.pmf(below + 1)))
        between: Floats = np.exp(low + (x - below) * (high - low))
        return np.nan_to_num(between)


def _sample(frozen: Discrete, sums: Sums, rng: np.random.Generator, n: int) -> draw.Ints:
    if isinstance(sums, Table):
        return draw.from_table(sums, rng, n)
    return draw.positive(lambda k: frozen.rvs(size=k, random_state=rng), n)  # type: ignore[attr-defined]


@contextmanager
def _quiet(spec: str) -> Iterator[None]:
    """Turns whatever scipy raises or warns about odd arguments into one error of ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except InvalidInput:
        raise
    except (TypeError, ValueError, ArithmeticError, IndexError, MemoryError) as error:
        raise InvalidInput("law", spec, f"a law that scipy.stats accepts ({error})") from None
