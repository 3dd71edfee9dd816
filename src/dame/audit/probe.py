"""Reading a running mechanism: the integers that its bits and marks obey, the grid point that its noise is added to.

A mechanism is any function of a question, a person and coins. Nothing is believed about it: chosen coins show at which
word each bit changes, and random coins then show that there is nothing else in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from dame.device.answer import respond
from dame.device.coins import Coins
from dame.device.questions import Question
from dame.device.records import Summary
from dame.errors import DameError

WORD = 2**64
TRIALS = 3
"""Random draws that a reading must predict."""
SINGLE_TRIALS = 32
"""The same where a draw takes a single word."""

Mechanism = Callable[[Question, Summary, Coins], int]
Thresholds = tuple[int, ...]


def device(question: Question, person: Summary, coins: Coins) -> int:
    """The mechanism that `dame.device` runs."""
    return respond(question, person, coins).value


class Unreadable(DameError):
    """A mechanism that does something else than compare words with thresholds, as its question says."""


class ScriptedCoins:
    """Given words, then words of zeros; it counts the words taken."""

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.used = 0

    def words(self, count: int) -> Sequence[int]:
        """The next words of the script."""
        taken = self._script[self.used : self.used + count]
        self.used += count
        return [*taken, *[0] * (count - len(taken))]


def read_thresholds(draw: Callable[[Coins], int], bits: int, guess: Thresholds) -> Thresholds:
    """The threshold of every bit of a draw: the word at which it turns from 1 to 0; `guess` is only a short cut."""
    if _confirmed(draw, guess):
        return guess
    found = _searched(draw, bits)
    if not _confirmed(draw, found):
        raise Unreadable("a bit does not follow its own word alone")
    return found


def _run(draw: Callable[[Coins], int], words: Sequence[int]) -> list[int]:
    """The bits that given words lead to; the draw must take exactly one word for each."""
    coins = ScriptedCoins(words)
    value = draw(coins)
    if coins.used != len(words):
        raise Unreadable(f"it uses {coins.used} words, not {len(words)}")
    if not 0 <= value < 1 << len(words):
        raise Unreadable("its value has more bits than the question")
    return [int(digit) for digit in reversed(f"{value:0{len(words)}b}")]


def _confirmed(draw: Callable[[Coins], int], thresholds: Thresholds) -> bool:
    """Whether every bit is 1 right below its threshold, 0 at it, and as predicted for random words."""
    source = random.Random(len(thresholds))
    trials = [[source.getrandbits(64) for _ in thresholds] for _ in range(TRIALS)]
    trials += [[max(t - 1, 0) for t in thresholds], [min(t, WORD - 1) for t in thresholds]]
    for words in trials:
        if _run(draw, words) != [int(word < t) for word, t in zip(words, thresholds, strict=True)]:
            return False
    return True


def _searched(draw: Callable[[Coins], int], bits: int) -> Thresholds:
    """The thresholds by bisection, of all bits at once."""
    low, high = [0] * bits, [WORD] * bits
    while any(one < other for one, other in zip(low, high, strict=True)):
        middle = [min((one + other) // 2, WORD - 1) for one, other in zip(low, high, strict=True)]
        for bit, shown in enumerate(_run(draw, middle)):
            if low[bit] < high[bit]:
                low[bit], high[bit] = (middle[bit] + 1, high[bit]) if shown else (low[bit], middle[bit])
    return tuple(low)


# --- one mark among a few


def read_borders(draw: Callable[[Coins], int], marks: int, guess: Thresholds) -> Thresholds:
    """The words at which a draw of a single mark goes on to a later one; `guess` is only a short cut."""
    if _in_order(draw, marks, guess):
        return guess
    found = tuple(_border(draw, marks, mark) for mark in range(1, marks))
    if not _in_order(draw, marks, found):
        raise Unreadable("its marks do not follow each other as the word rises")
    return found


def _mark(draw: Callable[[Coins], int], marks: int, word: int) -> int:
    """The mark that a word leads to; the draw must take this word only, and make one mark only."""
    coins = ScriptedCoins([word])
    value = draw(coins)
    if coins.used != 1:
        raise Unreadable(f"it uses {coins.used} words, not 1")
    if not 0 < value < 1 << marks or value.bit_count() != 1:
        raise Unreadable("it does not mark exactly one place")
    return value.bit_length() - 1


def _in_order(draw: Callable[[Coins], int], marks: int, borders: Thresholds) -> bool:
    """Whether the marks change at the borders: seen right beside each, at both ends, and for random words."""
    source = random.Random(marks)
    beside = {word for border in borders for word in (border - 1, border) if 0 <= word < WORD}
    words = [0, WORD - 1, *beside, *(source.getrandbits(64) for _ in range(SINGLE_TRIALS))]
    return all(_mark(draw, marks, word) == sum(word >= border for border in borders) for word in words)


def _border(draw: Callable[[Coins], int], marks: int, mark: int) -> int:
    """The first word that leads to this mark or a later one, by bisection."""
    low, high = 0, WORD
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _mark(draw, marks, middle) >= mark else (middle + 1, high)
    return low


# --- Laplace noise


def published_laplace(words: Iterator[int], scale: int) -> int:
    """The noise that algorithm 2 of Canonne, Kamath and Steinke (2020) draws from these words."""
    while True:
        fraction = _below(words, scale)
        if not _exp_coin(words, fraction, scale):
            continue
        wholes = 0
        while _exp_coin(words, 1, 1):
            wholes += 1
        size = fraction + scale * wholes
        minus = _below(words, 2)
        if size or not minus:
            return -size if minus else size


def _below(words: Iterator[int], limit: int) -> int:
    bits = (limit - 1).bit_length()
    while (value := next(words) >> (64 - bits)) >= limit:
        pass
    return value


def _exp_coin(words: Iterator[int], numerator: int, denominator: int) -> bool:
    flips = 1
    while _below(words, denominator * flips) < numerator:
        flips += 1
    return flips % 2 == 1


def far_noise(wholes: int, negative: bool) -> list[int]:
    """Words from which the published algorithm draws ± wholes·scale: the tails that random words never reach."""
    once_more, stop = [0, 0, 1 << 62], [0, 1 << 63]
    return [0, 0, *once_more * wholes, *stop, WORD - 1 if negative else 0]
