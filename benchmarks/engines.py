"""Time and memory of the engines, against what DuckDB and Spark need for the bare work in the same run.

    python -m benchmarks.engines [pilot] [columns] [tally] [spark] [--records N] [--users U] [--reports N] [--rounds R]

`pilot`: whole `dame pilot` processes, start of Python and plan included, against processes that only stream the bare
group-by to Arrow; and how time and memory grow from a tenth of the records. `columns`: processes that reduce a table of
ten columns and draw a round of ten targets, against the bare group-by with the same ten sums. `tally`: vote reports of
64 bits from a Parquet file against DuckDB's reading of it. `spark`: whole `dame pilot --engine spark` processes in
local[2] against processes that only run Spark's own group-by job, on a tenth of the records; then studies, planned as
`dame pilot` plans them, against that job in the same warm session, on a tenth of the records and on all of them, and
the tallies against those of DuckDB. Each time is the best of several rounds, in which the contestants take turns.
Tables are made in the folder once and kept there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

import dame
from benchmarks.coins import best_seconds
from dame.device import Bins, Bits, Question, question_id
from dame.device.statistics import Value
from dame.engines.answers import Addressed
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import Layout
from dame.engines.people import Held, People
from dame.engines.report_files import write_reports
from dame.engines.report_tallies import tally_files
from dame.engines.study import ReducedTable, carry_out
from dame.planning.codec import LEARN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOW, HIGH = 2.0, 8.0
STUDY = "seed-1"
BARE = 'SELECT "user", count(*), avg(value) FROM {table} GROUP BY "user"'
BATCH = 2**17
MEMORY_LIMIT = "1GB"
BARE_PROCESS = f"""
import duckdb, sys, time
started = time.perf_counter()
session = duckdb.connect(config={{"memory_limit": "{MEMORY_LIMIT}"}})
session.execute("SET enable_progress_bar = false").fetchall()
query = {BARE!r}.format(table="'" + sys.argv[1] + "'")
users = sum(batch.num_rows for batch in session.sql(query).to_arrow_reader({BATCH}))
print(time.perf_counter() - started)
"""
BARE_SPARK_PROCESS = """
import sys
from dame.engines.spark_sessions import read_records, spark_session
frame = read_records(spark_session("local[2]"), sys.argv[1])
frame.groupBy("user").agg({"*": "count", "value": "avg"}).write.format("noop").mode("overwrite").save()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A process that ended: wall time, processor time on all cores, largest memory in bytes, and what it printed."""

    seconds: float
    processor: float
    peak: int
    printed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A line of the table: a quotient of two measurements, and how large it may be."""

    name: str
    ours: str
    other: str
    ratio: float
    most: float

    def row(self) -> str:
        """The line in Markdown."""
        verdict = "yes" if self.ratio <= self.most else "**NO**"
        return f"| {self.name} | {self.ours} | {self.other} | {self.ratio:.2f} | ≤ {self.most:g} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--records", type=float, default=1e8)
    parser.add_argument("--users", type=float, default=2e6)
    parser.add_argument("--reports", type=float, default=1e7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "dame-benchmark")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print("| figure | ours | other | ratio | wanted | reached |")
    print("|---|---:|---:|---:|---:|---|")
    for part in arguments.parts or PARTS:
        for figure in PARTS[part](arguments):
            print(figure.row(), flush=True)
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


# Pilots ------------------------------------------------------------------------------------------------------------


