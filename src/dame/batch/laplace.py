"""Exact discrete Laplace noise for many lanes at once.

A value is a fair sign and a magnitude with P(x) proportional to exp(-x/scale), minus zero refused. This is the
structure of Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020), Algorithm 2, and the
same law; the magnitude is drawn by its independent binary digits, which suits 64 lanes a word better than loops
that end at a different time in every lane.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.batch.bernoulli import LANES, compare
from dame.batch.bitmatrix import SIDE, transpose_squares
from dame.batch.geometric import digit_flips, width
from dame.batch.words import WordArray, Words

LARGEST_SCALE = 2**45
"""Up to here a magnitude leaves room for the sign, whatever can happen in the life of the universe."""

_COLUMNS = 2**9
"""Words per digit drawn together, so that the digits of all their lanes stay in a processor's cache."""

_SIGN = SIDE - 1
_MAGNITUDE = np.uint64(2**_SIGN - 1)
_MINUS_ZERO = np.uint64(2**_SIGN)
_MOST_VALUES = 2**40


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


def _signed(words: Words, scale: int, columns: int) -> NDArray[np.int64]:
    """Independent values, as many as `columns` words have lanes, without those that came out as minus zero."""
    lanes = _sign_and_magnitude(words, scale, columns)
    magnitude = (lanes & _MAGNITUDE).view(np.int64)
    minus = -(lanes >> np.uint64(_SIGN)).view(np.int64)
    signed: NDArray[np.int64] = (magnitude ^ minus) - minus
    refused: NDArray[np.bool_] = lanes == _MINUS_ZERO
    return signed[~refused]


def _sign_and_magnitude(words: Words, scale: int, columns: int) -> WordArray:
    """One word per lane: a fair bit on top, and a magnitude below."""
    places = width(scale)
    digits = np.zeros((places + 1, columns), np.uint64)
    compare(words, lambda group: digit_flips(scale, group), digits)
    squares = np.zeros((SIDE, columns), np.uint64)
    squares[:places] = digits[:places]
    squares[_SIGN] = words.take(columns)
    lanes = transpose_squares(squares).T.reshape(-1)
    if digits[places].any():
        _lengthen(words, scale, digits[places], lanes)
    return lanes


def _lengthen(words: Words, scale: int, beyond: WordArray, lanes: WordArray) -> None:
    """Add 2^width in place to the lanes that are beyond the digits, once and again while the same coin says so."""
    while beyond.any():
        chosen = np.unpackbits(beyond.astype("<u8").view(np.uint8), bitorder="little")
        lanes += chosen * np.uint64(2 ** width(scale))
        again = np.zeros((width(scale) + 1, beyond.size), np.uint64)
        compare(words, lambda group: digit_flips(scale, group), again)
        beyond = beyond & again[-1]
