"""Records to people: bit for bit what each device would make of them, in DuckDB and in plain numpy."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.device.assignment import participant_hash
from dame.device.statistics import Value
from dame.engines.duckdb_tables import memory_bytes, reduce_table
from dame.engines.keys import Key, key_text
from dame.engines.layout import Layout
from dame.engines.store import KeptTable
from dame.engines.survey import Survey
from dame.errors import InvalidInput
from tests.engines.tables import BOUNDS, INTEGERS, TEXTS, UUIDS, Rows, arrow, layout, plain, row_lists, value

COLUMNS = st.sampled_from([(INTEGERS,), (TEXTS,), (UUIDS,), (INTEGERS, TEXTS), (TEXTS, TEXTS, UUIDS)])


def seen(table: KeptTable) -> dict[int, tuple[int, float]]:
    """Size and mean of each user, by hash."""
    return {
        int(hash_): (int(size), float(mean))
        for part in table.people
        for hash_, size, mean in zip(part.hashes, *part.of(*part.held.statistics), strict=True)
    }


def expected(rows: Rows, bounds: tuple[float, float]) -> dict[int, tuple[int, float]]:
    """The same, user by user, from the device."""
    records: dict[tuple[Key, ...], list[float]] = defaultdict(list)
    for key, item in rows:
        if None not in key and item is not None and math.isfinite(item):
            records[key].append(item)
    people = {
        participant_hash("study", key_text(key)): value(bounds).summarise(listed) for key, listed in records.items()
    }
    return {hash_: (person.size, person.mean) for hash_, person in people.items()}


def counted(rows: Rows, bounds: tuple[float, float]) -> dict[str, int]:
    """What a survey must count, one row at a time."""
    known = [(key, value) for key, value in rows if None not in key]
    finite = [value for _, value in known if value is not None and math.isfinite(value)]
    return {
        "clipped": sum(not bounds[0] <= value <= bounds[1] for value in finite),
        "nulls": sum(value is None for _, value in known),
        "not_finite": sum(value is not None and not math.isfinite(value) for _, value in known),
        "without_user": len(rows) - len(known),
        "without_records": len({key for key, _ in known}) - len(expected(rows, bounds)),
    }


@given(st.data(), BOUNDS, COLUMNS)
@settings(max_examples=60)
def test_engines_agree_with_devices(data: st.DataObject, bounds: tuple[float, float], columns: tuple) -> None:
    rows = data.draw(row_lists(*columns))
    right = expected(rows, bounds)
    if not right:
        with pytest.raises(InvalidInput, match="at least one record"):
            reduce_table(arrow(rows), layout(bounds, len(columns)))
        return
    embedded = reduce_table(arrow(rows), layout(bounds, len(columns)))
    oracle = plain(rows, bounds)
    assert seen(embedded) == seen(oracle) == right
    assert embedded.survey() == oracle.survey()
    assert embedded.survey().of(value(bounds)).left_out() == counted(rows, bounds)
    assert embedded.survey().users == len(right)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float32(), pa.decimal128(9, 2), pa.bool_()]
)
def test_values_of_any_numeric_type(kind: pa.DataType) -> None:
    values = (
        pa.array([0, 1, 1], pa.int8()).cast(kind)
        if kind != pa.decimal128(9, 2)
        else pa.array(["0.10", "1.00", "1.00"]).cast(kind)
    )
    table = pa.table({"key 0": [1, 1, 2], "the value": values})
    numbers = [float(value) for value in values.to_pylist()]
    right = {
        participant_hash("study", user): Value().summarise(some).mean
        for user, some in (("1", numbers[:2]), ("2", numbers[2:]))
    }
    assert {hash_: mean for hash_, (_, mean) in seen(reduce_table(table, layout())).items()} == right


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint64(), pa.string(), pa.dictionary(pa.int32(), pa.string())],
)
def test_keys_of_any_type_hash_alike(kind: pa.DataType) -> None:
    texts = pa.array(["7", "8"])
    keys = texts.cast(kind) if not pa.types.is_dictionary(kind) else texts.dictionary_encode()
    table = pa.table({"key 0": keys, "the value": [0.0, 1.0]})
    assert set(seen(reduce_table(table, layout()))) == {participant_hash("study", "7"), participant_hash("study", "8")}


def test_texts_of_keys() -> None:
    assert key_text(["de"]) == "de"
    assert key_text([-12]) == "-12"
    assert key_text(["é", 1234]) == "2:é4:1234"
    assert key_text(["a", "b:c"]) != key_text(["a:b", "c"]) != key_text(["a1:b", "c"])
    with pytest.raises(InvalidInput, match="key must be"):
        key_text([1.5])  # type: ignore[list-item]


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=3), min_size=2, max_size=2, unique_by=tuple))
def test_different_keys_have_different_texts(pair: list[list[str]]) -> None:
    one, other = pair
    assert key_text(one) != key_text(other)


@pytest.mark.parametrize("name", ['"', "'; DROP TABLE x; --", "select", "a b", "ü", "k0", "v", "g", "person"])
def test_any_column_name(name: str) -> None:
    table = pa.table({name: [1, 1, 2], f"{name} value": [0.5, 0.5, -1.0]})
    how = Layout(user=(name,), statistics=(Value(),), value=f"{name} value", study="study")
    assert sorted(seen(reduce_table(table, how)).values()) == [(1, -1.0), (2, 0.5)]


@pytest.mark.parametrize("study", ["it's", 'a "b"', "100 %", "ü\\n", "{0}", "%s", "x" * 128])
def test_any_study_name(study: str) -> None:
    how = Layout(user=("user",), statistics=(Value(),), value="value", study=study)
    table = reduce_table(pa.table({"user": ["u"], "value": [0.0]}), how)
    assert list(seen(table)) == [participant_hash(study, "u")]


class TestRefusals:
    """Each wrong input is one sentence that names what is wrong."""

    TABLE = pa.table({"user": [1], "value": [1.0], "when": [0.5], "text": ["x"]})

    def refused(self, source: object, user: str = "user", value: str = "value") -> str:
        with pytest.raises(InvalidInput) as caught:
            reduce_table(source, Layout(user=(user,), statistics=(Value(),), value=value, study="s"))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_columns(self) -> None:
        assert "one of user, value, when, text" in self.refused(self.TABLE, user="nobody")
        assert "a column of integers, texts or UUIDs" in self.refused(self.TABLE, user="when")
        assert "a column of numbers" in self.refused(self.TABLE, value="text")
        with pytest.raises(InvalidInput, match="at least one column"):
            Layout(user=(), statistics=(Value(),), value="value", study="s")

    def test_files(self, tmp_path: Path) -> None:
        assert "No files found" in self.refused(str(tmp_path / "nothing.parquet"))
        assert "No files found" in self.refused(str(tmp_path / "no*.csv"))
        (tmp_path / "half.parquet").write_bytes(b"PAR1 and then nothing")
        assert "a table that DuckDB reads" in self.refused(str(tmp_path / "half.parquet"))
        assert "a table that DuckDB reads" in self.refused(str(tmp_path / "none.duckdb") + "::t")
        assert "a table that DuckDB reads" in self.refused(42)

    def test_nobody(self) -> None:
        assert "2 unusable records" in self.refused(pa.table({"user": [None, 1], "value": [1.0, math.nan]}))

    @pytest.mark.parametrize("text", ["", "1", "a GB", "-1GB", "1 PB", "nan", "1e9"])
    def test_memory_limits(self, text: str) -> None:
        with pytest.raises(InvalidInput, match="memory limit"):
            memory_bytes(text)


@pytest.mark.parametrize(
    ("text", "size"), [("1GB", 10**9), ("1.5 gib", 3 * 2**29), ("512mb", 512 * 10**6), ("2G", 2 * 10**9)]
)
def test_memory_limits(text: str, size: int) -> None:
    assert memory_bytes(text) == size


class TestSurvey:
    """A commutative monoid, like a tally."""

    SURVEYS = st.lists(st.integers(1, 50), min_size=1, max_size=5).map(
        lambda sizes: plain([((place,), place / 7) for place, size in enumerate(sizes) for _ in range(size)]).survey()
    )

    @given(SURVEYS, SURVEYS, SURVEYS)
    def test_laws(self, a: Survey, b: Survey, c: Survey) -> None:
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a
        assert a + Survey() == a

    @given(SURVEYS)
    def test_sizes(self, survey: Survey) -> None:
        column = survey.of(Value())
        assert sum(column.sizes.values()) == column.users == survey.users
        assert sum(size * users for size, users in column.sizes.items()) == column.records
        assert column.observed_sizes().mean == pytest.approx(column.records / column.users)

    def test_true_mean(self) -> None:
        table = plain([(("a",), 0.0), (("a",), 1.0), (("b",), -1.0)])
        assert table.survey().of(Value()).true_mean == -0.25


def test_people_do_not_depend_on_order_or_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"key 0": rng.integers(0, 300, 5000), "the value": rng.normal(size=5000)})
    shuffled = table.take(rng.permutation(5000))
    for place in range(4):
        part = shuffled.slice(1250 * place, 1250)
        pa.parquet.write_table(part, tmp_path / f"part {place}.parquet")
    assert seen(reduce_table(table, layout())) == seen(reduce_table(str(tmp_path / "part *.parquet"), layout()))
