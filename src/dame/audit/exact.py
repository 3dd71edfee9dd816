"""The exact privacy loss of a question: the largest likelihood ratio between any two people, from integers alone."""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache, singledispatch

from dame.audit.agreement import disagreement
from dame.audit.budget import ln_above
from dame.audit.probe import (
    WORD,
    Ends,
    Mechanism,
    Probe,
    Unreadable,
    device,
    far_noise,
    first_words,
    published_laplace,
    random_words,
    read_ends,
)
from dame.device.channels import Channel, Comparing, Laplace
from dame.device.lenses import Reading
from dame.device.questions import Question
from dame.device.records import Summary
from dame.errors import InvalidInput

TIGHT = 0.999
"""Part of the budget that a mechanism must spend where it is meant to spend all of it."""
_STREAMS = 4
_STREAM_WORDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The verdict on one question: what it claims, what it spends, and whether that is right.

    `epsilon_exact` is rounded up to a float, infinite where the loss cannot be read off. `tight` says that at least
    0.999 of the claim is spent. `problem` is empty, or why the check failed.
    """

    name: str
    epsilon_claimed: float
    epsilon_exact: float
    tight: bool
    passed: bool
    problem: str = ""

    def to_json(self) -> dict[str, object]:
        """The check as a JSON object."""
        return {
            "name": self.name,
            "epsilon_claimed": self.epsilon_claimed,
            "epsilon_exact": self.epsilon_exact,
            "tight": self.tight,
            "passed": self.passed,
            **({"problem": self.problem} if self.problem else {}),
        }


def check_question(name: str, question: Question, mechanism: Mechanism = device) -> Check:
    """The verdict on a question as a mechanism answers it, by default the device's own."""
    people = question.lens.extremes()
    try:
        epsilon = exact_epsilon(question, people, mechanism)
    except Unreadable as unreadable:
        return _verdict(name, question, math.inf, str(unreadable))
    return _verdict(name, question, epsilon, disagreement(question, people))


def exact_epsilon(question: Question, people: Sequence[Summary], mechanism: Mechanism = device) -> float:
    """The largest privacy loss between any two of the people, rounded up to a float; infinite if there is no bound.

    Everybody's coins draw the windows alike, so that a window itself tells nothing: the loss is that within one.
    """

    def probes(window: int) -> list[Probe]:
        first = first_words(question, window)
        return [
            Probe(question=question, person=person, window=window, mechanism=mechanism, first=first)
            for person in people
        ]

    return max(largest_loss(question.channel, probes(window)) for window in range(question.lens.window_count))


def _verdict(name: str, question: Question, epsilon: float, problem: str) -> Check:
    tight = epsilon >= TIGHT * question.alpha
    if not problem and epsilon > question.alpha:
        problem = "it spends more than it claims"
    if not problem and not tight and spends_all(question):
        problem = "it wastes budget: its coins are noisier than the claim needs"
    return Check(
        name=name,
        epsilon_claimed=question.alpha,
        epsilon_exact=epsilon,
        tight=tight,
        passed=not problem,
        problem=problem,
    )


# --- whether a question is meant to spend its whole budget


def spends_all(question: Question) -> bool:
    """Whether two people exist who differ as much as the lens allows, and the channel can come close to α.

    Both have marks on as many bins as anybody: codes are made for these, not for runs that the first bin cuts off.
    """
    lens, attained = question.lens, {(0, 0)}
    for window in range(lens.window_count):
        readings = {lens.reading(person, window) for person in lens.extremes()}
        most = max(reading.last - reading.first for reading in readings)
        whole = [reading for reading in readings if reading.last - reading.first == most]
        attained |= {(_gained(one, other), _gained(other, one)) for one, other in itertools.permutations(whole, 2)}
    some = len(attained) > 1 and question.channel.loss(frozenset(attained)) == question.loss()
    return some and not _coarse(question)


def _gained(one: Reading, other: Reading) -> int:
    """How many bins one reading marks wholly, and the other not at all."""
    shared = min(one.last, other.last) + 1 - max(one.first, other.first) if other.mark > 0 else 0
    return one.last + 1 - one.first - max(shared, 0) if one.mark == 1 else 0


