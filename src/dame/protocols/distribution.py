"""The whole distribution of people: stripes, and then thresholds between which there are about as many people."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dame.between_users.curve import Curve
from dame.device.records import HALF_GRID
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.protocols.people import OfPeople, squared_noise

_COUNT = 64
_ENDS = [-1.0, 1 - 2 / HALF_GRID]
"""Thresholds that tell how many people are exactly at an end of the range, such as those who have none of something."""
_EVEN = 0.15
"""This part of the thresholds is spread evenly over the range, the others where people were seen."""
_TOLD = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEAST = 2.2
"""Predicted variance of a share over that of as many bits at a single threshold."""


class DistributionOfPeople(OfPeople):
    """One round of stripes, or two: the second where people are."""

    name = "distribution"
    summary = "stripes and thresholds that tell the whole distribution of people"
    shapes = frozenset(
        (first, *(("windows bits",) * more)) for first in ("stripes bits", "windows bits") for more in range(2)
    )
    names = ("look", "finish")
    round_shares = ((1.0,), (0.4, 0.6))

    def told(self, brief: Brief) -> Sequence[float]:
        """The median, the quartiles and the outer tenths."""
        del brief
        return _TOLD

    def _threshold_count(self, brief: Brief) -> int:
        del brief
        return _COUNT

    def thresholds(self, plan: MachinePlan, curve: Curve, error: float) -> Sequence[float]:
        """Between each two of them there are about as many people, by what was seen."""
        del plan, error
        people = np.maximum.accumulate(curve.cdf)
        even = (curve.points - curve.points[0]) / (curve.points[-1] - curve.points[0])
        mixed = (1 - _EVEN) * people + _EVEN * even
        inside = _COUNT - 2 * len(_ENDS)
        levels = (np.arange(inside) + 0.5) / inside
        places: list[float] = np.interp(levels, mixed / mixed[-1], curve.points).tolist()
        return places + 2 * _ENDS

    def in_shares(self, brief: Brief, people: float) -> float:
        """The error of a share in the middle of the curve."""
        return min(math.sqrt(_LEAST * squared_noise(brief.alpha) / people), 0.5)

    def unit(self, brief: Brief) -> float:
        """Shares are told."""
        del brief
        return 1.0

    def forecast(self, brief: Brief, error: float) -> Forecast:
        """The error in shares, beside the limit of a single threshold."""
        limit = squared_noise(brief.alpha) / brief.users
        return Forecast(
            predicted_rmse=error,
            predicted_rmse_with_failures=error,
            failure_probability=0.0,
            limit_mse=limit,
            lower_bound=limit,
            upper_bound=1.0,
        )

    def promised_for(self, plan: MachinePlan) -> str:
        """For the share below a point."""
        del plan
        return "of the share of people below a point, for smooth distributions"
