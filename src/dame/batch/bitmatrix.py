"""Matrices of bits, 64 to a word: counting ones, and turning columns into rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dame.batch.words import WordArray

SIDE = 64

_STAGES = tuple(
    (half, np.uint64(half), np.uint64(mask))
    for half, mask in (
        (32, 0x00000000FFFFFFFF),
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    )
)
_ONES_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], np.uint8)


def ones_per_row(packed: WordArray) -> NDArray[np.int64]:
    """The number of ones in each row."""
    ones: NDArray[np.int64] = _ones(packed).sum(axis=1, dtype=np.int64)
    return ones


def transpose_squares(squares: WordArray) -> WordArray:
    """The 64×64 bit squares turned over: bit j of [i, k] becomes bit i of [j, k]. The argument is used up.

    Each stage swaps the off-diagonal quarters of ever smaller squares: 32 × 32 bits, 16 × 16, …, 1 × 1.
    """
    swap = np.empty((SIDE // 2, squares.shape[1]), np.uint64)
    for half, shift, mask in _STAGES:
        pairs = squares.reshape(SIDE // 2 // half, 2, half, -1)
        upper, lower = pairs[:, 0], pairs[:, 1]
        moved = swap.reshape(upper.shape)
        np.right_shift(upper, shift, out=moved)
        moved ^= lower
        moved &= mask
        lower ^= moved
        moved <<= shift
        upper ^= moved
    return squares


def _ones(packed: WordArray) -> NDArray[np.uint8]:
    """The number of ones in each word, or, before numpy 2, in each byte."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(packed)
    return _ONES_OF_BYTE[np.ascontiguousarray(packed).view(np.uint8)]
