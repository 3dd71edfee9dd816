"""Matrices of bits in words: counting ones, and turning columns into rows."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dame.vectorised.words import WordArray

SIDE = 64
"""Side of the squares that whole words make."""

Unsigned = TypeVar("Unsigned", bound=np.unsignedinteger)

_ONES_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], np.uint8)


def ones_per_row(packed: WordArray) -> NDArray[np.int64]:
    """The number of ones in each row."""
    ones: NDArray[np.int64] = _ones(packed).sum(axis=1, dtype=np.int64)
    return ones


def transpose_squares(squares: NDArray[Unsigned]) -> NDArray[Unsigned]:
    """Bit squares turned over: bit j of [i, k] becomes bit i of [j, k]. The argument is used up.

    The side of a square is the number of bits of the type, which is also the number of rows. Each stage swaps the
    off-diagonal quarters of ever smaller squares, down to single bits.
    """
    side = len(squares)
    room = np.empty((side // 2, squares.shape[1]), squares.dtype)
    half = side // 2
    while half:
        pairs = squares.reshape(side // 2 // half, 2, half, -1)
        _swap_quarters(pairs[:, 0], pairs[:, 1], half, room.reshape(-1, half, squares.shape[1]))
        half //= 2
    return squares


def _swap_quarters(upper: NDArray[Unsigned], lower: NDArray[Unsigned], half: int, room: NDArray[Unsigned]) -> None:
    """Exchange in place the high bits of the upper rows with the low bits of the lower rows, `half` by `half`."""
    number = upper.dtype.type
    np.right_shift(upper, number(half), out=room)
    room ^= lower
    room &= number(_low_halves(half, 8 * upper.dtype.itemsize))
    lower ^= room
    room <<= number(half)
    upper ^= room


def _low_halves(half: int, side: int) -> int:
    """The mask of the low half of every 2·half bits of a word."""
    return sum((2**half - 1) << start for start in range(0, side, 2 * half))


def _ones(packed: WordArray) -> NDArray[np.uint8]:
    """The number of ones in each word, or, before numpy 2, in each byte."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(packed)
    return _ONES_OF_BYTE[np.ascontiguousarray(packed).view(np.uint8)]
