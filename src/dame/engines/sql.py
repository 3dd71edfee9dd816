"""The one aggregation, in pieces of SQL that engines put together: records to the grid, and each user's public hash."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from dame.engines.dialects import Dialect
from dame.engines.layout import Layout
from dame.engines.statistic_sql import SqlForm, sql_form


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNames:
    """The names under which the row of a user holds what is known of her, besides all her rows, `records`.

    For each column: her rows with a value, and those that count since it is finite or a text. For each statistic: how
    many of these lie outside the bounds, and the sum of grid values, None where there is nothing to know; and the grid
    values of records that were drawn.
    """

    present: tuple[str, ...]
    sizes: tuple[str, ...]
    outside: tuple[str | None, ...]
    totals: tuple[str | None, ...]
    draws: tuple[tuple[str, ...], ...]

    @property
    def numbers(self) -> list[str]:
        """Each name once."""
        names = ("records", *self.present, *self.sizes, *self.outside, *self.totals, *itertools.chain(*self.draws))
        return list(dict.fromkeys(name for name in names if name is not None))


class ColumnSums(NamedTuple):
    """What a statistic needs: a reading of each record, how these are summed up, how one is drawn by chance, if it is,
    and how clipped ones are counted."""

    reading: str | None
    total: Callable[[str], str]
    draw: Callable[[str, str], str | None]
    outside: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How the records of any table become one row a user: expressions for each of four steps, in one dialect.

    `texts` are the columns that hold texts. In the steps, v0, v1, … are the values of the columns, f0, f1, … those of
    them that count. What several statistics need is computed once.
    """

    dialect: Dialect
    layout: Layout
    texts: frozenset[str] = frozenset()

    def query(self, table: str) -> str:
        """The whole aggregation of a table."""
        keys, totals = ", ".join(self.key_names), ", ".join(f"{total} AS {name}" for total, name in self.aggregates())
        grouped = f"SELECT {keys}, {totals} FROM {self.records(table)} GROUP BY {keys}"
        return f"SELECT {', '.join(self.hashed())} FROM ({grouped})"

    def records(self, table: str) -> str:
        """The records after the first three steps."""
        steps = table
        for step in (self.columns(), self.counting(), self.gridded()):
            steps = f"(SELECT {', '.join(step)} FROM {steps})"
        return steps

    @property
    def key_names(self) -> list[str]:
        """What the key columns are called from the first step on."""
        return [f"k{place}" for place in range(len(self.layout.user))]

    @property
    def places(self) -> range:
        """The places of the columns."""
        return range(len(self.layout.columns))

    def forms(self) -> list[tuple[int, SqlForm]]:
        """For each statistic the place of its column, and its form."""
        columns = self.layout.columns
        named = [(self.layout.column(statistic), statistic) for statistic in self.layout.statistics]
        return [(columns.index(name), sql_form(each, self.dialect, name in self.texts)) for name, each in named]

    def columns(self) -> list[str]:
        """First step: the key columns and the group, and the value of each column as a double or a text."""
        kept = [*self.layout.user, *([] if self.layout.group is None else [self.layout.group])]
        named = [f"{self.dialect.name(key)} AS {name}" for key, name in zip(kept, self._kept, strict=True)]
        return [*named, *(f"{self._value(column)} AS v{place}" for place, column in enumerate(self.layout.columns))]

    @property
    def _kept(self) -> list[str]:
        return [*self.key_names, *([] if self.layout.group is None else ["grp"])]

    def _value(self, column: str) -> str:
        name = self.dialect.name(column)
        return self.dialect.text.format(name) if column in self.texts else f"CAST({name} AS DOUBLE)"

    def counting(self) -> list[str]:
        """Second step: the same, and the values that count, null where they do not."""
        return [*self._kept, *(f"v{place}" for place in self.places), *map(self._counting, self.places)]

    def _counting(self, place: int) -> str:
        if self.layout.columns[place] in self.texts:
            return f"v{place} AS f{place}"
        return f"CASE WHEN {self.dialect.finite.format(f'v{place}')} THEN v{place} END AS f{place}"

    def gridded(self) -> list[str]:
        """Third step: the same, what statistics read from the values, and chances, where records are drawn by them."""
        values = [f"{letter}{place}" for letter in self._letters for place in self.places]
        chances = [f"{self.dialect.chance} AS {name}" for name in self._chances] if any(self._draws()) else []
        readings = (f"{reading} AS {name}" for reading, name in self.readings().items())
        return [*self._kept, *values, *readings, *chances]

    @property
    def _chances(self) -> list[str]:
        return [f"c{number}" for number in range(self.layout.draws)]

    @property
    def _letters(self) -> str:
        """What there is of each column."""
        return "vf"

    def sums(self) -> list[ColumnSums]:
        """What each statistic needs."""
        return [
            ColumnSums(form.reading(f"f{place}"), form.total, form.draw, _outside(form, place))
            for place, form in self.forms()
        ]

    def readings(self) -> dict[str, str]:
        """What statistics read from values, each under its name in the third step."""
        return _named("g", (sums.reading for sums in self.sums()))

    def _totals(self) -> list[str | None]:
        """The sum of each statistic, if it needs one."""
        names = self.readings()
        return [None if sums.reading is None else sums.total(names[sums.reading]) for sums in self.sums()]

    def _draws(self) -> list[list[str]]:
        """The records that are drawn for each statistic, if any."""
        names = self.readings()
        each = [
            [sums.draw(names[sums.reading], chance) for chance in self._chances] if sums.reading else []
            for sums in self.sums()
        ]
        return [[draw for draw in draws if draw is not None] for draws in each]

    def _named_draws(self) -> dict[str, str]:
        return _named("draw", itertools.chain(*self._draws()))

    def aggregates(self) -> list[tuple[str, str]]:
        """Fourth step, for each key: an expression and its name, for whatever is counted, summed or drawn."""
        counts = [(f"count({letter}{place})", f"{name}{place}") for letter, name in _COUNTED for place in self.places]
        outside = _named("outside", (sums.outside for sums in self.sums()))
        totals = _named("total", self._totals())
        all_ = [("count(*)", "records"), *counts, *outside.items(), *totals.items(), *self._named_draws().items()]
        return [*((f"CAST({total} AS BIGINT)", name) for total, name in all_), *self._groups()]

    def _groups(self) -> list[tuple[str, str]]:
        return [] if self.layout.group is None else [("min(grp)", "first_group"), ("max(grp)", "last_group")]

    def row(self) -> RowNames:
        """What the last step calls its numbers."""
        outside = _named("outside", (sums.outside for sums in self.sums()))
        totals, draws = _named("total", self._totals()), self._named_draws()
        return RowNames(
            present=tuple(f"present{place}" for place in self.places),
            sizes=tuple(f"size{place}" for place in self.places),
            outside=tuple(outside.get(sums.outside or "") for sums in self.sums()),
            totals=tuple(totals.get(total or "") for total in self._totals()),
            draws=tuple(tuple(map(draws.__getitem__, each)) for each in self._draws()),
        )

    def hashed(self) -> list[str]:
        """Last step: the user's public hash (null without a key), all numbers, and her group.

        `group_name` is null for a user whose records name none; `several` is 1 where they name more than one.
        """
        texts = [self.dialect.text.format(name) for name in self.key_names]
        if len(texts) > 1:
            texts = [part for text in texts for part in (self.dialect.text_bytes.format(text), "':'", text)]
        hashed = " || ".join([self.dialect.text_constant(f"{self.layout.study}\n"), *texts])
        groups = [
            f"{self.dialect.text.format('first_group')} AS group_name",
            "CAST(CASE WHEN first_group <> last_group THEN 1 ELSE 0 END AS BIGINT) AS several",
        ]
        numbers = [f"{self.dialect.hash.format(hashed)} AS person", *self.row().numbers]
        return [*numbers, *(groups if self.layout.group is not None else [])]


