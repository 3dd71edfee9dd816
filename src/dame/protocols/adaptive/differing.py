"""`adaptive` for users who differ: each counts once, and her own mean may lie anywhere.

One round of votes shows roughly how the users' means are spread. The next measures, with single bits, their average
within a window that is worth its width: a narrow one has little noise, but cuts the users outside. What was cut is
made up for by what the votes say of the tails, as far as they can (`dame.spread`). Neither M nor any law is needed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.crowd import bins_of
from dame.device.questions import Measure, Question, Vote
from dame.device.randomisers import OneBit, UnaryCode
from dame.estimate import LEVEL, Estimate, Reading, estimate_from_reading
from dame.plans import Brief, MeasureRound, Plan, Round, VoteRound
from dame.protocols.whole_range import read_alone, risk_alone
from dame.spread import NARROWEST, WIDEST, Beliefs, bell, family
from dame.spread.beliefs import Features, identity
from dame.tally import Tally

Floats = NDArray[np.float64]

BINS = 8
MOST_VOTERS = 0.3
FEWEST_VOTERS = 0.08
FEW = 300.0
"""So many exact reports' worth of users: with no more than these, 30 % of the users vote."""
HALF_WIDTHS = (0.08, 0.11, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0)
ASIDE = (-0.2, 0.0, 0.2)
"""Where the middle of a window may be beside the expected mean, in half-widths."""
GRID = 512
"""Ends of windows are multiples of 1/512, so that every machine asks the very same question."""
TOO_FEW = 120
"""Users worth no more exact reports than this cannot learn how they are spread: a wrong window would cost too much."""
WORTH_A_VOTE = 0.95
"""Votes must bring the expected error below this part of that of plain bits: else one round is simpler and as good."""