def pilot_figures(arguments: argparse.Namespace) -> Iterator[Figure]:
    """Time and memory of dame pilot, against the bare group-by and against a table of a tenth of the records."""
    records, users = int(arguments.records), int(arguments.users)
    large = table_of(arguments.folder, records, users)
    few_users = table_of(arguments.folder, records // 10, users // 10)
    few_records = table_of(arguments.folder, records // 10, users)
    contestants = [
        lambda: pilot_process(large),
        lambda: bare_process(large),
        lambda: pilot_process(few_users),
        lambda: pilot_process(few_records),
    ]
    whole, bare, tenth, thin = (best(runs) for runs in taking_turns(contestants, arguments.rounds))
    query, name = float(bare.printed), f"`dame pilot`, {records:.0e} records of {users:.0e} users"
    yield time_figure(f"{name} / the bare group-by as a process", whole.seconds, bare.seconds, 1.5)
    yield time_figure("both by their own clocks, without the start of Python", own_seconds(whole), query, 1.5)
    yield time_figure("the process / the bare query by its own clock", whole.seconds, query, 1.5)
    yield time_figure(
        "the same in processor time, which a busy machine disturbs less", whole.processor, bare.processor, 1.5
    )
    yield memory_figure(f"peak memory with --memory-limit {MEMORY_LIMIT}", whole.peak, 2 * 10**9, 1.0)
    yield time_figure("ten times the records and users", whole.seconds, tenth.seconds, 13)
    yield time_figure("ten times the records, same users", whole.seconds, thin.seconds, 13)
    yield memory_figure("memory: ten times the records, same users", whole.peak, thin.peak, 1.25)


def pilot_process(table: Path, *engine: str) -> Run:
    """A call of dame pilot."""
    words = ["--user", "user", "--value", "value", "--bounds", str(LOW), str(HIGH), "--alpha", "1", "--seed", "1"]
    return process("-m", "dame", "pilot", str(table), *words, *(engine or ("--memory-limit", MEMORY_LIMIT)), "--json")


def own_seconds(pilot: Run) -> float:
    """What a pilot says that it took: from its options to the estimate, the loading of DuckDB included."""
    return float(json.loads(pilot.printed)["seconds"])


def bare_process(table: Path) -> Run:
    """The bare group-by, streamed to Arrow."""
    return process("-c", BARE_PROCESS, str(table))


def process(*words: str) -> Run:
    """A run of Python that must succeed."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, words
    return Run(
        seconds=time.perf_counter() - started,
        processor=usage.ru_utime + usage.ru_stime,
        peak=usage.ru_maxrss * 1024,
        printed=printed,
    )


def taking_turns(contestants: list[Callable[[], Run]], rounds: int) -> list[tuple[Run, ...]]:
    """The runs of each contestant."""
    return list(zip(*([run() for run in contestants] for _ in range(rounds)), strict=True))


def best(runs: tuple[Run, ...]) -> Run:
    """The shortest of the times of each kind and the largest of the memories."""
    quickest = min(runs, key=lambda run: run.seconds)
    least = min(run.processor for run in runs)
    peak = max(run.peak for run in runs)
    return Run(seconds=quickest.seconds, processor=least, peak=peak, printed=quickest.printed)


def table_of(folder: Path, records: int, users: int) -> Path:
    """A table in which the k-th user has about a share 1/k of the records, and everybody at least one."""
    value = "5 + 3 * (random() - 0.5) + 4 * (random() - 0.5)"
    return written(folder / f"records-{records}-{users}.parquet", records, users, f"{value} AS value")


def written(path: Path, records: int, users: int, values: str) -> Path:
    """The file with these users and values, which is made unless it is there."""
    if not path.exists():
        draft = path.with_suffix(".draft")
        rank = f"CASE WHEN range < {users} THEN range ELSE CAST(floor(pow({users}.0, random())) AS BIGINT) - 1 END"
        with duckdb.connect(config={"memory_limit": "4GB"}) as session:
            session.execute("SELECT setseed(0.5)").fetchall()
            session.execute(
                f'COPY (SELECT ({rank}) * 7919 AS "user", {values} FROM range({records})) '
                f"TO '{draft}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"
            ).fetchall()
        draft.replace(path)
    return path


# Columns -----------------------------------------------------------------------------------------------------------

COLUMNS = tuple(f"c{place}" for place in range(10))
TOP = 120.0  # values are between 0 and this, and so are the bounds
COLUMNS_PROCESS = f"""
import sys
from dame.device import Bits, Question, Window, Windows
from dame.device.statistics import Value
from dame.engines.answers import Addressed
from dame.engines.duckdb_tables import memory_bytes, reduce_table
from dame.engines.layout import Layout

statistics = tuple(Value(column=column, low=0.0, high={TOP}) for column in {COLUMNS})
layout = Layout(user=("user",), statistics=statistics, study="{STUDY}")
table = reduce_table(sys.argv[1], layout, memory_limit=memory_bytes("{MEMORY_LIMIT}"))
lens, share = Windows(windows=(Window(0.0, -1.0, 1.0),)), 2**64 // 10
same = {{"study": "{STUDY}", "round": 0, "alpha": 1.0, "lens": lens, "channel": Bits.single(1.0)}}
questions = [Question(**same, target=one.column, statistic=one) for one in statistics]
asked = [Addressed(question=one, first=n * share, last=(n + 1) * share - 1, seed=1) for n, one in enumerate(questions)]
print([table.survey().of(one).true_mean for one in statistics])
print([tally.sums for groups in table.tallies(asked) for tally in groups.values()])
"""


def column_figures(arguments: argparse.Namespace) -> Iterator[Figure]:
    """Time and memory of a table of ten columns, reduced and asked, against the bare group-by with as many sums."""
    records, users = int(arguments.records), int(arguments.users)
    table = wide_table_of(arguments.folder, records, users)
    bare = BARE_PROCESS.replace("avg(value)", ", ".join(f"sum({column})" for column in COLUMNS))
    contestants = [lambda: process("-c", COLUMNS_PROCESS, str(table)), lambda: process("-c", bare, str(table))]
    ours, other = (best(runs) for runs in taking_turns(contestants, arguments.rounds))
    yield time_figure(
        f"ten columns, {records:.0e} records / the bare group-by with ten sums as a process",
        ours.seconds,
        other.seconds,
        1.5,
    )
    yield time_figure("the same in processor time", ours.processor, other.processor, 1.5)
    yield memory_figure(f"peak memory with a limit of {MEMORY_LIMIT}", ours.peak, 2 * 10**9, 1.0)


def wide_table_of(folder: Path, records: int, users: int) -> Path:
    """A table with the users of `table_of` and ten columns of few values, which take little room."""
    halves, wholes = f"CAST(round({2 * TOP} * random()) / 2 AS FLOAT)", f"CAST(round({TOP} * random()) AS SMALLINT)"
    values = ", ".join(f"{wholes if place % 2 else halves} AS {name}" for place, name in enumerate(COLUMNS))
    return written(folder / f"columns-{records}-{users}.parquet", records, users, values)


# Tallies -----------------------------------------------------------------------------------------------------------


def tally_figures(arguments: argparse.Namespace) -> Iterator[Figure]:
    """The tally of vote reports, every report and id checked, against the mere reading of their file."""
    question = Question(
        study="s", round=0, alpha=1.0, lens=Bins(bins=64, width=2 / 64), channel=Bits.optimised(1.0, 64)
    )
    count = int(arguments.reports)
    path = reports_of(arguments.folder, question, count)
    assert tally_files(question, [path]).check().tally.reports == count
    ours, other = best_seconds([lambda: tally_files(question, [path]), lambda: read(path)], arguments.rounds)
    yield time_figure(f"tally of {count:.0e} vote reports / DuckDB reads the file", ours, other, 2.0)


def reports_of(folder: Path, question: Question, count: int) -> Path:
    """A file of so many reports."""
    path = folder / f"reports-{count}-{question_id(question)[:8]}.parquet"
    if not path.exists():
        rng = np.random.default_rng(1)
        hashes = rng.integers(0, 2**64, size=count, dtype=np.uint64)
        sizes = rng.integers(1, 100, count)
        totals = rng.integers(-(2**30), 2**30, count)
        held = Held.each([question.statistic], ["size"])
        people = People(held=held, hashes=hashes, counts=(sizes,), totals=(totals,))
        write_reports(path, Addressed(question=question), [people])
    return path


def read(path: Path) -> int:
    """The number of rows that DuckDB streams from a file."""
    with duckdb.connect() as session:
        return sum(batch.num_rows for batch in session.sql(f"SELECT * FROM '{path}'").to_arrow_reader(BATCH))


# Spark -------------------------------------------------------------------------------------------------------------


def spark_figures(arguments: argparse.Namespace) -> Iterator[Figure]:
    """A study on Spark, records to estimate, against Spark's own group-by of the same table."""
    from dame.engines.spark_sessions import spark_session

    yield spark_process_figure(arguments)
    started = time.perf_counter()
    session = spark_session("local[2]", **{"spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"})
    print(f"(Spark started in {time.perf_counter() - started:.0f} s)", file=sys.stderr)
    for part in (10, 1):
        records, users = int(arguments.records) // part, int(arguments.users) // part
        yield from spark_table_figures(session, table_of(arguments.folder, records, users), records, arguments.rounds)
    session.stop()


def spark_process_figure(arguments: argparse.Namespace) -> Figure:
    """A whole pilot on Spark against a process that runs the group-by, the start of Spark included in both."""
    records = int(arguments.records) // 10
    table = table_of(arguments.folder, records, int(arguments.users) // 10)
    contestants = [
        lambda: pilot_process(table, "--engine", "spark", "--master", "local[2]"),
        lambda: process("-c", BARE_SPARK_PROCESS, str(table)),
    ]
    ours, other = (best(runs) for runs in taking_turns(contestants, arguments.rounds))
    name = f"`dame pilot --engine spark`, {records:.0e} records / Spark's group-by as a process"
    return time_figure(name, ours.seconds, other.seconds, 1.5)


def spark_table_figures(session: SparkSession, path: Path, records: int, rounds: int) -> Iterator[Figure]:
    """The same for one table."""
    from dame.engines.spark_sessions import read_records
    from dame.engines.spark_tables import SparkTable

    layout = Layout(user=("user",), statistics=(Value(low=LOW, high=HIGH),), value="value", study=STUDY)
    frame = read_records(session, str(path))

    def study() -> list[object]:
        table = SparkTable(frame, layout)
        try:
            return tallies(table)
        finally:
            table.close()

    def bare() -> None:
        frame.groupBy("user").agg({"*": "count", "value": "avg"}).write.format("noop").mode("overwrite").save()

    same = study() == tallies(reduce_table(str(path), layout))
    bare()
    runs = taking_turns([lambda: timed(study), lambda: timed(bare)], rounds)
    ours, other = (best(contestant) for contestant in runs)
    name = f"Spark local[2], {records:.0e} records"
    yield Figure(
        name=f"{name}: tallies that differ from DuckDB's", ours=str(int(not same)), other="0", ratio=not same, most=0
    )
    yield time_figure(f"{name}: study / Spark's group-by job", ours.seconds, other.seconds, 1.5)
    yield time_figure("the same in processor time", ours.processor, other.processor, 1.5)


def timed(work: Callable[[], object]) -> Run:
    """A piece of work in this process and those that it started."""
    started, before = time.perf_counter(), processor_seconds()
    work()
    seconds, processor = time.perf_counter() - started, processor_seconds() - before
    return Run(seconds=seconds, processor=processor, peak=0, printed="")


def processor_seconds() -> float:
    """Processor time so far of this process and all below it, which go on running (Linux)."""
    spent, below = {}, defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            below[int(fields[1])].append(int(path.parent.name))
            spent[int(path.parent.name)] = sum(map(int, fields[11:15]))
    family = [os.getpid()]
    for process in family:
        family += below[process]
    return sum(spent.get(process, 0) for process in family) / os.sysconf("SC_CLK_TCK")


def tallies(table: ReducedTable) -> list[object]:
    """The tallies of a study with a seed, planned as `dame pilot` plans it."""
    survey = table.survey()
    sizes = survey.of(Value(low=LOW, high=HIGH)).observed_sizes()
    known = {"users": survey.users, "sizes": sizes, "bounds": (LOW, HIGH), "study": STUDY}
    plan = dame.plan(**known, alpha=1.0, between_sd=LEARN)
    return [tally.to_json() for outcome in carry_out(plan, table, seed=1)[0] for tally in outcome.tallies]


def time_figure(name: str, ours: float, other: float, most: float) -> Figure:
    """A quotient of times."""
    return Figure(name=name, ours=f"{ours:.2f} s", other=f"{other:.2f} s", ratio=ours / other, most=most)


def memory_figure(name: str, ours: float, other: float, most: float) -> Figure:
    """A quotient of memories."""
    return Figure(name=name, ours=f"{ours / 1e9:.2f} GB", other=f"{other / 1e9:.2f} GB", ratio=ours / other, most=most)


PARTS = {"pilot": pilot_figures, "columns": column_figures, "tally": tally_figures, "spark": spark_figures}

if __name__ == "__main__":
    main()
