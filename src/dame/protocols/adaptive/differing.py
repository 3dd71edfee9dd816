"""`adaptive` for users who differ: each counts once, and her own mean may lie anywhere.

The first users are asked about the whole range: for one of a few places or, where α is small, for a bit on one of its
quarters. The others mark one of a few places that are worth asking about by what the rounds before have shown. Close
together these have little noise; places at the ends of the range, in the same question, watch over those who are far
away. What was cut off all the same is made up for by what the other rounds say of the tails, as far as they can
(`dame.spread`). Neither M nor any law is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import PartMeasure, PlaceVote, Question
from dame.device.randomisers import OneBit, OneOfMany
from dame.estimate import LEVEL, Estimate, Reading, estimate_from_reading, normal_quantile
from dame.plans import Brief, MeasureRound, PartRound, PlaceRound, Plan, Round
from dame.protocols.whole_range import read_alone, risk_alone
from dame.spread import (
    NARROWEST,
    WIDEST,
    Beliefs,
    Places,
    Population,
    bell,
    best_places,
    family,
    marked,
    noise_of,
)
from dame.tally import Tally

Floats = NDArray[np.float64]

FIRST_PLACES: Places = (-1.0, -0.375, 0.375, 1.0)
HALVES: Places = (-1.0, 0.0, 1.0)
QUARTERS: Places = (-1.0, -0.5, 0.0, 0.5, 1.0)
EIGHTHS: Places = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
SHARP_ALPHA = 1.5
"""Below this, the first users answer in bits on quarters of the range: together these say as much of the mean as plain
bits do, whoever the users are. From this on they mark places, which say more of where they are."""
SHARES, SHARP_SHARES, SHARES_OF_TWO = (0.35, 0.25, 0.4), (0.2, 0.25, 0.55), (0.35, 0.65)
"""Shares of the rounds; from `SHARP_ALPHA` on, fewer users show enough. A far minority is best seen by users who are
asked about the whole range, and the noise with which it is seen shrinks like that of the mean itself: their share is
the same for few users and for many."""
DEPARTURE = 0.9
"""By how much the mean may depart from every shape: in standard errors of bits from people at the ends of the range."""
TOO_FEW = 250
"""Users worth no more exact reports than this cannot learn how they are spread: wrong places would cost too much."""
WORTH_ROUNDS = 0.95
"""Rounds must bring the expected error below this part of that of plain bits: else one round is simpler."""
HALVES_ALPHA = 1.0
FEW = 100
"""With a smaller α, or fewer users, a study of one round asks plain bits: there is next to nothing to gain from halves,
and their arms would be few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The mean squared errors that are expected: after each round, on average over plausible widths; and at the end,
    for each width.
    """

    after: tuple[float, ...]
    by_width: tuple[tuple[float, float], ...]

    @property
    def average(self) -> float:
        """The expected error at the end, on average over plausible widths."""
        return self.after[-1]


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """A round about the whole range, then places that follow from the answers; or a single round if that is as good."""
    plain = risk_alone(OneBit.spending(brief.alpha), brief.users)
    if most_rounds > 1 and plain * TOO_FEW < 1:
        shares = SHARES_OF_TWO if most_rounds == 2 else SHARP_SHARES if brief.alpha >= SHARP_ALPHA else SHARES
        first = _first(brief.alpha, shares[0])
        outlook = _outlook(brief.alpha, brief.users, widths_of(brief), shares, _rows(first.ask(brief, 0)))
        if outlook.average < WORTH_ROUNDS**2 * plain:
            return _rounds(first, shares, outlook), outlook
    return (_single(brief, plain),), Outlook(after=(plain,), by_width=())


def _first(alpha: float, share: float) -> PartRound | PlaceRound:
    """A question about the whole range."""
    if alpha >= SHARP_ALPHA:
        return PlaceRound(name="locate", share=share, places=FIRST_PLACES)
    return PartRound(name="locate", share=share, borders=QUARTERS)


def _rounds(first: PartRound | PlaceRound, shares: Sequence[float], outlook: Outlook) -> tuple[Round, ...]:
    errors = [min(math.sqrt(error), 1.0) for error in outlook.after]
    later = [PlaceRound(name="refine", share=share) for share in shares[1:]]
    later[-1] = replace(later[-1], name="finish")
    rounds = [first, *later]
    return tuple(replace(round_, error_after=error) for round_, error in zip(rounds, errors, strict=True))


def _single(brief: Brief, plain: float) -> MeasureRound | PartRound:
    """Bits from everybody: on either half of the range where that is worth it, else on all of it."""
    if brief.alpha < HALVES_ALPHA or brief.users < FEW:
        return MeasureRound.everybody_alike("measure", 1.0, OneBit.spending(brief.alpha), plain)
    return PartRound(name="halves", share=1.0, borders=HALVES, error_after=min(math.sqrt(plain), 1.0))


def knows(rounds: Sequence[Round]) -> bool:
    """Whether these are rounds for users who differ.

    Places or parts that are known, and any after them; or bits alone, on the whole range or in halves.
    """
    first, *later = rounds
    if isinstance(first, MeasureRound):
        return not later and not first.dither
    if isinstance(first, PartRound) and not later:
        return first.borders == HALVES
    known = (isinstance(first, PlaceRound) and first.places) or (isinstance(first, PartRound) and first.borders)
    return bool(known) and all(isinstance(round_, (PlaceRound, PartRound)) for round_ in later)


def notes(brief: Brief, outlook: Outlook) -> tuple[str, ...]:
    """What the forecast stands for, in words."""
    if not outlook.by_width:
        return ("users differ, and they are too few to learn how: one bit from everybody",)
    low, high = (math.sqrt(error) * brief.half_range for error in (outlook.by_width[0][1], outlook.by_width[-1][1]))
    return (
        f"users differ: the error lies between {low:.2g} (means close together) and {high:.2g} (far apart); "
        "the prediction is an average",
    )


def widths_of(brief: Brief) -> tuple[float, float]:
    """The narrowest and the widest spread of users' means that is plausible: from b and M, or any if b is learnt."""
    if brief.between_sd is None:
        return NARROWEST, WIDEST
    # Records of one user vary by between 0 and 1 around her mean.
    own = brief.sizes.expectation(lambda sizes: 1 / sizes)
    low, high = brief.between_sd, math.sqrt(brief.between_sd**2 + own)
    return min(max(low, NARROWEST), WIDEST), min(max(high, NARROWEST), WIDEST)


