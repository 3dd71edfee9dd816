"""Options of the commands that read tables, and the choice of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from dame.cli import output
from dame.engines.layout import Layout
from dame.engines.study import ReducedTable
from dame.errors import InvalidInput

ENGINES = ("duckdb", "spark")

Table = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="A file or glob (Parquet, CSV, JSON), or FILE.duckdb::TABLE."),
]
UserColumns = Annotated[
    list[str],
    typer.Option(
        "--user", metavar="COL", help="Column with the user's key; give it several times for several columns."
    ),
]
ValueColumn = Annotated[
    str, typer.Option("--value", metavar="COL", help="Column with the values, where the question names none.")
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="E", help="**duckdb** on this machine, or **spark** on a cluster.")
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark master, such as local[4]; that of spark-submit when absent."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Memory of DuckDB, such as 1GB; beyond it, it uses the disk."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The engine that people chose, and its settings."""

    name: str
    master: str | None
    memory_limit: str | None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise InvalidInput("engine", self.name, f"one of {', '.join(ENGINES)}")
        if self.name == "spark" and self.memory_limit is not None:
            raise InvalidInput("memory-limit", self.memory_limit, "absent with Spark, which has its own settings")
        if self.name == "duckdb" and self.master is not None:
            raise InvalidInput("master", self.master, "absent without --engine spark")

    @contextmanager
    def open(self, table: str, layout: Layout) -> Iterator[ReducedTable]:
        """The table, reduced to people."""
        reduced = self._on_spark(table, layout) if self.name == "spark" else self._on_duckdb(table, layout)
        try:
            yield reduced
        finally:
            reduced.close()

    def _on_duckdb(self, table: str, layout: Layout) -> ReducedTable:
        from dame.engines.duckdb_tables import memory_bytes, reduce_table

        limit = None if self.memory_limit is None else memory_bytes(self.memory_limit)
        with output.progress_of("reading records, %", 100) as progress:
            return reduce_table(table, layout, memory_limit=limit, progress=progress)

    def _on_spark(self, table: str, layout: Layout) -> ReducedTable:
        from dame.engines.spark_sessions import read_records, spark_session
        from dame.engines.spark_tables import SparkTable

        return SparkTable(read_records(spark_session(self.master), table), layout)
