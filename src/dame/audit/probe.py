"""Reading a running mechanism: the words at which its outcomes change, the noise that it adds.

A mechanism is any function of a question, a person and coins. Nothing is believed about it: chosen coins show at which
word each outcome changes, and random coins then show that there is nothing else in it.
"""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dame.device.answering import respond
from dame.device.channels import Comparing
from dame.device.coins import Coins
from dame.device.lenses import Reading
from dame.device.questions import Question
from dame.device.records import Summary
from dame.errors import DameError

WORD = 2**64
TRIALS = 3
"""Random draws that the ends must predict, and as many more as a word has ends."""
MOST_OUTCOMES = 2**12
"""Up to so many outcomes of all words together, ends are searched for where they are not those of the question."""

Mechanism = Callable[[Question, Summary, Coins], tuple[int, int]]
"""From a question, a person and coins to a report: the window, and the value."""
Ends = tuple[tuple[int, ...], ...]
"""For each word that a draw takes, the rising numbers at which its outcome goes up by one."""


def device(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """The window and the value that `dame.device` reports."""
    report = respond(question, person, coins)
    return report.window, report.value


class Unreadable(DameError):
    """A mechanism that does something else than its question says: compare words with ends, or add noise."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One person in one window of a question, as a mechanism answers for her."""

    question: Question
    person: Summary
    window: int
    mechanism: Mechanism
    first: Sequence[Sequence[int]]
    """The words before hers that draw the window: see `first_words`."""

    @property
    def reading(self) -> Reading:
        """What the channel should see of her."""
        return self.question.lens.reading(self.person, self.window)

    def run(self, words: Sequence[int]) -> tuple[int, int]:
        """The value that words lead to once the window is drawn, and how many of them were taken.

        The window must be the top bits of a word before them: here the smallest or the largest that draws it.
        """
        first = self.first[words[0] % len(self.first)]
        coins = ScriptedCoins([*first, *words])
        window, value = self.mechanism(self.question, self.person, coins)
        if window != self.window:
            raise Unreadable("its window is not the fair coins of the first word")
        return value, coins.used - len(first)


def first_words(question: Question, window: int) -> list[list[int]]:
    """The smallest and the largest word that draw a window; none where there is a single window."""
    part = WORD // question.lens.window_count
    return [[window * part], [(window + 1) * part - 1]] if question.lens.window_bits else [[]]


# --- words that are compared


def read_ends(probe: Probe, channel: Comparing) -> Ends:
    """The ends that a person's words are compared with; those of the channel are only a short cut."""
    guess = tuple(map(tuple, channel.ends(probe.reading)))
    if _confirmed(probe, channel, guess):
        return guess
    found = _searched(probe, channel, guess)
    if not _confirmed(probe, channel, found):
        raise Unreadable("an outcome does not follow its own word alone")
    return found


def telling_words(ends: Ends) -> Iterator[list[int]]:
    """Words for a draw with these ends: right below each end, at each end, at both extremes, and random ones."""
    most = max(map(len, ends))
    for place in range(most):
        near = [(*word_ends, 0)[place % (len(word_ends) + 1)] for word_ends in ends]
        yield [max(end - 1, 0) for end in near]
        yield [min(end, WORD - 1) for end in near]
    yield [0] * len(ends)
    yield [WORD - 1] * len(ends)
    yield from random_words(len(ends), TRIALS + most)


@lru_cache(maxsize=4)
def random_words(count: int, draws: int) -> list[list[int]]:
    """So many draws of so many words, always the same."""
    source = random.Random(2025)
    return [[source.getrandbits(64) for _ in range(count)] for _ in range(draws)]


def _confirmed(probe: Probe, channel: Comparing, ends: Ends) -> bool:
    """Whether all telling words lead to the values that these ends predict."""
    return all(
        _value(probe, words) == channel.value_of(list(map(bisect_right, ends, words))) for words in telling_words(ends)
    )


def _value(probe: Probe, words: Sequence[int]) -> int:
    value, used = probe.run(words)
    if used != len(words):
        raise Unreadable(f"it uses {used} words, not {len(words)}")
    return value


def _searched(probe: Probe, channel: Comparing, guess: Ends) -> Ends:
    """As many ends as expected of each word, by bisection, of all words at once."""
    counts = [len(ends) for ends in guess]
    if math.prod(count + 1 for count in counts) > MOST_OUTCOMES:
        raise Unreadable("it does not do what its question says, and has too many outcomes to find out what it does")
    outcomes = {channel.value_of(each): each for each in itertools.product(*(range(count + 1) for count in counts))}
    found = [_rank_ends(probe, outcomes, rank, len(guess)) for rank in range(1, max(counts) + 1)]
    return tuple(ends[:count] for ends, count in zip(zip(*found, strict=True), counts, strict=True))


def _rank_ends(probe: Probe, outcomes: dict[int, tuple[int, ...]], rank: int, count: int) -> list[int]:
    """For each word, the first one whose outcome has at least this rank."""
    low, high = [0] * count, [WORD] * count
    while low != high:
        middle = [min((one + other) // 2, WORD - 1) for one, other in zip(low, high, strict=True)]
        shown = outcomes.get(_value(probe, middle))
        if shown is None:
            raise Unreadable("its value is none that the question has")
        for place, outcome in enumerate(shown):
            if low[place] < high[place]:
                step = (low[place], middle[place]) if outcome >= rank else (middle[place] + 1, high[place])
                low[place], high[place] = step
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
