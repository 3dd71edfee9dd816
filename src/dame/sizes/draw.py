"""Fast draws of sizes with a numpy generator; for simulation, never for privacy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dame.sizes.sums import Floats, Table

Ints = NDArray[np.int64]
Drawer = Callable[[int], NDArray[np.int64]]


def positive(draw: Drawer, n: int) -> Ints:
    """n draws of `draw` that are at least 1: the others are drawn again."""
    result = draw(n).astype(np.int64, copy=False)
    wrong = np.flatnonzero(result < 1)
    while len(wrong):
        result[wrong] = draw(len(wrong))
        wrong = wrong[result[wrong] < 1]
    return result


def from_table(table: Table, rng: np.random.Generator, n: int) -> Ints:
    """n draws from the atoms of a table by inversion."""
    found = np.searchsorted(table.cumulative[:-1], rng.random(n), side="right")
    return table.atoms[found].astype(np.int64)


def zipf(exponent: float, largest: int, rng: np.random.Generator, n: int) -> Ints:
    """n draws of P(i) ∝ i^-exponent on 1..largest by rejection-inversion (Hörmann and Derflinger, 1996)."""
    result = np.empty(n, dtype=np.int64)
    missing = np.arange(n)
    while len(missing):
        drawn, accepted = _zipf_once(exponent, largest, rng, len(missing))
        result[missing] = drawn
        missing = missing[~accepted]
    return result


def _zipf_once(exponent: float, largest: int, rng: np.random.Generator, n: int) -> tuple[Ints, NDArray[np.bool_]]:
    low = float(_area(exponent, np.array(1.5))) - 1.0
    high = float(_area(exponent, np.array(largest + 0.5)))
    two = _area(exponent, np.array(2.5)) - 2.0**-exponent
    close = 2.0 - float(_area_inverse(exponent, np.asarray(two)))
    at = high + rng.random(n) * (low - high)
    x = _area_inverse(exponent, at)
    size = np.clip(np.rint(x), 1.0, largest)
    accepted = size - x <= close
    doubtful = np.flatnonzero(~accepted)
    chosen = size[doubtful]
    accepted[doubtful] = at[doubtful] >= _area(exponent, chosen + 0.5) - chosen**-exponent
    return size.astype(np.int64), accepted


def _area(exponent: float, x: Floats) -> Floats:
    """∫ from 1 to x of t^-exponent dt, also near exponent 1."""
    power = 1.0 - exponent
    return np.log(x) if power == 0 else np.expm1(power * np.log(x)) / power


def _area_inverse(exponent: float, area: Floats) -> Floats:
    power = 1.0 - exponent
    return np.exp(area) if power == 0 else np.exp(np.log1p(np.maximum(power * area, -1.0 + 1e-16)) / power)
