"""Tables on one machine: DuckDB reads the records, streams one row a user, and spills to disk under a memory limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dame.engines import footers
from dame.engines.dialects import DUCKDB
from dame.engines.layout import ColumnTypes, Layout
from dame.engines.record_cells import cells_query, cells_survey, wanted
from dame.engines.reduced import TablePart, read_batches
from dame.engines.spill import spill_folder
from dame.engines.sql import CleanReduction, Reduction, look
from dame.engines.statistic_sql import MOST_EXACT
from dame.engines.store import IN_MEMORY, KeptTable
from dame.engines.survey import ColumnSurvey, Survey, added
from dame.errors import DameError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Progress = Callable[[int], None]
Result = TypeVar("Result")

USERS_AT_ONCE = 2**17
SECONDS_BETWEEN_LOOKS = 0.2
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_TEXTS = frozenset({"varchar", "enum", "uuid"})
TYPES = ColumnTypes(
    keys=footers.WHOLE | _TEXTS,
    numbers=footers.WHOLE | {"float", "double", "decimal", "boolean"},
    texts=_TEXTS,
    groups=footers.WHOLE | _TEXTS | {"boolean"},
)


def _silent(percentage: int) -> None:
    """Progress that nobody watches."""


def reduce_table(
    source: object,
    layout: Layout,
    *,
    memory_limit: int | None = None,
    progress: Progress = _silent,
) -> KeptTable:
    """The people of a table: a path or glob of Parquet, CSV or JSON files, `FILE.duckdb::TABLE`, or a data frame.

    `progress` is told the percentage of the records that were read.
    """
    room = IN_MEMORY if memory_limit is None else memory_limit // 4
    with _session(memory_limit) as session, _sentences(source):
        table = _named(session, source)
        types = _types(session, table)
        full = Reduction(dialect=DUCKDB, layout=layout, texts=layout.check(types, TYPES))
        quick = _quick(session, table, full, types) if _by_columns(source) else None
        cells = _cells(session, table, full)
        if quick is not None:
            clean, clipped = quick
            with suppress(_Inexact):
                return KeptTable(layout, _parts(session, table, clean, progress), room, clipped + cells)
        return KeptTable(layout, _parts(session, table, full, progress), room, cells)


def memory_bytes(text: str) -> int:
    """A limit on memory as people type it: `512MB`, `1GB`, `1.5GiB`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?", text.strip().upper())
    size = int(float(found[1]) * _UNITS[found[2]]) if found and found[2] in _UNITS else 0
    if not 2**26 <= size <= 2**50:
        raise InvalidInput("memory limit", text, "a size of at least 64MiB, such as 512MB or 1GB")
    return size


def _cells(session: duckdb.DuckDBPyConnection, table: str, how: Reduction) -> Survey:
    """The true distributions of records that are wanted."""
    found = (
        (statistic, _awaited(session, session.sql(cells_query(how, table, statistic)).fetchall))
        for statistic in wanted(how.layout)
    )
    return added(cells_survey(statistic, rows) for statistic, rows in found)


def _parts(session: duckdb.DuckDBPyConnection, table: str, how: Reduction, progress: Progress) -> Iterator[TablePart]:
    """The people of the table, a part at a time."""
    batches = _batches(session, how.query(table), progress)
    return read_batches(how.layout, how.row(), _exact(how, batches) if isinstance(how, CleanReduction) else batches)


def _batches(session: duckdb.DuckDBPyConnection, query: str, progress: Progress) -> Iterator[pa.RecordBatch]:
    relation = session.sql(query)
    # The name of this method changed between versions 1 and 2.
    reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    yield from _awaited(session, lambda: reader(USERS_AT_ONCE), progress)


class _Inexact(Exception):
    """Sums in doubles do not do for this table."""


