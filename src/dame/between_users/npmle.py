"""The nonparametric maximum likelihood estimate (NPMLE) of user means, from bits on segments of the range.

A bit on a segment tells how far users are through it, on average. Such averages are linear in the population: in the
share of users at each point. Of all populations in the range, the likeliest is the one whose averages come closest to
those that were observed, each weighed by its noise. No distribution and no prior is assumed; but shares are not
negative and sum to 1, which is a lot to know: where nobody is, noise of one sign is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dame.between_users.simplex import best_shares
from dame.between_users.tuning import SEGMENTS
from dame.device.channels import Channel

Floats = NDArray[np.float64]

_PULLS, _CLOSE = 60, 0.002
"""An end of an interval is found when the excess of the misfit is the one that is allowed within this part of it."""


class SegmentMean(NamedTuple):
    """What was reported of a segment: how far users are through it on average, by so many reports."""

    left: float
    right: float
    share: float
    reports: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Npmle:
    """The likeliest population: the points where users may be, their shares, and the observations it came from.

    `features` and `observed` are the averages by point and as observed, in units of their noise. Since shares sum to 1,
    the misfit of any others is x·Cx with the `curvature` C.
    """

    points: Floats
    shares: Floats
    features: Floats
    observed: Floats
    curvature: Floats

    @property
    def mean(self) -> float:
        """The mean of the users' means."""
        return float(self.shares @ self.points)

    @property
    def median(self) -> float:
        """The point that half of the users lie to the left of, between points."""
        return float(np.interp(0.5, np.cumsum(self.shares) - self.shares / 2, self.points))

    @property
    def width(self) -> float:
        """The standard deviation of the users' means."""
        return self.width_around(self.mean, 2.0)

    def width_around(self, middle: float, reach: float) -> float:
        """The root mean square distance from a point of those users who are within reach of it."""
        apart = self.points - middle
        near = np.where(np.abs(apart) < reach, self.shares, 0.0)
        return float(np.sqrt(near @ apart**2 / max(near.sum(), 0.1)))

    def below(self, point: float) -> float:
        """By how much users lie to the left of a point, on average over all."""
        return float(self.shares @ np.maximum(point - self.points, 0.0))

    def above(self, point: float) -> float:
        """By how much users lie to the right of a point, on average over all."""
        return float(self.shares @ np.maximum(self.points - point, 0.0))

    def gathered(self, strength: float) -> Npmle:
        """The population that is likeliest if users are rather near its mean: their mean distance costs `strength`.

        Averages over segments leave open where within one users are; this settles for the narrowest of those that fit.
        """
        return replace(
            self, shares=best_shares(self.curvature, strength * np.abs(self.points - self.mean), self.shares)
        )

    def interval(self, most: float) -> tuple[float, float]:
        """The means of all populations whose misfit exceeds that of the likeliest by no more than `most`.

        With the square of a normal quantile this is the profile likelihood interval.
        """
        return self._end(-1, most), self._end(1, most)

    def _end(self, side: int, most: float) -> float:
        """How far the mean can be moved to one side: as far as the pull does that costs just as much."""
        corner, least = -1 if side > 0 else 0, self._misfit(self.shares)
        if self.curvature[corner, corner] <= least + most:
            return float(side)  # everybody may be there
        near, far = _Pulled(0.0, self.mean, 0.0), _Pulled(math.inf, side, math.inf)
        shares, pull = self.shares, math.sqrt(most) * float(np.max(self.features))
        for _ in range(_PULLS):
            shares = best_shares(self.curvature, -side * pull * self.points, shares)
            now = _Pulled(pull, float(shares @ self.points), self._misfit(shares) - least)
            if abs(now.excess - most) <= _CLOSE * most:
                return now.mean
            near, far = (now, far) if now.excess < most else (near, now)
            pull = _next_pull(near, far, most)
        return far.mean

    def _misfit(self, shares: Floats) -> float:
        return float(np.sum((self.features @ shares - self.observed) ** 2))


class _Pulled(NamedTuple):
    """What a reward for a mean farther to one side leads to: that mean, at the cost of an excess of the misfit."""

    pull: float
    mean: float
    excess: float


def _next_pull(near: _Pulled, far: _Pulled, most: float) -> float:
    """The pull to try next, between one that is too weak and one that is too strong."""
    # As if the misfit were a parabola, which it nearly is, but for stretches on which harder pulls move nothing.
    if far.pull == math.inf:
        return near.pull * max(math.sqrt(most / max(near.excess, most / 100)), 1.5)
    roots = (math.sqrt(max(near.excess, 0.0)), math.sqrt(far.excess))
    likely, margin = np.interp(math.sqrt(most), roots, (near.pull, far.pull)), (far.pull - near.pull) / 50
    return float(np.clip(likely, near.pull + margin, far.pull - margin))


def fit(segments: Sequence[SegmentMean], channel: Channel) -> Npmle:
    """The likeliest population by what was reported of some segments through this channel."""
    left, right, observed, reports = (np.array(column, dtype=np.float64) for column in zip(*segments, strict=True))
    points = np.unique(np.concatenate([np.linspace(-1.0, 1.0, SEGMENTS.points), left, right]))
    passed = np.clip((points - left[:, None]) / (right - left)[:, None], 0.0, 1.0)
    expected, shares = np.full(len(segments), 0.5), None
    ends, middle = channel.variance(0.0), channel.variance(0.5)
    for _ in range(SEGMENTS.looks):
        # The noise depends on the averages themselves, though little: they are taken from the fit before.
        # The variance of a bit is a parabola in its chance.
        error = np.sqrt((ends + 4 * (middle - ends) * expected * (1 - expected)) / reports)
        apart = (passed - observed[:, None]) / error[:, None]
        curvature = apart.T @ apart
        shares = best_shares(curvature, np.zeros(len(points)), shares)
        expected = passed @ shares
    assert shares is not None
    return Npmle(
        points=points, shares=shares, features=passed / error[:, None], observed=observed / error, curvature=curvature
    )
