"""A survey of sizes, for when nobody knows M: its votes tell M, and the rounds after it are designed for that.

Coins hide a lot: among 1000 people at α = 0.6, the share of a class of sizes is known up to 0.1. The votes are
therefore read in the light of plausible distributions (the one that was assumed and the same for larger or smaller
sizes, bells and power laws on a logarithmic scale), and believed on their own only as far as they contradict all of
these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits, Channel, Choice
from dame.device.lenses import SizeClasses
from dame.device.questions import Question
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round
from dame.protocols.adaptive.one_distribution import OneDistribution
from dame.protocols.adaptive.search import rounds_with_shares
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.adaptive.tuning import TUNING
from dame.sizes import Sizes
from dame.tally import Tally
from dame.vectorised.lenses import MOST_SIZE_CLASSES

Floats = NDArray[np.float64]

FAILURE_DETAIL = "failure"
"""Under this name a plan keeps the accepted chance of a wrong window for the rounds that are designed later."""


class Surveyed(Strategy):
    """Asks for sizes first; what follows is designed for the sizes that were found."""

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The survey, then the rounds of the plan that it leads to."""
        if not history:
            return plan.rounds[0].ask(plan.brief, 0)
        later = _after_survey().question(continued(plan, history[0]), history[1:])
        return replace(later, round=len(history))

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What the rounds after the survey say, for the sizes that it found."""
        later = _after_survey().estimate(continued(plan, history[0]), history[1:])
        return replace(later, users=(history[0].reports, *later.users))

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        del plan
        return ["The sizes are asked for first, since nobody knows them: all later rounds follow from the answers."]


def _after_survey() -> OneDistribution:
    return OneDistribution(TUNING.survey_trust)


def survey_round(brief: Brief, share: float) -> Round:
    """Votes for classes of sizes, with room for sizes that are much larger than was assumed."""
    points, weights = brief.sizes.nodes()
    large = int(points[min(int(np.searchsorted(np.cumsum(weights), 0.999)), len(points) - 1)])
    classes = min(max(large.bit_length() + TUNING.spare_classes, TUNING.fewest_classes), MOST_SIZE_CLASSES)
    return Round(
        name="survey", share=share, lens=SizeClasses(classes=classes), channel=sharper_channel(brief.alpha, classes)
    )


def sharper_channel(alpha: float, classes: int) -> Channel:
    """The channel with less noise on a class that hardly anybody is in: a choice of one where α is large, or bits."""
    channels = (Bits.optimised(alpha, classes), Choice.spending(alpha, classes))
    return min(channels, key=lambda channel: channel.variance(0.0))


def rest_of(brief: Brief, share: float) -> Brief:
    """The brief of what remains after a survey."""
    return replace(brief, users=max(round(brief.users * (1 - share)), 1))


def scaled(rounds: Sequence[Round], factor: float) -> tuple[Round, ...]:
    """The rounds with shares multiplied by a factor."""
    return tuple(replace(round_, share=round_.share * factor) for round_ in rounds)


def continued(plan: MachinePlan, survey: Tally) -> MachinePlan:
    """The plan of what follows a survey, for the sizes that it found."""
    first, *rest = plan.rounds
    brief = replace(rest_of(plan.brief, first.share), sizes=found_sizes(survey, plan.brief.sizes))
    shares = tuple(round_.share / (1 - first.share) for round_ in rest)
    rounds = _designed(brief, shares, float(plan.details.get(FAILURE_DETAIL, 0.0)))
    return replace(plan, brief=brief, rounds=rounds)


@lru_cache(maxsize=64)
def _designed(brief: Brief, shares: tuple[float, ...], most_failure: float) -> tuple[Round, ...]:
    return rounds_with_shares(brief, shares, most_failure)


# --- from votes to M


@lru_cache(maxsize=64)
def found_sizes(survey: Tally, assumed: Sizes) -> Sizes:
    """The sizes that the votes speak for; those assumed if nobody voted."""
    if not survey.reports:
        return assumed
    channel, classes = survey.question.channel, survey.question.lens.bins
    seen = np.array([channel.debias(survey.mean(class_)) for class_ in range(classes)])
    variance = channel.variance(0.0) / survey.reports
    laws = np.array(list(_plausible(class_shares(assumed, classes))))
    fits = -((laws - seen) ** 2).sum(axis=1) / (2 * variance)
    chances = np.exp(fits - fits.max())
    believed = chances @ laws / chances.sum()
    # What none of these explains is believed as far as it exceeds what coins do (James and Stein's estimate).
    surprise = seen - believed
    trust = max(1 - len(seen) * variance / float(surprise @ surprise), 0.0)
    return _spread_out(_on_simplex(believed + trust * surprise))


def class_shares(sizes: Sizes, classes: int) -> Floats:
    """The share of users in each class [2^j, 2^(j+1)) of sizes, the last one open-ended."""
    above = sizes.survival(2.0 ** np.arange(classes))
    return np.append(above[:-1] - above[1:], above[-1])


def _plausible(assumed: Floats) -> Iterator[Floats]:
    """Shares of the classes: the assumed ones, their shifts, bells of any place and width, power laws cut anywhere."""
    from scipy import special  # slow to load

    classes = len(assumed)
    for shift in range(-classes // 2, classes // 2 + 1):
        yield _shifted(assumed, shift)
    edges = np.arange(1, classes)
    for middle in np.arange(0.0, classes, 0.5):
        for width in (0.25, 0.5, 1.0, 2.0):
            yield np.diff(special.ndtr((edges - middle) / width), prepend=0.0, append=1.0)
    for last in range(1, classes):
        for exponent in (1.25, 1.5, 1.75, 2.0, 2.5):
            # The sum of 1/size^exponent over a class is a difference of two of Hurwitz' zeta functions.
            law = -np.diff(special.zeta(exponent, 2.0 ** np.arange(last + 2)))
            yield np.append(law / law.sum(), np.zeros(classes - 1 - last))


def _shifted(law: Floats, shift: int) -> Floats:
    """The distribution of sizes 2^shift times as large; what would leave the classes stays in the last of them."""
    places = np.clip(np.arange(len(law)) + shift, 0, len(law) - 1)
    return np.asarray(np.bincount(places, law, len(law)), dtype=np.float64)


def _on_simplex(shares: Floats) -> Floats:
    """The nearest numbers that are not negative and have sum 1."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    return np.asarray(np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def _spread_out(shares: Floats) -> Sizes:
    weights: dict[int, float] = {}
    for class_, share in enumerate(shares):
        for size in _points(class_):
            weights[size] = weights.get(size, 0.0) + round(float(share), TUNING.survey_digits) / TUNING.class_points
    return Sizes.from_weights(weights)


def _points(class_: int) -> list[int]:
    return [int(2 ** (class_ + (point + 0.5) / TUNING.class_points)) for point in range(TUNING.class_points)]
