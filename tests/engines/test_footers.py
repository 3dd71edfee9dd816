"""What the footers of Parquet files say saves a look at the records, and never changes what is made of them."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.engines import duckdb_tables
from dame.engines.duckdb_tables import reduce_table
from tests.engines.tables import CLEAN, FULL, INTEGERS, WITHIN, Rows, arrow, layout, plain, row_lists, value
from tests.engines.test_clean_tables import clean_rows
from tests.engines.test_reduction import counted, expected, seen

LIMITS = (-2.0, 5.0)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that are looked at from now on."""
    taken: list[str] = []
    look = duckdb_tables._look
    monkeypatch.setattr(duckdb_tables, "_look", lambda *given: taken.append(given[1]) or look(*given))
    return taken


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples share."""
    return tmp_path_factory.mktemp("files")


def write(path: Path, values: list[float | None], kind: pa.DataType | None = None, **options: object) -> None:
    """A file with these values of two users."""
    columns = {"key 0": [number % 2 for number in range(len(values))], "the value": pa.array(values, kind)}
    pq.write_table(pa.table(columns), path, **options)


def agrees(files: str, values: list[float | None]) -> None:
    """Checks people and counts against what devices make of these values, file after file."""
    rows: Rows = [((number % 2,), item) for number, item in enumerate(values)]
    table = reduce_table(files, layout(LIMITS))
    assert seen(table) == expected(rows, LIMITS)
    assert table.survey().of(value(LIMITS)).left_out() == counted(rows, LIMITS)


INSIDE, OUTSIDE = [0.25, -1.5, 4.0, 1.0], [0.25, -7.0, 4.0, 5.5]


@pytest.mark.parametrize(("values", "how"), [(INSIDE, WITHIN), (OUTSIDE, CLEAN)])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_a_footer_without_flaws_saves_the_look(
    tmp_path: Path, values: list[float], how: str, kind: pa.DataType, looks: list, queries: list
) -> None:
    write(tmp_path / "a.parquet", values, kind)
    agrees(str(tmp_path / "a.parquet"), values)
    assert (looks, queries) == ([], [how])


@pytest.mark.parametrize("values", [INSIDE, OUTSIDE])
def test_without_statistics_the_values_are_looked_at(tmp_path: Path, values: list[float], looks: list) -> None:
    write(tmp_path / "a.parquet", values, write_statistics=False)
    agrees(str(tmp_path / "a.parquet"), values)
    assert len(looks) == 1


@pytest.mark.parametrize("largest", [4, 90])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.decimal128(9, 2), pa.bool_()])
def test_kinds_of_values(tmp_path: Path, kind: pa.DataType, largest: int, looks: list) -> None:
    values = [False, True, True, False] if pa.types.is_boolean(kind) else [0, 3, largest, 2]
    write(tmp_path / "a.parquet", values, kind)
    agrees(str(tmp_path / "a.parquet"), [float(value) for value in values])
    assert bool(looks) == (not pa.types.is_integer(kind))


@pytest.mark.parametrize(("values", "how"), [(INSIDE, WITHIN), (OUTSIDE, CLEAN)])
def test_nan_is_found_where_the_footer_hides_it(tmp_path: Path, values: list[float], how: str, queries: list) -> None:
    values = [*values, math.nan, 1.0]
    write(tmp_path / "a.parquet", values)
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(1).statistics.has_min_max
    agrees(str(tmp_path / "a.parquet"), values)
    assert queries == [how, FULL]


def test_nothing_but_nan(tmp_path: Path) -> None:
    values = [math.nan, 1.0, math.nan, 2.0]
    write(tmp_path / "a.parquet", values)
    agrees(str(tmp_path / "a.parquet"), values)


@pytest.mark.parametrize("far", [math.inf, -math.inf, 1e300, 2.0**60])
def test_values_far_out(tmp_path: Path, far: float, queries: list) -> None:
    values = [1.0, far, 2.0, 3.0]
    write(tmp_path / "a.parquet", values)
    agrees(str(tmp_path / "a.parquet"), values)
    assert queries == [FULL]


SECOND = [
    (INSIDE, {}, False, [WITHIN]),
    (OUTSIDE, {}, False, [CLEAN]),
    (INSIDE, {"write_statistics": False}, True, [WITHIN]),
    (OUTSIDE, {"write_statistics": False}, True, [CLEAN]),
    ([1.0, None, 2.0, 3.0], {}, True, [FULL]),
    ([1.0, math.inf, 2.0, 3.0], {}, True, [FULL]),
    ([1.0, math.nan, 2.0, 3.0], {}, False, [WITHIN, FULL]),
    ([1.0, math.nan, 2.0, 3.0], {"write_statistics": False}, True, [FULL]),
]


@pytest.mark.parametrize(("second", "options", "looked", "taken"), SECOND)
def test_several_files_are_as_clean_as_the_worst(
    tmp_path: Path, second: list, options: dict, looked: bool, taken: list, looks: list, queries: list
) -> None:
    write(tmp_path / "a.parquet", INSIDE, row_group_size=2)
    write(tmp_path / "b.parquet", second, **options)
    agrees(str(tmp_path / "*.parquet"), [*INSIDE, *second])
    assert (bool(looks), queries) == (looked, taken)


def test_files_that_spell_a_column_differently(tmp_path: Path, looks: list) -> None:
    """DuckDB reads them as one column; the footers of one of them do not speak of it by its name."""
    write(tmp_path / "a.parquet", INSIDE)
    other = pa.table({"KEY 0": [0, 1], "The Value": [1.0, math.nan]})
    pq.write_table(other, tmp_path / "b.parquet")
    agrees(str(tmp_path / "*.parquet"), [*INSIDE, 1.0, math.nan])
    assert len(looks) == 1


def test_floats_at_a_bound(tmp_path: Path) -> None:
    """The largest value is 0.1 in short, and a little more than that in full."""
    largest = float.fromhex("0x1.99999ap-4")
    pq.write_table(
        pa.table({"key 0": [1, 1], "the value": pa.array([largest, 0.0], pa.float32())}), tmp_path / "a.parquet"
    )
    table = reduce_table(str(tmp_path / "a.parquet"), layout((0.0, 0.1)))
    assert table.survey().of(value((0.0, 0.1))).clipped == 1


@given(st.data(), st.booleans(), st.booleans(), st.integers(1, 50))
@settings(max_examples=60)
def test_any_files_agree_with_devices(
    folder: Path, data: st.DataObject, clean: bool, statistics: bool, at_once: int
) -> None:
    rows = data.draw(clean_rows(INTEGERS) if clean else row_lists(INTEGERS))
    pq.write_table(arrow(rows), folder / "a.parquet", row_group_size=at_once, write_statistics=statistics)
    right = expected(rows, LIMITS)
    if not right:
        return
    table = reduce_table(str(folder / "a.parquet"), layout(LIMITS))
    assert seen(table) == right
    assert table.survey() == plain(rows, LIMITS).survey()
