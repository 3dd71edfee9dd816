"""The same coins give the same tallies: device by device, in plain numpy, DuckDB and Spark, for any split of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dame
from dame.device.assignment import participant_hash
from dame.device.questions import Question
from dame.device.statistics import Value
from dame.engines.answers import EVERYBODY, Addressed
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import Layout
from dame.engines.spark_sessions import read_records
from dame.engines.spark_tables import SparkTable
from dame.engines.study import ReducedTable, carry_out
from dame.errors import InvalidInput, Mismatch
from dame.protocols import PROTOCOLS
from dame.tally import Tally
from tests.engines.oracle import report_of, tally_of
from tests.engines.questions import QUESTIONS, plans
from tests.engines.tables import INTEGERS, TEXTS, arrow, layout, plain, row_lists, value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BOUNDS = (-2.0, 5.0)
USERS = 60


def records() -> dict[str, list[float]]:
    """A small population with values on both sides of the bounds."""
    rng = np.random.default_rng(8)
    return {f"user {number}": rng.normal(1.5, 2.0, rng.integers(1, 60)).tolist() for number in range(USERS)}


def long_table() -> pa.Table:
    """The population in rows, shuffled."""
    rows = [(user, item) for user, listed in records().items() for item in listed]
    order = np.random.default_rng(2).permutation(len(rows))
    return pa.table({"key 0": [rows[i][0] for i in order], "the value": [rows[i][1] for i in order]})


def split(folder: Path, parts: int) -> str:
    """A glob of the population in so many files."""
    table = long_table()
    step = -(-len(table) // parts)
    for part in range(parts):
        pq.write_table(table.slice(step * part, step), folder / f"part-{part}.parquet")
    return str(folder / "part-*.parquet")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_as_device_by_device(protocol: str) -> None:
    plan = plans(USERS, BOUNDS)[protocol]
    ((outcome,),) = carry_out(plan, reduce_table(long_table(), layout(BOUNDS)), seed=4)
    for tally in outcome.tallies:
        assert tally == tally_of(plan, tally.question, records(), seed=4)
    assert sum(outcome.estimate.users) == USERS


def addressed() -> list[Addressed]:
    """A question of every kind, to everybody, with the same seed."""
    return [Addressed(question=replace(question, statistic=value(BOUNDS)), seed=4) for question in QUESTIONS.values()]


def by_devices(question: Question) -> Tally:
    """The tally of everybody's report, device by device."""
    tally = Tally.zero(question)
    for user, listed in records().items():
        tally = tally.add(report_of(question, listed, participant_hash("study", user), seed=4))
    return tally


def test_every_kind_of_question_as_device_by_device() -> None:
    table = reduce_table(long_table(), layout(BOUNDS))
    assert table.tallies(addressed()) == [{EVERYBODY: by_devices(one.question)} for one in addressed()]


@given(st.data(), st.sampled_from([(INTEGERS,), (TEXTS,), (TEXTS, INTEGERS)]), st.integers(0, 2**63))
@settings(max_examples=30)
def test_duckdb_as_plain(data: st.DataObject, columns: tuple, seed: int) -> None:
    rows = data.draw(row_lists(*columns))
    oracle = reduced_rows(rows)
    if oracle is None:
        return
    plan, embedded = plans(USERS, BOUNDS)["paper"], reduce_table(arrow(rows), layout(BOUNDS, len(columns)))
    assert carry_out(plan, embedded, seed) == carry_out(plan, oracle, seed)


def reduced_rows(rows: list) -> ReducedTable | None:
    """The plain engine's table, unless nobody is in it."""
    try:
        return plain(rows, BOUNDS)
    except InvalidInput:
        return None


def test_without_a_seed_coins_are_fresh() -> None:
    plan, table = plans(USERS, BOUNDS)["duchi"], reduce_table(long_table(), layout(BOUNDS))
    assert carry_out(plan, table)[0][0].tallies != carry_out(plan, table)[0][0].tallies


def test_repetitions(tmp_path: Path) -> None:
    plan, table = plans(USERS, BOUNDS)["paper"], reduce_table(split(tmp_path, 3), layout(BOUNDS))
    seen: list[int] = []
    outcomes = carry_out(plan, table, seed=1, repetitions=5, progress=seen.append)
    assert seen == [1, 2]
    assert outcomes[0] == carry_out(plan, table, seed=1)[0]
    assert len({one.tallies for (one,) in outcomes}) == 5
    assert all(sum(one.estimate.users) == USERS for (one,) in outcomes)