_COUNTED = (("v", "present"), ("f", "size"))


def _named(prefix: str, expressions: Iterable[str | None]) -> dict[str, str]:
    """A name for each expression that there is; equal ones have one."""
    distinct = dict.fromkeys(expression for expression in expressions if expression is not None)
    return {expression: f"{prefix}{place}" for place, expression in enumerate(distinct)}


def _outside(form: SqlForm, place: int) -> str | None:
    within = form.within(f"f{place}")
    return None if within is None else f"count(*) FILTER (WHERE NOT ({within}))"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanReduction(Reduction):
    """The same for a table in which every record has a user, and in each column a value that is not far out.

    There is nothing to count but records, and sums in doubles, which are quicker, are exact for users with at most
    MOST_EXACT records. If a value is NaN after all, which the footers of Parquet files do not tell, a sum of its user
    is null. `within` are the places of statistics that clip no value, `counted` those whose clipped values are counted
    for each user. What others clip is counted by `look`, once for the whole table, which is quicker for several.
    """

    within: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()

    def counting(self) -> list[str]:
        """Second step: every value counts."""
        return [*self._kept, *(f"v{place} AS f{place}" for place in self.places)]

    @property
    def _letters(self) -> str:
        return "f"

    def sums(self) -> list[ColumnSums]:
        """What each statistic needs."""
        return [self._quick(place, *pair) for place, pair in enumerate(self.forms())]

    def _quick(self, statistic: int, column: int, form: SqlForm) -> ColumnSums:
        within = statistic in self.within
        outside = _outside(form, column) if statistic in self.counted else None
        reading = form.quick_reading(f"f{column}")
        return ColumnSums(reading, lambda name: form.quick_total(name, within), form.quick_draw, outside)

    def aggregates(self) -> list[tuple[str, str]]:
        """Fourth step, for each key: how many records, and the sums."""
        named = {**_named("total", self._totals()), **self._named_draws()}
        totals = {f"TRY_CAST({total} AS BIGINT)": name for total, name in named.items()}
        outside = _named("outside", (sums.outside for sums in self.sums()))
        # In this order: DuckDB takes 8 % longer when the sum comes last.
        return [("count(*)", "records"), *totals.items(), *outside.items(), *self._groups()]

    def row(self) -> RowNames:
        """What the last step calls its numbers: whoever has a record has one in every column."""
        count = ("records",) * len(self.places)
        full = Reduction.row(self)
        return replace(full, present=count, sizes=count)


def look(how: Reduction, places: Iterable[int], statistics: Iterable[int]) -> list[str]:
    """Counts over the columns of the first step: for some statistics the records outside their bounds; then all
    records, those in which each key column is not null, and those in which each of some columns has a value that counts
    and is not far out."""
    outside = [
        f"count_if(NOT ({form.within(f'v{place}')}))" for place, form in map(how.forms().__getitem__, statistics)
    ]
    usable = [*(f"count({name})" for name in how.key_names), *(f"count_if({near(how, n, f'v{n}')})" for n in places)]
    return [*outside, "count(*)", *usable]


def near(how: Reduction, place: int, value: str) -> str:
    """Whether a value of a column counts and is not far out for any of its statistics; not true when it is null."""
    if how.layout.columns[place] in how.texts:
        return f"{value} IS NOT NULL"
    conditions = [form.near(value) for its, form in how.forms() if its == place]
    return " AND ".join([how.dialect.finite.format(value), *(each for each in conditions if each is not None)])
