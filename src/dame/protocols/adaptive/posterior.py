"""What all rounds together say of θ, when neither the distribution of the records nor M is taken for granted.

Every model (see `models`) predicts the mean bit in each window of each round, for every θ. Models and θ are weighed by
how well they predicted what was heard; θ is then read off with what all models say, and so is its interval.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Bins, Lens, Windows
from dame.device.parts import narrowed
from dame.errors import Mismatch
from dame.estimates import Measured
from dame.planning.brief import Brief
from dame.protocols.adaptive.locate import centre_error, elected_centre
from dame.protocols.adaptive.models import (
    EITHER_WAY,
    LEANINGS,
    ROOMS,
    Models,
    Spot,
    distribution_chances,
    in_whole_range,
)
from dame.protocols.adaptive.tuning import TUNING
from dame.tally import Tally

Floats = NDArray[np.float64]


class Heard(ABC):
    """What a round says of θ."""

    @abstractmethod
    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """The log density of what was heard, by sizes, leaning, distribution and θ."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeardCentre(Heard):
    """What a vote says: a centre, and how far it may be off under each distribution."""

    centre: float
    spread: Floats

    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """A normal density around the centre; with a small chance the vote says nothing."""
        spread = self.spread[:, None]
        density = np.exp(-(((theta - self.centre) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        return np.asarray(np.log((1 - TUNING.misled) * density + TUNING.misled / 2))


@dataclass(frozen=True, slots=True)
class HeardWindow:
    """Users of a round in the same window: its centre, how many reported, and their mean bit."""

    centre: float
    reports: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardBits(Heard):
    """What one or two windows of a round say."""

    lens: Windows
    channel: Bits
    windows: tuple[HeardWindow, ...]

    def expected_bit(self, z: Floats) -> Floats:
        """The expected bit of users whose expected z is known."""
        _, left, right = self.lens.windows[0]
        return np.asarray(self.channel.probability((z - left) / (right - left)))  # type: ignore[arg-type]

    def _slope(self) -> float:
        """How much the expected bit rises with z."""
        _, left, right = self.lens.windows[0]
        return (self.channel.probability(1.0) - self.channel.probability(0.0)) / (right - left)

    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """The normal log density of the mean bits, given what each model predicts of them."""
        misfit = 0.0 if in_whole_range(self.lens) else TUNING.misfit * self._slope()
        misses, variances, signals = [], [], []
        for window in self.windows:
            z = models.predicted(self.lens, theta, window.centre, spot)
            mean = self.expected_bit(z)
            misses.append(window.mean - mean)
            variances.append(mean * (1 - mean) / window.reports + (0.5 / window.reports) ** 2)
            signals.append(misfit * z)
        if len(self.windows) == 1:
            return _log_density(misses[0], variances[0] + signals[0] ** 2)
        # A model may predict too much or too little of what the windows have in common, and of their difference.
        common, apart = ((signals[0] + signals[1]) / 2) ** 2, ((signals[0] - signals[1]) / 2) ** 2
        own = variances[0] + common + apart
        share = (common - apart) / own
        rest = np.maximum(variances[1] + common + apart - share * (common - apart), variances[1])
        return _log_density(misses[0], own) + _log_density(misses[1] - share * misses[0], rest)


def _log_density(miss: Floats, variance: Floats) -> Floats:
    return np.asarray(-(miss**2) / (2 * variance) - np.log(variance) / 2)


@singledispatch
def heard(lens: Lens, tally: Tally, brief: Brief) -> Iterator[Heard]:
    """What a tally with at least one report says."""
    raise Mismatch(f"adaptive does not read {lens.kind}")


@heard.register
def _heard_votes(lens: Bins, tally: Tally, brief: Brief) -> Iterator[Heard]:
    channel = narrowed(Bits, tally.question.channel)
    spread = centre_error(lens, channel, brief.sizes, tally.reports, ROOMS)
    yield HeardCentre(centre=elected_centre(tally, brief.sizes), spread=spread)


@heard.register
def _heard_bits(lens: Windows, tally: Tally, brief: Brief) -> Iterator[Heard]:
    pairs = zip(lens.windows, tally.windows, strict=True)
    windows = [
        HeardWindow(where.centre, told.reports, told.sums[0] / told.reports) for where, told in pairs if told.reports
    ]
    yield HeardBits(lens=lens, channel=narrowed(Bits, tally.question.channel), windows=tuple(windows))


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

    def measured(self, digits: int) -> Measured:
        """θ, its standard error and its interval, rounded."""
        low, high = (
            round(self.quantile(level), digits) for level in ((1 - TUNING.belief) / 2, (1 + TUNING.belief) / 2)
        )
        return Measured(value=round(self.mean, digits), standard_error=round(self.spread, digits), low=low, high=high)


def posterior(models: Models, heard: Sequence[Heard], around: float, scale: float) -> Posterior:
    """What is believed after all that was heard; θ is expected within a few times `scale` around a place."""
    half = scale / 4 * np.sinh(np.linspace(0, 1, TUNING.first_points) * math.asinh(8 / scale))
    theta = around + np.concatenate((-half[:0:-1], half))
    # A first look finds the place and the crowds that are worth a closer one.
    spot = Spot(place=around * TUNING.towards_the_middle, crowds=np.arange(len(models.crowds)), leanings=EITHER_WAY)
    found = _weighed(models, heard, theta, spot)
    apart = math.inf
    while apart * TUNING.fine > found.spread:
        apart = float(np.interp(found.mean, found.theta, np.gradient(found.theta)))
        reach = TUNING.reach * max(found.spread, apart / 2)
        theta, apart = np.linspace(found.mean - reach, found.mean + reach, TUNING.points, retstep=True)
        spot = Spot(place=found.mean, crowds=np.flatnonzero(found.crowds > TUNING.hopeless), leanings=LEANINGS)
        found = _weighed(models, heard, theta, spot)
    return found


def _weighed(models: Models, heard: Sequence[Heard], theta: Floats, spot: Spot) -> Posterior:
    theta = theta[(theta >= -1) & (theta <= 1)]
    fit = (
        distribution_chances(theta) + np.log(np.gradient(theta)) + models.log_chances[spot.crowds][:, None, None, None]
    )
    for item in heard:
        fit = fit + item.fit(models, theta, spot)
    weights = np.exp(fit - fit.max())
    weights /= weights.sum()
    by_crowd = np.zeros(len(models.crowds))
    by_crowd[spot.crowds] = weights.sum(axis=(1, 2, 3))
    return Posterior(theta=theta, chances=weights.sum(axis=(0, 1, 2)), crowds=by_crowd)
