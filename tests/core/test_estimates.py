"""Estimates are unbiased, as precise as independent formulas say, and their intervals cover.

All figures come from one run of many studies with a fixed seed. The rate of false alarms of each comparison is at most
`FALSE_ALARM`; each is shown to reject a named mutant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy import stats

import dame
from dame.device.channels import Bits, Channel, Laplace
from dame.device.lenses import Window, Windows
from dame.device.questions import Question
from dame.estimates import Estimate, Measured, read_window
from dame.populations.simulation import Simulation, draw_tally, simulate, simulate_once
from dame.protocols import plan_mean
from dame.sizes import Sizes
from dame.tally import Tally
from tests.chances import FALSE_ALARM, POWER
from tests.machines import run_machine

ALPHA = 22 / 35
STANDARD_ERRORS = 4.5
"""A normal mean is farther out once in 150,000 times; with a fixed seed, never."""
COVERAGE = (0.93, 0.97)
SEED = 2025
HUGE = "two-point:100000:1000000:0.5"
UNEQUAL = "two-point:1000:1000000:0.9"
SMALL = "two-point:2:20:0.5"


def window_question(alpha: float, window: Window, cap: float, channel: Channel) -> Question:
    return Question(study="s", round=0, alpha=alpha, lens=Windows(windows=(window,), cap=cap), channel=channel)


def read_alone(question: Question, reports: int, sums: tuple[int, ...], gain: float) -> Measured:
    return read_window(Tally.of(question, [(reports, sums)]), question.lens, gain)


def privacy_factor(alpha: float) -> float:
    """B = (e^α + 1) / (e^α - 1)."""
    return 1 / math.tanh(alpha / 2)


def one_bit_variance(users: int, theta: float, spread: float) -> float:
    """Each debiased bit is ±B with mean θ, whatever the records."""
    del spread
    return (privacy_factor(ALPHA) ** 2 - theta**2) / users


def duchi_variance(users: int, theta: float, spread: float) -> float:
    """Laplace noise of scale 2/α has variance 8/α²; the users' own means have the variance `spread`."""
    del theta
    return (8 / ALPHA**2 + spread) / users


def dame_variance(users: int, theta: float, spread: float) -> float:
    """Half of the users, each with Laplace noise of scale 14τ/α, all with at least m̃ = 100,000 records."""
    del theta, spread
    m_tilde = 100_000
    tau = math.sqrt(2 * math.log(8 * math.sqrt(m_tilde * users * ALPHA**2)) / m_tilde)
    return 2 * (14 * tau / ALPHA) ** 2 / (users / 2)


@dataclass(frozen=True)
class Setting:
    """A study that is played many times, and, where there is one, the variance that a formula gives."""

    protocol: str
    users: int
    sizes: str
    law: str
    repetitions: int
    variance: Callable[[int, float, float], float] | None = None
    user_spread: float = 0.0

    def __str__(self) -> str:
        return f"{self.protocol}-{self.users}-{self.sizes}-{self.law}"


def spread_of_means(sizes: dict[int, float], record_variance: float) -> float:
    return sum(chance * record_variance / size for size, chance in sizes.items())


BETA_VARIANCE = 4 * 2 * 6 / (8**2 * 9)
SKEWED_VARIANCE = 0.7 * 0.3 * 1.6**2
SMALL_LAW = {2: 0.5, 20: 0.5}

PUBLISHED = Setting("paper", 20_000, HUGE, "rademacher:0.5", 1000, dame_variance)
SETTINGS = (
    PUBLISHED,
    Setting("kent", 20_000, HUGE, "rademacher:-0.3", 500, dame_variance),
    Setting("paper", 200_000, UNEQUAL, "rademacher:0.5", 60),
    Setting("kent", 200_000, UNEQUAL, "two-point:-0.6:1:0.3", 60),
    Setting("duchi", 2_000, SMALL, "beta:2:6", 600, duchi_variance, spread_of_means(SMALL_LAW, BETA_VARIANCE)),
    Setting("duchi", 2_000, "constant:1", "rademacher:0.4", 1000, duchi_variance, 1 - 0.4**2),
    Setting("one-bit", 2_000, SMALL, "two-point:-0.6:1:0.3", 1000, one_bit_variance),
    Setting("one-bit", 2_000, "constant:1", "rademacher:0.5", 2000, one_bit_variance),
)
WITH_FORMULA = [setting for setting in SETTINGS if setting.variance]
COVERED = [setting for setting in SETTINGS if setting.repetitions >= 500]

