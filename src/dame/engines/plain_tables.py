"""Tables in plain Python and numpy, without any engine: the oracle of the others, and good for small tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dame.device.records import HALF_GRID
from dame.engines.keys import Key, key_hashes
from dame.engines.people import Floats, Ints
from dame.engines.reduced import part_of
from dame.engines.sql import COUNTS
from dame.engines.store import KeptTable


def reduce_rows(
    keys: Sequence[Sequence[Key | None]],
    values: Sequence[float | None],
    *,
    bounds: tuple[float, float],
    study: str,
) -> KeptTable:
    """The people of a table with these keys (one sequence of columns for each row) and values."""
    places: dict[tuple[Key, ...] | None, int] = {}
    rows = np.array([places.setdefault(_known(key), len(places)) for key in keys], dtype=np.intp)
    known = np.array([key is not None for key in places], dtype=np.bool_)
    hashes = key_hashes(study, (key or ("",) for key in places))
    return KeptTable([part_of(hashes, known, _counts(rows, len(places), values, bounds))])


def grid_steps(values: Floats, low: float, high: float) -> Ints:
    """The steps from the lower bound, 0 to 2^31, to which each value is rounded."""
    scale = 2 * HALF_GRID / (high - low)
    return np.asarray(np.floor((np.clip(values, low, high) - low) * scale + 0.5), dtype=np.int64)


def _known(key: Sequence[Key | None]) -> tuple[Key, ...] | None:
    columns = tuple(column for column in key if column is not None)
    return columns if len(columns) == len(key) else None


def _counts(
    rows: np.ndarray, users: int, values: Sequence[float | None], bounds: tuple[float, float]
) -> dict[str, Ints]:
    present = np.array([value is not None for value in values], dtype=np.bool_)
    numbers = np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)
    finite = np.isfinite(numbers)
    outside = finite & ~((numbers >= bounds[0]) & (numbers <= bounds[1]))
    steps = grid_steps(np.where(finite, numbers, bounds[0]), *bounds)
    columns = (np.ones(len(rows), np.int64), present, finite, outside, np.where(finite, steps, 0))
    return {name: _sums(rows, users, column) for name, column in zip(COUNTS, columns, strict=True)}


def _sums(rows: np.ndarray, users: int, column: np.ndarray) -> Ints:
    sums = np.zeros(users, np.int64)
    np.add.at(sums, rows, column.astype(np.int64))
    return sums
