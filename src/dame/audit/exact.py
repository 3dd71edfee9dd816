"""The exact privacy loss of a question: the largest likelihood ratio between any two people, from integers alone."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dame.audit.agreement import disagreement
from dame.audit.budget import ln_above
from dame.audit.people import extreme_people
from dame.audit.probe import (
    WORD,
    Mechanism,
    ScriptedCoins,
    Thresholds,
    Unreadable,
    device,
    far_noise,
    published_laplace,
    read_borders,
    read_thresholds,
)
from dame.device.coins import Coins
from dame.device.questions import Measure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit
from dame.device.records import Summary

TIGHT = 0.999
"""Part of the budget that a mechanism must spend where it is meant to spend all of it."""
FINE_SCALE = 1000
"""Noise of a smaller whole scale cannot come so close to its budget."""
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
    people = extreme_people(question)
    try:
        epsilon = exact_epsilon(question, people, mechanism)
    except Unreadable as unreadable:
        return _verdict(name, question, math.inf, str(unreadable))
    return _verdict(name, question, epsilon, disagreement(question, people))


def exact_epsilon(question: Question, people: Sequence[Summary], mechanism: Mechanism = device) -> float:
    """The largest privacy loss between any two of the people, rounded up to a float; infinite if there is no bound."""
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        return _laplace_epsilon(question, question.noise, people, mechanism)
    if isinstance(question, PlaceVote):
        return _place_epsilon(question, people, mechanism)
    arms = range(question.arms) if isinstance(question, Measure) and question.arms > 1 else (None,)
    return max(_largest_loss({_row(question, person, arm, mechanism) for person in people}) for arm in arms)


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


def spends_all(question: Question) -> bool:
    """Whether two people exist between whom the question is meant to spend its whole budget.

    Two votes without a common bin, both uncut; two people at two of the places, which are all within the bounds; two
    people at the two ends of the window, on a grid fine enough.
    """
    if isinstance(question, PlaceVote):
        return True
    if isinstance(question, SizeVote):
        return question.bins > 1
    if isinstance(question, Vote):
        reach = question.neighbours
        first = max(question.bin_of(-1.0), reach)
        last = min(question.bin_of(1.0), question.bins - 1 - reach)
        return last - first >= 2 * reach + 1
    fine = isinstance(question.noise, OneBit) or question.noise.scale >= FINE_SCALE
    return fine and {0.0, 1.0} <= {question.position(person) for person in extreme_people(question)}


# --- bits


def _row(question: Question, person: Summary, arm: int | None, mechanism: Mechanism) -> Thresholds:
    """The thresholds of one person's bits, where there are arms in one of them: the arm itself tells nothing of her."""
    if isinstance(question, Vote):
        first, last = question.marks(person)
        code = question.code
        guess = tuple(code.yes if first <= bin_ <= last else code.no for bin_ in range(question.bins))
    else:
        assert isinstance(question.noise, OneBit)
        guess = (question.noise.threshold(question.position(person, arm or 0)),)

    def draw(coins: Coins) -> int:
        return mechanism(question, person, coins) if arm is None else _in_arm(question, person, arm, mechanism, coins)

    return read_thresholds(draw, len(guess), guess)


def _in_arm(question: Question, person: Summary, arm: int, mechanism: Mechanism, coins: Coins) -> int:
    """The bit in an arm, once the arm is seen to be the top bits of the first word."""
    assert isinstance(question, Measure)
    (word,) = coins.words(1)
    part, seen = WORD // question.arms, set()
    for top in (arm * part, (arm + 1) * part - 1):
        script = ScriptedCoins([top, word])
        seen.add((mechanism(question, person, script), script.used))
    if seen not in ({(arm << 1, 2)}, {(arm << 1 | 1, 2)}):
        raise Unreadable("its arm is not the fair coins of the first word")
    return seen.pop()[0] & 1


def _largest_loss(rows: Iterable[Thresholds]) -> float:
    """The largest loss between two rows of thresholds."""
    largest = Fraction(1)
    for one, other in itertools.permutations(map(_sparse, rows), 2):
        ratio = _ratio(one, other)
        if ratio is None:
            return math.inf
        largest = max(largest, ratio)
    return ln_above(largest)


