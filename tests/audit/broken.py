"""Mechanisms that are NOT PRIVATE, each a mistake that somebody has made: to show that the audits catch them.

Nothing here may ever answer a real question. The public surface of the package does not lead here; only the audit's
own tests do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from dame.audit.probe import WORD, Mechanism
from dame.device.coins import Coins, SystemCoins, discrete_laplace
from dame.device.exact import symmetric_threshold
from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote, question_id
from dame.device.randomisers import POSITION_STEPS, DiscreteLaplace, OneBit, OneOfMany, UnaryCode, grid_point
from dame.device.records import Summary, summarise
from dame.device.reports import Report

MIN_SIZE = 3
MANY_RECORDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBad:
    """A mechanism that is NOT PRIVATE, the question that shows it, and its true loss.

    `pilot` and `draws` are enough for the black-box auditor; `draws` is None where no feasible number is. `chances`
    are the probabilities of a telling event for two people, from which its power follows.
    """

    name: str
    question: Question
    mechanism: Mechanism
    epsilon: float
    pilot: int = 3_000
    draws: int | None = None
    chances: tuple[float, float] = (1.0, 1.0)

    def answer(self, question: Question, samples: Sequence[float]) -> Report:
        """What a device with this mistake would send: NOT PRIVATE."""
        person = summarise(samples, question.low, question.high)
        return Report(question=question_id(question), value=self.mechanism(question, person, SystemCoins()))


def known_bad() -> tuple[KnownBad, ...]:
    """All of them."""
    return (*_bad_votes(), *_bad_place_votes(), *_bad_measures())


def _bad_votes() -> tuple[KnownBad, ...]:
    keep = math.exp(3.5 / 6) / (1 + math.exp(3.5 / 6))
    fifth = math.exp(4 / 5) / (1 + math.exp(4 / 5))
    blank = 1 / (1 + math.exp(2.0))
    return (
        KnownBad(
            name="one coin for two bits",
            question=_paper_vote(1.0),
            mechanism=_on(Vote, _shared_coin),
            epsilon=math.inf,
            draws=8_000,
            chances=(math.tanh(1 / 12), 0.0),
        ),
        KnownBad(
            name="four votes on a border",
            question=_paper_vote(3.5),
            mechanism=_on(Vote, _four_votes),
            epsilon=8 / 6 * 3.5,
            pilot=40_000,
            draws=170_000,
            chances=(keep**8, (1 - keep) ** 8),
        ),
        KnownBad(
            name="keep probability for a fifth of alpha",
            question=_paper_vote(4.0),
            mechanism=_on(Vote, _generous_keep),
            epsilon=6 / 5 * 4.0,
            pilot=30_000,
            draws=130_000,
            chances=(fifth**6, (1 - fifth) ** 6),
        ),
        _boundless(
            "silence of people with few records",
            _paper_vote(1.0),
            _on(Vote, _silence),
            (1.0, (1 - math.exp(1 / 6) / (1 + math.exp(1 / 6))) ** 3 * 0.55**5),
        ),
        KnownBad(
            name="two votes for a size on a border",
            question=_size_vote(2.0),
            mechanism=_on(Vote, _two_classes),
            epsilon=2 * 2.0,
            draws=8_000,
            chances=((1 - blank) ** 2 / 4, blank**2 / 4),
        ),
    )


def _bad_place_votes() -> tuple[KnownBad, ...]:
    own, rival = math.e / (math.e + 1), 1 / (math.e + 1)
    return (
        KnownBad(
            name="own place as likely as among two",
            question=_place_vote(1.0),
            mechanism=_on(PlaceVote, _odds_of_two),
            epsilon=1.0 + math.log(3),
            draws=4_000,
            chances=(own, rival / 3),
        ),
        _boundless(
            "two marks for a mean between two places",
            _place_vote(1.0),
            _on(PlaceVote, _two_places),
            (1 - 1 / (math.e + 3), 0.0),
        ),
        _boundless("far places that are never marked", _place_vote(1.0), _on(PlaceVote, _never_far), (own, 0.0)),
        _boundless("exact places without noise", _place_vote(1.0), _on(PlaceVote, _only_rounded), (1.0, 0.0)),
    )


def _bad_measures() -> tuple[KnownBad, ...]:
    return (
        KnownBad(
            name="mean that is not cut to the window",
            question=_laplace(1.0),
            mechanism=_on(Measure, _unclipped),
            epsilon=math.sqrt(2.0**62) * 2.0,
            draws=4_000,
            chances=(0.5, math.exp(-4) / 2),
        ),
        KnownBad(
            name="float noise of half the scale",
            question=_laplace(1.0),
            mechanism=_on(Measure, _float_laplace),
            epsilon=2.0,
            draws=8_000,
            chances=(0.5, math.exp(-2) / 2),
        ),
        _boundless(
            "noise whose last digit tells the number of records",
            _laplace(1.0),
            _on(Measure, _size_in_last_digit),
            (1.0, 0.0),
        ),
        _boundless("arm chosen by the data", _dithered(1.0), _on(Measure, _chosen_arm), (1.0, 0.0)),
        _boundless("part chosen by the data", _parts(1.0), _on(PartMeasure, _chosen_part), (1.0, 0.0)),
        _boundless("place beyond a part that is not cut", _parts(1.0), _on(PartMeasure, _beyond_the_part), (0.25, 0.0)),
        KnownBad(
            name="threshold off by 2^-10",
            question=_whole_range(0.01),
            mechanism=_on(Measure, _shifted_threshold),
            epsilon=_shifted_loss(0.01),
        ),
    )


def _boundless(name: str, question: Question, mechanism: Mechanism, chances: tuple[float, float]) -> KnownBad:
    """A mistake whose loss has no bound, which 4,000 draws show."""
    return KnownBad(name=name, question=question, mechanism=mechanism, epsilon=math.inf, draws=4_000, chances=chances)


# --- the questions that they are asked


def _paper_vote(alpha: float) -> Vote:
    code = UnaryCode.symmetric(alpha, marks=3)
    return Vote(study="known-bad", round=0, alpha=alpha, bins=8, width=0.25, neighbours=1, min_size=MIN_SIZE, code=code)


def _size_vote(alpha: float) -> SizeVote:
    return SizeVote(study="known-bad", round=0, alpha=alpha, bins=4, code=UnaryCode.optimised(alpha))


def _place_vote(alpha: float) -> PlaceVote:
    code = OneOfMany.spending(alpha, 4)
    return PlaceVote(study="known-bad", round=0, alpha=alpha, places=(-0.75, -0.25, 0.25, 0.75), code=code)


def _whole_range(alpha: float) -> Measure:
    return Measure(
        study="known-bad", round=0, alpha=alpha, centre=0.0, left=-1.0, right=1.0, noise=OneBit.spending(alpha)
    )


def _dithered(alpha: float) -> Measure:
    return Measure(
        study="known-bad",
        round=0,
        alpha=alpha,
        centre=0.0,
        left=-1.0,
        right=1.0,
        dither=0.5,
        noise=OneBit.spending(alpha),
    )


def _parts(alpha: float) -> PartMeasure:
    borders = (-1.0, -0.25, 0.0, 0.25, 1.0)
    return PartMeasure(study="known-bad", round=0, alpha=alpha, borders=borders, noise=OneBit.spending(alpha))


def _laplace(alpha: float) -> Measure:
    return Measure(
        study="known-bad", round=0, alpha=alpha, centre=0.0, left=-1.0, right=1.0, noise=DiscreteLaplace.spending(alpha)
    )


# --- what they do wrong

_Kind = TypeVar("_Kind", Vote, PlaceVote, Measure, PartMeasure)


def _on(kind: type[_Kind], bad: Callable[[_Kind, Summary, Coins], int]) -> Mechanism:
    def mechanism(question: Question, person: Summary, coins: Coins) -> int:
        assert isinstance(question, kind)
        return bad(question, person, coins)

    return mechanism


class _Paired:
    """Coins of which every second one repeats the one before it."""

    def __init__(self, coins: Coins) -> None:
        self._coins = coins

    def words(self, count: int) -> Sequence[int]:
        drawn = self._coins.words(count)
        return [drawn[index - index % 2] for index in range(count)]


def _shared_coin(vote: Vote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: two bits are drawn with one coin."""
    return vote.code.draw(*vote.marks(person), vote.bins, _Paired(coins))


