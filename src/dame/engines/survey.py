"""What a pass over a table counts besides people: records that were clipped or left out, sizes, and true means.

A survey is a commutative monoid of exact integers, like a tally: parts of a table may be surveyed anywhere, in any
order. It reads private sizes and means, so it is for pilots, on data that one already holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dame.device.statistics import Statistic
from dame.engines.layout import Layout
from dame.engines.people import People
from dame.engines.truth import Cells, TrueDistribution, cells_of_means, counted_cells
from dame.errors import InvalidInput, Mismatch
from dame.planning.brief import WEIGHTS, Brief
from dame.sizes import Sizes
from dame.vectorised.statistics import Ints

MEAN_STEPS = 2**32
"""Users' means are rounded to this grid before they are added up, so that true means do not depend on order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSurvey:
    """Exact counts for one statistic; `sizes` says how many users have each number of records, `mean_steps` what their
    means add up to, and `cells`, where they were wanted, how users or records are distributed.

    `users` are those who have a mean, `present` those who have records that count. `records` are these; `clipped` of
    all values that count lay outside the bounds. Left out were `nulls` (no value), `not_finite` (NaN or infinite) and
    `without_user` (no key); `without_records` users had nothing else.
    """

    users: int = 0
    present: int = 0
    records: int = 0
    clipped: int = 0
    nulls: int = 0
    not_finite: int = 0
    without_user: int = 0
    without_records: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    mean_steps: Counter[int] = field(default_factory=Counter)
    cells: Cells = field(default_factory=Counter)

    def __add__(self, other: ColumnSurvey) -> ColumnSurvey:
        sums = {each: getattr(self, each) + getattr(other, each) for each in _COUNTS}
        sizes, steps, cells = (_joined(getattr(self, each), getattr(other, each)) for each in _COUNTERS)
        return ColumnSurvey(**sums, sizes=sizes, mean_steps=steps, cells=cells)

    @property
    def true_mean(self) -> float:
        """The mean of the users' means, on the inner scale; each user counts once."""
        return sum(self.mean_steps.values()) / self.users / MEAN_STEPS

    @property
    def distribution(self) -> TrueDistribution:
        """That of the users' means, or of records of theirs where one is drawn; each user has the same weight."""
        return TrueDistribution.of(self.cells)

    def mean_wanted(self, brief: Brief) -> float:
        """The mean that a study is after, on the inner scale, with the weights that its brief names."""
        if brief.weights == WEIGHTS[0]:
            return self.true_mean
        weights = {size: math.sqrt(brief.effective(size)) for size in sorted(self.sizes)}
        total = math.fsum(weight * self.mean_steps[size] for size, weight in weights.items())
        return total / math.fsum(weight * self.sizes[size] for size, weight in weights.items()) / MEAN_STEPS

    @property
    def share_present(self) -> float:
        """The share of the users who have records that count."""
        return self.present / (self.present + self.without_records)

    def left_out(self) -> dict[str, int]:
        """What was clipped or left out."""
        names = ("clipped", "nulls", "not_finite", "without_user", "without_records")
        return {name: getattr(self, name) for name in names}

    def observed_sizes(self) -> Sizes:
        """M, as it is in this table, of the users who have a mean."""
        return Sizes.from_weights({size: float(users) for size, users in self.sizes.items()})

    def check(self, column: str) -> None:
        """Refuses a column without any value that counts."""
        if not self.present:
            raise InvalidInput(
                f"column {column}",
                f"{self.without_user + self.nulls + self.not_finite} unusable records",
                "a column with at least one record that has a user and a value that counts",
            )


_COUNTERS = ("sizes", "mean_steps", "cells")
_COUNTS = tuple(each for each in ColumnSurvey.__slots__ if each not in _COUNTERS)


