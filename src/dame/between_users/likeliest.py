"""The likeliest population, read off bits on parts of the range: no law is assumed, and no prior.

A bit on a part of the range tells how far users are through that part, on average. Such averages are linear in the
population: in the share of users at each place. Of all populations in the range, the likeliest is the one whose
averages come closest to those that were observed, each weighed by its noise. Shares are not negative and sum to 1,
which is a lot to know: where nobody is, noise of one sign is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dame.device.randomisers import OneBit
from dame.between_users.simplex import best_shares

Floats = NDArray[np.float64]

_PLACES = np.linspace(-1.0, 1.0, 65)
"""Where users may be, besides the borders of all parts."""
_LOOKS = 3
"""The noise depends on the averages themselves, though little: they are taken from the fit before."""
_PULLS, _CLOSE = 60, 0.002
"""An end of an interval is found when the excess of the misfit is the one that is allowed within this part of it."""


class Part(NamedTuple):
    """What was heard of a part of the range: how far users are through it on average, by so many reports."""

    left: float
    right: float
    share: float
    reports: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likeliest:
    """The likeliest population: the places where users may be, their shares, and the observations it came from.

    `features` and `observed` are the averages by place and as observed, in units of their noise. Since shares sum to 1,
    the misfit of any others is x·Cx with the `curvature` C.
    """

    places: Floats
    shares: Floats
    features: Floats
    observed: Floats
    curvature: Floats

    @property
    def mean(self) -> float:
        """The mean of the users' means."""
        return float(self.shares @ self.places)

    @property
    def median(self) -> float:
        """The place that half of the users lie to the left of, between places."""
        return float(np.interp(0.5, np.cumsum(self.shares) - self.shares / 2, self.places))

    @property
    def width(self) -> float:
        """The standard deviation of the users' means."""
        return self.width_around(self.mean, 2.0)

    def width_around(self, middle: float, reach: float) -> float:
        """The root mean square distance from a place of those users who are within reach of it."""
        apart = self.places - middle
        near = np.where(np.abs(apart) < reach, self.shares, 0.0)
        return float(np.sqrt(near @ apart**2 / max(near.sum(), 0.1)))

    def below(self, place: float) -> float:
        """By how much users lie to the left of a place, on average over all."""
        return float(self.shares @ np.maximum(place - self.places, 0.0))

    def above(self, place: float) -> float:
        """By how much users lie to the right of a place, on average over all."""
        return float(self.shares @ np.maximum(self.places - place, 0.0))

    def gathered(self, strength: float) -> Likeliest:
        """The population that is likeliest if users are rather near its mean: their mean distance costs `strength`.

        Averages over parts leave open where within a part users are; this settles for the narrowest of those that fit.
        """
        return replace(
            self, shares=best_shares(self.curvature, strength * np.abs(self.places - self.mean), self.shares)
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
            shares = best_shares(self.curvature, -side * pull * self.places, shares)
            now = _Pulled(pull, float(shares @ self.places), self._misfit(shares) - least)
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


def likeliest(parts: Sequence[Part], noise: OneBit) -> Likeliest:
    """The likeliest population by what was heard of some parts, in bits of this noise."""
    left, right, observed, reports = (np.array(column, dtype=np.float64) for column in zip(*parts, strict=True))
    places = np.unique(np.concatenate([_PLACES, left, right]))
    passed = np.clip((places - left[:, None]) / (right - left)[:, None], 0.0, 1.0)
    expected, shares = np.full(len(parts), 0.5), None
    ends, middle = noise.variance(0.0), noise.variance(0.5)
    for _ in range(_LOOKS):
        # The variance of a bit is a parabola in its chance.
        error = np.sqrt((ends + 4 * (middle - ends) * expected * (1 - expected)) / reports)
        apart = (passed - observed[:, None]) / error[:, None]
        curvature = apart.T @ apart
        shares = best_shares(curvature, np.zeros(len(places)), shares)
        expected = passed @ shares
    assert shares is not None
    return Likeliest(
        places=places, shares=shares, features=passed / error[:, None], observed=observed / error, curvature=curvature
    )
