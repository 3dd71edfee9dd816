"""What all rounds together say of θ, when neither the law of the records nor M is taken for granted.

Every world (see `worlds`) foretells the mean bit of each arm of each round, for every θ. Worlds and θ are weighed by
how well they foretold what was heard; θ is then read off with what all worlds say, and so is its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.device.exact import WORD
from dame.device.questions import Measure
from dame.device.randomisers import OneBit
from dame.estimates import Reading
from dame.planning.plans import Round, VoteRound
from dame.protocols.adaptive.locate import centre_error, elected_centre
from dame.protocols.adaptive.models import EITHER_WAY, LEANINGS, ROOMS, Spot, Worlds, in_whole_range, law_chances
from dame.tally import Tally

Floats = NDArray[np.float64]

MISFIT = 0.01
"""Relative error of what a world foretells: laws and crowds of the grid stand for those between them."""
BELIEF = 0.955
"""Intervals for the level 0.95 hold so much of the belief: the worlds cannot hold every law, and where the true one is
not among them, they are somewhat too sure."""
MISLED = 1e-6
"""The chance that a vote elects a wrong place, and its centre says nothing of θ."""
_HOPELESS = 1e-3
"""Crowds of smaller weight after a first look are not looked at more closely."""
_TOWARDS_THE_MIDDLE = 0.8
"""Before anything is known well, laws are looked at that have some room on either side."""
_FIRST_POINTS = 40
_POINTS = 49
_REACH = 6.0
_FINE = 2.0
"""A grid is fine enough with so many points within a standard deviation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """What a vote says: a centre, and how far it may be off under each law."""

    centre: float
    spread: Floats


@dataclass(frozen=True, slots=True)
class Arm:
    """Users of a round with the same centre: how many reported, and their mean bit."""

    centre: float
    reports: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """What one or two arms of a round say."""

    question: Measure
    arms: tuple[Arm, ...]


Heard = Place | Bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Chances of points θ; and of the crowds, first that which the plan assumes."""

    theta: Floats
    chances: Floats
    crowds: Floats

    @property
    def mean(self) -> float:
        """The expected θ."""
        return float(self.chances @ self.theta)

    @property
    def spread(self) -> float:
        """The standard deviation of θ."""
        return math.sqrt(float(self.chances @ (self.theta - self.mean) ** 2))

    def quantile(self, level: float) -> float:
        """A quantile of θ."""
        return float(np.interp(level, np.cumsum(self.chances) - self.chances / 2, self.theta))

    @property
    def as_assumed(self) -> float:
        """The chance that sizes are as the plan assumes."""
        return float(self.crowds[0])

    def reading(self, digits: int) -> Reading:
        """θ, its standard error and its interval, rounded."""
        low, high = (round(self.quantile(level), digits) for level in ((1 - BELIEF) / 2, (1 + BELIEF) / 2))
        return Reading(value=round(self.mean, digits), standard_error=round(self.spread, digits), low=low, high=high)


def listen(tally: Tally, round_: Round) -> Iterator[Heard]:
    """What a tally says; nothing, if nobody reported."""
    question = tally.question
    if isinstance(round_, VoteRound):
        if tally.reports:
            spread = centre_error(round_, tally.reports, ROOMS)
            yield Place(centre=elected_centre(tally, round_), spread=spread)
        return
    assert isinstance(question, Measure)
    arms = [Arm(question.window(arm).centre, n, ones / n) for arm, (n, ones) in enumerate(tally.arms) if n]
    if arms:
        yield Bits(question=question, arms=tuple(arms))


def posterior(worlds: Worlds, heard: Sequence[Heard], around: float, scale: float) -> Posterior:
    """What is believed after all that was heard; θ is expected within a few times `scale` around a place."""
    half = scale / 4 * np.sinh(np.linspace(0, 1, _FIRST_POINTS) * math.asinh(8 / scale))
    theta = around + np.concatenate((-half[:0:-1], half))
    # A first look finds the place and the crowds that are worth a closer one.
    spot = Spot(place=around * _TOWARDS_THE_MIDDLE, crowds=np.arange(len(worlds.crowds)), leanings=EITHER_WAY)
    found = _weighed(worlds, heard, theta, spot)
    apart = math.inf
    while apart * _FINE > found.spread:
        apart = float(np.interp(found.mean, found.theta, np.gradient(found.theta)))
        reach = _REACH * max(found.spread, apart / 2)
        theta, apart = np.linspace(found.mean - reach, found.mean + reach, _POINTS, retstep=True)
        spot = Spot(place=found.mean, crowds=np.flatnonzero(found.crowds > _HOPELESS), leanings=LEANINGS)
        found = _weighed(worlds, heard, theta, spot)
    return found


def _weighed(worlds: Worlds, heard: Sequence[Heard], theta: Floats, spot: Spot) -> Posterior:
    theta = theta[(theta >= -1) & (theta <= 1)]
    fit = law_chances(theta) + np.log(np.gradient(theta)) + worlds.log_chances[spot.crowds][:, None, None, None]
    for item in heard:
        fit = fit + (_place_fit(item, theta) if isinstance(item, Place) else _bits_fit(worlds, item, theta, spot))
    weights = np.exp(fit - fit.max())
    weights /= weights.sum()
    by_crowd = np.zeros(len(worlds.crowds))
    by_crowd[spot.crowds] = weights.sum(axis=(1, 2, 3))
    return Posterior(theta=theta, chances=weights.sum(axis=(0, 1, 2)), crowds=by_crowd)


def _place_fit(place: Place, theta: Floats) -> Floats:
    spread = place.spread[:, None]
    density = np.exp(-(((theta - place.centre) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
    return np.asarray(np.log((1 - MISLED) * density + MISLED / 2))


def _bits_fit(worlds: Worlds, bits: Bits, theta: Floats, spot: Spot) -> Floats:
    """The log density of what the arms said, by crowd, leaning, law and θ."""
    misfit = 0.0 if in_whole_range(bits.question) else MISFIT * _slope(bits.question)
    misses, variances, signals = [], [], []
    for arm in bits.arms:
        z = worlds.heard(bits.question, theta, arm.centre, spot)
        mean = expected_bit(bits.question, z)
        misses.append(arm.mean - mean)
        variances.append(mean * (1 - mean) / arm.reports + (0.5 / arm.reports) ** 2)
        signals.append(misfit * z)
    if len(bits.arms) == 1:
        return _log_density(misses[0], variances[0] + signals[0] ** 2)
    # A world may foretell too much or too little of what the arms have in common, and of their difference.
    common, apart = ((signals[0] + signals[1]) / 2) ** 2, ((signals[0] - signals[1]) / 2) ** 2
    own = variances[0] + common + apart
    share = (common - apart) / own
    rest = np.maximum(variances[1] + common + apart - share * (common - apart), variances[1])
    return _log_density(misses[0], own) + _log_density(misses[1] - share * misses[0], rest)


def expected_bit(question: Measure, z: Floats) -> Floats:
    """The expected bit of users whose expected z is known."""
    assert isinstance(question.noise, OneBit)
    return np.asarray(question.noise.low / WORD + _slope(question) * (z - question.left))


def _slope(question: Measure) -> float:
    assert isinstance(question.noise, OneBit)
    return (question.noise.high - question.noise.low) / WORD / (question.right - question.left)


def _log_density(miss: Floats, variance: Floats) -> Floats:
    return np.asarray(-(miss**2) / (2 * variance) - np.log(variance) / 2)
