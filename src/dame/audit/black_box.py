"""The auditor from the outside: it knows only `answer(question, samples)`, and certifies a lower bound on the loss.

It listens to a few reports of every suspect first. One part of them proposes events, another ranks them, over all
pairs of suspects. The most telling event of the most telling pair is then counted in fresh reports of these two.
Clopper–Pearson bounds on both probabilities make the logarithm of their ratio a lower bound on ε that is too large
with probability `false_alarm` at most, whatever the mechanism: a single event is ever tested.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dame import checks
from dame.audit.events import Event, Ints, candidates
from dame.device.lenses import Lens, Reading
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.records import Summary
from dame.device.reports import Report
from dame.device.statistics import Value
from dame.errors import InvalidInput
from dame.estimates import to_units

FALSE_ALARM = 1e-6
"""Chance that a private mechanism is called not private, at most."""
PILOT = 6_000
"""Reports of each suspect to choose the event from: a third to propose, the rest to rank."""
DRAWS = 20_000
"""Fresh reports of each of the two suspects in the test."""
MOST_BITS = 62
MOST_RECORDS = 1000
MOST_SUSPECTS = 9
"""So many people with at most so many records are listened to, and two of them again with more records."""

Answer = Callable[[Question, Sequence[float]], Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was certified about a mechanism: its loss is at least `epsilon_lower`, and what shows it."""

    epsilon_claimed: float
    epsilon_lower: float
    pair: tuple[str, str]
    event: str
    draws: int
    false_alarm: float

    @property
    def guilty(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower > self.epsilon_claimed

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        return {
            "epsilon_claimed": self.epsilon_claimed,
            "epsilon_lower": self.epsilon_lower,
            "pair": list(self.pair),
            "event": self.event,
            "draws": self.draws,
            "false_alarm": self.false_alarm,
            "passed": not self.guilty,
        }


def listen(
    answer: Answer, question: Question, pilot: int = PILOT, draws: int = DRAWS, false_alarm: float = FALSE_ALARM
) -> Finding:
    """The certified loss between the two suspects that a pilot finds the easiest to tell apart."""
    test = _Test(draws=checks.whole("draws", draws, 1, 10**9), level=checks.positive("false alarm", false_alarm, 1) / 2)
    lists = suspects(question)
    first = {name: heard(answer, question, lists[name], checks.whole("pilot", pilot, 30, 10**9)) for name in lists}
    one, other, event = _most_telling(first, test)
    here, there = (event.count(heard(answer, question, lists[name], draws)) for name in (one, other))
    return Finding(
        epsilon_claimed=question.alpha,
        epsilon_lower=max(test.certified(here, there), 0.0),
        pair=(one, other),
        event=event.words,
        draws=draws,
        false_alarm=false_alarm,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """The test to come: how many draws of either suspect, and the level of either bound."""

    draws: int
    level: float

    def certified(self, here: int, there: int) -> float:
        """The loss that so many hits would certify."""
        return certified_loss(here, there, self.draws, self.level)

    def promise(self, here: int, there: int, ranked: int) -> float:
        """The loss that the test is expected to certify, from hits among so many reports of the pilot."""
        scale = self.draws / ranked
        return self.certified(int(here * scale), min(math.ceil((there + 1) * scale), self.draws))


def heard(answer: Answer, question: Question, records: Sequence[float], count: int) -> Ints:
    """So many reports on the same records, each as one integer: the value and, above it, the window."""
    if question.report_bits > MOST_BITS:
        raise InvalidInput("report", question.report_bits, f"one of at most {MOST_BITS} bits, to be listened to")
    bits, (low, _) = question.channel.value_bits, question.channel.values
    reports = (answer(question, records) for _ in range(count))
    return np.fromiter(((report.window << bits) + report.value - low for report in reports), np.int64, count)


def _most_telling(pilot: Mapping[str, Ints], test: _Test) -> tuple[str, str, Event]:
    """The pair and the event that promise most, each event judged by reports that did not propose it."""
    third = len(next(iter(pilot.values()))) // 3
    proposing = {name: reports[:third] for name, reports in pilot.items()}
    # Each value once: reports of few bits are many, and their values few.
    ranking = {name: np.unique(reports[third:], return_counts=True) for name, reports in pilot.items()}
    judges = len(next(iter(pilot.values()))) - third
    ranked = []
    for one, other in itertools.permutations(pilot, 2):
        for event in candidates(proposing[one], proposing[other]):
            promise = test.promise(event.count(*ranking[one]), event.count(*ranking[other]), judges)
            ranked.append((promise, one, other, event))
    _, one, other, event = max(ranked, key=lambda row: row[0])
    return one, other, event


def suspects(question: Question) -> dict[str, list[float]]:
    """Lists of records whose reports could differ most: of people whom the lens sees as differently as it can.

    The first two are also there with as many records as anybody in reach has: a size may show where it must not.
    """
    people = [person for person in question.lens.extremes() if person.size <= MOST_RECORDS]
    chosen = _apart({_seen(question.lens, person): person for person in reversed(people)})
    most = max(person.size for person in people)
    chosen += [replace(person, size=most) for person in chosen[:2]]
    statistic = narrowed(Value, question.statistic)
    return {
        f"mean {person.mean}, {person.size} records": [to_units(person.mean, statistic.low, statistic.high)]
        * person.size
        for person in chosen
    }


Seen = tuple[Reading, ...]


def _seen(lens: Lens, person: Summary) -> Seen:
    return tuple(lens.reading(person, window) for window in range(lens.window_count))


def _apart(people: Mapping[Seen, Summary]) -> list[Summary]:
    """Some of the people: first two who differ most, then again and again whoever differs most from all of these."""
    chosen = list(max(itertools.product(people, repeat=2), key=lambda pair: _distance(*pair)))
    while len(chosen) < min(MOST_SUSPECTS, len(people)):
        left = (one for one in people if one not in chosen)
        chosen.append(max(left, key=lambda one: min(_distance(one, other) for other in chosen)))
    return [people[one] for one in chosen]


def _distance(one: Seen, other: Seen) -> float:
    """How strongly two people differ in their marks, over all bins and windows."""
    return sum(_marks(mine, theirs) + _marks(theirs, mine) for mine, theirs in zip(one, other, strict=True))


def _marks(one: Reading, other: Reading) -> float:
    """How much more strongly one reading marks bins than the other."""
    shared = max(min(one.last, other.last) + 1 - max(one.first, other.first), 0)
    return (one.last + 1 - one.first - shared) * one.mark + shared * max(one.mark - other.mark, 0.0)


def certified_loss(here: int, there: int, draws: int, level: float) -> float:
    """The loss that so many hits among as many draws each certify, by Clopper–Pearson bounds at the level each."""
    if not here:
        return -math.inf
    from scipy import special  # slow to load

    least = float(special.betaincinv(here, draws - here + 1, level))
    most = 1.0 if there == draws else float(special.betainccinv(there + 1, draws - there, level))
    return math.log(least / most)


def power(chances: tuple[float, float], draws: int, alpha: float, false_alarm: float = FALSE_ALARM) -> float:
    """A lower bound on the chance that an event with these probabilities, once chosen, refutes a claim of α."""
    from scipy import stats  # takes seconds to import, and nothing else needs it

    for miss in (1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5):
        here, there = stats.binom.ppf(miss / 2, draws, chances[0]), stats.binom.isf(miss / 2, draws, chances[1])
        if certified_loss(int(here), int(there), draws, false_alarm / 2) > alpha:
            return 1 - miss
    return 0.0