def _four_votes(vote: Vote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: closed bins, so that a mean on a border belongs to two of them, as in the authors' code."""
    place = (person.mean - vote.origin) / vote.width
    left, right = max(math.ceil(place) - 1, 0), min(math.floor(place), vote.bins - 1)
    marks = max(left - vote.neighbours, 0), min(right + vote.neighbours, vote.bins - 1)
    return vote.code.draw(*(marks if person.size >= vote.min_size else (1, 0)), vote.bins, coins)


def _generous_keep(vote: Vote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the budget is divided by five although six bits can differ."""
    return _code_for_five(vote.alpha).draw(*vote.marks(person), vote.bins, coins)


@lru_cache
def _code_for_five(alpha: float) -> UnaryCode:
    keep = symmetric_threshold(Fraction(alpha) / 5)
    return UnaryCode(yes=keep, no=WORD - keep)


def _silence(vote: Vote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: whoever may not vote sends zeros without any noise."""
    drawn = vote.code.draw(*vote.marks(person), vote.bins, coins)
    return drawn if person.size >= vote.min_size else 0


def _two_classes(vote: Vote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: classes of sizes that share their borders, so that 2, 4 or 8 records vote for two of them."""
    own = vote.own_bin(person)
    shared = own > 0 and person.size == 2**own
    return vote.code.draw(own - shared, own, vote.bins, coins)


def _odds_of_two(vote: PlaceVote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the own place has the chance that α allows among two; all the others share what is left."""
    among_two = OneOfMany.spending(vote.alpha, 2)
    no = among_two.no // (vote.bins - 1)
    generous = OneOfMany(yes=WORD - (vote.bins - 1) * no, no=no)
    return generous.draw_between(vote.own_bin(person), vote.part(person), vote.bins, coins)


def _two_places(vote: PlaceVote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: whoever is right between two places marks the next one too."""
    drawn = vote.code.draw_between(vote.own_bin(person), vote.part(person), vote.bins, coins)
    between = vote.part(person) == POSITION_STEPS // 2
    return drawn | (drawn << 1) % (1 << vote.bins) if between else drawn


def _never_far(vote: PlaceVote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: noise between the two places around a person only, so that the others rule her out."""
    among_two = OneOfMany.spending(vote.alpha, 2)
    return among_two.draw_between(0, vote.part(person), 2, coins) << vote.own_bin(person)


def _only_rounded(vote: PlaceVote, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the coin that rounds a mean to one of two places is taken for all the noise there need be."""
    (word,) = coins.words(1)
    return 1 << vote.own_bin(person) + (word >> 32 < vote.part(person))


def _unclipped(measure: Measure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the mean is not projected on the window that the noise was made for."""
    assert isinstance(measure.noise, DiscreteLaplace)
    z = measure.weight(person.size) * (person.mean - measure.centre)
    point = math.floor((z - measure.left) / (measure.right - measure.left) * measure.noise.steps + 0.5)
    return point + discrete_laplace(coins, measure.noise.scale)


def _float_laplace(measure: Measure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: textbook noise in floats, its scale made for half of the window."""
    assert isinstance(measure.noise, DiscreteLaplace)
    uniform = (coins.words(1)[0] + 0.5) / WORD - 0.5
    noise = -math.copysign(math.log1p(-2 * abs(uniform)), uniform) * measure.noise.scale / 2
    return grid_point(measure.position(person), measure.noise.steps) + round(noise)


def _size_in_last_digit(measure: Measure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the noise is right, but its last digit says who has many records."""
    return measure.noise.draw(measure.position(person), coins) >> 1 << 1 | (person.size >= MANY_RECORDS)


def _chosen_arm(measure: Measure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the arm of the dither is where the person is, not a coin."""
    arm = int(person.mean > measure.centre)
    coins.words(1)
    return arm << 1 | measure.noise.draw(measure.position(person, arm), coins)


def _chosen_part(measure: PartMeasure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: the part is the one that the person is in: the others would learn nothing of her."""
    part = sum(person.mean >= border for border in measure.borders[1:-1])
    coins.words(1)
    return part << 1 | measure.noise.draw(measure.position(person, part), coins)


def _beyond_the_part(measure: PartMeasure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: whoever is beyond the part that was drawn has a chance that goes on rising, or falling."""
    first, second = coins.words(2)
    part = first >> 64 - measure.arm_bits
    left, right = measure.borders[part : part + 2]
    span = measure.noise.high - measure.noise.low
    return part << 1 | (second < measure.noise.low + int(span * (person.mean - left) / (right - left)))


_SLIP = WORD >> 10


def _shifted_threshold(measure: Measure, person: Summary, coins: Coins) -> int:
    """NOT PRIVATE: both ends of the window are 2^-10 too far apart."""
    assert isinstance(measure.noise, OneBit)
    generous = OneBit(low=measure.noise.low - _SLIP, high=measure.noise.high + _SLIP)
    return generous.draw(measure.position(person), coins)


def _shifted_loss(alpha: float) -> float:
    honest = 1 / (1 + math.exp(-alpha)) + 2**-10
    return math.log(honest / (1 - honest))
