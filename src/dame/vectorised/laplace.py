"""Exact discrete Laplace noise for many lanes at once.

A value is a fair sign and a magnitude with P(x) proportional to exp(-x/scale), minus zero refused. This is the
structure of Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020), Algorithm 2, and the
same law; the magnitude is drawn by its independent binary digits, which suits 64 lanes a word better than loops
that end at a different time in every lane.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.vectorised.bernoulli import LANES, compare
from dame.vectorised.bitmatrix import SIDE, transpose_squares
from dame.vectorised.geometric import digit_flips, width
from dame.vectorised.words import WordArray, Words

LARGEST_SCALE = 2**45
"""Up to here a magnitude leaves room for the sign, whatever can happen in the life of the universe."""

_COLUMNS = 2**11
"""Words per digit drawn together, so that the digits of all their lanes stay in a processor's cache."""

_MOST_VALUES = 2**40

SignedArray = NDArray[np.signedinteger[Any]]


def discrete_laplace(words: Words, scale: int, count: int) -> NDArray[np.int64]:
    """`count` independent integers k with P(k) proportional to exp(-|k|/scale), exactly."""
    scale = checks.whole("scale", scale, 1, LARGEST_SCALE)
    values = np.empty(checks.whole("count", count, 0, _MOST_VALUES), np.int64)
    done = 0
    while done < values.size:
        columns = min(_COLUMNS, -(-(values.size - done) // LANES))
        drawn = _signed(words, scale, columns)[: values.size - done]
        values[done : done + drawn.size] = drawn
        done += drawn.size
    return values


def _signed(words: Words, scale: int, columns: int) -> SignedArray:
    """Independent values, as many as `columns` words have lanes, without those that came out as minus zero."""
    lanes = _sign_and_magnitude(words, scale, columns)
    limits = np.iinfo(lanes.dtype)
    minus = lanes >> (limits.bits - 1)
    values = (lanes ^ (minus & limits.max)) - minus
    refused = lanes == limits.min
    return values[~refused] if refused.any() else values


def _sign_and_magnitude(words: Words, scale: int, columns: int) -> SignedArray:
    """One integer per lane, of the smallest type that fits: a fair bit on top, and a magnitude below."""
    places = width(scale)
    digits = np.zeros((places + 1, columns), np.uint64)
    compare(words, lambda group: digit_flips(scale, group), digits)
    beyond = digits[places]
    side = SIDE if beyond.any() else max(8, 2 ** places.bit_length())
    squares = np.zeros((side, columns), np.uint64)
    squares[:places] = digits[:places]
    squares[-1] = words.take(columns)
    lanes = transpose_squares(squares.view(f"u{side // 8}"))
    if beyond.any():
        _lengthen(words, scale, beyond, lanes)
    return lanes.view(f"i{side // 8}").reshape(-1)


def _lengthen(words: Words, scale: int, beyond: WordArray, lanes: WordArray) -> None:
    """Add 2^width in place to the lanes that are beyond the digits, once and again while the same coin says so."""
    while beyond.any():
        chosen = beyond >> np.arange(LANES, dtype=np.uint64)[:, None] & np.uint64(1)
        lanes += chosen << np.uint64(width(scale))
        again = np.zeros((width(scale) + 1, beyond.size), np.uint64)
        compare(words, lambda group: digit_flips(scale, group), again)
        beyond = beyond & again[-1]