class TestSpark:
    """Spark in local mode against the embedded engine."""

    def table(self, frame: DataFrame, columns: int = 1) -> SparkTable:
        return SparkTable(frame, layout(BOUNDS, columns))

    @pytest.mark.parametrize("parts", [1, 5])
    def test_every_protocol(self, spark: SparkSession, tmp_path: Path, parts: int) -> None:
        glob = split(tmp_path, parts)
        embedded, cluster = reduce_table(glob, layout(BOUNDS)), self.table(read_records(spark, glob))
        assert cluster.survey() == embedded.survey()
        for plan in plans(USERS, BOUNDS).values() if parts == 1 else [plans(USERS, BOUNDS)["paper"]]:
            assert carry_out(plan, cluster, seed=9) == carry_out(plan, embedded, seed=9)
        cluster.close()

    def test_every_kind_of_question(self, spark: SparkSession) -> None:
        cluster = self.table(spark.createDataFrame(long_table()).repartition(3))
        assert cluster.tallies(addressed()) == [{EVERYBODY: by_devices(one.question)} for one in addressed()]
        cluster.close()

    def test_repetitions_take_one_pass_a_round(self, spark: SparkSession) -> None:
        plan, frame = plans(USERS, BOUNDS)["paper"], spark.createDataFrame(long_table().to_pandas())
        cluster, embedded = self.table(frame.repartition(4)), reduce_table(long_table(), layout(BOUNDS))
        assert carry_out(plan, cluster, seed=9, repetitions=3) == carry_out(plan, embedded, seed=9, repetitions=3)
        cluster.close()

    @given(st.data(), st.sampled_from([(INTEGERS,), (TEXTS, INTEGERS)]))
    @settings(max_examples=4)
    def test_any_rows(self, spark: SparkSession, data: st.DataObject, columns: tuple) -> None:
        rows = data.draw(row_lists(*columns))
        oracle = reduced_rows(rows)
        if oracle is None:
            return
        cluster = self.table(spark.createDataFrame(arrow(rows)), len(columns))
        assert cluster.survey() == oracle.survey()
        plan = plans(USERS, BOUNDS)["one-bit"]
        assert carry_out(plan, cluster, seed=2) == carry_out(plan, oracle, seed=2)
        cluster.close()

    def test_names_with_braces_and_quotes(self, spark: SparkSession) -> None:
        frame = spark.createDataFrame([(1, 0.25), (1, 0.75), (2, 0.5)], ["the {user}", "va`lue"])
        statistic = value((0.0, 1.0))
        table = SparkTable(frame, Layout(user=("the {user}",), statistics=(statistic,), value="va`lue", study="s"))
        assert dict(table.survey().of(statistic).sizes) == {2: 1, 1: 1}
        assert spark.catalog.listTables() == []
        table.close()

    def test_without_a_seed(self, spark: SparkSession) -> None:
        plan, cluster = plans(USERS, BOUNDS)["duchi"], self.table(spark.createDataFrame(long_table()))
        first, second = carry_out(plan, cluster)[0][0], carry_out(plan, cluster)[0][0]
        assert first.tallies != second.tallies
        assert first.estimate.users == (USERS,)
        cluster.close()

    def test_csv_and_column_names(self, spark: SparkSession, tmp_path: Path) -> None:
        path = tmp_path / "table.csv"
        path.write_text("a`b,x.y\n1,0.5\n1,\n2,NaN\n,1.0\n3,9\n")
        how = Layout(user=("a`b",), statistics=(Value(),), value="x.y", study="study")
        cluster = SparkTable(read_records(spark, str(path)), how)
        survey = cluster.survey().of(Value())
        assert (survey.users, survey.records, survey.clipped, survey.nulls) == (2, 2, 1, 1)
        assert (survey.not_finite, survey.without_user, survey.without_records) == (1, 1, 1)
        assert reduce_table(str(path), how).survey() == cluster.survey()

    def test_refusals(self, spark: SparkSession, tmp_path: Path) -> None:
        frame = spark.createDataFrame(pa.table({"user": [1.5], "value": ["x"]}))
        for user, column, what in (
            ("no", "value", "one of user, value"),
            ("user", "value", "integers"),
            ("value", "value", "numbers"),
        ):
            with pytest.raises(InvalidInput, match=what):
                SparkTable(frame, Layout(user=(user,), statistics=(Value(),), value=column, study="s"))
        for name in ("nothing.parquet", "table.xlsx"):
            with pytest.raises(InvalidInput, match="table must be"):
                read_records(spark, str(tmp_path / name))
        nobody = spark.createDataFrame(pa.table({"user": [1], "value": [float("nan")]}))
        with pytest.raises(InvalidInput, match="at least one record"):
            SparkTable(nobody, Layout(user=("user",), statistics=(Value(),), value="value", study="s")).survey()

    def test_population(self, spark: SparkSession) -> None:
        how = {"user": "key 0", "value": "the value", "bounds": BOUNDS, "study": "study"}
        cluster = dame.Population.spark(spark.createDataFrame(long_table()), **how)
        embedded = dame.Population.table(long_table(), **how)
        plan = plans(USERS, BOUNDS)["adaptive"]
        assert dame.run(plan, cluster, seed=3) == dame.run(plan, embedded, seed=3)
        assert cluster.truth == embedded.truth
        with pytest.raises(Mismatch, match="stay on their cluster"):
            dame.simulate(plan, cluster, 1)
        cluster.close()