class GroupSurvey(NamedTuple):
    """One statistic in one group: users who have a mean, what their means add up to, and how they are distributed."""

    users: int = 0
    mean_steps: int = 0
    cells: Cells = Counter()  # noqa: RUF012  nobody adds to it: sums are new ones

    @property
    def true_mean(self) -> float:
        """The mean of the means of the group's users, on the inner scale."""
        return self.mean_steps / self.users / MEAN_STEPS

    @property
    def distribution(self) -> TrueDistribution:
        """As for everybody, of the users of the group."""
        return TrueDistribution.of(self.cells)

    def mean_wanted(self, brief: Brief) -> float:
        """The mean that a study is after: groups are told apart only where every user counts once."""
        del brief
        return self.true_mean

    def plus(self, other: GroupSurvey) -> GroupSurvey:
        """Both together."""
        cells = _joined(self.cells, other.cells)
        return GroupSurvey(self.users + other.users, self.mean_steps + other.mean_steps, cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Exact counts of what a table holds: its users, those who were left out, and a survey of each statistic.

    `without_user` are records without a key. Left out were users `without_records` that count for any statistic (unless
    they were to stay), those whose records name `several_groups`, and those whose records name none (`without_group`).
    `groups` says for each group how many users it has.
    """

    users: int = 0
    without_user: int = 0
    without_records: int = 0
    several_groups: int = 0
    without_group: int = 0
    columns: dict[Statistic, ColumnSurvey] = field(default_factory=dict)
    groups: Counter[str] = field(default_factory=Counter)
    group_means: dict[tuple[str, Statistic], GroupSurvey] = field(default_factory=dict)

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            users=self.users + other.users,
            **{name: count + other.left_out()[name] for name, count in self.left_out().items()},
            columns=_merged(self.columns, other.columns, ColumnSurvey.__add__),
            groups=self.groups + other.groups,
            group_means=_merged(self.group_means, other.group_means, GroupSurvey.plus),
        )

    def of(self, statistic: Statistic) -> ColumnSurvey:
        """The survey of one statistic; one that the table was not reduced for is a Mismatch."""
        if statistic not in self.columns:
            raise Mismatch(f"the table was not read for {statistic.words}")
        return self.columns[statistic]

    def in_group(self, group: str, statistic: Statistic) -> GroupSurvey:
        """The survey of one statistic in one group."""
        self.of(statistic)
        if group not in self.groups:
            raise Mismatch(f"the table has no group {group!r}, but {', '.join(sorted(self.groups)) or 'none'}")
        return self.group_means.get((group, statistic), GroupSurvey())

    def left_out(self) -> dict[str, int]:
        """Records and users who were left out."""
        names = ("without_user", "without_records", "several_groups", "without_group")
        return {name: getattr(self, name) for name in names}

    @property
    def records(self) -> int:
        """The number of records with a value in the column that most have one in."""
        return max(column.records for column in self.columns.values())

    def counted(self) -> dict[str, int]:
        """Values that were clipped or left out, each column counted once, and records and users who were left out."""
        by_column = {statistic.column: column for statistic, column in reversed(self.columns.items())}
        names = ("clipped", "nulls", "not_finite")
        return {name: sum(getattr(each, name) for each in by_column.values()) for name in names} | self.left_out()

    def to_json(self) -> dict[str, object]:
        """The survey as a JSON object, statistics in their order."""
        columns = [{name: getattr(column, name) for name in _COUNTS} for column in self.columns.values()]
        counters = [[list(getattr(column, name).items()) for name in _COUNTERS] for column in self.columns.values()]
        places = {statistic: place for place, statistic in enumerate(self.columns)}
        means = [
            [group, places[statistic], sums.users, sums.mean_steps, list(sums.cells.items())]
            for (group, statistic), sums in self.group_means.items()
        ]
        document = {"users": self.users, **self.left_out(), "groups": self.groups, "group_means": means}
        return {**document, "columns": columns, "counters": counters}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], statistics: Sequence[Statistic]) -> Survey:
        """The survey for these statistics that `to_json` gave."""
        pairs = zip(document["columns"], document["counters"], strict=True)
        columns = [
            ColumnSurvey(
                **counts, sizes=Counter(dict(sizes)), mean_steps=Counter(dict(steps)), cells=Counter(dict(cells))
            )
            for counts, (sizes, steps, cells) in pairs
        ]
        means = {
            (group, statistics[place]): GroupSurvey(users, steps, Counter(dict(cells)))
            for group, place, users, steps, cells in document["group_means"]
        }
        names = ("users", "without_user", "without_records", "several_groups", "without_group")
        return cls(
            **{name: document[name] for name in names},
            columns=dict(zip(statistics, columns, strict=True)),
            groups=Counter(document["groups"]),
            group_means=means,
        )

    def check(self, layout: Layout) -> Survey:
        """This survey, if it found anybody, and a value in every column."""
        if not self.users and self.several_groups + self.without_group:
            left = f"{self.several_groups} users in several groups and {self.without_group} in none"
            raise InvalidInput(f"group column {layout.group}", left, "one that names a single group for some user")
        for statistic in layout.statistics:
            self.columns.get(statistic, ColumnSurvey()).check(layout.column(statistic))
        return self


Key = TypeVar("Key")
Part = TypeVar("Part")


def _merged(one: Mapping[Key, Part], other: Mapping[Key, Part], plus: Callable[[Part, Part], Part]) -> dict[Key, Part]:
    merged = dict(one)
    for key, part in other.items():
        merged[key] = plus(merged[key], part) if key in merged else part
    return merged


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


def survey_of(
    people: People,
    counted: Mapping[Statistic, Mapping[str, int]],
    distributions: Collection[Statistic] = (),
    **left_out: int,
) -> Survey:
    """The survey of some users, with what was counted for each statistic while their records were read.

    For some statistics the distribution of users' means is counted.
    """
    orders: list[tuple[Ints, _Order]] = []
    groups = None if people.codes is None else _Order.by(people.codes.astype(np.int64))
    columns: dict[Statistic, ColumnSurvey] = {}
    group_means: dict[tuple[str, Statistic], GroupSurvey] = {}
    for statistic, counts in counted.items():
        sizes, steps = people.sizes(statistic), _mean_steps(people, statistic)
        cells = _MeanCells(people, statistic) if statistic in distributions else None
        columns[statistic] = _column_survey(_order(sizes, orders), steps, counts, cells.all() if cells else Counter())
        if groups is not None:
            found = zip(groups.values.tolist(), groups.sums((sizes > 0) * 1), groups.sums(steps), strict=True)
            group_means |= {
                (people.groups[code], statistic): GroupSurvey(users, sum_, cells.among(code) if cells else Counter())
                for code, users, sum_ in found
            }
    return Survey(
        users=len(people),
        **left_out,
        columns=columns,
        groups=Counter() if groups is None else Counter({people.groups[code]: n for code, n in groups.users.items()}),
        group_means=group_means,
    )


class _MeanCells:
    """In which cells the means of users lie who have one."""

    def __init__(self, people: People, statistic: Statistic) -> None:
        _, means = people.of(statistic)
        self._cells = cells_of_means(means)
        self._counted = people.sizes(statistic) > 0
        self._codes = people.codes

    def all(self) -> Cells:
        """Those of everybody."""
        return counted_cells(self._cells[self._counted])

    def among(self, code: int) -> Cells:
        """Those of a group."""
        return counted_cells(self._cells[self._counted & (self._codes == code)])


def _mean_steps(people: People, statistic: Statistic) -> Ints:
    _, means = people.of(statistic)
    means *= MEAN_STEPS
    means += 0.5
    return np.floor(means, out=means).astype(np.int64)


def _column_survey(order: _Order, steps: Ints, counts: Mapping[str, int], cells: Cells) -> ColumnSurvey:
    mean_steps = dict(zip(order.values.tolist(), order.sums(steps), strict=True))
    sizes = {size: users for size, users in order.users.items() if size}  # somebody of size 0 has no mean
    return ColumnSurvey(
        users=sum(sizes.values()),
        **counts,
        sizes=Counter(sizes),
        mean_steps=Counter({size: mean_steps[size] for size in sizes}),
        cells=cells,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Order:
    """Users in the order of some number of theirs."""

    values: Ints
    starts: np.ndarray
    users: dict[int, int]
    order: np.ndarray

    @classmethod
    def by(cls, numbers: Ints) -> _Order:
        """Users by these numbers."""
        order = np.argsort(numbers)  # not stable, which would take longer: sums of integers need no order
        values, starts, users = np.unique(numbers[order], return_index=True, return_counts=True)
        often = dict(zip(values.tolist(), users.tolist(), strict=True))
        return cls(values=values, starts=starts, users=often, order=order)

    def sums(self, numbers: Ints) -> list[int]:
        """What other numbers of theirs add up to, for each value."""
        return np.add.reduceat(numbers[self.order], self.starts).tolist() if len(numbers) else []


def _order(sizes: Ints, known: list[tuple[Ints, _Order]]) -> _Order:
    """The order by sizes, which most statistics share: to sort takes most of the time of a survey."""
    for others, order in known:
        if others is sizes:
            return order
    known.append((sizes, _Order.by(sizes)))
    return known[-1][1]