Window = tuple[float, float]
WHOLE: Window = (-1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The mean squared error that is expected: on average over plausible widths, and for each of them."""

    average: float
    by_width: tuple[tuple[float, float], ...]


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """Votes, then bits in a window; or plain bits alone where votes would not pay."""
    plain = risk_alone(OneBit.spending(brief.alpha), brief.users)
    alone = Outlook(average=plain, by_width=())
    if most_rounds > 1 and plain * TOO_FEW < 1:
        share = _voters(1 / plain)
        outlook = _outlook(brief.alpha, brief.users, widths_of(brief), share)
        if outlook.average < WORTH_A_VOTE**2 * plain:
            return (_vote(brief, share), _bits("finish", brief, 1 - share, outlook.average)), outlook
    return (_bits("measure", brief, 1.0, plain),), alone


def _voters(worth: float) -> float:
    """The share of users that vote, given how many exact reports all of them are worth.

    Tables and mixtures showed what is good, and it is flat: few users must learn the spread from many votes, or they
    trust a wrong window; where there are many, a cube root of them is enough.
    """
    return min(max(MOST_VOTERS * math.cbrt(FEW / worth), FEWEST_VOTERS), MOST_VOTERS)


def notes(brief: Brief, outlook: Outlook) -> tuple[str, ...]:
    """What the forecast stands for, in words."""
    if not outlook.by_width:
        return ("users differ, and they are too few to learn how: one bit from everybody over the whole range",)
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
    """The vote, or bits in the window that is best by what was learnt before."""
    round_ = plan.rounds[len(tallies)]
    if isinstance(round_, VoteRound):
        return round_.ask(plan.brief, len(tallies))
    assert isinstance(round_, MeasureRound), "no sizes are surveyed where users differ"
    heard = [tally for tally in tallies if tally.reports]
    left, right = WHOLE
    if heard:
        users = plan.users * round_.share
        (left, right), _ = best_window(believed(plan.brief, heard), round_.noise.variance(0.5) / users)
    middle = (left + right) / 2
    return round_.ask(plan.brief, len(tallies), middle, (left - middle, right - middle))


def estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    """What all rounds together say of the mean of the users' means; plain bits alone are read as they are."""
    if len(tallies) == 1:
        return read_alone(plan, tallies[0])
    beliefs = believed(plan.brief, tallies)
    mean = beliefs.of(identity)
    reading = Reading(
        value=float(mean.mean[0]),
        standard_error=math.sqrt(max(float(mean.covariance[0, 0]), 0.0)),
        low=mean.quantile((1 - LEVEL) / 2),
        high=mean.quantile((1 + LEVEL) / 2),
    )
    width = beliefs.width * plan.brief.half_range
    note = f"the users' means differ, with a standard deviation of about {width:.2g}"
    return estimate_from_reading(reading, [tally.reports for tally in tallies], [note])


def believed(brief: Brief, tallies: Sequence[Tally]) -> Beliefs:
    """What the tallies teach about the users' means."""
    beliefs = Beliefs.before(family(*widths_of(brief)))
    for tally in tallies:
        beliefs = _after_vote(beliefs, tally) if isinstance(tally.question, Vote) else _after_bits(beliefs, tally)
    return beliefs


def best_window(beliefs: Beliefs, unit_variance: float) -> tuple[Window, float]:
    """The window whose bits leave the least expected squared error, and that error.

    The noise of the bits is `unit_variance` times the squared width of the window.
    """
    windows = _windows(float(beliefs.of(identity).mean[0]))
    risks = _risks(beliefs, windows, unit_variance)
    best = int(np.argmin(risks))
    return windows[best], float(risks[best])


def _risks(beliefs: Beliefs, windows: Sequence[Window], unit_variance: float) -> Floats:
    """The expected squared error after bits in each window, if the mean were then read off linearly."""
    lefts, rights = np.array(windows).T

    def features(values: Floats) -> Floats:
        return np.concatenate([identity(values), np.clip(values[..., None], lefts, rights)], axis=-1)

    covariance = beliefs.of(features).covariance
    noise = unit_variance * (rights - lefts) ** 2
    return np.asarray(covariance[0, 0] - covariance[0, 1:] ** 2 / (np.diag(covariance)[1:] + noise))


def _windows(mean: float) -> list[Window]:
    """Windows around an expected mean, within [-1, 1], and the whole range."""
    windows = [WHOLE]
    for half, aside in itertools.product(HALF_WIDTHS, ASIDE):
        middle = mean + aside * half
        left, right = (round(end * GRID) / GRID for end in (max(middle - half, -1.0), min(middle + half, 1.0)))
        if right - left >= HALF_WIDTHS[0]:
            windows.append((left, right))
    return windows


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


def _after_bits(beliefs: Beliefs, bits: Tally) -> Beliefs:
    asked = bits.question
    assert isinstance(asked, Measure)
    left, right = asked.centre + asked.left, asked.centre + asked.right
    place = asked.noise.debias(bits.mean())
    variance = asked.noise.variance(min(max(place, 0.0), 1.0)) / bits.reports
    observed, width = left + place * (right - left), right - left
    return beliefs.after(_clipped(left, right), np.array([observed]), np.array([variance * width**2]))


def _clipped(left: float, right: float) -> Features:
    return lambda values: np.clip(values, left, right)[..., None]


@lru_cache(maxsize=256)
def _outlook(alpha: float, users: int, widths: tuple[float, float], share: float) -> Outlook:
    """What to expect of votes by a share of the users, then bits: for bells of each width in the middle."""
    code, noise, every = UnaryCode.optimised(alpha), OneBit.spending(alpha), family(*widths)
    vote = Vote(study="outlook", round=0, alpha=alpha, bins=BINS, width=2 / BINS, code=code)
    errors = []
    for width in np.unique(every.widths):
        means, weights = bell(float(width))
        shares = np.asarray(weights @ _marks(vote)(means))
        variances = np.array([code.variance(float(mark)) for mark in shares]) / (users * share)
        beliefs = Beliefs.before(every).after(_marks(vote), shares, variances)
        _, risk = best_window(beliefs, noise.variance(0.5) / (users * (1 - share)))
        errors.append((float(width), risk))
    return Outlook(average=float(np.mean([error for _, error in errors])), by_width=tuple(errors))


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


def _bits(name: str, brief: Brief, share: float, mse: float) -> MeasureRound:
    return MeasureRound.everybody_alike(name, share, OneBit.spending(brief.alpha), mse)
