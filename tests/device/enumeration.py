"""An independent judge of privacy: the exact distribution of a report, and the largest likelihood ratio between people.

It runs the code under test with every combination of random words that can matter. A program that only compares words
with thresholds behaves alike for all words between two thresholds, so one word of each such cell, with the cell's
share of 2^64 as its weight, gives the exact distribution as rational numbers. The first and the last word of every
cell must lead to the same: a program that compares with anything else is noticed.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import singledispatch

import mpmath
import pytest

from dame.device import channels
from dame.device.answering import respond
from dame.device.channels import Channel, Comparing, Laplace
from dame.device.coins import Coins
from dame.device.exact import WORD, Loss
from dame.device.lenses import Lens, Reading
from dame.device.questions import Question
from dame.device.records import Summary
from tests.device.sources import replayed

Law = Mapping[Hashable, Fraction]
IMPOSSIBLE = math.inf
"""The ratio when a report is possible for one person and impossible for another."""


def exact_law(program: Callable[[Coins], Hashable], words: int, thresholds: Collection[int]) -> Law:
    """The law of what a program makes of so many words, if it only compares them with the thresholds."""
    return enumerated(program, [thresholds] * words)


def enumerated(program: Callable[[Coins], Hashable], thresholds: Sequence[Collection[int]]) -> Law:
    """The law of what a program makes of some words, if it only compares each with its own thresholds."""
    ways: defaultdict[Hashable, int] = defaultdict(int)
    for cells in itertools.product(*map(_cells, thresholds)):
        first, last = (program(replayed(*(cell[side] for cell in cells))) for side in (0, -1))
        assert first == last, "the program compares a word with another threshold"
        ways[first] += math.prod(high + 1 - low for low, high in cells)
    all_ways = WORD ** len(thresholds)
    assert sum(ways.values()) == all_ways
    return {outcome: Fraction(own, all_ways) for outcome, own in ways.items()}


def _cells(thresholds: Collection[int]) -> list[tuple[int, int]]:
    return [(low, high - 1) for low, high in itertools.pairwise(sorted({0, *thresholds, WORD}))]


def largest_ratio(laws: Iterable[Law]) -> Fraction | float:
    """The largest P(report | one person) / P(report | another) over all reports and all pairs of people."""
    different = {frozenset(law.items()): law for law in laws}.values()
    reports = {report for law in different for report in law}
    largest: Fraction | float = Fraction(1)
    for report in reports:
        chances = [law.get(report, Fraction(0)) for law in different]
        if not all(chances):
            return IMPOSSIBLE
        largest = max(largest, max(chances) / min(chances))
    return largest


def is_private(ratio: Fraction | float, alpha: float | Fraction) -> bool:
    """Whether a likelihood ratio is at most e^α, decided with 100 digits."""
    if ratio == IMPOSSIBLE:
        return False
    with mpmath.workdps(100):
        exact, budget = (mpmath.mpf(each.numerator) / each.denominator for each in (Fraction(ratio), Fraction(alpha)))
        return bool(exact <= mpmath.exp(budget))


def keeps(loss: Loss, alpha: float) -> bool:
    """Whether a loss is at most α, decided with 100 digits."""
    left = Fraction(alpha) - loss.exponent
    return left >= 0 and is_private(loss.ratio, left)


# --- readings of lenses


def difference(one: Reading, other: Reading) -> tuple[int, int]:
    """Marks only in one reading and only in the other, partial ones counted as whole where they differ."""
    runs = [range(reading.first, reading.last + 1) for reading in (one, other)]
    shared = len(range(max(run.start for run in runs), min(run.stop for run in runs)))
    gained, lost = (len(run) - shared for run in runs)
    return gained + shared * (one.mark > other.mark), lost + shared * (one.mark < other.mark)


def differences_among(lens: Lens, people: Iterable[Summary]) -> set[tuple[int, int]]:
    """How the readings of any two of the people differ, in any window."""
    people, found = list(people), set()
    for window in range(lens.window_count):
        readings = {lens.reading(person, window) for person in people}
        found |= {difference(one, other) for one, other in itertools.product(readings, repeat=2)}
    return found


# --- reports of questions


def report_law(question: Question, person: Summary) -> Law:
    """The law of a person's report, as (window, value), where the channel only compares words with thresholds."""
    lens, channel = question.lens, question.channel
    ends = [channel.ends(lens.reading(person, window)) for window in range(lens.window_count)]
    starts = [{window << 64 - lens.window_bits for window in range(lens.window_count)}] if lens.window_bits else []

    def program(coins: Coins) -> tuple[int, int]:
        report = respond(question, person, coins)
        return report.window, report.value

    return enumerated(program, [*starts, *(set().union(*each) for each in zip(*ends, strict=True))])


@singledispatch
def exact_loss(channel: Channel, question: Question, people: Iterable[Summary]) -> Loss:
    """The largest loss between any two of the people, from the laws of their reports."""
    raise NotImplementedError(type(channel))


@exact_loss.register
def _(channel: Comparing, question: Question, people: Iterable[Summary]) -> Loss:
    return Loss(ratio=largest_ratio(report_law(question, person) for person in people))


@exact_loss.register
def _(channel: Laplace, question: Question, people: Iterable[Summary]) -> Loss:
    # Coins that draw the window are fair, whoever tosses them: a window costs what the noise in it costs.
    people, windows = list(people), range(question.lens.window_count)
    points = ({silent_value(question, person, window) for person in people} for window in windows)
    return Loss(exponent=max(laplace_loss(each, channel.scale) for each in points))


# --- noise on a grid


@contextmanager
def without_noise() -> Iterator[None]:
    """Switches Laplace noise off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels, "discrete_laplace", lambda coins, scale: 0)
        yield


def silent_value(question: Question, person: Summary, window: int) -> int:
    """The value that a device would send about a window if the noise were none."""
    with without_noise():
        report = respond(question, person, replayed(window << 64 - question.lens.window_bits))
    assert report.window == window
    return report.value


def laplace_loss(points: Collection[int], scale: int) -> Fraction:
    """The largest log-likelihood ratio of integer noise of weight exp(-|k| / scale) added to two of the points."""
    # Between two points the ratio is monotone: the points, and values beyond all of them, tell everything.
    reports = {*points, min(points) - 1, max(points) + 1}
    farthest = max(
        max(abs(report - point) for point in points) - min(abs(report - point) for point in points)
        for report in reports
    )
    return Fraction(farthest, scale)


# --- values of channels


@singledispatch
def value_law(channel: Channel, reading: Reading) -> Mapping[int, Fraction | float]:
    """The law of the value that a channel draws."""
    raise NotImplementedError(type(channel))


@value_law.register
def _(channel: Comparing, reading: Reading) -> Mapping[int, Fraction | float]:
    return enumerated(lambda coins: channel.draw(reading, coins), channel.ends(reading))


@value_law.register
def _(channel: Laplace, reading: Reading) -> Mapping[int, Fraction | float]:
    # Beyond the reach there is less than floats tell from nothing.
    with without_noise():
        point, (low, high) = channel.draw(reading, replayed()), channel.values
    weights = {value: math.exp(-abs(value - point) / channel.scale) for value in range(low, high + 1)}
    total = math.fsum(weights.values())
    return {value: weight / total for value, weight in weights.items()}
