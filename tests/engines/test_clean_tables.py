"""Tables without a flaw are reduced with less to count: to the very same people and the very same counts."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dame
from dame.engines import duckdb_tables
from dame.engines.duckdb_tables import reduce_table
from dame.engines.plain_tables import reduce_rows
from dame.engines.sql import DUCKDB, CleanReduction, Reduction
from tests.engines.tables import BOUNDS, INTEGERS, TEXTS, Rows, arrow, layout, row_lists, write
from tests.engines.test_reduction import COLUMNS, counted, expected, seen

FINITE = st.floats(-3e6, 3e6) | st.floats(allow_nan=False, allow_infinity=False)
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
    plain = reduce_rows([key for key, _ in rows], [value for _, value in rows], bounds=bounds, study="study")
    assert seen(table) == right
    assert table.survey() == plain.survey()
    assert table.survey().left_out() == counted(rows, bounds)


@given(st.data(), BOUNDS, st.sampled_from([(INTEGERS,), (TEXTS, INTEGERS)]))
@settings(max_examples=30)
def test_both_reductions_give_the_same_rows(data: st.DataObject, bounds: tuple[float, float], columns: tuple) -> None:
    records = arrow(data.draw(clean_rows(*columns)))
    found = []
    for kind in (Reduction, CleanReduction):
        how = kind(dialect=DUCKDB, layout=layout(bounds, len(columns)))
        with duckdb.connect() as session:
            session.register("records", records)
            reduced = session.sql(duckdb_tables._query("records", how)).to_arrow_table()
        # The clean one leaves this to whoever looked at the table.
        found.append(sorted(reduced.drop_columns("outside").to_pylist(), key=lambda row: row["person"]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("flaw", "how"),
    [
        (None, CleanReduction),
        ({"the value": math.nan}, Reduction),
        ({"the value": math.inf}, Reduction),
        ({"the value": None}, Reduction),
        ({"key 0": None}, Reduction),
        ({"key 1": None}, Reduction),
    ],
)
def test_which_tables_are_clean(tmp_path: Path, flaw: dict | None, how: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flaw in one record is enough, also where the footer of the file, which leaves NaN out, knows nothing of it."""
    rows = [{"key 0": "a", "key 1": number, "the value": number / 100} for number in range(300)]
    if flaw:
        rows[17] |= flaw
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "table.parquet", row_group_size=100)
    taken, query = [], duckdb_tables._query
    monkeypatch.setattr(duckdb_tables, "_query", lambda table, how: taken.append(type(how)) or query(table, how))
    survey = reduce_table(str(tmp_path / "*.parquet"), layout(LIMITS, 2)).survey()
    assert taken == [how]
    assert survey.records == (299 if flaw else 300)
    assert sum(survey.left_out().values()) == (0 if not flaw else 2 if "the value" in flaw else 1)


def test_a_user_with_very_many_records(tmp_path: Path) -> None:
    """Her sum is beyond what doubles hold exactly."""
    path, count = tmp_path / "table.parquet", 2**23 + 1
    with duckdb.connect() as session:
        session.sql(f"SELECT 7 AS who, 9.0 - range % 2 * 2.0 ** -28 AS what FROM range({count})").write_parquet(
            str(path)
        )
    population = {"user": "who", "value": "what", "bounds": (8.0, 9.0)}
    mean = dame.Population.table(str(path), **population).truth
    assert mean == pytest.approx(1 - 2.0**-28, rel=0, abs=2.0**-31)
