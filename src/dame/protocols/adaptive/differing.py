"""`adaptive` for users who differ: each counts once, and her own mean may lie anywhere.

The first users say, with a bit each, where in the lower or the upper half of the range their mean is: *halves*. That
alone is never worse than a plain bit. Where α is large, a few users vote for bins before. The others then measure in
windows that are worth their width, in two rounds where nobody voted: narrow windows have little noise, but cut the
users outside. What was cut is made up for by what the other rounds say of the tails, as far as they can
(`dame.spread`). Neither M nor any law is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.crowd import bins_of
from dame.device.questions import Measure, Question, Vote
from dame.device.randomisers import OneBit, UnaryCode
from dame.estimate import LEVEL, Estimate, Reading, estimate_from_reading, normal_quantile
from dame.plans import Brief, MeasureRound, Plan, Round, VoteRound
from dame.protocols.whole_range import read_alone, risk_alone
from dame.spread import HALVES, NARROWEST, WIDEST, Beliefs, Pair, Population, bell, best_pair, clipped, family
from dame.spread.beliefs import Features
from dame.spread.windows import noise_within
from dame.tally import Tally

Floats = NDArray[np.float64]

BINS = 8
VOTING_ALPHA = 1.5
"""From this α on votes for bins are sharp enough to pay: at α = 2 the noise of a bin is 0.4 of that of a bit, at 1 it
is 0.8."""
SHARES_WITH_VOTE = (0.1, 0.25, 0.65)
SHARES = (0.42, 0.2, 0.38)
SHARES_OF_TWO = (0.35, 0.65)
"""Shares of the rounds. A far minority can only be seen by users who are asked about the whole range, and the noise
with which it is seen shrinks like that of the mean itself: their share is the same for few users and for many. The
round between asks about what is still in doubt, or makes the windows of the last one narrower."""
DEPARTURE = 0.9
"""By how much the mean may depart from every shape: in standard errors of bits from people at the ends of the range."""
TOO_FEW, TOO_FEW_WITH_VOTE = 250, 1000
"""Users worth no more exact reports than this cannot learn how they are spread: a wrong window would cost too much.
Where α is large, halves alone are so good that windows must be surer."""
WORTH_A_WINDOW = 0.95
"""Windows must bring the expected error below this part of that of plain bits: else one round is simpler."""
HALVES_ALPHA = 1.0
FEW = 100
"""With a smaller α, or fewer users, a study of one round asks plain bits: there is next to nothing to gain from halves,
and their arms would be few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The mean squared errors that are expected: after each round of windows, on average over plausible widths; and at
    the end, for each width."""

    after: tuple[float, ...]
    by_width: tuple[tuple[float, float], ...]

    @property
    def average(self) -> float:
        """The expected error at the end, on average over plausible widths."""
        return self.after[-1]


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """Votes where they pay, halves, then bits in windows; or a single round where windows would not pay."""
    noise = OneBit.spending(brief.alpha)
    plain = risk_alone(noise, brief.users)
    if most_rounds > 1 and plain * (TOO_FEW_WITH_VOTE if brief.alpha >= VOTING_ALPHA else TOO_FEW) < 1:
        votes = brief.alpha >= VOTING_ALPHA and most_rounds > 2
        shares = SHARES_WITH_VOTE if votes else SHARES if most_rounds > 2 else SHARES_OF_TWO
        outlook = _outlook(brief.alpha, brief.users, widths_of(brief), votes, shares)
        if outlook.average < WORTH_A_WINDOW**2 * plain:
            *voting, halves = shares[: votes + 1]
            last = shares[votes + 1 :]
            windows = (
                MeasureRound.everybody_alike(name, share, noise, error)
                for name, share, error in zip(("refine", "finish")[-len(last) :], last, outlook.after, strict=True)
            )
            return (
                *(_vote(brief, share) for share in voting),
                _halves(brief, halves, plain / halves),
                *windows,
            ), outlook
    alone = Outlook(after=(plain,), by_width=())
    if brief.alpha >= HALVES_ALPHA and brief.users >= FEW:
        return (_halves(brief, 1.0, plain),), alone
    return (MeasureRound.everybody_alike("measure", 1.0, noise, plain),), alone


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
    """The vote, the halves, or bits in the windows that are best by what was learnt before."""
    index, round_ = len(tallies), plan.rounds[len(tallies)]
    if isinstance(round_, VoteRound):
        return round_.ask(plan.brief, index)
    assert isinstance(round_, MeasureRound), "no sizes are surveyed where users differ"
    if round_.dither or not index:
        return round_.ask(plan.brief, index, centre=0.0)
    pair, _ = best_pair(believed(plan, tallies), round_.noise.variance, plan.users * round_.share)
    return _ask(round_, plan.brief, index, pair)


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
    users = max(sum(tally.reports for tally in tallies), plan.users)
    heard = tuple(tally for tally in tallies if tally.reports)
    return _learnt(plan.alpha, users, widths_of(plan.brief), heard)


@lru_cache(maxsize=8)
def _learnt(alpha: float, users: int, widths: tuple[float, float], heard: tuple[Tally, ...]) -> Beliefs:
    # What earlier rounds taught is remembered: each question of a study asks for it again.
    if not heard:
        return _before(alpha, users, widths)
    beliefs, last = _learnt(alpha, users, widths, heard[:-1]), heard[-1]
    return _after_vote(beliefs, last) if isinstance(last.question, Vote) else _after_bits(beliefs, last)


def _before(alpha: float, users: int, widths: tuple[float, float]) -> Beliefs:
    ends, middle = (4 * OneBit.spending(alpha).variance(place) / users for place in (0.0, 0.5))
    return Beliefs.before(family(*widths, math.sqrt(middle)), departure=DEPARTURE**2 * ends, users=users)


def _after_vote(beliefs: Beliefs, votes: Tally) -> Beliefs:
    vote = votes.question
    assert isinstance(vote, Vote)
    shares = np.array([vote.code.debias(votes.mean(bin_)) for bin_ in range(vote.bins)])
    variances = np.array([vote.code.variance(min(max(share, 0.0), 1.0)) / votes.reports for share in shares])
    return beliefs.after(_marks(vote), shares, variances)


def _marks(vote: Vote) -> Features:
    def features(values: Floats) -> Floats:
        return np.asarray(bins_of(vote, values)[..., None] == np.arange(vote.bins), dtype=np.float64)

    return features


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arm:
    """What the users of one window said: their average in it, and the variance of that."""

    left: float
    right: float
    average: float
    variance: float


def _after_bits(beliefs: Beliefs, bits: Tally) -> Beliefs:
    arms = list(_arms(bits))
    windows = clipped(*((arm.left, arm.right) for arm in arms))
    averages, variances = (np.array([getattr(arm, name) for arm in arms]) for name in ("average", "variance"))
    return beliefs.after(windows, averages, variances)


def _arms(bits: Tally) -> Iterator[_Arm]:
    """The arms that have reports: both windows, or the only one."""
    asked = bits.question
    assert isinstance(asked, Measure)
    assert isinstance(asked.noise, OneBit)
    for arm, (reports, ones) in enumerate(bits.arms):
        if not reports:
            continue
        left, width = asked.arm_centre(arm) + asked.left, asked.right - asked.left
        place = asked.noise.debias(ones / reports)
        variance = asked.noise.variance(min(max(place, 0.0), 1.0)) / reports
        yield _Arm(left=left, right=left + width, average=left + place * width, variance=variance * width**2)


def _read_halves(tally: Tally) -> Estimate:
    """Everybody is the sum of her parts in the lower and the upper half: so are the averages.

    The variance over n users is (B² - E x² - (1 - E|x|)²)/n, whatever the population: for each of them no larger than
    the (B² - E x²)/n of plain bits. E x² is not known, but no less than (E|x|)².
    """
    question = tally.question
    assert isinstance(question, Measure)
    arms = {arm.left: arm for arm in _arms(tally)}
    # An arm without reports (a handful of users) says nothing: its half's middle, as far off as can be.
    lower, upper = (arms[left].average if left in arms else (left + right) / 2 for left, right in HALVES)
    away = min(max(upper - lower, 0.0), 1.0)
    reports = sum(1 / max(reports, 1) for reports, _ in tally.arms)
    variance = (question.noise.variance(0.0) + question.noise.variance(away)) / 2 * reports
    value, error = lower + upper, math.sqrt(variance)
    half = normal_quantile() * error
    reading = Reading(value=value, standard_error=error, low=value - half, high=value + half)
    return estimate_from_reading(reading, [tally.reports])


@lru_cache(maxsize=256)
def _outlook(alpha: float, users: int, widths: tuple[float, float], votes: bool, shares: tuple[float, ...]) -> Outlook:
    """What to expect of rounds with these shares: for bells of each width in the middle."""
    noise, (low, high) = OneBit.spending(alpha), widths
    *voting, halves = shares[: votes + 1]
    plausible = np.unique(np.clip(np.geomspace(NARROWEST, WIDEST, 8), low, high))
    errors = []
    for width in plausible:
        crowd = bell(float(width))
        beliefs = _before(alpha, users, widths)
        for share in voting:
            beliefs = _expecting_votes(beliefs, alpha, crowd, users * share)
        asked, answering, risks = HALVES, users * halves, []
        for share in shares[votes + 1 :]:
            beliefs = _expecting_bits(beliefs, noise, crowd, asked, answering)
            answering = users * share
            asked, risk = best_pair(beliefs, noise.variance, answering)
            risks.append(risk)
        errors.append(risks)
    after = tuple(float(error) for error in np.mean(errors, axis=0))
    at_the_end = [risks[-1] for risks in errors]
    return Outlook(after=after, by_width=tuple(zip(plausible.tolist(), at_the_end, strict=True)))


def _expecting_votes(beliefs: Beliefs, alpha: float, crowd: Population, voters: float) -> Beliefs:
    code = UnaryCode.optimised(alpha)
    vote = Vote(study="outlook", round=0, alpha=alpha, bins=BINS, width=2 / BINS, code=code)
    means, weights = crowd
    shares = np.asarray(weights @ _marks(vote)(means))
    return beliefs.after(_marks(vote), shares, np.array([code.variance(float(share)) for share in shares]) / voters)


def _expecting_bits(beliefs: Beliefs, noise: OneBit, crowd: Population, pair: Pair, users: float) -> Beliefs:
    means, weights = crowd
    averages = np.asarray(weights @ clipped(*pair)(means))
    return beliefs.after(clipped(*pair), averages, noise_within(averages, pair, noise.variance, users / 2))


def _vote(brief: Brief, share: float) -> VoteRound:
    return VoteRound(
        name="locate",
        share=share,
        bins=BINS,
        width=2 / BINS,
        neighbours=0,
        min_size=1,
        code=UnaryCode.optimised(brief.alpha),
    )


def _halves(brief: Brief, share: float, squared_error: float) -> MeasureRound:
    """Half of the users say where in [-1, 0] their mean is, cut to its ends; half where in [0, 1]."""
    whole = MeasureRound.everybody_alike("halves", share, OneBit.spending(brief.alpha), squared_error)
    return replace(whole, half_width=0.5, dither=0.5)


def _ask(round_: MeasureRound, brief: Brief, index: int, pair: Pair) -> Measure:
    """Bits in two windows of the same width, the arms of a dither; or, if they are the same, in one."""
    (left, right), (other, _) = pair
    half, dither = (right - left) / 2, (other - left) / 2
    return replace(round_, dither=dither).ask(brief, index, (left + other) / 2 + half, (-half, half))