def _exact(how: CleanReduction, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches of a clean table, as long as their sums are exact."""
    totals = {name for name in how.row().totals if name is not None}
    for batch in batches:
        most = np.from_dlpack(batch.column("records")).max(initial=0)
        if most > MOST_EXACT or any(batch.column(name).null_count for name in totals):
            raise _Inexact
        yield batch


def _by_columns(source: object) -> bool:
    """Whether one column of a table can be read without the others, and more than once."""
    return isinstance(source, (str, Path)) and str(source).lower().endswith(".parquet")


def _quick(
    session: duckdb.DuckDBPyConnection, table: str, how: Reduction, types: Mapping[str, str]
) -> tuple[CleanReduction, Survey] | None:
    """The quickest reduction for which a table in files is clean enough, if any, and what it will clip."""
    keys, clean, within = _proven(session, table, how, types)
    unproven = [place for place in how.places if not clean[place]]
    bounded = [
        place for place, (_, form) in enumerate(how.forms()) if not within[place] and form.within("v") is not None
    ]
    if keys and not unproven and len(bounded) == 1:
        # For a single column, counting on the way is cheaper than a look at all of it.
        others = frozenset(range(len(within))) - {*bounded}
        one = CleanReduction(
            dialect=how.dialect, layout=how.layout, texts=how.texts, within=others, counted=frozenset(bounded)
        )
        return one, Survey()
    clipped = dict.fromkeys(bounded, 0)
    if bounded or unproven or not keys:
        counts = _look(session, table, how, unproven, bounded)
        if counts is None:
            return None
        clipped = dict(zip(bounded, counts, strict=True))
    places = frozenset(place for place in range(len(within)) if not clipped.get(place))
    columns = {how.layout.statistics[place]: ColumnSurvey(clipped=count) for place, count in clipped.items()}
    clean_one = CleanReduction(dialect=how.dialect, layout=how.layout, texts=how.texts, within=places)
    return clean_one, Survey(columns=columns)


def _proven(
    session: duckdb.DuckDBPyConnection, files: str, how: Reduction, types: Mapping[str, str]
) -> tuple[bool, list[bool], list[bool]]:
    """Whether the footers of the files prove that all keys are there, that each column is clean, and that each
    statistic's values are within the bounds."""
    import duckdb

    answers: tuple[object, ...] = ()
    # A footer that cannot be shown proves nothing; whether the file can be read is seen when that is tried.
    with suppress(duckdb.Error):
        (answers,) = _awaited(session, session.sql(footers.proofs(how, files, types)).fetchall) or [()]
    columns = len(how.places)
    found = [bool(answer) for answer in answers] or [False] * (1 + columns + len(how.layout.statistics))
    return found[0], found[1 : 1 + columns], found[1 + columns :]


def _look(
    session: duckdb.DuckDBPyConnection, table: str, how: Reduction, places: Sequence[int], statistics: Sequence[int]
) -> list[int] | None:
    """How many values some statistics clip, if some columns are clean, of which footers do not say it.

    Only their columns are read, and the keys where footers say that some are null. That takes less than a tenth of the
    time of the aggregation, and saves more.
    """
    counts = ", ".join(look(how, places, statistics))
    found = session.sql(f"SELECT {counts} FROM (SELECT {', '.join(how.columns())} FROM {table})")
    (numbers,) = _awaited(session, found.fetchall)
    clipped, records, usable = numbers[: len(statistics)], numbers[len(statistics)], numbers[len(statistics) + 1 :]
    return list(clipped) if {records} == {*usable} else None


def _types(session: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """The type of each column."""
    relation = session.sql(f"SELECT * FROM {table}")
    return {name: str(kind.id) for name, kind in zip(relation.columns, relation.types, strict=True)}


def _named(session: duckdb.DuckDBPyConnection, source: object) -> str:
    """How the query names its source."""
    if not isinstance(source, (str, Path)):
        session.register("records", source)
        return "records"
    path, found, table = str(source).rpartition("::")
    if not found:
        return _quoted(str(source))
    session.execute(f"ATTACH {_quoted(path)} AS source (READ_ONLY)").fetchall()
    return f"source.{DUCKDB.name(table)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def _session(memory_limit: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that spills to a folder of its own, which goes with it."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("reading tables", "engine") from None
    with spill_folder() as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": "false"}
        if memory_limit is not None:
            config["memory_limit"] = f"{memory_limit}B"
        session = duckdb.connect(config=config)
        # Without these two, nobody is told how far a query is; with the first alone, DuckDB prints a bar of its own.
        session.execute("SET enable_progress_bar = true").fetchall()
        session.execute("SET enable_progress_bar_print = false").fetchall()
        try:
            yield session
        finally:
            session.close()


@contextmanager
def _sentences(source: object) -> Iterator[None]:
    """Turns what DuckDB complains about into one sentence."""
    import duckdb

    try:
        yield
    except DameError:
        raise
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException as problem:
        raise InvalidInput("memory limit", _first_line(problem), "large enough for this table") from None
    except duckdb.Error as problem:
        shown = str(source) if isinstance(source, (str, Path)) else type(source).__name__
        raise InvalidInput("table", shown, f"a table that DuckDB reads ({_first_line(problem)})") from None


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0]


def _awaited(session: duckdb.DuckDBPyConnection, work: Callable[[], Result], progress: Progress = _silent) -> Result:
    """What the work returns. It runs on another thread, because DuckDB does not hear Ctrl-C while it works on this."""
    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(work)
        try:
            while not wait([result], SECONDS_BETWEEN_LOOKS).done:
                progress(max(int(session.query_progress()), 0))
        except BaseException:
            session.interrupt()
            raise
    return result.result()
