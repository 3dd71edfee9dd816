"""Which columns of a table are records: the user's key, the columns of the statistics, and the public group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dame import checks
from dame.device.statistics import Statistic
from dame.errors import InvalidInput
from dame.vectorised.statistics import array_form

KEYS = "integers, texts or UUIDs"
GROUPS = "integers, texts, booleans or UUIDs"
NUMBERS = "numbers"
NUMBERS_OR_TEXTS = "numbers or texts"
MOST_DRAWS = 16
"""Records that are drawn of each user for repetitions: any two of these share a draw in one of 16 cases, so that all of
them together err by a quarter of what one study does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnTypes:
    """What an engine calls the types of columns that can be used; booleans are the numbers 0 and 1."""

    keys: frozenset[str]
    numbers: frozenset[str]
    texts: frozenset[str]
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is read for a study: its key columns, the statistics of its users, and the column of their groups.

    Statistics that name no column are of the column `value`. With `keep_absent`, users without any value that counts
    stay in the table: they answer like everybody else. For statistics that are of one of a user's records, `draws` of
    them are drawn, with replacement: a study needs one, and repetitions of it fresh ones, or else all of them would err
    to the same side. `distributions` are the statistics whose true distribution is wanted: that of users' means, or,
    where one of a user's records is drawn, that of all records, with the same weight for every user.
    """

    user: tuple[str, ...]
    statistics: tuple[Statistic, ...]
    study: str
    value: str = ""
    group: str | None = None
    keep_absent: bool = False
    draws: int = 1
    distributions: frozenset[Statistic] = frozenset()

    def __post_init__(self) -> None:
        if not self.user:
            raise InvalidInput("user columns", [], "at least one column")
        object.__setattr__(self, "statistics", tuple(dict.fromkeys(self.statistics)))
        if not self.distributions <= {*self.statistics}:
            raise InvalidInput("distributions", len(self.distributions), "some of the statistics")
        if "" in self.columns:
            raise InvalidInput("value column", self.value, "given, since a statistic names no column")
        checks.text("study", self.study, 128)
        checks.whole("draws", self.draws, 1, MOST_DRAWS)

    def column(self, statistic: Statistic) -> str:
        """The column that a statistic is of."""
        return statistic.column or self.value

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all statistics, each of them once."""
        return tuple(dict.fromkeys(map(self.column, self.statistics)))

    def check(self, types: Mapping[str, str], usable: ColumnTypes) -> frozenset[str]:
        """Those columns of statistics that hold texts; a table without usable columns of these names is refused."""
        if not self.statistics:
            raise InvalidInput("statistics", [], "at least one statistic")
        for column in self.user:
            _check("user column", column, types, usable.keys, KEYS)
        if self.group is not None:
            _check("group column", self.group, types, usable.groups, GROUPS)
        for statistic in self.statistics:
            self._check_statistic(statistic, types, usable)
        return frozenset(column for column in self.columns if types[column] in usable.texts)

    def _check_statistic(self, statistic: Statistic, types: Mapping[str, str], usable: ColumnTypes) -> None:
        field, column = "column" if statistic.column else "value column", self.column(statistic)
        form = array_form(statistic)
        if form.reads_texts:
            _check(field, column, types, usable.numbers | usable.texts, NUMBERS_OR_TEXTS)
        else:
            _check(field, column, types, usable.numbers, NUMBERS)
        if types[column] in usable.numbers - usable.texts:
            form.check_numbers(column)


def _check(field: str, column: str, types: Mapping[str, str], usable: frozenset[str], what: str) -> None:
    if column not in types:
        raise InvalidInput(field, column, f"one of {', '.join(types)}")
    if types[column] not in usable:
        raise InvalidInput(field, f"{column} ({types[column]})", f"a column of {what}")
