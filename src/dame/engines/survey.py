"""What a pass over a table counts besides people: records that were clipped or left out, sizes, and the true mean.

A survey is a commutative monoid of exact integers, like a tally: parts of a table may be surveyed anywhere, in any
order. It reads private sizes and means, so it is for pilots, on data that one already holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dame.engines.people import People
from dame.errors import InvalidInput
from dame.sizes import Sizes

MEAN_STEPS = 2**32
"""Users' means are rounded to this grid before they are added up, so that the true mean does not depend on order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Exact counts of what a table holds; `sizes` says how many users have each number of records.

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
    mean_steps: int = 0
    sizes: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, people: People, **counted: int) -> Survey:
        """The survey of some users, with what was counted while their records were read."""
        sizes, users = np.unique(people.sizes, return_counts=True)
        return cls(
            users=len(people),
            records=int(people.sizes.sum()),
            mean_steps=int(np.floor(people.means * MEAN_STEPS + 0.5).astype(np.int64).sum()),
            sizes=Counter(dict(zip(sizes.tolist(), users.tolist(), strict=True))),
            **counted,
        )

    def __add__(self, other: Survey) -> Survey:
        sums = {name: getattr(self, name) + getattr(other, name) for name in Survey.__slots__ if name != "sizes"}
        return Survey(**sums, sizes=self.sizes + other.sizes)

    @property
    def true_mean(self) -> float:
        """The mean of the users' means, on the inner scale."""
        return self.mean_steps / self.users / MEAN_STEPS

    def left_out(self) -> dict[str, int]:
        """What was clipped or left out."""
        names = ("clipped", "nulls", "not_finite", "without_user", "without_records")
        return {name: getattr(self, name) for name in names}

    def sizes_law(self) -> Sizes:
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


def added(surveys: Iterable[Survey]) -> Survey:
    """The survey of all parts together."""
    total = Survey()
    for survey in surveys:
        total += survey
    return total