def question(plan: Plan, tallies: Sequence[Tally]) -> Question:
    """The places or parts that are best by what was learnt before; or bits, in a study of one round."""
    index, round_ = len(tallies), plan.rounds[len(tallies)]
    if isinstance(round_, MeasureRound):
        return round_.ask(plan.brief, index, centre=0.0)
    assert isinstance(round_, (PlaceRound, PartRound)), "users who differ are asked for places or parts"
    if round_.places if isinstance(round_, PlaceRound) else round_.borders:
        return round_.ask(plan.brief, index)
    choose = _worth_asking if isinstance(round_, PlaceRound) else _borders_worth_asking
    return round_.ask(plan.brief, index, choose(*_known(plan, tallies), plan.users * round_.share))


def estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    """What all rounds together say of the mean of the users' means; a single round is read as it is."""
    if len(tallies) == 1:
        return _read_halves(tallies[0]) if len(tallies[0].arms) > 1 else read_alone(plan, tallies[0])
    beliefs = believed(plan, tallies)
    mean = beliefs.of_mean()
    reading = Reading(
        value=float(mean.mean[0]),
        standard_error=math.sqrt(max(float(mean.covariance[0, 0]), 0.0)),
        low=mean.quantile((1 - LEVEL) / 2),
        high=mean.quantile((1 + LEVEL) / 2),
    )
    width = beliefs.width * plan.brief.half_range
    note = f"the users' means differ, with a standard deviation of about {width:.2g}"
    return estimate_from_reading(reading, [tally.reports for tally in tallies], [note])


def believed(plan: Plan, tallies: Sequence[Tally]) -> Beliefs:
    """What the tallies teach about the users' means; a round without reports teaches nothing."""
    return _learnt(*_known(plan, tallies))


def _known(plan: Plan, tallies: Sequence[Tally]) -> tuple[float, int, tuple[float, float], tuple[Tally, ...]]:
    """α, the users, how widely they may be spread, and what was heard of them."""
    users = max(sum(tally.reports for tally in tallies), plan.users)
    return plan.alpha, users, widths_of(plan.brief), tuple(tally for tally in tallies if tally.reports)


# What earlier rounds taught is remembered, and what to ask then: each step of a study asks for both again.
@lru_cache(maxsize=8)
def _worth_asking(
    alpha: float, users: int, widths: tuple[float, float], heard: tuple[Tally, ...], reports: float
) -> Places:
    places, _ = best_places(_learnt(alpha, users, widths, heard), partial(OneOfMany.spending, alpha), reports)
    return places


def _borders_worth_asking(
    alpha: float, users: int, widths: tuple[float, float], heard: tuple[Tally, ...], reports: float
) -> Places:
    """The borders of parts to ask for bits on."""
    del alpha, users, widths, heard, reports  # the same parts, whatever was heard
    return EIGHTHS


