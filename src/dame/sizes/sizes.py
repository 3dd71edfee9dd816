"""`Sizes`: the distribution M of the number of records per user, as the rest of the package uses it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import distributions, observed, parsing, scipy_distributions
from dame.sizes.distributions import SizeDistribution
from dame.sizes.sums import Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sizes:
    """The distribution M of the number of records per user, on 1, 2, 3, …; two are equal when their specs are."""

    law: SizeDistribution

    @classmethod
    def parse(cls, spec: str) -> Sizes:
        """The sizes that a text describes, such as `poisson:5`, `zipf:1.5:10000` or `counts:FILE`."""
        return cls(parsing.parse(spec))

    @classmethod
    def constant(cls, size: int) -> Sizes:
        """Sizes that are all the same."""
        return cls(distributions.constant(size))

    @classmethod
    def from_counts(cls, counts: ArrayLike) -> Sizes:
        """The empirical sizes of an array with one number of records for each user."""
        return cls(observed.from_counts(counts))

    @classmethod
    def from_weights(cls, sizes: Mapping[int, float] | ArrayLike, weights: ArrayLike | None = None) -> Sizes:
        """The sizes with probabilities proportional to weights: a mapping {size: weight}, or two arrays."""
        return cls(observed.from_weights(sizes, weights))

    @classmethod
    def from_probabilities(cls, sizes: ArrayLike, probabilities: ArrayLike) -> Sizes:
        """The sizes with the given probabilities, which must sum to one within 1e-9."""
        return cls(observed.from_probabilities(sizes, probabilities))

    @classmethod
    def from_scipy(cls, frozen: object) -> Sizes:
        """The sizes of a frozen discrete law of scipy.stats, conditioned on at least one record."""
        return cls(scipy_distributions.from_frozen(frozen))

    @property
    def spec(self) -> str:
        """A text that `Sizes.parse` turns back into equal sizes."""
        return self.law.spec

    @property
    def label(self) -> str:
        """A short text for people."""
        return self.law.label or self.law.spec

    @property
    def smallest(self) -> int:
        """The smallest size that occurs."""
        return self.law.smallest

    @property
    def largest(self) -> int | None:
        """The largest size that occurs, or None when there is none."""
        return self.law.largest

    @property
    def mean(self) -> float:
        """E m."""
        return self.law.sums.mean

    @overload
    def survival(self, a: float) -> float: ...
    @overload
    def survival(self, a: NDArray[np.floating] | NDArray[np.integer]) -> Floats: ...
    def survival(self, a: ArrayLike) -> float | Floats:
        """P(m ≥ a), for one a or for an array of them; exactly 1 up to the smallest size."""
        return _for_each(self.law.sums.survival, a)

    @overload
    def mean_sqrt_below(self, a: float) -> float: ...
    @overload
    def mean_sqrt_below(self, a: NDArray[np.floating] | NDArray[np.integer]) -> Floats: ...
    def mean_sqrt_below(self, a: ArrayLike) -> float | Floats:
        """E[sqrt(m)·1{m ≤ a}], for one a or for an array of them."""
        return _for_each(self.law.sums.sqrt_below, a)

    def mean_sqrt(self, cap: float = math.inf) -> float:
        """E sqrt(m ∧ cap), the paper's divisor with cap = m̃; the cap need not be whole."""
        cap = checks.real("cap", cap.item() if isinstance(cap, np.generic) else cap, 0.0, math.inf)
        if cap == math.inf:
            return self.mean_sqrt_below(cap)
        return self.mean_sqrt_below(cap) + math.sqrt(cap) * self.survival(math.floor(cap) + 1)

    def nodes(self) -> tuple[Floats, Floats]:
        """Sizes and weights with Σ weight·f(size) = E f(m) for smooth f.

        All sizes where they are at most 2**17; beyond these, Gauss–Legendre nodes (which are not whole numbers)
        or, under a wide bell, every h-th size.
        """
        return self.law.sums.nodes()

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        """E f(m) for a smooth function of an array of sizes."""
        sizes, weights = self.nodes()
        return float(weights @ function(sizes))

    def support(self) -> NDArray[np.int64] | None:
        """All sizes that occur, increasing, or None where they are more than 2**21.

        Of an unbounded law, all whose probability is a positive float within 40 standard deviations or so.
        """
        atoms = self.law.sums.support()
        return None if atoms is None else atoms.astype(np.int64)

    def sample(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """n independent sizes."""
        return self.law.sample(rng, checks.whole("n", n, 0, 2**40))

    def __eq__(self, other: object) -> bool:
        return self.spec == other.spec if isinstance(other, Sizes) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"Sizes({self.label})"

    def __reduce__(self) -> tuple[Callable[[str], Sizes], tuple[str]]:
        # A law holds closures, which do not travel between processes; its text does.
        return Sizes.parse, (self.spec,)


def _for_each(function: Callable[[Floats], Floats], a: ArrayLike) -> float | Floats:
    try:
        points = np.asarray(a, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("a", a, "a number or an array of numbers") from None
    if np.isnan(points).any():
        raise InvalidInput("a", a, "free of NaN")
    values = function(points.reshape(-1))
    return float(values[0]) if points.ndim == 0 else values.reshape(points.shape)