each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


@cache
def played(setting: Setting, repetitions: int | None = None) -> Simulation:
    sizes = Sizes.parse(setting.sizes)
    plan = plan_mean(users=setting.users, alpha=ALPHA, sizes=sizes, protocol=setting.protocol, study="statistics")
    assert plan.forecast.failure_probability < 1e-9
    population = dame.Population.synthetic(sizes, dame.parse_distribution(setting.law))
    return simulate(plan, population, repetitions or setting.repetitions, seed=SEED)


def variance_p_value(result: Simulation, variance: float) -> float:
    """The two-sided p-value that errors of this mean square are normal with this variance."""
    statistic = result.repetitions * result.mse / variance
    return 2 * min(stats.chi2.cdf(statistic, result.repetitions), stats.chi2.sf(statistic, result.repetitions))


# --- bias


@each_setting
def test_the_estimate_is_unbiased_off_zero_with_unequal_sizes_and_skewed_laws(setting):
    result = played(setting)
    assert result.theta != 0
    assert result.failures == 0
    assert abs(result.bias) < STANDARD_ERRORS * result.bias_se


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.sizes == UNEQUAL and s.protocol == "paper"], ids=str)
def test_the_divisor_of_the_authors_code_is_rejected(setting):
    """E min(m, sqrt(m̃)) instead of E sqrt(min(m, m̃)): 0.5 comes out as another number."""
    result = played(setting)
    m_tilde = 1_000_000
    right = 0.1 * math.sqrt(1000) + 0.9 * math.sqrt(m_tilde)
    wrong = 0.1 * min(1000, math.sqrt(m_tilde)) + 0.9 * min(1_000_000, math.sqrt(m_tilde))
    assert Sizes.parse(UNEQUAL).mean_sqrt(m_tilde) == pytest.approx(right)
    mutant = (result.theta + result.bias) * right / wrong
    assert abs(mutant - result.theta) > 20 * STANDARD_ERRORS * result.bias_se


def test_a_mean_weight_without_the_cap_is_rejected():
    """The mutant divides by E sqrt(m), as if the records beyond m̃ counted."""
    sizes, theta = Sizes.parse("two-point:1:400:0.5"), 0.5
    question = window_question(ALPHA, Window(0.0, -10.0, 10.0), 100.0, Bits.single(ALPHA))
    rng = np.random.default_rng(SEED)
    population = dame.Population.synthetic(sizes, dame.parse_distribution(f"rademacher:{theta}"))
    (group,) = population.groups(400_000, [1.0], rng)
    tally = draw_tally(question, group, rng)
    right, wrong = (read_window(tally, question.lens, sizes.mean_sqrt(cap)) for cap in (100.0, math.inf))
    assert abs(right.value - theta) < STANDARD_ERRORS * right.standard_error
    assert abs(wrong.value - theta) > STANDARD_ERRORS * wrong.standard_error


# --- precision


@pytest.mark.parametrize("setting", WITH_FORMULA, ids=str)
def test_the_mean_squared_error_is_what_an_independent_formula_says(setting):
    result = played(setting)
    variance = setting.variance(setting.users, result.theta, setting.user_spread)
    assert variance_p_value(result, variance) > FALSE_ALARM


