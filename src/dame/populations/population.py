"""Populations: where (size, mean) pairs come from. On the inner scale, means lie in [-1, 1]."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from dame.device.records import ABSENT
from dame.errors import InvalidInput, Mismatch
from dame.populations.distributions import RecordDistribution, TwoPoint
from dame.sizes import Sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dame.engines.populations import TablePopulation
    from dame.studies.plans import Plan
    from dame.studies.results import Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
USERS_AT_ONCE = 2**17
MOST_ATOMS = 2**21
FEWEST_FOR_ATOMS = 16
RAREST = 1e-17
"""Sizes less likely than this are left out of a distribution: no study that could be simulated would ever meet one."""


class Chunk(NamedTuple):
    """Sizes and means of some users; or, with `chances`, the distribution of both for each of `drawn` users."""

    sizes: Ints
    means: Floats
    chances: Floats | None = None
    drawn: int = 0

    @property
    def users(self) -> int:
        """How many users the chunk stands for."""
        return len(self.sizes) if self.chances is None else self.drawn


class Population(ABC):
    """Users, each with a number of records and their mean, in chunks of bounded memory."""

    @property
    @abstractmethod
    def truth(self) -> float:
        """The mean that a study is after, on the inner scale."""

    @abstractmethod
    def groups(self, users: int, shares: Sequence[float], rng: Generator) -> list[Iterator[Chunk]]:
        """The users of each slot, every user in exactly one of them, at random in proportion to the shares."""

    @staticmethod
    def synthetic(sizes: Sizes, records: RecordDistribution, present: float = 1.0) -> Population:
        """Fresh users each time: sizes drawn from M, records from one distribution; only a share of them has any."""
        return _Synthetic(sizes, records, present)

    @staticmethod
    def arrays(sizes: ArrayLike, means: ArrayLike) -> Population:
        """Fixed users, given by the size and the mean (in [-1, 1]) of each; the truth is the mean of their means."""
        try:
            return _Arrays(np.asarray(sizes), np.asarray(means))
        except ValueError as problem:  # numpy refuses ragged lists; our own refusals pass
            if isinstance(problem, InvalidInput):
                raise
            raise InvalidInput("sizes and means", "ragged lists", "two lists of one length") from None

    @staticmethod
    def table(source: object, **layout: Any) -> TablePopulation:
        """The users of a table: a path or glob (Parquet, CSV, JSON), or a pandas, Polars or Arrow table.

        `user` (one or several columns), `value` and `bounds` say where the records are; `study` and `memory_limit`
        ("1GB") may be given.
        """
        from dame.engines.populations import table_population

        return table_population(source, **layout)

    @staticmethod
    def spark(records: DataFrame, **layout: Any) -> TablePopulation:
        """The users of a Spark data frame, who stay on its cluster; `user`, `value`, `bounds`, `study` as above."""
        from dame.engines.populations import spark_population

        return spark_population(records, **layout)


class Reporting(Population):
    """Users who each draw a report of their own, as their devices would: those of a table."""

    @abstractmethod
    def result(self, plan: Plan, seed: int | None) -> Result:
        """The result of a study; with a seed its coins are repeatable, without one they are secure."""


class _Synthetic(Population):
    def __init__(self, sizes: Sizes, records: RecordDistribution, present: float) -> None:
        self._sizes = sizes
        self._records = records
        self._present = present

    @property
    def truth(self) -> float:
        # Somebody without records counts as one record in the middle: see `dame.device.records.ABSENT`.
        return self._records.mean * self._present

    def groups(self, users: int, shares: Sequence[float], rng: Generator) -> list[Iterator[Chunk]]:
        # Users are alike, so hashing each to a slot amounts to a multinomial split of their number.
        counts = rng.multinomial(users, np.asarray(shares) / np.sum(shares))
        return [self._chunks(int(count), rng) for count in counts]

    def _chunks(self, users: int, rng: Generator) -> Iterator[Chunk]:
        if users > self._worth_atoms:
            yield Chunk(*self._atoms, users)
            return
        for start in range(0, users, USERS_AT_ONCE):
            sizes = self._sizes.sample(rng, min(USERS_AT_ONCE, users - start))
            yield self._with_absent(Chunk(sizes, self._records.user_means(rng, sizes)), rng)

    def _with_absent(self, chunk: Chunk, rng: Generator) -> Chunk:
        if self._present == 1.0:
            return chunk
        absent = rng.random(len(chunk.sizes)) >= self._present
        return Chunk(np.where(absent, ABSENT.size, chunk.sizes), np.where(absent, ABSENT.mean, chunk.means))

    @cached_property
    def _likely_sizes(self) -> tuple[Ints, Floats] | None:
        """The sizes that are not all but impossible, with their probabilities; None where they are too many."""
        support = self._sizes.support()
        if support is None:
            return None
        chances = -np.diff(np.append(self._sizes.survival(support), 0.0))
        likely = chances > RAREST
        return support[likely], chances[likely]

    @cached_property
    def _worth_atoms(self) -> float:
        """From how many users on it is cheaper to work with the distribution of (size, mean) than to draw each."""
        if not isinstance(self._records, TwoPoint) or self._present < 1.0 or self._likely_sizes is None:
            return math.inf
        sizes, _ = self._likely_sizes
        atoms = np.minimum(sizes, 16 * np.sqrt(sizes) + 24).sum()
        return max(float(atoms) / 4, FEWEST_FOR_ATOMS) if atoms <= MOST_ATOMS else math.inf

    @cached_property
    def _atoms(self) -> tuple[Ints, Floats, Floats]:
        """Every pair of size and mean that occurs, with its probability."""
        assert isinstance(self._records, TwoPoint)
        assert self._likely_sizes is not None
        sizes, shares = self._likely_sizes
        parts = [self._records.atoms(int(size)) for size in sizes]
        lengths = [len(values) for values, _ in parts]
        means = np.concatenate([values for values, _ in parts])
        chances = np.concatenate([chances for _, chances in parts]) * np.repeat(shares, lengths)
        return np.repeat(sizes, lengths), means, chances / chances.sum()


class _Arrays(Population):
    def __init__(self, sizes: NDArray[np.generic], means: NDArray[np.generic]) -> None:
        if sizes.ndim != 1 or sizes.shape != means.shape or not len(sizes):
            raise InvalidInput("sizes and means", (sizes.shape, means.shape), "two lists of one length, not empty")
        if sizes.dtype.kind not in "iu" or not (sizes.astype(np.int64) >= 1).all():
            raise InvalidInput("sizes", f"{sizes.dtype} array", "whole numbers of at least 1")
        if means.dtype.kind not in "iuf" or not (np.abs(means.astype(np.float64)) <= 1).all():
            raise InvalidInput("means", f"{means.dtype} array", "numbers from -1 to 1")
        self._sizes = sizes.astype(np.int64)
        self._means = means.astype(np.float64)

    @property
    def truth(self) -> float:
        return float(np.mean(self._means))

    def groups(self, users: int, shares: Sequence[float], rng: Generator) -> list[Iterator[Chunk]]:
        if users != len(self._sizes):
            raise Mismatch(f"the plan is for {users} users, the population has {len(self._sizes)}")
        borders = np.cumsum(shares)[:-1] / np.sum(shares)
        slots = np.searchsorted(borders, rng.random(users), side="right")
        return [iter([Chunk(self._sizes[slots == slot], self._means[slots == slot])]) for slot in range(len(shares))]