@lru_cache(maxsize=8)
def _learnt(alpha: float, users: int, widths: tuple[float, float], heard: tuple[Tally, ...]) -> Beliefs:
    if not heard:
        return _before(alpha, users, widths)
    beliefs, last = _learnt(alpha, users, widths, heard[:-1]), heard[-1]
    asked = last.question
    if isinstance(asked, PlaceVote):
        shares = np.array([asked.code.debias(last.mean(place)) for place in range(1, asked.bins)])
        return _after(beliefs, _rows(asked), asked.code, shares, [last.reports])
    assert isinstance(asked, PartMeasure)
    arms = [(row, *arm) for row, arm in zip(_rows(asked), last.arms, strict=True) if arm[0]]
    shares = np.array([asked.noise.debias(ones / reports) for _, reports, ones in arms])
    # A bit on a part is a mark at either of its ends.
    code = OneOfMany(yes=asked.noise.high, no=asked.noise.low)
    return _after(beliefs, [row for row, *_ in arms], code, shares, [reports for _, reports, _ in arms])


def _rows(question: Question) -> tuple[Places, ...]:
    """The places that marks are made at; of bits, the two ends of each part."""
    if isinstance(question, PlaceVote):
        return (question.places,)
    assert isinstance(question, PartMeasure)
    return tuple(pairwise(question.borders))


def _after(
    beliefs: Beliefs, rows: Sequence[Places], code: OneOfMany, shares: Floats, reports: Sequence[float]
) -> Beliefs:
    """What is believed once shares are known from so many reports on each row: one row, or several of two places."""
    parts = [noise_of(code, part, users) for part, users in zip(np.split(shares, len(rows)), reports, strict=True)]
    noise = parts[0] if len(rows) == 1 else np.diag(np.concatenate(parts)[:, 0])
    return beliefs.after(marked(*rows), shares, noise)


def _before(alpha: float, users: int, widths: tuple[float, float]) -> Beliefs:
    ends, middle = (4 * OneBit.spending(alpha).variance(place) / users for place in (0.0, 0.5))
    return Beliefs.before(family(*widths, math.sqrt(middle)), departure=DEPARTURE**2 * ends, users=users)


def _read_halves(tally: Tally) -> Estimate:
    """Everybody is the sum of her parts in the lower and the upper half: so are the averages.

    The variance over n users is (B² - E x² - (1 - E|x|)²)/n, whatever the population: for each of them no larger than
    the (B² - E x²)/n of plain bits. E x² is not known, but no less than (E|x|)².
    """
    assert isinstance(tally.question, PartMeasure)
    noise = tally.question.noise
    # An arm without reports (a handful of users) says nothing: its half's middle, as far off as can be.
    lower, upper = (
        left + (noise.debias(ones / reports) if reports else 0.5) * (right - left)
        for (left, right), (reports, ones) in zip(pairwise(HALVES), tally.arms, strict=True)
    )
    away = min(max(upper - lower, 0.0), 1.0)
    reports = sum(1 / max(reports, 1) for reports, _ in tally.arms)
    variance = (noise.variance(0.0) + noise.variance(away)) / 2 * reports
    value, error = lower + upper, math.sqrt(variance)
    half = normal_quantile() * error
    reading = Reading(value=value, standard_error=error, low=value - half, high=value + half)
    return estimate_from_reading(reading, [tally.reports])


@lru_cache(maxsize=256)
def _outlook(
    alpha: float, users: int, widths: tuple[float, float], shares: tuple[float, ...], first: tuple[Places, ...]
) -> Outlook:
    """What to expect of rounds with these shares, after rows of places in the first: for bells in the middle."""
    choose = partial(OneOfMany.spending, alpha)
    plausible = np.unique(np.clip(np.geomspace(NARROWEST, WIDEST, 3), *widths))
    errors = []
    for width in plausible:
        beliefs, rows, risks = _before(alpha, users, widths), first, []
        for share, following in zip(shares, (*shares[1:], None), strict=True):
            beliefs = _expecting(beliefs, choose(len(rows[0])), bell(float(width)), rows, users * share)
            risks.append(float(beliefs.of_mean().covariance[0, 0]))
            if following is not None:
                rows = (best_places(beliefs, choose, users * following)[0],)
        errors.append(risks)
    after = tuple(float(error) for error in np.mean(errors, axis=0))
    at_the_end = [risks[-1] for risks in errors]
    return Outlook(after=after, by_width=tuple(zip(plausible.tolist(), at_the_end, strict=True)))


def _expecting(beliefs: Beliefs, code: OneOfMany, crowd: Population, rows: tuple[Places, ...], users: float) -> Beliefs:
    means, weights = crowd
    shares = np.asarray(weights @ marked(*rows)(means))
    return _after(beliefs, rows, code, shares, [users / len(rows)] * len(rows))
