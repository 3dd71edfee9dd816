"""Studies on populations: one target or several, once or many times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame import checks
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from dame.errors import InvalidInput, Mismatch
from dame.estimates import to_units
from dame.planning.machines import MachinePlan
from dame.populations.distributions import RecordDistribution, TwoPoint
from dame.populations.population import Population, Reporting
from dame.populations.simulation import Simulation, seed_of, simulate_once, summarised, wrong_window
from dame.populations.simulation import simulate as simulate_machine
from dame.sizes import Sizes
from dame.studies.plans import Plan, TargetPlan
from dame.studies.results import Result
from dame.studies.running import result_of_outcomes

Progress = Callable[[int], None]
_MANY = 200_000
"""People by whom true quantiles are judged: the error of their shares is a thousandth."""


def run(plan: Plan, population: Population, seed: int | None = None) -> Result:
    """The result of one study: simulated, where it has a single mean, or, on a table, with each user's own report."""
    if isinstance(population, Reporting):
        return population.result(plan, seed_of(seed))
    outcome = simulate_once(plan.only, population, np.random.default_rng(seed_of(seed)))
    return result_of_outcomes(plan, [outcome])


def simulate(
    plan: Plan, population: Population, repetitions: int, seed: int | None = None, progress: Progress = lambda _: None
) -> Simulation:
    """What many simulated studies of a single mean showed; `progress` is told after each how many are done."""
    return simulate_machine(plan.only, population, repetitions, seed, progress)


def simulate_targets(
    plan: Plan,
    data: Mapping[str, RecordDistribution],
    repetitions: int,
    seed: int | None = None,
    progress: Progress = lambda _: None,
) -> dict[str, Simulation]:
    """What many simulated studies showed of each target, whose records follow the distribution given for its column.

    Values within bounds are given as -1 to 1; shares are those of the distribution itself.
    """
    checks.whole("repetitions", repetitions, 1, 10**9)
    started = time.perf_counter()
    populations = [[_population(each, machine, data) for machine in each.machines] for each in plan.targets]
    weights = np.array([machine.users / plan.users for machine in plan.machines])
    rows = np.empty((len(plan.targets), repetitions, 3))
    failures = np.zeros(len(plan.targets), np.int64)
    for index, child in enumerate(np.random.SeedSequence(seed_of(seed)).spawn(repetitions)):
        rng = np.random.default_rng(child)
        counts = iter(rng.multinomial(plan.users, weights).tolist())
        for place, each in enumerate(plan.targets):
            rows[place, index], wrong = _once(each, populations[place], [next(counts) for _ in each.machines], rng)
            failures[place] += wrong
        progress(index + 1)
    seconds = time.perf_counter() - started
    return {
        each.target.name: _summary(each, populations[place], rows[place], int(failures[place]), seconds)
        for place, each in enumerate(plan.targets)
    }


def _once(
    planned: TargetPlan, populations: list[Population], counts: list[int], rng: Generator
) -> tuple[tuple[float, float, float], bool]:
    """The estimate and interval of a target in one simulated study, and whether some machine looked elsewhere."""
    each = list(zip(planned.machines, populations, counts, strict=True))
    outcomes = [simulate_once(machine, people, rng, users) for machine, people, users in each]
    wrong = any(
        wrong_window(machine, outcome, people.truth)
        for outcome, (machine, people, _) in zip(outcomes, each, strict=True)
    )
    estimate = planned.target.read([outcome.estimate for outcome in outcomes])
    return (estimate.value, *estimate.interval), wrong


def _summary(
    planned: TargetPlan, populations: list[Population], rows: NDArray[np.float64], failures: int, seconds: float
) -> Simulation:
    pairs = zip(planned.machines, populations, strict=True)
    known = _Simulated({machine.brief.statistic: people for machine, people in pairs}, planned.target.present)
    felt = zip(planned.target.sensitivities, planned.machines, strict=True)
    limit = math.fsum(each**2 * machine.forecast.limit_mse for each, machine in felt)
    return summarised(rows, planned.target.truth(known), limit, failures, seconds)


@dataclass(frozen=True, slots=True)
class _Simulated:
    """What is known of simulated people: by statistic, and how many of them have the column."""

    populations: Mapping[Statistic, Population]
    present: float

    def mean(self, statistic: Statistic) -> float:
        # Among people who have the column: the others count as 0 on the inner scale, and are as many as expected.
        return to_units(self.populations[statistic].truth / self.present, *statistic.range)

    def quantile(self, statistic: Statistic, at: float) -> float:
        """The quantile of many people, drawn the same each time."""
        ((*chunks,),) = self.populations[statistic].groups(_MANY, (1.0,), np.random.default_rng(1))
        means = np.concatenate([chunk.means for chunk in chunks])
        weights = np.concatenate(
            [np.ones(len(each.means)) if each.chances is None else each.chances for each in chunks]
        )
        order = np.argsort(means)
        below = np.cumsum(weights[order])
        return to_units(float(means[order][np.searchsorted(below, at * below[-1])]), *statistic.range)


def _population(planned: TargetPlan, machine: MachinePlan, data: Mapping[str, RecordDistribution]) -> Population:
    column = planned.target.column
    if column not in data:
        raise InvalidInput("data", sorted(data), f"given for the column {column!r} too")
    return population_of(machine.brief.statistic, data[column], machine.brief.sizes, planned.target.present)


@singledispatch
def population_of(statistic: Statistic, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    """People whose records follow a distribution, seen through a statistic; a share of them has any."""
    del records, sizes, present
    raise Mismatch(f"records cannot be simulated through {statistic.kind!r}: register a function for it")


@population_of.register
def _values(statistic: Value, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    del statistic
    return Population.synthetic(sizes, records, present)


@population_of.register
def _draws(statistic: Drawn, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    del statistic, sizes
    return Population.synthetic(Sizes.constant(1), records, present)


@population_of.register
def _squares(statistic: Square, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    del statistic
    return Population.synthetic(sizes, records.squared(), present)


@population_of.register
def _shares(statistic: Indicator, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    number = math.nan if statistic.number is None else statistic.number
    above, equal = records.above(number), records.equal(number)
    chance = {"above": above, "is": equal, "below": 1 - above - equal}[statistic.relation]
    return Population.synthetic(sizes, TwoPoint(-1.0, 1.0, min(max(chance, 0.0), 1.0)), present)


@population_of.register
def _presence(statistic: Present, records: RecordDistribution, sizes: Sizes, present: float) -> Population:
    del statistic, records, sizes
    return Population.synthetic(Sizes.constant(1), TwoPoint(-1.0, 1.0, present))
