"""Adaptive studies: risk as predicted, intervals that cover, and wrong windows that are noticed."""

from __future__ import annotations

import numpy as np
import pytest

import dame
from dame.device.questions import Question
from dame.device.records import Summary
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.populations.simulation import simulate, simulate_once
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.tally import Tally

ALPHA = 22 / 35
LAWS = ("rademacher:0", "rademacher:0.37", "rademacher:-0.88", "two-point:-1:0.3:0.8")
REPETITIONS = 100
# With so many repetitions a mean squared error has a relative standard error of 14 %, the coverage one of 2.2 %.
SETTINGS = {
    # sizes, users: largest allowed ratio of risk to limit
    ("constant:1", 10**4): 1.15,
    ("poisson:5", 10**4): 3.6,
    ("poisson:5", 10**5): 3.7,
    ("geometric:0.1", 10**5): 3.7,
    ("poisson:50", 10**4): 3.0,
    ("uniform:1:99", 10**5): 3.2,
    ("poisson:500", 10**5): 2.0,
    ("constant:100000", 10**4): 2.8,
    ("constant:100000", 10**5): 1.8,
    ("constant:100000", 10**6): 1.5,
    ("two-point:100000:1000000:0.5", 10**6): 1.5,
}


def simulations(spec: str, users: int, repetitions: int) -> tuple[MachinePlan, list[dame.Simulation]]:
    sizes = dame.Sizes.parse(spec)
    plan = plan_mean(users=users, alpha=ALPHA, sizes=sizes)
    laws = [dame.Population.synthetic(sizes, dame.parse_distribution(law)) for law in LAWS]
    return plan, [simulate(plan, law, repetitions, seed=3) for law in laws]


@pytest.mark.parametrize(("spec", "users"), SETTINGS)
def test_risk_prediction_and_coverage(spec: str, users: int) -> None:
    plan, results = simulations(spec, users, REPETITIONS)
    worst = max(results, key=lambda result: result.mse)
    assert worst.ratio_to_limit <= SETTINGS[spec, users] * 1.2
    assert plan.forecast.predicted_rmse / worst.rmse == pytest.approx(1, abs=0.3)
    for result in results:
        assert result.coverage >= 0.87
        assert result.interval_width <= 1.6 * 3.92 * result.rmse
    assert sum(result.failures for result in results) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "users"), SETTINGS)
def test_risk_prediction_and_coverage_at_length(spec: str, users: int) -> None:
    plan, results = simulations(spec, users, 1500)
    worst = max(results, key=lambda result: result.mse)
    assert worst.ratio_to_limit <= SETTINGS[spec, users] * 1.05
    assert plan.forecast.predicted_rmse / worst.rmse == pytest.approx(1, abs=0.15)
    assert min(result.coverage for result in results) >= 0.93


def voted_for(question: Question, theta: float, users: int) -> Tally:
    """The votes of users who are all sure that the mean is θ, without noise to speak of."""
    bin_, chance = question.lens.bin_of(theta), question.channel.probability
    sums = [round(users * chance(place == bin_)) for place in range(question.lens.bins)]
    return Tally.of(question, [(users, sums)])


def answered(question: Question, theta: float, users: int) -> Tally:
    """The expected bits of users whose means are all θ."""
    person, lens = Summary(size=100_000, mean=theta), question.lens
    each = users // lens.window_count
    chances = [question.channel.probability(lens.position(person, window)) for window in range(lens.window_count)]
    return Tally.of(question, [(each, (round(each * chance),)) for chance in chances])


def misled(plan: MachinePlan, elected: float, theta: float) -> Estimate:
    """The estimate of a study whose vote elects one place while θ is at another."""
    tallies = [voted_for(next_step(plan, []), elected, 20_000)]
    while not isinstance(step := next_step(plan, tallies), Estimate):
        tallies.append(answered(step, theta, 20_000))
    return step


def test_a_wrong_window_is_reported() -> None:
    plan = plan_mean(users=60_000, alpha=ALPHA, sizes=dame.Sizes.constant(100_000))
    estimate = misled(plan, elected=0.5, theta=-0.25)
    assert estimate.interval == (-1.0, 1.0)
    assert estimate.failure_probability == 1.0
    assert "saturated" in " ".join(estimate.notes)


def test_a_right_window_is_not() -> None:
    plan = plan_mean(users=60_000, alpha=ALPHA, sizes=dame.Sizes.constant(100_000))
    estimate = misled(plan, elected=0.5, theta=0.5005)
    assert estimate.notes == ()
    assert estimate.value == pytest.approx(0.5005, abs=2e-3)


def test_with_more_rounds_a_small_miss_is_recovered_from() -> None:
    plan = plan_mean(users=60_000, alpha=ALPHA, sizes=dame.Sizes.constant(100_000), max_rounds=6)
    # Six standard deviations of a user's mean away: outside the first windows, inside a wide one.
    theta = 0.5 + 6 / np.sqrt(100_000)
    estimate = misled(plan, elected=0.5, theta=theta)
    low, high = estimate.interval
    assert low <= theta <= high


def test_studies_in_other_units_are_the_same_studies() -> None:
    sizes = dame.Sizes.parse("poisson:50")
    people = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.2"))
    plain = plan_mean(users=5000, alpha=1.0, sizes=sizes, study="s")
    scaled = plan_mean(users=5000, alpha=1.0, sizes=sizes, study="s", bounds=(10.0, 30.0))
    one, other = (simulate_once(plan, people, np.random.default_rng(4)).estimate for plan in (plain, scaled))
    assert other.value == pytest.approx(20 + 10 * one.value)
    assert other.standard_error == pytest.approx(10 * one.standard_error)
    assert scaled.forecast.predicted_rmse == pytest.approx(10 * plain.forecast.predicted_rmse)
