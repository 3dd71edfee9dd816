"""The likeliest population, read off bits on parts of the range: no law is assumed, and no prior.

A bit on a part of the range tells how far users are through that part, on average. Such averages are linear in the
population: in the share of users at each place. Of all populations in the range, the likeliest is the one whose
averages come closest to those that were observed, each weighed by its noise. Shares are not negative and sum to 1,
which is a lot to know: where nobody is, noise of one sign is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from dame.device.randomisers import OneBit

Floats = NDArray[np.float64]

_PLACES = np.linspace(-1.0, 1.0, 65)
"""Where users may be, besides the borders of all parts."""
_SURE = 300.0
"""How much firmer than the firmest observation it is that shares sum to 1."""
_FAR = 100.0
_LOOKS = 3
"""The noise depends on the averages themselves, though little: they are taken from the fit before."""
_HALVINGS = 14


class Part(NamedTuple):
    """What was heard of a part of the range: how far users are through it on average, by so many reports."""

    left: float
    right: float
    share: float
    reports: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likeliest:
    """The likeliest population: the places where users may be, their shares, and the observations it came from.

    `features` and `observed` are the averages by place and as observed, in units of their noise.
    """

    places: Floats
    shares: Floats
    features: Floats
    observed: Floats

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
        # T/F - F, squared and halved, is -T up to a constant and T²/(2F²), which is next to nothing.
        cost = strength * np.abs(self.places - self.mean) / _FAR
        return replace(self, shares=self._solve([(cost, -_FAR)]))

    def interval(self, most: float) -> tuple[float, float]:
        """The means of all populations whose misfit exceeds that of the likeliest by no more than `most`.

        With the square of a normal quantile this is the profile likelihood interval.
        """
        low, high = (self._end(side, most) for side in (-1.0, 1.0))
        return low, high

    def _end(self, side: float, most: float) -> float:
        """How far the mean can be moved to one side: by doubling, then by halving."""
        limit = self._misfit(self.shares) + most
        inside, outside = 0.0, abs(side - self.mean)
        step = 1.0 / float(np.max(self.features))
        while step < outside:
            if self._misfit_at(self.mean + side * step) > limit:
                outside = step
                break
            inside, step = step, 2 * step
        else:
            if self._misfit_at(side) <= limit:
                return side
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if self._misfit_at(self.mean + side * middle) > limit:
                outside = middle
            else:
                inside = middle
        return self.mean + side * outside

    def _misfit_at(self, mean: float) -> float:
        """The smallest misfit of a population with this mean."""
        firm = _SURE * float(np.max(self.features))
        return self._misfit(self._solve([(firm * self.places, firm * mean)]))

    def _misfit(self, shares: Floats) -> float:
        return float(np.sum((self.features @ shares - self.observed) ** 2))

    def _solve(self, further: Sequence[tuple[Floats, float]] = ()) -> Floats:
        """The shares that fit best, with further observations."""
        firm = _SURE * float(np.max(self.features))
        rows = [self.features, np.full((1, len(self.places)), firm), *(row[None, :] for row, _ in further)]
        values = np.array([firm, *(value for _, value in further)])
        both = np.concatenate([self.observed, values])
        shares, _ = optimize.nnls(np.vstack(rows), both, maxiter=100 * len(self.places))
        return np.asarray(shares / shares.sum())


def likeliest(parts: Sequence[Part], noise: OneBit) -> Likeliest:
    """The likeliest population by what was heard of some parts, in bits of this noise."""
    left, right, observed, reports = (np.array(column, dtype=np.float64) for column in zip(*parts, strict=True))
    places = np.unique(np.concatenate([_PLACES, left, right]))
    passed = np.clip((places - left[:, None]) / (right - left)[:, None], 0.0, 1.0)
    expected, found = np.full(len(parts), 0.5), None
    for _ in range(_LOOKS):
        error = np.sqrt(np.array([noise.variance(float(place)) for place in expected]) / reports)
        found = Likeliest(
            places=places, shares=np.zeros(len(places)), features=passed / error[:, None], observed=observed / error
        )
        found = replace(found, shares=found._solve())
        expected = passed @ found.shares
    assert found is not None
    return found
