"""Exact Bernoulli bits: a uniform number u per lane, digit by digit, and the bit u < p."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.vectorised.words import WordArray, Words

LANES = 64
"""Lanes in a word: lane i of many is bit i % 64 of word i // 64."""

CERTAIN = 2**64
"""The threshold of a bit that is always one."""

BLOCK = 2**15
"""Words drawn together: enough to hide the cost of a numpy call, few enough to stay in a processor's cache."""

PLANES = 8
"""Digits compared between two looks at what is still undecided: by then most words are settled."""

EVERY_LANE = np.uint64(2**64 - 1)

Flips = Callable[[int], WordArray]
"""Group g of eight digits of some probabilities, as `flips_of` gives them; empty when only zeros follow."""

_MOST_LANES = 2**46


def packed_bits(words: Words, threshold: int, count: int) -> WordArray:
    """`count` independent bits that are one with probability threshold/2^64 exactly, 64 to a word, the rest zero.

    Each lane has a uniform 64-bit integer u, of which only the leading digits that decide u < threshold are drawn:
    about two digits a lane instead of 64. A word from the source holds one digit of 64 lanes; a one in it says that
    u and the threshold agree there, which is as uniform as the digit itself. At the first disagreement the
    larger number has the one, so the bit of the lane is the threshold's digit at that place.
    """
    threshold = checks.whole("threshold", threshold, 0, CERTAIN)
    lanes = checks.whole("count", count, 0, _MOST_LANES)
    drawn = np.zeros(-(-lanes // LANES), np.uint64)
    if threshold == CERTAIN:
        drawn[:] = EVERY_LANE
    elif threshold > 0:
        for start in range(0, drawn.size, BLOCK):
            compare(words, lambda group: _threshold_flips(threshold, group), drawn[None, start : start + BLOCK])
    return clear_beyond(drawn, lanes)


def clear_beyond(packed: WordArray, lanes: int) -> WordArray:
    """`packed`, whose last axis holds `lanes` lanes, with the unused lanes of the last word set to zero in place."""
    if lanes % LANES:
        packed[..., -1] &= np.uint64(2 ** (lanes % LANES) - 1)
    return packed


def compare(words: Words, flips: Flips, result: WordArray) -> None:
    """Set in `result`, which is zero, the bits of the lanes: each row of words has a probability of its own.

    Lanes that agree with every digit while ones are left stay zero: u >= p.
    """
    rows = np.arange(len(result))
    _compare_from(0, words, flips, rows, np.full(result.shape, EVERY_LANE), result)


def flips_of(digits: NDArray[np.uint8]) -> WordArray:
    """Where the digits of each column change, as words of ones: before each digit, and after the last one.

    The lanes that a digit one decides are those undecided before it, without those undecided after it. Over a run
    of ones all but the first and the last of these cancel, so only the changes of a digit need any work.
    """
    edge = np.zeros((1, digits.shape[1]), np.uint8)
    return np.where(np.diff(digits, axis=0, prepend=edge, append=edge) != 0, EVERY_LANE, np.uint64(0))


def _compare_from(
    group: int, words: Words, flips: Flips, rows: NDArray[np.intp], undecided: WordArray, result: WordArray
) -> None:
    """Set in `result` the bits of the undecided lanes, by the digits from a group on; `undecided` is used up."""
    table = flips(group)
    if not len(table):
        return
    _compare_group(words, table[:, rows, None], undecided, result)
    flat = undecided.reshape(-1)
    open_words = np.flatnonzero(flat)
    if open_words.size:
        settled = np.zeros(open_words.size, np.uint64)
        # Scattered words are a column, each with its own row's probability; a single row stays a single row.
        single = len(rows) == 1
        shape, rows = ((1, -1), rows) if single else ((-1, 1), rows[open_words // undecided.shape[1]])
        _compare_from(group + 1, words, flips, rows, flat[open_words].reshape(shape), settled.reshape(shape))
        result.reshape(-1)[open_words] ^= settled


def _compare_group(words: Words, flips: WordArray, undecided: WordArray, result: WordArray) -> None:
    """Flip in `result` the lanes whose first disagreement is at a one of this group of digits."""
    for place, flip in enumerate(flips):
        if place:
            undecided &= words.take(undecided.size).reshape(undecided.shape)
        if flip.size > 1:
            result ^= undecided & flip
        elif flip.item():
            result ^= undecided


@lru_cache(maxsize=1024)
def _threshold_flips(threshold: int, group: int) -> WordArray:
    """A group of digits of threshold/2^64, up to the last one that is not zero."""
    text = f"{threshold:064b}".rstrip("0")[PLANES * group : PLANES * (group + 1)]
    digits = np.array([int(digit) for digit in text], np.uint8).reshape(-1, 1)
    return flips_of(digits) if text else np.empty((0, 1), np.uint64)
