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


def of_two_minds(plan: MachinePlan, later: int) -> Estimate:
    """The estimate after a vote for two places alike, one of which the later rounds, of so many people, speak for."""
    question = next_step(plan, [])
    votes = [voted_for(question, theta, 600) for theta in (0.5, -0.25)]
    sums = [max(pair) for pair in zip(*(tally.sums for tally in votes), strict=True)]
    tallies = [Tally.of(question, [(600, sums)])]
    while not isinstance(step := next_step(plan, tallies), Estimate):
        tallies.append(answered(step, -0.25, later))
    return step


def test_a_vote_that_is_not_decisive_says_so() -> None:
    plan = plan_mean(users=1000, alpha=1.0, sizes=dame.Sizes.constant(100_000))
    estimate = of_two_minds(plan, later=2)
    low, high = estimate.interval
    assert low < -0.24
    assert high > 0.49
    assert estimate.failure_probability == pytest.approx(0.5, abs=0.2)
    assert any("not decisive" in note for note in estimate.notes)


def test_later_rounds_decide_between_places() -> None:
    plan = plan_mean(users=1000, alpha=1.0, sizes=dame.Sizes.constant(100_000))
    estimate = of_two_minds(plan, later=400)
    assert estimate.value == pytest.approx(-0.25, abs=0.01)
    assert estimate.failure_probability < 1e-4
    assert estimate.notes == ()


CORNERS = {
    # sizes, users, alpha, rounds: largest allowed ratio of risk to limit
    ("constant:100000", 1000, 1.0, 3): 30.0,
    ("constant:5000", 2000, 1.0, 3): 6.0,
    ("two-point:1:1000000:0.2", 10**5, ALPHA, 4): 5.0,
    ("zipf:1.2:100000", 20_000, ALPHA, 4): 8.0,
}


def corner(spec: str, users: int, alpha: float, rounds: int, repetitions: int) -> tuple[float, list[dame.Simulation]]:
    """The predicted error, and studies of several distributions."""
    sizes = dame.Sizes.parse(spec)
    plan = plan_mean(users=users, alpha=alpha, sizes=sizes, max_rounds=rounds)
    people = [dame.Population.synthetic(sizes, dame.parse_distribution(law)) for law in LAWS]
    return plan.forecast.counted_rmse, [simulate(plan, each, repetitions, seed=5) for each in people]


@pytest.mark.parametrize("case", [("constant:100000", 1000, 1.0, 3), ("two-point:1:1000000:0.2", 10**5, ALPHA, 4)])
def test_corners(case: tuple[str, int, float, int]) -> None:
    _, results = corner(*case, repetitions=20)
    assert max(result.ratio_to_limit for result in results) <= CORNERS[case]
    assert sum(result.coverage for result in results) / len(results) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("case", CORNERS)
def test_corners_at_length(case: tuple[str, int, float, int]) -> None:
    predicted, results = corner(*case, repetitions=500)
    worst = max(results, key=lambda result: result.mse)
    assert worst.ratio_to_limit <= CORNERS[case]
    assert predicted / worst.rmse == pytest.approx(1, abs=0.25)
    assert min(result.coverage for result in results) >= 0.92


def test_studies_in_other_units_are_the_same_studies() -> None:
    sizes = dame.Sizes.parse("poisson:50")
    people = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.2"))
    plain = plan_mean(users=5000, alpha=1.0, sizes=sizes, study="s")
    scaled = plan_mean(users=5000, alpha=1.0, sizes=sizes, study="s", bounds=(10.0, 30.0))
    one, other = (simulate_once(plan, people, np.random.default_rng(4)).estimate for plan in (plain, scaled))
    assert other.value == pytest.approx(20 + 10 * one.value)
    assert other.standard_error == pytest.approx(10 * one.standard_error)
    assert scaled.forecast.predicted_rmse == pytest.approx(10 * plain.forecast.predicted_rmse)
