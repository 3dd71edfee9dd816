"""Quantiles of people: where half of them, or a tenth, lie below. Four rounds, closer and closer around each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dame.between_users.curve import Curve
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.protocols.people import OfPeople, need_levels, squared_noise

_EACH = 4
"""Thresholds around each quantile."""
_REACH = 1.8
_WIDTH = 1.5
"""The outermost thresholds are this many errors of the share away, stretched by the width."""
_FARTHEST = 0.004
"""No threshold is asked beyond the outermost shares."""
_LOOKING, _LEAST = 500.0, 1.15
"""Predicted variance over its limit: the second number in large studies, more where people divided by the variance of
an exact bit are not many times the first."""


class QuantilesOfPeople(OfPeople):
    """Stripes first, then thresholds around each quantile."""

    name = "quantiles"
    summary = "rounds of thresholds that close in on quantiles of people"
    shapes = frozenset(
        (first, *(("windows bits",) * more)) for first in ("stripes bits", "windows bits") for more in range(4)
    )
    names = ("look", "narrow", "refine", "finish")
    round_shares = ((1.0,), (0.4, 0.6), (0.2, 0.3, 0.5), (0.15, 0.2, 0.25, 0.4))

    def told(self, brief: Brief) -> Sequence[float]:
        """The levels that were asked for."""
        return need_levels(brief)

    def _threshold_count(self, brief: Brief) -> int:
        return int(2 ** math.ceil(math.log2(_EACH * len(need_levels(brief)))))

    def thresholds(self, plan: MachinePlan, curve: Curve, error: float) -> Sequence[float]:
        """A few around each quantile, as far apart in shares as the error so far."""
        levels = need_levels(plan.brief)
        count = self._threshold_count(plan.brief)
        places = []
        for place, level in enumerate(levels):
            # What is left over after an equal split goes to the first ones.
            each = count // len(levels) + (place < count % len(levels))
            for offset in np.linspace(-_REACH, _REACH, each):
                places.append(curve.quantile(min(max(level + offset * _WIDTH * error, _FARTHEST), 1 - _FARTHEST)))
        return places

    def in_shares(self, brief: Brief, people: float) -> float:
        """The mean over the levels of the predicted error."""
        # The people of the first round serve every quantile, the others one of them.
        levels = need_levels(brief)
        first = self.round_shares[-1][0]
        near = people * (first + (1 - first) / len(levels))
        noise = squared_noise(brief.alpha)
        over = _LEAST + _LOOKING * 4 * noise / near
        variances = [over * (noise - (2 * level - 1) ** 2 / 4) / near for level in levels]
        return min(math.sqrt(sum(variances) / len(levels)), 0.5)

    def unit(self, brief: Brief) -> float:
        """The range, over which people are taken to be spread evenly."""
        return 2 * brief.half_range

    def forecast(self, brief: Brief, error: float) -> Forecast:
        """The error in units for people who are spread evenly over the range, and its limit."""
        levels, wide = need_levels(brief), self.unit(brief)
        noise = squared_noise(brief.alpha)
        limit = sum(noise - (2 * level - 1) ** 2 / 4 for level in levels) / len(levels) / brief.users
        return Forecast(
            predicted_rmse=error * wide,
            predicted_rmse_with_failures=error * wide,
            failure_probability=0.0,
            limit_mse=limit * wide**2,
            lower_bound=limit * wide**2,
            upper_bound=wide**2,
        )

    def promised_for(self, plan: MachinePlan) -> str:
        """For people who are spread evenly."""
        share = plan.forecast.predicted_rmse / self.unit(plan.brief)
        return f"(a share of {share:.2%}) for people spread evenly over the range; where they are twice as dense, half"