@pytest.mark.parametrize("setting", [s for s in WITH_FORMULA if s.repetitions >= 1000], ids=str)
def test_an_alpha_that_is_a_quarter_too_large_would_be_noticed(setting):
    result = played(setting)
    noise_only = 1.25**2 * 0.98  # by how much the variance of the noise would shrink
    wrong = setting.variance(setting.users, result.theta, setting.user_spread) / noise_only
    low, high = stats.chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], result.repetitions)
    accepted = stats.chi2.cdf([low / noise_only, high / noise_only], result.repetitions)
    assert 1 - (accepted[1] - accepted[0]) > POWER
    assert variance_p_value(result, wrong) < FALSE_ALARM


def test_the_published_setting_has_the_risk_of_an_independent_simulation():
    assert played(PUBLISHED).mse == pytest.approx(2.1e-5, rel=0.25)


def test_one_bit_at_zero_attains_the_information_limit():
    sizes = Sizes.constant(1)
    plan = plan_mean(users=1000, alpha=ALPHA, sizes=sizes, protocol="one-bit", study="limit")
    population = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0"))
    result = simulate(plan, population, 2000, seed=SEED)
    assert result.ratio_to_limit == pytest.approx(1.0, abs=0.1)


@each_setting
def test_the_forecast_is_not_below_the_measured_error(setting):
    """Plans predict for the hardest law; the measured error may exceed the forecast by chance only."""
    result = played(setting)
    sizes = Sizes.parse(setting.sizes)
    plan = plan_mean(users=setting.users, alpha=ALPHA, sizes=sizes, protocol=setting.protocol, study="statistics")
    chance = 1 + STANDARD_ERRORS * math.sqrt(2 / result.repetitions)
    assert result.mse < plan.forecast.predicted_rmse**2 * chance


# --- intervals


@pytest.mark.parametrize("setting", COVERED, ids=str)
def test_intervals_cover_95_percent(setting):
    result = played(setting)
    assert COVERAGE[0] <= result.coverage <= COVERAGE[1]


