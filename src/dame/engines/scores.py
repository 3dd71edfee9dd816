"""How studies on a table went: what each found, beside the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dame.curves import Distribution, Quantile
from dame.device.statistics import Statistic
from dame.engines.survey import ColumnSurvey, GroupSurvey, Survey
from dame.estimates import Estimate, to_units
from dame.studies.plans import TargetPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A number, of everybody or of a group: what every study found, and the truth."""

    estimates: tuple[Estimate | Quantile, ...]
    truth: float

    @property
    def rmse(self) -> float:
        """The root mean squared error of the repetitions."""
        return _root_mean_square([one.value - self.truth for one in self.estimates])

    @property
    def coverage(self) -> float:
        """The share of the repetitions whose interval holds the truth."""
        intervals = [one.interval for one in self.estimates]
        return sum(low <= self.truth <= high for low, high in intervals) / len(intervals)

    @property
    def interval_width(self) -> float:
        """The mean width of the intervals."""
        return math.fsum(one.interval[1] - one.interval[0] for one in self.estimates) / len(self.estimates)

    def to_json(self) -> dict[str, object]:
        """The truth, and with repetitions how they went."""
        if len(self.estimates) == 1:
            return {"true_value": self.truth}
        figures = {"rmse": self.rmse, "coverage": self.coverage, "interval_width": self.interval_width}
        return {"true_value": self.truth, **figures}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTruth:
    """What a table says of a target, of everybody or of one group, in the units of its statistics."""

    planned: TargetPlan
    survey: Survey
    group: str | None = None

    def mean(self, statistic: Statistic) -> float:
        """The mean of a statistic, among people who have the column."""
        (brief,) = (machine.brief for machine in self.planned.machines if machine.brief.statistic == statistic)
        return to_units(self._column(statistic).mean_wanted(brief), brief.low, brief.high)

    def _column(self, statistic: Statistic) -> ColumnSurvey | GroupSurvey:
        return self.survey.of(statistic) if self.group is None else self.survey.in_group(self.group, statistic)

    def quantile(self, statistic: Statistic, at: float) -> float:
        """The point that such a share of people lies below."""
        return to_units(self._column(statistic).distribution.quantile(at), *statistic.range)

    @property
    def value(self) -> float:
        """The truth of the target."""
        return self.planned.target.truth(self)

    def below(self, point: float) -> float:
        """The true share of people at or below a point."""
        statistic = self.planned.machines[0].brief.statistic
        low, high = statistic.range
        return self._column(statistic).distribution.at(2 * (point - low) / (high - low) - 1)

    def where_people_are(self, estimates: Sequence[Estimate]) -> dict[str, object]:
        """How the quantiles and the curve of a target went, as JSON; nothing for targets that tell neither."""
        truths = self.planned.target.truths(self)
        if not truths:
            return {}
        values = [
            self._value_score([one.quantiles[place] for one in estimates], truth) for place, truth in enumerate(truths)
        ]
        return {"values": values, **self._curve_scores(estimates)}

    def _value_score(self, quantiles: Sequence[Quantile], truth: float) -> dict[str, object]:
        score = Score(estimates=tuple(quantiles), truth=truth)
        found = {**quantiles[0].to_json(), **score.to_json()}
        if len(quantiles) == 1:
            return found
        return {**found, "rmse_share": _root_mean_square([self._missed_by(one) for one in quantiles])}

    def _missed_by(self, quantile: Quantile) -> float:
        """By how much the true share at or below an estimated quantile is not the one that was wanted."""
        return self.below(quantile.value) - quantile.at

    def _curve_scores(self, estimates: Sequence[Estimate]) -> dict[str, object]:
        """How the curves of a target went: Kolmogorov distances, and how often the whole truth was in the band."""
        curves = [one.distribution for one in estimates if one.distribution is not None]
        distances, held = zip(*map(self._against, curves), strict=True)
        return {"ks": float(np.mean(distances)), "band_coverage": float(np.mean(held))}

    def _against(self, curve: Distribution) -> tuple[float, bool]:
        fine = np.linspace(curve.edges[0], curve.edges[-1], 1025)
        apart = [abs(curve.below(point) - self.below(point)) for point in fine.tolist()]
        truth = [self.below(edge) for edge in curve.edges]
        rounding = 1e-9
        each = zip(curve.low, truth, curve.high, strict=True)
        return max(apart), all(low - rounding <= share <= high + rounding for low, share, high in each)


def _root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(math.fsum(error**2 for error in errors) / len(errors))
