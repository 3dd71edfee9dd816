"""What a pass over a table counts besides people: records that were clipped or left out, sizes, and the true mean.

A survey is a commutative monoid of exact integers, like a tally: parts of a table may be surveyed anywhere, in any
order. It reads private sizes and means, so it is for pilots, on data that one already holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dame.engines.people import People
from dame.errors import InvalidInput
from dame.planning.brief import WEIGHTS, Brief
from dame.sizes import Sizes

MEAN_STEPS = 2**32
"""Users' means are rounded to this grid before they are added up, so that the true mean does not depend on order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Exact counts of what a table holds; `sizes` says how many users have each number of records, `mean_steps` what
    their means add up to.

    `records` are those that count. `clipped` of them lay outside the bounds. Left out were `nulls` (no value),
    `not_finite` (NaN or infinite) and `without_user` (no key); `without_records` users had nothing else.
    """

    users: int = 0
    records: int = 0
    clipped: int = 0
    nulls: int = 0
    not_finite: int = 0
    without_user: int = 0
    without_records: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    mean_steps: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, people: People, **counted: int) -> Survey:
        """The survey of some users, with what was counted while their records were read."""
        order = np.argsort(people.sizes)  # not stable, which would take longer: sums of integers need no order
        sizes, starts, users = np.unique(people.sizes[order], return_index=True, return_counts=True)
        steps = np.floor(people.means[order] * MEAN_STEPS + 0.5).astype(np.int64)
        totals = np.add.reduceat(steps, starts) if len(steps) else steps
        return cls(
            users=len(people),
            records=int(people.sizes.sum()),
            sizes=Counter(dict(zip(sizes.tolist(), users.tolist(), strict=True))),
            mean_steps=Counter(dict(zip(sizes.tolist(), totals.tolist(), strict=True))),
            **counted,
        )

    def __add__(self, other: Survey) -> Survey:
        counters = ("sizes", "mean_steps")
        sums = {name: getattr(self, name) + getattr(other, name) for name in Survey.__slots__ if name not in counters}
        sizes, steps = (_joined(getattr(self, name), getattr(other, name)) for name in counters)
        return Survey(**sums, sizes=sizes, mean_steps=steps)

    @property
    def true_mean(self) -> float:
        """The mean of the users' means, on the inner scale; each user counts once."""
        return sum(self.mean_steps.values()) / self.users / MEAN_STEPS

    def mean_wanted(self, brief: Brief) -> float:
        """The mean that a study is after, on the inner scale, with the weights that its brief names."""
        if brief.weights == WEIGHTS[0]:
            return self.true_mean
        weights = {size: math.sqrt(brief.effective(size)) for size in sorted(self.sizes)}
        total = math.fsum(weight * self.mean_steps[size] for size, weight in weights.items())
        return total / math.fsum(weight * self.sizes[size] for size, weight in weights.items()) / MEAN_STEPS

    def left_out(self) -> dict[str, int]:
        """What was clipped or left out."""
        names = ("clipped", "nulls", "not_finite", "without_user", "without_records")
        return {name: getattr(self, name) for name in names}

    def observed_sizes(self) -> Sizes:
        """M, as it is in this table."""
        return Sizes.from_weights({size: float(users) for size, users in self.sizes.items()})

    def check(self) -> Survey:
        """This survey, if it found anybody."""
        if not self.users:
            raise InvalidInput(
                "table",
                f"{self.without_user + self.nulls + self.not_finite} unusable records",
                "a table with at least one record that has a user and a finite value",
            )
        return self


def _joined(one: Counter[int], other: Counter[int]) -> Counter[int]:
    joined = Counter(one)
    joined.update(other)  # unlike `+`, this keeps sums that are not positive
    return joined


def added(surveys: Iterable[Survey]) -> Survey:
    """The survey of all parts together."""
    total = Survey()
    for survey in surveys:
        total += survey
    return total
