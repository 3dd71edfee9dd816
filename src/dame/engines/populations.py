"""Populations that are tables: `dame.Population.table(…)` and `dame.Population.spark(…)`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from dame.device.statistics import Value
from dame.engines.layout import Layout
from dame.engines.store import KeptTable
from dame.engines.study import ReducedTable, carry_out
from dame.engines.survey import ColumnSurvey
from dame.errors import Mismatch
from dame.populations.population import Chunk, Population, Reporting
from dame.sizes import Sizes
from dame.studies.plans import Plan
from dame.studies.results import Result
from dame.studies.running import result_of_outcomes
from dame.vectorised.coins import StreamCoins

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Reduce = Callable[[Layout], ReducedTable]


class TablePopulation(Reporting):
    """The users of a table. It is read when first needed, and again only for a study of another name."""

    def __init__(self, layout: Layout, reduce: Reduce) -> None:
        self._layout = layout
        self._reduce = reduce
        self._reduced: ReducedTable | None = None

    @property
    def reduced(self) -> ReducedTable:
        """The table, reduced to people."""
        if self._reduced is None:
            self._reduced = self._reduce(self._layout)
        return self._reduced

    @property
    def study(self) -> str:
        """The study for which the table is read: a plan for it needs no second look at the records."""
        return self._layout.study

    @property
    def users(self) -> int:
        """The number of users with at least one usable record."""
        return self.reduced.survey().users

    @property
    def sizes(self) -> Sizes:
        """M as it is in this table: for pilots, since a real study could not read it."""
        return self._column.observed_sizes()

    @property
    def truth(self) -> float:
        """The mean of the users' means, on the inner scale."""
        return self._column.true_mean

    @property
    def _column(self) -> ColumnSurvey:
        return self.reduced.survey().of(self._layout.statistics[0])

    def result(self, plan: Plan, seed: int | None) -> Result:
        """The result of a study in which every user draws her own report."""
        self._read_for(plan)
        (outcomes,) = carry_out(plan, self.reduced, seed)
        return result_of_outcomes(plan, outcomes)

    def _read_for(self, plan: Plan) -> None:
        """Sees to it that the table is read for a plan; where it names bounds, they must be those of the plan."""
        layout, wanted = self._layout, tuple(dict.fromkeys(machine.brief.statistic for machine in plan.machines))
        if layout.statistics and not set(wanted) <= set(layout.statistics):
            other = next(statistic for statistic in wanted if statistic not in layout.statistics)
            raise Mismatch(f"the plan asks for {other.words}, the table is read for {layout.statistics[0].words}")
        absent = any(planned.target.present < 1 for planned in plan.targets)
        needed = replace(
            layout,
            study=plan.study,
            statistics=layout.statistics or wanted,
            group=plan.group or None,
            keep_absent=absent,
        )
        if needed != layout:
            self.close()
            self._layout = needed

    def close(self) -> None:
        """Frees what is kept of the table; it is read again when needed."""
        if self._reduced is not None:
            self._reduced.close()
        self._reduced = None

    def groups(self, users: int, shares: Sequence[float], rng: Generator) -> list[Iterator[Chunk]]:
        """The users of each slot, for simulation."""
        if not isinstance(self.reduced, KeptTable):
            raise Mismatch("users of a Spark table stay on their cluster: use dame.run, or dame pilot --repetitions")
        first = self._layout.statistics[0]
        parts = [people.answering(first, StreamCoins(len(people))) for people in self.reduced.people]
        sizes, means = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Population.arrays(sizes, means).groups(users, shares, rng)


def table_population(
    source: object,
    *,
    user: str | Sequence[str],
    value: str = "",
    bounds: tuple[float, float] | None = None,
    study: str | None = None,
    memory_limit: str | None = None,
) -> TablePopulation:
    """The users of a file, a glob, or a pandas, Polars or Arrow table, read by DuckDB."""
    from dame.engines.duckdb_tables import memory_bytes, reduce_table

    limit = None if memory_limit is None else memory_bytes(memory_limit)
    return TablePopulation(
        _layout(user, value, bounds, study), lambda layout: reduce_table(source, layout, memory_limit=limit)
    )


def spark_population(
    records: DataFrame,
    *,
    user: str | Sequence[str],
    value: str = "",
    bounds: tuple[float, float] | None = None,
    study: str | None = None,
) -> TablePopulation:
    """The users of a Spark data frame; they stay on its cluster."""
    from dame.engines.spark_tables import SparkTable

    return TablePopulation(_layout(user, value, bounds, study), lambda layout: SparkTable(records, layout))


def _layout(user: str | Sequence[str], value: str, bounds: tuple[float, float] | None, study: str | None) -> Layout:
    """How the table is read: for a single mean, or, where no bounds are given, for whatever a plan asks."""
    columns = (user,) if isinstance(user, str) else tuple(user)
    statistics = () if bounds is None else (Value(low=bounds[0], high=bounds[1]),)
    return Layout(user=columns, statistics=statistics, value=value, study=study or secrets.token_hex(16))
