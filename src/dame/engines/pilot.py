"""Pilots: what a study would have found on a table that one already holds, beside the truth."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from dame.engines.study import ReducedTable, carry_out
from dame.engines.survey import ColumnSurvey, Survey
from dame.estimates import Outcome, to_units
from dame.planning.plans import Plan

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """A pilot that was run: its plan, what the table holds, and the study, once or several times."""

    plan: Plan
    survey: ColumnSurvey
    outcomes: tuple[Outcome, ...]
    seconds: float
    rivals: tuple[Pilot, ...] = ()

    @property
    def true_mean(self) -> float:
        """The mean that the study is after, in its units: of the users' means, with the weights of the plan."""
        return to_units(self.survey.mean_wanted(self.plan.brief), self.plan.brief.low, self.plan.brief.high)

    @property
    def rmse(self) -> float:
        """The root mean squared error of the repetitions."""
        errors = [outcome.estimate.value - self.true_mean for outcome in self.outcomes]
        return math.sqrt(math.fsum(error * error for error in errors) / len(errors))

    @property
    def coverage(self) -> float:
        """The share of the repetitions whose interval holds the truth."""
        intervals = [outcome.estimate.interval for outcome in self.outcomes]
        return sum(low <= self.true_mean <= high for low, high in intervals) / len(intervals)

    @property
    def interval_width(self) -> float:
        """The mean width of the intervals."""
        intervals = [outcome.estimate.interval for outcome in self.outcomes]
        return math.fsum(high - low for low, high in intervals) / len(intervals)

    def scores(self) -> dict[str, object]:
        """How well this protocol did."""
        estimate = self.outcomes[0].estimate
        return {
            "estimate": estimate.value,
            "interval": list(estimate.interval),
            "rmse": self.rmse,
            "coverage": self.coverage,
            "interval_width": self.interval_width,
            "predicted_rmse": self.plan.forecast.predicted_rmse,
        }

    def to_json(self) -> dict[str, object]:
        """The pilot as a JSON object: the first study, and with repetitions how the others went."""
        survey, first = self.survey, self.outcomes[0]
        document: dict[str, object] = {
            **first.estimate.to_json(),
            "true_mean": self.true_mean,
            "users": survey.users,
            "records": survey.records,
            **survey.left_out(),
            "seconds": self.seconds,
            "protocol": self.plan.protocol,
            "alpha": self.plan.alpha,
            "study": self.plan.study,
            "rounds": [self._round_json(index) for index in range(len(self.plan.rounds))],
        }
        if len(self.outcomes) > 1:
            document |= {"repetitions": len(self.outcomes), **self.scores()}
        if self.rivals:
            document["protocols"] = {pilot.plan.protocol: pilot.scores() for pilot in (self, *self.rivals)}
        return document

    def _round_json(self, index: int) -> dict[str, object]:
        round_, tally = self.plan.rounds[index], self.outcomes[0].tallies[index]
        return {
            "name": round_.name,
            "share": round_.share,
            "users": tally.reports,
            "tally": tally.to_json(),
        }


def _further(progress: Progress, before: int, rounds: int) -> None:
    progress(before + rounds)


def run_pilot(
    table: ReducedTable,
    plan_for: Callable[[Survey], Plan],
    seed: int | None = None,
    repetitions: int = 1,
    progress: Progress = lambda _: None,
    started: float | None = None,
    rivals_of: Callable[[Plan], Iterable[Plan]] = lambda _: (),
) -> Pilot:
    """The pilot on a reduced table, with the plan that its survey leads to; the clock may have started before.

    Rivals are other protocols, carried out as often on the same people.
    """
    began = time.perf_counter() if started is None else started
    survey = table.survey()
    plan = plan_for(survey)
    plans = [plan, *rivals_of(plan)]
    over = 0
    pilots: list[Pilot] = []
    for each in plans:
        outcomes = tuple(carry_out(each, table, seed, repetitions, partial(_further, progress, over)))
        over += len(each.rounds)
        column = survey.of(each.brief.statistic)
        pilots.append(Pilot(plan=each, survey=column, outcomes=outcomes, seconds=time.perf_counter() - began))
    first, *rest = pilots
    return replace(first, rivals=tuple(rest))
