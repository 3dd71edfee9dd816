"""Every statistic, in every engine, as on the device: several of them, and groups, in one aggregation."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.device.assignment import participant_hash
from dame.device.statistics import STATISTICS, Indicator, Present, Square, Statistic, Value
from dame.engines.answers import EVERYBODY, Addressed
from dame.engines.dialects import DUCKDB, SPARK
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import Layout
from dame.engines.people import People
from dame.engines.plain_tables import reduce_columns
from dame.engines.spark_tables import SparkTable
from dame.engines.sql import Reduction
from dame.engines.statistic_sql import sql_form
from dame.engines.store import KeptTable
from dame.engines.survey import Survey, added
from dame.errors import InvalidInput, Mismatch
from dame.tally import Tally
from dame.vectorised.statistics import array_form
from tests.engines.oracle import report_of
from tests.engines.questions import QUESTIONS
from tests.engines.wide_tables import (
    CLEAN_ITEMS,
    ITEMS,
    STATISTICS_OF,
    Row,
    arrow,
    averaged,
    by_devices,
    by_engine,
    columns,
    groups_of,
    layouts,
    records_of,
    rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = (Value(column="x"), Square(column="x"), Indicator(column="x", relation="above", than="0"), Present(column="s"))


def reduced(source: object, layout: Layout) -> KeptTable | None:
    """The table as DuckDB reduces it, unless a column of it is empty."""
    try:
        return reduce_table(source, layout)
    except InvalidInput as refusal:
        assert "at least one record" in str(refusal) or "a single group" in str(refusal)  # noqa: PT017
        return None


def oracle(table: list[Row], layout: Layout) -> KeptTable | None:
    """The same without any engine."""
    try:
        return reduce_columns(columns(table), layout)
    except InvalidInput as refusal:
        assert "at least one record" in str(refusal) or "a single group" in str(refusal)  # noqa: PT017
        return None


class TestEveryStatistic:
    """A statistic that an engine lacks, or computes otherwise, is found here."""

    def test_each_has_its_forms(self) -> None:
        assert set(STATISTICS) == set(STATISTICS_OF)
        assert len(set(STATISTICS)) >= 4
        for statistic in (*ALL, Indicator(column="s", relation="is", than="a")):
            array_form(statistic)
            for dialect in (DUCKDB, SPARK):
                sql_form(statistic, dialect, text=False)

    def test_one_without_a_form_is_refused(self) -> None:
        class Other(Statistic):
            kind = "other"
            column = "x"
            range = (0.0, 1.0)
            words = "something"

            def summarise(self, records: object) -> object:
                raise AssertionError

        for form in (array_form, lambda one: sql_form(one, DUCKDB, text=False)):
            with pytest.raises(Mismatch, match="no engine computes the statistic 'other'"):
                form(Other())

    @pytest.mark.parametrize("kind", STATISTICS_OF)
    @given(st.data(), rows())
    @settings(max_examples=40)
    def test_as_on_the_device(self, kind: type[Statistic], data: st.DataObject, table: list[Row]) -> None:
        layout = data.draw(layouts(st.lists(STATISTICS_OF[kind], min_size=1, max_size=3).map(tuple)))
        self.agree(table, layout, arrow(table))

    @given(layouts(), rows())
    @settings(max_examples=100)
    def test_several_at_once(self, layout: Layout, table: list[Row]) -> None:
        self.agree(table, layout, arrow(table))

    @given(st.data(), layouts(), st.booleans(), st.booleans())
    @settings(max_examples=100)
    def test_in_files(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, layout: Layout, clean: bool, footers: bool
    ) -> None:
        table = data.draw(rows(CLEAN_ITEMS if clean else ITEMS))
        path = tmp_path_factory.getbasetemp() / "table.parquet"
        pq.write_table(arrow(table), path, row_group_size=7, write_statistics=footers)
        self.agree(table, layout, str(path))

    def agree(self, table: list[Row], layout: Layout, source: object) -> None:
        embedded, plain = reduced(source, layout), oracle(table, layout)
        if embedded is None or plain is None:
            assert embedded is plain
            return
        assert by_engine(embedded, layout) == by_engine(plain, layout) == by_devices(table, layout)
        assert embedded.survey() == plain.survey()

    @given(layouts(), rows())
    @settings(max_examples=6, deadline=None)
    def test_on_spark(self, spark: SparkSession, layout: Layout, table: list[Row]) -> None:
        plain = oracle(table, layout)
        if plain is None:
            return
        cluster = SparkTable(spark.createDataFrame(arrow(table)).repartition(3), layout)
        assert cluster.survey() == plain.survey()
        same = [one for one in layout.statistics if not one.draws]
        asked = [Addressed(question=replace(QUESTIONS["bit"], statistic=one), seed=3) for one in same]
        asked += [replace(one, question=replace(QUESTIONS["vote"], statistic=one.question.statistic)) for one in asked]
        assert cluster.tallies(asked) == plain.tallies(asked)
        cluster.close()


class TestOneAggregation:
    """However many statistics there are, the records are grouped once, and nothing is computed twice."""

    LAYOUT = Layout(
        user=("who",),
        statistics=(Value(low=0.0), Square(low=0.0), Value(column="x", low=0.0), Present(column="x"), *ALL),
        study="s",
        value="x",
    )

    def test_shared(self) -> None:
        query = Reduction(dialect=DUCKDB, layout=self.LAYOUT).query("t")
        assert query.count("GROUP BY") == 1
        assert query.count("FROM t") == 1
        row = Reduction(dialect=DUCKDB, layout=self.LAYOUT).row()
        assert row.sizes == ("size0", "size1")
        assert row.totals[0] == row.totals[2] != row.totals[1]
        assert row.outside[0] == row.outside[1]

    def test_memory(self) -> None:
        rng = np.random.default_rng(1)
        table = pa.table({"who": rng.integers(0, 900, 9000), "x": rng.normal(size=9000), "s": ["a"] * 9000})
        part, *_ = reduce_table(table, replace(self.LAYOUT, statistics=ALL)).people
        assert part.held.bytes_each == 8 * (1 + 2 + 3)
        assert len(part.packed()) == 8 + part.held.bytes_each * len(part) + len("[]")

    def test_counts_of_clean_columns_are_one(self, tmp_path: Path) -> None:
        values = np.linspace(-1, 1, 100)
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"who": np.arange(100) % 7, **{f"c{n}": values for n in range(10)}}), path)
        statistics = tuple(Value(column=f"c{n}") for n in range(10))
        part, *_ = reduce_table(str(path), Layout(user=("who",), statistics=statistics, study="s")).people
        assert part.held.bytes_each == 8 * (1 + 1 + 10)


@given(layouts(), rows(CLEAN_ITEMS))
def test_packed_people_are_the_same(layout: Layout, table: list[Row]) -> None:
    plain = oracle(table, layout)
    if plain is None:
        return
    for part in plain.people:
        again = People.unpacked(part.packed(), part.held)
        for statistic in layout.statistics:
            for ours, theirs in zip(part.of(statistic), again.of(statistic), strict=True):
                assert ours.tolist() == theirs.tolist()
        assert again.hashes.tolist() == part.hashes.tolist()
        assert again.groups == part.groups
        assert (part.codes is None) == (again.codes is None)
        assert part.codes is None or again.codes.tolist() == part.codes.tolist()


class TestSurveys:
    """What is counted, against counting one row after the other."""

    @given(layouts(), rows())
    @settings(max_examples=100)
    def test_counts(self, layout: Layout, table: list[Row]) -> None:
        plain = oracle(table, layout)
        if plain is None:
            return
        survey, people = plain.survey(), records_of(table, layout)
        everybody = {row["who"] for row in table} - {None}
        assert survey.users == len(people)
        assert survey.without_user == sum(row["who"] is None for row in table)
        named = Counter(len(groups_of([r for r in table if r["who"] == user], layout)) for user in everybody)
        if layout.group is None:
            assert (survey.several_groups, survey.without_group) == (0, 0)
        else:
            assert survey.without_group == named[0]
            assert survey.several_groups == sum(users for groups, users in named.items() if groups > 1)
        assert sum(survey.left_out().values()) - survey.without_user == len(everybody) - len(people)
        for statistic in layout.statistics:
            self.check_column(survey, statistic, people)

    def check_column(self, survey: Survey, statistic: Statistic, people: dict[int, list[Row]]) -> None:
        column = survey.of(statistic)
        having = {user: [r for r in listed if statistic.column in r] for user, listed in people.items()}
        having = {user: listed for user, listed in having.items() if listed}
        assert column.present == len(having)
        assert column.records == sum(map(len, having.values()))
        assert sum(column.sizes.values()) == column.users
        meant = people if isinstance(statistic, Present) else having
        means = [averaged(statistic, listed).mean for listed in meant.values()]
        assert column.users == len(means)
        assert column.true_mean == pytest.approx(math.fsum(means) / len(means), abs=1e-9)

    @given(layouts(), rows())
    @settings(max_examples=60)
    def test_groups(self, layout: Layout, table: list[Row]) -> None:
        layout = replace(layout, group="word")
        plain = oracle(table, layout)
        if plain is None:
            return
        survey, people = plain.survey(), records_of(table, layout)
        assert survey.groups == Counter(next(iter(groups_of(listed, layout))) for listed in people.values())
        for group in survey.groups:
            for statistic in layout.statistics:
                alone = [listed for listed in people.values() if groups_of(listed, layout) == {group}]
                if not isinstance(statistic, Present):
                    alone = [listed for listed in alone if any(statistic.column in row for row in listed)]
                found = survey.in_group(group, statistic)
                assert found.users == len(alone)
                if alone:
                    mean = math.fsum(averaged(statistic, listed).mean for listed in alone) / len(alone)
                    assert found.true_mean == pytest.approx(mean, abs=1e-9)

    @given(layouts(), st.lists(rows(), min_size=3, max_size=3))
    @settings(max_examples=40)
    def test_laws(self, layout: Layout, tables: list[list[Row]]) -> None:
        found = [plain.survey() for plain in (oracle(table, layout) for table in tables) if plain is not None]
        for one in found:
            assert one + Survey() == Survey() + one == one
            assert Survey.from_json(one.to_json(), layout.statistics) == one
        assert added(found) == added(reversed(found))
        if len(found) == 3:
            a, b, c = found
            assert (a + b) + c == a + (b + c)

    def test_what_was_not_read(self) -> None:
        layout = Layout(user=("who",), statistics=(Value(column="x"),), study="s", group="word")
        table = reduce_columns({"who": [1], "x": [0.5], "word": ["de"]}, layout)
        with pytest.raises(Mismatch, match="was not read for x, between 0 and 1"):
            table.survey().of(Value(column="x", low=0.0))
        with pytest.raises(Mismatch, match="no group 'fr', but de"):
            table.survey().in_group("fr", Value(column="x"))


class TestGroups:
    """The tallies of groups: those of their people alone."""

    @pytest.mark.parametrize("kind", ["vote", "two windows", "laplace", "choice of a size class"])
    @given(layouts(), rows())
    @settings(max_examples=15)
    def test_as_device_by_device(self, kind: str, layout: Layout, table: list[Row]) -> None:
        embedded = reduced(arrow(table), layout)
        if embedded is None:
            return
        people = records_of(table, layout)
        for statistic in layout.statistics:
            question = replace(QUESTIONS[kind], statistic=statistic)
            right: dict[str, Tally] = {}
            for user, records in people.items():
                (group,) = groups_of(records, layout) if layout.group is not None else [EVERYBODY]
                report = report_of(question, records, participant_hash("study", str(user)), seed=5)
                right[group] = right.get(group, Tally.zero(question)).add(report)
            assert embedded.tallies([Addressed(question=question, seed=5)]) == [right]

    def test_groups_that_nobody_is_asked_in_have_a_tally(self) -> None:
        layout = Layout(user=("who",), statistics=(Value(column="x"),), study="s", group="word")
        table = reduce_columns({"who": [1, 2], "x": [0.5, 0.25], "word": ["de", "fr"]}, layout)
        question = replace(QUESTIONS["bit"], statistic=Value(column="x"))
        zero = Tally.zero(question)
        assert table.tallies([Addressed(question=question, first=1, last=0)]) == [{"de": zero, "fr": zero}]

    @pytest.mark.parametrize(
        ("kind", "names"),
        [
            (pa.int64(), {"0", "1"}),
            (pa.string(), {"0", "1"}),
            (pa.bool_(), {"false", "true"}),
            (pa.dictionary(pa.int32(), pa.string()), {"0", "1"}),
        ],
    )
    def test_kinds(self, kind: pa.DataType, names: set[str]) -> None:
        column = pa.array([0, 1, 1, None])
        groups = column.cast(pa.string()).dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
        table = pa.table({"who": [1, 2, 3, 3], "x": [0.0] * 4, "g": groups})
        layout = Layout(user=("who",), statistics=(Value(column="x"),), study="s", group="g")
        survey = reduce_table(table, layout).survey()
        assert set(survey.groups) == names
        assert survey.users == 3


class TestRefusals:
    """Each wrong input is one sentence that names what is wrong."""

    DATES = pa.array([1, 2], pa.date32())
    TABLE = pa.table(
        {"who": [1, 2], "x": [1.0, 2.0], "s": ["a", "b"], "when": DATES, "none": pa.nulls(2, pa.float64())}
    )

    def refused(self, *statistics: Statistic, **layout: object) -> str:
        with pytest.raises(InvalidInput) as caught:
            reduce_table(self.TABLE, Layout(**{"user": ("who",), "statistics": statistics, "study": "s", **layout}))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_columns(self) -> None:
        assert "column must be one of who, x, s, when, none, not 'y'" in self.refused(Value(column="y"))
        assert "column must be a column of numbers, not 's (varchar)'" in self.refused(Square(column="s"))
        assert "column of numbers" in self.refused(Indicator(column="s", relation="above", than="1"))
        assert "numbers or texts, not 'when (date)'" in self.refused(Present(column="when"))
        found = self.refused(Value(column="x"), Indicator(column="x", relation="is", than="many"))
        assert found == "is must be a number, since the column x holds numbers, not 'many'"
        assert "value column must be given" in self.refused(Value())
        assert "at least one statistic" in self.refused()
        assert "group column must be one of" in self.refused(Value(column="x"), group="y")
        assert "integers, texts, booleans or UUIDs" in self.refused(Value(column="x"), group="when")

    def test_nothing_but_nulls(self) -> None:
        for statistic in (Value(column="none"), Present(column="none")):
            found = self.refused(Value(column="x"), statistic, keep_absent=True)
            assert found.startswith("column none must be a column with at least one record that has a user")

    def test_nobody_in_one_group(self) -> None:
        with pytest.raises(InvalidInput, match="group column g must be one that names a single group for some user"):
            reduce_columns(
                {"who": [1, 1, 2], "x": [0.0, 1.0, 1.0], "g": ["a", "b", None]},
                Layout(user=("who",), statistics=(Value(column="x"),), study="s", group="g"),
            )