@pytest.mark.parametrize("setting", COVERED, ids=str)
def test_intervals_are_as_wide_as_the_errors_ask_for(setting):
    result = played(setting)
    assert result.interval_width == pytest.approx(2 * 1.96 * result.rmse, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("setting", COVERED, ids=str)
def test_intervals_cover_95_percent_of_many_studies(setting):
    result = played(setting, repetitions=6000)
    assert result.coverage == pytest.approx(0.95, abs=STANDARD_ERRORS * math.sqrt(0.95 * 0.05 / 6000) + 0.003)
    assert abs(result.bias) < STANDARD_ERRORS * result.bias_se
    if setting.variance:
        variance = setting.variance(setting.users, result.theta, setting.user_spread)
        assert variance_p_value(result, variance) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("sizes", ["poisson:50", SMALL, "constant:1000"])
def test_adaptive_studies_cover_and_keep_their_forecast(theta, sizes):
    law = Sizes.parse(sizes)
    plan = plan_mean(users=20_000, alpha=ALPHA, sizes=law, protocol="adaptive", study="slow")
    population = dame.Population.synthetic(law, dame.parse_distribution(f"rademacher:{theta}"))
    result = simulate(plan, population, 600, seed=SEED)
    assert result.coverage >= 0.92
    assert result.rmse < 1.3 * plan.forecast.predicted_rmse


@pytest.mark.parametrize("theta", [-0.7, 0.0])
def test_adaptive_studies_are_far_better_than_plain_bits(theta):
    sizes = Sizes.parse("constant:100")
    population = dame.Population.synthetic(sizes, dame.parse_distribution(f"rademacher:{theta}"))
    plans = [
        plan_mean(users=20_000, alpha=ALPHA, sizes=sizes, protocol=name, study="s") for name in ("adaptive", "one-bit")
    ]
    ours, plain = (simulate(plan, population, 60, seed=SEED) for plan in plans)
    assert ours.mse < plain.mse / 8
    assert ours.coverage >= 0.88


# --- the reading of a tally, by hand


def test_a_reading_by_hand():
    question = window_question(ALPHA, Window(0.2, -2.0, 2.0), 4.0, Bits.single(ALPHA))
    reading = read_alone(question, 1000, (600,), 2.0)
    factor = privacy_factor(ALPHA)
    assert reading.value == pytest.approx(0.2 + 2 * factor * (2 * 0.6 - 1) / 2, rel=1e-9)
    assert reading.standard_error == pytest.approx(2 * factor * 2 * math.sqrt(0.24 / 1000) / 2, rel=1e-9)
    wilson = stats.binomtest(600, 1000).proportion_ci(0.95, method="wilson")
    assert reading.low == pytest.approx(0.2 + factor * (2 * wilson.low - 1), rel=1e-9)
    assert reading.high == pytest.approx(0.2 + factor * (2 * wilson.high - 1), rel=1e-9)


def test_a_reading_of_noisy_grid_points_is_students():
    question = window_question(0.5, Window(0.0, -1.0, 1.0), 1.0, Laplace(steps=100, scale=200))
    values = np.array([12, -30, 250, 77, 140])
    reading = read_alone(question, 5, (int(values.sum()), int((values**2).sum())), 1.0)
    places = 2 * values / 100 - 1
    error = places.std(ddof=1) / math.sqrt(5)
    assert reading.value == pytest.approx(places.mean())
    assert reading.standard_error == pytest.approx(error)
    assert (reading.low, reading.high) == pytest.approx(stats.t.interval(0.95, 4, places.mean(), error))


def test_the_variance_of_many_large_values_keeps_its_digits():
    """The difference of two sums of 10^30 is taken in integers: as floats nothing would be left of it."""
    question = window_question(1e-6, Window(0.0, -1.0, 1.0), 1.0, Laplace(steps=2**20, scale=2**40))
    reports, value = 10**9, 2**44
    sums = (value * reports, value * value * reports + reports)  # as if half were one more and half one less
    reading = read_alone(question, reports, sums, 1.0)
    assert reading.standard_error == pytest.approx(2 / 2**20 / math.sqrt(reports), rel=1e-6)


# --- wrong windows


@pytest.mark.parametrize("users", [500, 3000])
def test_the_bound_on_a_wrong_window_holds(users):
    """With few users the vote fails often; never more often than the plan admits, and never in silence."""
    sizes = Sizes.constant(10_000)
    plan = plan_mean(users=users, alpha=ALPHA, sizes=sizes, protocol="paper", study="s")
    population = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.1"))
    missed = 0
    repetitions = 150
    for child in np.random.SeedSequence(SEED).spawn(repetitions):
        study = simulate_once(plan, population, np.random.default_rng(child))
        centre = study.tallies[1].question.lens.windows[0].centre
        wrong = abs(centre - 0.1) > 3 * plan.details["tau"]
        missed += wrong
        assert not wrong or study.estimate.interval == (-1.0, 1.0) or study.estimate.failure_probability <= 0.01
    assert (missed > 5) == (users == 500)
    assert stats.binomtest(missed, repetitions, plan.forecast.failure_probability, "greater").pvalue > FALSE_ALARM


def test_a_vote_that_is_not_decisive_widens_the_interval_to_the_whole_range():
    plan = plan_mean(users=50, alpha=0.1, sizes=Sizes.constant(10_000), protocol="paper", study="s", bounds=(0, 8))
    population = dame.Population.synthetic(Sizes.constant(10_000), dame.parse_distribution("rademacher:0"))
    estimate = run_machine(plan, population, seed=SEED)
    assert estimate.interval == (0.0, 8.0)
    assert estimate.failure_probability > 0.01
    assert any("not decisive" in note for note in estimate.notes)


def test_an_estimate_survives_json():
    estimate = Estimate(value=1.5, standard_error=0.25, interval=(1.0, 2.0), users=(3, 4), notes=("a note",))
    assert Estimate.from_json(json.loads(json.dumps(estimate.to_json()))) == estimate
