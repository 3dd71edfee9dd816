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
from dataclasses import dataclass

import numpy as np

from dame import checks
from dame.audit.events import Event, Ints, candidates
from dame.device.questions import PlaceVote, Question, SizeVote, Vote
from dame.device.reports import Report
from dame.estimate import to_units

FALSE_ALARM = 1e-6
"""Chance that a private mechanism is called not private, at most."""
PILOT = 6_000
"""Reports of each suspect to choose the event from: a third to propose, the rest to rank."""
DRAWS = 20_000
"""Fresh reports of each of the two suspects in the test."""
MANY = 64
"""Times as many records as needed, for a suspect with many."""

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
    """The values of so many reports on the same records."""
    return np.array([answer(question, records).value for _ in range(count)], dtype=np.int64)


def _most_telling(pilot: Mapping[str, Ints], test: _Test) -> tuple[str, str, Event]:
    """The pair and the event that promise most, each event judged by reports that did not propose it."""
    ranked = []
    for one, other in itertools.permutations(pilot, 2):
        here, there = pilot[one], pilot[other]
        third = len(here) // 3
        for event in candidates(here[:third], there[:third]):
            promise = test.promise(event.count(here[third:]), event.count(there[third:]), len(here) - third)
            ranked.append((promise, one, other, event))
    _, one, other, event = max(ranked, key=lambda row: row[0])
    return one, other, event


def suspects(question: Question) -> Mapping[str, list[float]]:
    """Lists of records whose reports could differ most: both ends, borders of bins, few records and many."""
    if isinstance(question, SizeVote):
        return _sized_suspects(question)
    if isinstance(question, PlaceVote):
        return _placed_suspects(question)
    return _voting_suspects(question) if isinstance(question, Vote) else _measured_suspects(question)


def _sized_suspects(vote: SizeVote) -> Mapping[str, list[float]]:
    sizes = (1, 2, 3, 2 ** min(vote.bins - 1, 10))
    return {
        f"{end}, {size} records": _alike(vote, mean, size)
        for size in sizes
        for end, mean in (("lowest", -1.0), ("highest", 1.0))
    }


def _placed_suspects(vote: PlaceVote) -> Mapping[str, list[float]]:
    first, second, last = vote.places[0], vote.places[1], vote.places[-1]
    means = {"lowest": -1.0, "first place": first, "between places": (first + second) / 2, "last place": last}
    lists = {name: _alike(vote, mean, 1) for name, mean in means.items()}
    return {**lists, "highest, many records": _alike(vote, 1.0, MANY)}


def _voting_suspects(vote: Vote) -> Mapping[str, list[float]]:
    borders = {
        f"border of bin {bin_}": vote.origin + bin_ * vote.width for bin_ in (vote.bins // 4, 3 * vote.bins // 4)
    }
    means = {"first bin": vote.origin + vote.width / 2, "last bin": 1.0, **borders}
    lists = {name: _alike(vote, mean, vote.min_size) for name, mean in means.items()}
    lists["last bin, many records"] = _alike(vote, 1.0, 2 * vote.min_size + 1)
    if vote.min_size > 1:
        lists["too few records"] = _alike(vote, -1.0, vote.min_size - 1)
    return lists


def _measured_suspects(question: Question) -> Mapping[str, list[float]]:
    return {
        f"{end}, {size} records": _alike(question, mean, size)
        for size in (1, MANY)
        for end, mean in (("lowest", -1.0), ("highest", 1.0))
    }


def _alike(question: Question, mean: float, size: int) -> list[float]:
    return [to_units(mean, question.low, question.high)] * size


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
