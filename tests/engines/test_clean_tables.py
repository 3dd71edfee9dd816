"""Tables without a flaw are reduced with less to count: to the very same people and the very same counts."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dame.device.statistics import Value
from dame.engines.dialects import DUCKDB
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import Layout
from dame.engines.sql import CleanReduction, Reduction
from dame.engines.statistic_sql import MOST_EXACT
from tests.engines.tables import (
    BOUNDS,
    CLEAN,
    FULL,
    INTEGERS,
    TEXTS,
    WITHIN,
    Rows,
    arrow,
    layout,
    plain,
    row_lists,
    value,
    write,
)
from tests.engines.test_reduction import COLUMNS, counted, expected, seen

FINITE = st.floats(-3e6, 3e6)
LIMITS = (-2.0, 5.0)


@st.composite
def clean_rows(draw: st.DrawFn, *columns: st.SearchStrategy) -> Rows:
    """Rows of a few users, all of them with a finite value."""
    users = draw(st.lists(st.tuples(*columns), min_size=1, max_size=6))
    return draw(st.lists(st.tuples(st.sampled_from(users), FINITE), min_size=1, max_size=40))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples share."""
    return tmp_path_factory.mktemp("tables")


@given(st.data(), BOUNDS, COLUMNS, st.booleans())
@settings(max_examples=60)
def test_parquet_files_agree_with_devices(
    folder: Path, data: st.DataObject, bounds: tuple[float, float], columns: tuple, clean: bool
) -> None:
    rows = data.draw(clean_rows(*columns) if clean else row_lists(*columns))
    right = expected(rows, bounds)
    if not right:
        return
    table = reduce_table(write(folder, rows), layout(bounds, len(columns)))
    assert seen(table) == right
    assert table.survey() == plain(rows, bounds).survey()
    assert table.survey().of(value(bounds)).left_out() == counted(rows, bounds)


@given(st.data(), BOUNDS, st.sampled_from([(INTEGERS,), (TEXTS, INTEGERS)]))
@settings(max_examples=30)
def test_all_reductions_give_the_same_rows(data: st.DataObject, bounds: tuple[float, float], columns: tuple) -> None:
    assume(6e6 / (bounds[1] - bounds[0]) < 2**20)  # no value is far out
    records = arrow(data.draw(clean_rows(*columns)))
    found = []
    settings = {"dialect": DUCKDB, "layout": layout(bounds, len(columns))}
    for how in (Reduction(**settings), CleanReduction(**settings)):
        with duckdb.connect() as session:
            session.register("records", records)
            reduced = session.sql(how.query("records")).to_arrow_table()
        names = ["person", how.row().sizes[0], how.row().totals[0]]
        found.append(sorted([row[name] for name in names] for row in reduced.to_pylist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("footers", [True, False])
@pytest.mark.parametrize(
    ("flaw", "by_footers", "by_values"),
    [
        (None, [WITHIN], [WITHIN]),
        ({"the value": math.nan}, [WITHIN, FULL], [FULL]),
        ({"the value": math.inf}, [FULL], [FULL]),
        ({"the value": None}, [FULL], [FULL]),
        ({"key 0": None}, [FULL], [FULL]),
        ({"key 1": None}, [FULL], [FULL]),
    ],
)
def test_which_tables_are_clean(
    tmp_path: Path, flaw: dict | None, by_footers: list, by_values: list, footers: bool, queries: list
) -> None:
    """A flaw in one record is enough, also where the footer of the file, which leaves NaN out, knows nothing of it."""
    rows = [{"key 0": "a", "key 1": number, "the value": number / 100} for number in range(300)]
    if flaw:
        rows[17] |= flaw
    file = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=100, write_statistics=footers)
    survey = reduce_table(str(tmp_path / "*.parquet"), layout(LIMITS, 2)).survey()
    assert queries == (by_footers if footers else by_values)
    column = survey.of(value(LIMITS))
    assert column.records == (299 if flaw else 300)
    assert sum(column.left_out().values()) == (0 if not flaw else 2 if "the value" in flaw else 1)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_user_with_very_many_records(tmp_path: Path, beyond: int, queries: list[str]) -> None:
    """Her sum is the largest that doubles hold exactly, or beyond it."""
    path, count = tmp_path / "table.parquet", MOST_EXACT + beyond
    with duckdb.connect() as session:
        session.sql(f"SELECT 7 AS who, 9.0 AS what FROM range({count})").write_parquet(str(path))
    how = Layout(user=("who",), statistics=(Value(low=8.0, high=9.0),), value="what", study="study")
    table = reduce_table(str(path), how)
    ((people,),) = [[*table.people]]
    assert [totals.tolist() for totals in people.totals] == [[count * 2**30]]
    assert [counts.tolist() for counts in people.counts] == [[count]]
    assert queries == ([WITHIN, FULL] if beyond else [WITHIN])


@pytest.mark.parametrize("far", [1e300, -1e300, 2.0**26, -(2.0**26)])
def test_values_far_out(tmp_path: Path, far: float, queries: list[str]) -> None:
    """Where a value is too far out for the quick way of clipping, the other one is taken."""
    rows: Rows = [(("a",), 0.25), (("a",), far), (("b",), 0.75)]
    table = reduce_table(write(tmp_path, rows), layout((0.0, 1.0)))
    assert seen(table) == expected(rows, (0.0, 1.0))
    assert queries == [FULL]


@pytest.mark.parametrize("far", [2.0**20, -(2.0**20)])
def test_values_not_so_far_out(tmp_path: Path, far: float, queries: list[str]) -> None:
    rows: Rows = [(("a",), 0.25), (("a",), far), (("b",), 0.75)]
    table = reduce_table(write(tmp_path, rows), layout((0.0, 1.0)))
    assert seen(table) == expected(rows, (0.0, 1.0))
    assert table.survey().of(value((0.0, 1.0))).clipped == 1
    assert queries == [CLEAN]