@dataclass(frozen=True, slots=True)
class _Sparse:
    """Thresholds of many bits: the usual one, how many bits there are, and the few that differ."""

    usual: int
    bits: int
    others: dict[int, int]


def _sparse(row: Thresholds) -> _Sparse:
    usual = Counter(row).most_common(1)[0][0]
    return _Sparse(usual, len(row), {bit: t for bit, t in enumerate(row) if t != usual})


def _ratio(one: _Sparse, other: _Sparse) -> Fraction | None:
    """The largest likelihood ratio of one row over the other: each bit takes its better side; None if unbounded."""
    special = one.others.keys() | other.others.keys()
    pairs = Counter((one.others.get(bit, one.usual), other.others.get(bit, other.usual)) for bit in special)
    pairs[one.usual, other.usual] += one.bits - len(special)
    ratio = Fraction(1)
    for (here, there), count in pairs.items():
        best = _bit_ratio(here, there)
        if best is None:
            return None
        ratio *= best**count
    return ratio


def _bit_ratio(here: int, there: int) -> Fraction | None:
    sides = [(here, there), (WORD - here, WORD - there)]
    if any(chance and not rival for chance, rival in sides):
        return None
    return max(Fraction(chance, rival) for chance, rival in sides if rival)


# --- one of a few places


def _place_epsilon(vote: PlaceVote, people: Sequence[Summary], mechanism: Mechanism) -> float:
    """The loss of a single mark: for each place its largest chance over its smallest, and the largest of these."""
    largest = Fraction(1)
    for chances in zip(*(_chances(vote, person, mechanism) for person in people), strict=True):
        if max(chances) and not min(chances):
            return math.inf
        if min(chances):  # else nobody ever marks it
            largest = max(largest, Fraction(max(chances), min(chances)))
    return ln_above(largest)


def _chances(vote: PlaceVote, person: Summary, mechanism: Mechanism) -> list[int]:
    """How many of the 2^64 words lead a person to each place."""
    guess = vote.code.ends(vote.own_bin(person), vote.part(person), vote.bins)[:-1]
    borders = read_borders(lambda coins: mechanism(vote, person, coins), vote.bins, tuple(guess))
    return [end - start for start, end in itertools.pairwise((0, *borders, WORD))]


# --- Laplace noise


def _laplace_epsilon(
    question: Measure, noise: DiscreteLaplace, people: Sequence[Summary], mechanism: Mechanism
) -> float:
    """The loss of noisy grid points: for weights exp(-|k|/scale), the distance of two points over the scale.

    P(report | g) / P(report | g') = exp((|report - g'| - |report - g|) / scale), largest beyond the two points, and
    the same for the clamped ends, which gather a whole tail. Rounding came before: grid points are all there is.
    """
    points = {_grid_point(question, noise, person, mechanism) for person in people}
    loss = Fraction(max(points) - min(points), noise.scale)
    nearest = float(loss)
    return nearest if Fraction(nearest) >= loss else math.nextafter(nearest, math.inf)


def _grid_point(question: Measure, noise: DiscreteLaplace, person: Summary, mechanism: Mechanism) -> int:
    """The point that a person's noise is added to, once the noise is seen to be the published one, at its scale."""
    low, high = -noise.reach, noise.steps + noise.reach
    points = set()
    for script in _streams():
        coins, words = ScriptedCoins(script), iter(script)
        drawn = published_laplace(words, noise.scale)
        value = mechanism(question, person, coins)
        if coins.used != len(script) - operator.length_hint(words):
            raise Unreadable("its noise uses other words than the published algorithm")
        if low < value < high:
            points.add(value - drawn)
    if len(points) != 1:
        raise Unreadable("its noise is not the published one")
    beyond = high // noise.scale + 2
    for negative, end in ((True, low), (False, high)):
        if mechanism(question, person, ScriptedCoins(far_noise(beyond, negative))) != end:
            raise Unreadable("a report outside the public range is not clamped to it")
    return points.pop()


@lru_cache(maxsize=1)
def _streams() -> list[list[int]]:
    source = random.Random(2025)
    return [[source.getrandbits(64) for _ in range(_STREAM_WORDS)] for _ in range(_STREAMS)]
