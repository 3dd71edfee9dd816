"""Small random tables, as rows and as files."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from dame.device.statistics import Value
from dame.engines.keys import Key
from dame.engines.layout import Layout
from dame.engines.plain_tables import reduce_columns
from dame.engines.sql import CleanReduction, Reduction
from dame.engines.store import KeptTable

Rows = list[tuple[tuple[Key | None, ...], float | None]]

BOUNDS = st.tuples(st.floats(-1e6, 1e6, allow_subnormal=False), st.floats(1e-3, 1e6, allow_subnormal=False)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)
VALUES = st.one_of(
    st.floats(-3e6, 3e6),
    st.floats(),
    st.sampled_from([0.0, -0.0, 1e308, -1e308, math.inf, -math.inf, math.nan]),
    st.none(),
)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
UUIDS = st.uuids(allow_nil=True)


def keys(*columns: st.SearchStrategy[Key]) -> st.SearchStrategy[tuple[Key | None, ...]]:
    """Keys of such columns, which are null now and then."""
    return st.tuples(*(st.one_of(column, column, column, st.none()) for column in columns))


@st.composite
def row_lists(draw: st.DrawFn, *columns: st.SearchStrategy[Key], most: int = 40) -> Rows:
    """Rows of a few users."""
    users = draw(st.lists(keys(*columns), min_size=1, max_size=6))
    return draw(st.lists(st.tuples(st.sampled_from(users), VALUES), min_size=1, max_size=most))


def layout(bounds: tuple[float, float] = (-1.0, 1.0), columns: int = 1, study: str = "study") -> Layout:
    """The layout of a file that `write` wrote."""
    names = tuple(f"key {place}" for place in range(columns))
    return Layout(user=names, statistics=(value(bounds),), value="the value", study=study)


def value(bounds: tuple[float, float]) -> Value:
    """The statistic of a table's one column."""
    return Value(low=bounds[0], high=bounds[1])


def plain(
    rows: Rows, bounds: tuple[float, float] = (-1.0, 1.0), study: str = "study", keep_absent: bool = False
) -> KeptTable:
    """The rows, reduced without any engine."""
    width = len(rows[0][0])
    columns = {f"key {place}": [key[place] for key, _ in rows] for place in range(width)}
    how = replace(layout(bounds, width, study), keep_absent=keep_absent)
    return reduce_columns({**columns, "the value": [value for _, value in rows]}, how)


FULL, CLEAN, WITHIN = "full", "clean", "within"


def kind_of(how: Reduction) -> str:
    """Which reduction it is: for any table, for clean ones, or for clean ones without values outside the bounds."""
    if not isinstance(how, CleanReduction):
        return FULL
    return WITHIN if len(how.within) == len(how.layout.statistics) else CLEAN


def arrow(rows: Rows) -> pa.Table:
    """The rows as an Arrow table; UUIDs as their 16 bytes with a name for what they are."""
    width = len(rows[0][0])
    columns = {f"key {place}": _column([key[place] for key, _ in rows]) for place in range(width)}
    return pa.table({**columns, "the value": pa.array([value for _, value in rows], pa.float64())})


def _column(items: Sequence[Key | None]) -> pa.Array:
    if any(isinstance(item, uuid.UUID) for item in items):
        return pa.array([None if item is None else item.bytes for item in items], pa.binary(16)).cast(pa.uuid())
    kind = pa.string() if any(isinstance(item, str) for item in items) else pa.int64()
    return pa.array(items, kind)


def write(folder: Path, rows: Rows, name: str = "table") -> str:
    """The path of a Parquet file with the rows."""
    path = folder / f"{name}.parquet"
    pq.write_table(arrow(rows), path)
    return str(path)
