"""Pilots: what a study would have found on a table that one already holds, beside the truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dame.curves import Quantile
from dame.engines.scores import Score, TableTruth
from dame.engines.study import ReducedTable, carry_out
from dame.engines.survey import Survey
from dame.estimates import Outcome
from dame.studies.plans import Plan
from dame.studies.results import Result, TargetResult
from dame.studies.running import result_of_outcomes

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """A pilot that was run: its plan, what the table holds, and the study, once or several times."""

    plan: Plan
    survey: Survey
    results: tuple[Result, ...]
    outcomes: tuple[Outcome, ...]
    """What each machine came to in the first study."""
    seconds: float
    rivals: tuple[Pilot, ...] = ()

    def score(self, place: int) -> Score:
        """How the target in this place of the plan went."""
        truth = self._known(place).value
        return Score(estimates=tuple(result.targets[place].estimate for result in self.results), truth=truth)

    def group_score(self, group: str, place: int) -> Score:
        """How it went for one group; a group that nobody of a repetition belongs to is left out there."""
        found = [
            each.targets[place].estimate for result in self.results for each in result.groups if each.group == group
        ]
        return Score(estimates=tuple(found), truth=self._known(place, group).value)

    def difference_score(self, number: int) -> Score:
        """How the difference of this number in the first study went."""
        wanted = self.results[0].differences[number]
        place = [each.target for each in self.plan.targets].index(wanted.target)
        truths = [self._known(place, group).value for group in (wanted.group, wanted.than)]
        found = [
            one.estimate
            for result in self.results
            for one in result.differences
            if (one.target, one.group, one.than) == (wanted.target, wanted.group, wanted.than)
        ]
        return Score(estimates=tuple(found), truth=truths[0] - truths[1])

    def _known(self, place: int, group: str | None = None) -> TableTruth:
        return TableTruth(planned=self.plan.targets[place], survey=self.survey, group=group)

    def value_scores(self, place: int) -> list[tuple[str, Quantile, Score]]:
        """The quantiles of the target in this place: what each is called, what was found, and how that went."""
        found = [result.targets[place].estimate.quantiles for result in self.results]
        truths = self.plan.targets[place].target.truths(self._known(place))
        return [
            (
                f"{quantile.at:.0%}",
                quantile,
                Score(estimates=tuple(each[number] for each in found), truth=truths[number]),
            )
            for number, quantile in enumerate(found[0])
            if truths
        ]

    def true_curve(self, place: int, points: Sequence[float]) -> list[float] | None:
        """The true shares at or below some points, for a target in this place whose distribution the table kept."""
        known = self._known(place)
        return [known.below(point) for point in points] if self.plan.targets[place].target.distributions else None

    def to_json(self) -> dict[str, object]:
        """The pilot as a JSON object: the first study, and with repetitions how the others went."""
        survey, first = self.survey, self.results[0]
        single = len(self.plan.targets) == 1
        document: dict[str, object] = {
            **(self._alone() if single else {}),
            "targets": [self._target_json(place, one) for place, one in enumerate(first.targets)],
            "users": survey.users,
            "records": survey.records,
            **survey.counted(),
            "seconds": self.seconds,
            "protocol": self.plan.machines[0].protocol,
            "alpha": self.plan.alpha,
            "study": self.plan.study,
            "rounds": self._rounds_json(),
        }
        if first.groups:
            document["groups"] = [self._group_json(number) for number in range(len(first.groups))]
            document["differences"] = [
                {**one.to_json(), **self.difference_score(number).to_json()}
                for number, one in enumerate(first.differences)
            ]
        if len(self.results) > 1:
            document["repetitions"] = len(self.results)
        if self.rivals:
            document["protocols"] = {each.plan.machines[0].protocol: each.scores() for each in (self, *self.rivals)}
        return document

    def _alone(self) -> dict[str, object]:
        """What stands beside where there is a single target."""
        flat = self._target_json(0, self.results[0].targets[0])
        flat["true_mean"] = flat.pop("true_value")
        return {name: value for name, value in flat.items() if name not in ("name", "kind", "reports")}

    def scores(self) -> dict[str, object]:
        """How well this protocol did: a list by target, or flat where there is one."""
        each = [
            {
                "name": planned.target.name,
                "estimate": self.results[0].targets[place].estimate.value,
                "interval": list(self.results[0].targets[place].estimate.interval),
                "rmse": self.score(place).rmse,
                "coverage": self.score(place).coverage,
                "interval_width": self.score(place).interval_width,
                "predicted_rmse": planned.predicted_rmse,
            }
            for place, planned in enumerate(self.plan.targets)
        ]
        return each[0] if len(each) == 1 else {"targets": each}

    def _target_json(self, place: int, result: TargetResult) -> dict[str, object]:
        planned = {"predicted_rmse": self.plan.targets[place].predicted_rmse}
        estimates = [each.targets[place].estimate for each in self.results]
        return {
            **result.to_json(),
            **planned,
            **self.score(place).to_json(),
            **self._known(place).where_people_are(estimates),
        }

    def _group_json(self, number: int) -> dict[str, object]:
        group = self.results[0].groups[number]
        each = [
            {
                **result.to_json(),
                **self.group_score(group.group, place).to_json(),
                **self._known(place, group.group).where_people_are([result.estimate]),
            }
            for place, result in enumerate(group.targets)
        ]
        alone = each[0] if len(each) == 1 else {}
        return {**alone, "group": group.group, "users": group.users, "targets": each}

    def _rounds_json(self) -> list[dict[str, object]]:
        pairs = zip(self.plan.machines, self.outcomes, strict=True)
        return [
            {
                "target": machine.name,
                "name": round_.name,
                "share": share,
                "users": tally.reports,
                "tally": tally.to_json(),
            }
            for machine, outcome in pairs
            for round_, share, tally in zip(machine.rounds, machine.shares, outcome.tallies, strict=True)
        ]


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
    over = 0
    pilots: list[Pilot] = []
    for each in [plan, *rivals_of(plan)]:
        runs = carry_out(each, table, seed, repetitions, partial(_further, progress, over))
        over += max(len(machine.rounds) for machine in each.machines)
        pilots.append(_pilot(each, survey, runs, time.perf_counter() - began))
    first, *rest = pilots
    return replace(first, rivals=tuple(rest))


def _pilot(plan: Plan, survey: Survey, runs: Sequence[tuple[Outcome, ...]], seconds: float) -> Pilot:
    results = tuple(result_of_outcomes(plan, run) for run in runs)
    return Pilot(plan=plan, survey=survey, results=results, outcomes=runs[0], seconds=seconds)


def _further(progress: Progress, before: int, rounds: int) -> None:
    progress(before + rounds)
