"""Exact distributions of reports and tallies, from the device's integer thresholds."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import singledispatch

from dame.device.channels import Channel, Comparing, Laplace, grid_point
from dame.device.exact import WORD
from dame.device.lenses import Reading
from dame.device.questions import Question
from dame.device.records import Summary
from dame.tally import Tally

Entries = tuple[int, ...]
Chances = Mapping[Entries, float]


@singledispatch
def value_chances(channel: Channel, reading: Reading) -> Mapping[int, float]:
    """The chance of every value."""
    raise AssertionError(channel)


@value_chances.register
def _compared(channel: Comparing, reading: Reading) -> Mapping[int, float]:
    words = [_stretches(ends) for ends in channel.ends(reading)]
    return {
        channel.value_of(outcomes): math.prod(word[outcome] for word, outcome in zip(words, outcomes, strict=True))
        for outcomes in itertools.product(*(range(len(word)) for word in words))
    }


@value_chances.register
def _noisy(channel: Laplace, reading: Reading) -> Mapping[int, float]:
    point = grid_point(reading.mark_on(0), channel.steps)
    low, high = channel.values
    weights = {value: math.exp(-abs(value - point) / channel.scale) for value in range(low, high + 1)}
    total = math.fsum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def _stretches(ends: Sequence[int]) -> list[float]:
    return [(right - left) / WORD for left, right in itertools.pairwise((0, *ends, WORD))]


def report_chances(question: Question, person: Summary) -> dict[tuple[int, int], float]:
    """The chance of every report of a person: window and value."""
    count = question.lens.window_count
    return {
        (window, value): chance / count
        for window in range(count)
        for value, chance in value_chances(question.channel, question.lens.reading(person, window)).items()
    }


def flat(tally: Tally) -> Entries:
    """A tally as one vector: reports and sums of each window."""
    return tuple(number for window in tally.windows for number in (window.reports, *window.sums))


def entry_chances(question: Question, person: Summary) -> Chances:
    """The chances of what one person adds to the tally, as `flat` gives it."""
    zero, found = Tally.zero(question), Counter[Entries]()
    for (window, value), chance in report_chances(question, person).items():
        found[flat(zero.plus(window, 1, question.channel.entries(value)))] += chance
    return found


def convolved(each: Sequence[Chances]) -> Chances:
    """The chances of the sum of independent vectors."""
    total: dict[Entries, float] = {(0,) * len(next(iter(each[0]))): 1.0}
    for one in each:
        merged = Counter[Entries]()
        for (before, p), (more, q) in itertools.product(total.items(), one.items()):
            merged[tuple(a + b for a, b in zip(before, more, strict=True))] += p * q
        total = dict(merged)
    return total


def tally_chances(question: Question, people: Sequence[Summary]) -> Chances:
    """The chances of the tally of these people, as `flat` gives it."""
    return convolved([entry_chances(question, person) for person in people])


def numbered(*distributions: Mapping[Entries, float]) -> list[dict[int, float]]:
    """Distributions of vectors as distributions of numbers, so that chi-square tests can group neighbours."""
    places = {key: place for place, key in enumerate(sorted({key for one in distributions for key in one}))}
    return [{place: one.get(key, 0.0) for key, place in places.items()} for one in distributions]


def numbers(outcomes: Sequence[Entries], distribution: Mapping[Entries, float]) -> list[int]:
    """The outcomes by the numbers that `numbered` gives them; -1 for an impossible one."""
    places = {key: place for place, key in enumerate(sorted(distribution))}
    return [places.get(outcome, -1) for outcome in outcomes]
