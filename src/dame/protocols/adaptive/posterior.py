"""What all rounds together say of θ, when neither the distribution of the records nor M is taken for granted.

Every model (see `models`) predicts the mean bit in each window of each round, for every θ. Models and θ are weighed by
how well they predicted what was heard; θ is then read off with what all models say, and so is its interval.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.estimates import Measured
from dame.protocols.adaptive.models import (
    EITHER_WAY,
    LEANINGS,
    Models,
    Spot,
    distribution_chances,
    in_whole_range,
)
from dame.protocols.adaptive.tuning import TUNING

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Promising:
    """Where a vote says that θ may be: borders of bins of some width, and their log chances at first sight."""

    theta: Floats
    chances: Floats
    width: float


class Heard(ABC):
    """What a round says of θ."""

    def promising(self) -> Iterator[Promising]:
        """The places that it speaks for by itself, if it was a vote."""
        return iter(())

    @abstractmethod
    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """The log density of what was heard, by sizes, leaning, distribution and θ."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeardCentre(Heard):
    """What earlier rounds say together: a centre, and how far it may be off under each distribution."""

    centre: float
    spread: Floats

    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """A normal density around the centre; with a small chance it says nothing."""
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
            return log_density(misses[0], variances[0] + signals[0] ** 2)
        # A model may predict too much or too little of what the windows have in common, and of their difference.
        common, apart = ((signals[0] + signals[1]) / 2) ** 2, ((signals[0] - signals[1]) / 2) ** 2
        own = variances[0] + common + apart
        share = (common - apart) / own
        rest = np.maximum(variances[1] + common + apart - share * (common - apart), variances[1])
        return log_density(misses[0], own) + log_density(misses[1] - share * misses[0], rest)


def log_density(miss: Floats, variance: Floats) -> Floats:
    """The normal log density of a miss, up to a constant."""
    positive = np.maximum(variance, np.finfo(np.float64).tiny)  # rounding may take the least ones below 0
    return np.asarray(-(miss**2) / (2 * positive) - np.log(positive) / 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Chances of points θ; and of the crowds, first that which the plan assumes.

    `log_evidence` is the logarithm of how likely all answers were, up to a constant; θ was looked for `within` bounds.
    """

    theta: Floats
    chances: Floats
    crowds: Floats
    log_evidence: float
    within: tuple[float, float]

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

    def interval(self) -> tuple[float, float]:
        """The interval for θ."""
        return self.quantile((1 - TUNING.belief) / 2), self.quantile((1 + TUNING.belief) / 2)

    def measured(self, digits: int) -> Measured:
        """θ, its standard error and its interval, rounded."""
        low, high = (round(end, digits) for end in self.interval())
        return Measured(value=round(self.mean, digits), standard_error=round(self.spread, digits), low=low, high=high)


RANGE = (-1.0, 1.0)


def posterior(
    models: Models, heard: Sequence[Heard], around: float, scale: float, within: tuple[float, float] = RANGE
) -> Posterior:
    """What is believed after all that was heard; θ is expected within a few times `scale` around a place."""
    half = scale / 4 * np.sinh(np.linspace(0, 1, TUNING.first_points) * math.asinh(8 / scale))
    theta = around + np.concatenate((-half[:0:-1], half))
    # A first look finds the place and the crowds that are worth a closer one.
    spot = Spot(place=around * TUNING.towards_the_middle, crowds=np.arange(len(models.crowds)), leanings=EITHER_WAY)
    found = _weighed(models, heard, theta, spot, within)
    apart = math.inf
    while apart * TUNING.fine > found.spread:
        apart = float(np.interp(found.mean, found.theta, np.gradient(found.theta)))
        reach = TUNING.reach * max(found.spread, apart / 2)
        theta, apart = np.linspace(found.mean - reach, found.mean + reach, TUNING.points, retstep=True)
        spot = Spot(place=found.mean, crowds=np.flatnonzero(found.crowds > TUNING.hopeless), leanings=LEANINGS)
        found = _weighed(models, heard, theta, spot, within)
    return found


def _weighed(
    models: Models, heard: Sequence[Heard], theta: Floats, spot: Spot, within: tuple[float, float]
) -> Posterior:
    theta = _inside(theta, within)
    fit = (
        distribution_chances(theta) + np.log(np.gradient(theta)) + models.log_chances[spot.crowds][:, None, None, None]
    )
    for item in heard:
        fit = fit + item.fit(models, theta, spot)
    most = float(fit.max())
    weights = np.exp(fit - most)
    total = float(weights.sum())
    weights /= total
    by_crowd = np.zeros(len(models.crowds))
    by_crowd[spot.crowds] = weights.sum(axis=(1, 2, 3))
    return Posterior(
        theta=theta,
        chances=weights.sum(axis=(0, 1, 2)),
        crowds=by_crowd,
        log_evidence=most + math.log(total),
        within=within,
    )


def _inside(theta: Floats, within: tuple[float, float]) -> Floats:
    """The points within bounds; both bounds where hardly any is."""
    low, high = within
    inside = theta[(theta >= low) & (theta <= high)]
    return inside if len(inside) > 2 else np.linspace(low, high, TUNING.points)