def _coarse(question: Question) -> bool:
    """Whether one step of one of the channel's whole numbers is more than may be left of the budget."""
    for name in (field.name for field in fields(question.channel)):  # type: ignore[arg-type]  # every part is a dataclass
        for step in (-1, 1):
            try:
                moved = replace(question.channel, **{name: operator.index(getattr(question.channel, name)) + step})  # type: ignore[type-var]
                there = moved.loss(question.lens.differences).epsilon()
            except (InvalidInput, TypeError):  # no whole number, or none that the channel can have
                continue
            if abs(there - question.epsilon()) > (1 - TIGHT) * question.alpha:
                return True
    return False


# --- the loss, by channel


@singledispatch
def largest_loss(channel: Channel, probes: Sequence[Probe]) -> float:
    """The largest loss between two of the people, rounded up to a float; infinite if there is no bound.

    A channel that neither compares words nor adds the published noise registers a function of its own.
    """
    raise InvalidInput("channel", channel.kind, "one whose loss the audit can read: register how")


@largest_loss.register
def _comparing_loss(channel: Comparing, probes: Sequence[Probe]) -> float:
    """For words that are compared with ends: each word takes the outcome that tells most."""
    rows = {read_ends(probe, channel) for probe in probes}
    if len({len(row) for row in rows}) > 1:
        raise Unreadable("how many words it takes depends on the person")
    largest = Fraction(1)
    for one, other in itertools.permutations(map(_sparse, rows), 2):
        ratio = _ratio(one, other)
        if ratio is None:
            return math.inf
        largest = max(largest, ratio)
    return ln_above(largest)


@dataclass(frozen=True, slots=True)
class _Sparse:
    """The ends of many words: the usual ones, how many words there are, and the few that differ."""

    usual: tuple[int, ...]
    words: int
    others: dict[int, tuple[int, ...]]


def _sparse(row: Ends) -> _Sparse:
    usual = Counter(row).most_common(1)[0][0]
    return _Sparse(usual, len(row), {word: ends for word, ends in enumerate(row) if ends != usual})


def _ratio(one: _Sparse, other: _Sparse) -> Fraction | None:
    """The largest likelihood ratio of one row over the other; None if unbounded."""
    special = one.others.keys() | other.others.keys()
    pairs = Counter((one.others.get(word, one.usual), other.others.get(word, other.usual)) for word in special)
    pairs[one.usual, other.usual] += one.words - len(special)
    ratio = Fraction(1)
    for (here, there), count in pairs.items():
        best = _word_ratio(here, there)
        if best is None:
            return None
        ratio *= best**count
    return ratio


@lru_cache(maxsize=2**12)
def _word_ratio(here: tuple[int, ...], there: tuple[int, ...]) -> Fraction | None:
    outcomes = list(zip(_chances(here), _chances(there), strict=True))
    if any(chance and not rival for chance, rival in outcomes):
        return None
    return max(Fraction(chance, rival) for chance, rival in outcomes if rival)


def _chances(ends: tuple[int, ...]) -> list[int]:
    """How many of the 2^64 words have each outcome."""
    return [end - start for start, end in itertools.pairwise((0, *ends, WORD))]


@largest_loss.register
def _laplace_loss(channel: Laplace, probes: Sequence[Probe]) -> float:
    """For noisy grid points: for weights exp(-|k|/scale), the distance of two points over the scale.

    P(report | g) / P(report | g') = exp((|report - g'| - |report - g|) / scale), largest beyond the two points, and
    the same for the clamped ends, which gather a whole tail. Rounding came before: grid points are all there is.
    """
    points = {_grid_point(channel, probe) for probe in probes}
    loss = Fraction(max(points) - min(points), channel.scale)
    nearest = float(loss)
    return nearest if Fraction(nearest) >= loss else math.nextafter(nearest, math.inf)


def _grid_point(channel: Laplace, probe: Probe) -> int:
    """The point that a person's noise is added to, once the noise is seen to be the published one, at its scale."""
    low, high = channel.values
    points = set()
    for script in random_words(_STREAM_WORDS, _STREAMS):
        words = iter(script)
        drawn = published_laplace(words, channel.scale)
        value, used = probe.run(script)
        if used != len(script) - operator.length_hint(words):
            raise Unreadable("its noise uses other words than the published algorithm")
        if low < value < high:
            points.add(value - drawn)
    if len(points) != 1:
        raise Unreadable("its noise is not the published one")
    beyond = high // channel.scale + 2
    for negative, end in ((True, low), (False, high)):
        if probe.run(far_noise(beyond, negative))[0] != end:
            raise Unreadable("a report outside the public range is not clamped to it")
    return points.pop()
