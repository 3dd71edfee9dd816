"""Between-user variation: estimates of the mean of means that need no distribution and no M."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dame
from dame.device.lenses import Windows
from dame.errors import InvalidInput
from dame.planning.machines import MachinePlan
from dame.planning.rounds import moved
from dame.populations.simulation import simulate
from dame.protocols import plan_mean
from tests.machines import from_json, run_machine, to_json

SIZES = dame.Sizes.parse("poisson:20")
ALPHA = 2.0


def plan_for(users: int, alpha: float = ALPHA, **more: object) -> MachinePlan:
    return plan_mean(users=users, alpha=alpha, **{"sizes": SIZES, "between_sd": "learn", "study": "varying", **more})


def people(kind: str, users: int) -> dame.Population:
    return dame.Population.arrays(np.full(users, 20), means_of(kind, users))


def means_of(kind: str, users: int) -> np.ndarray:
    rng = np.random.default_rng(11)
    means = {
        "bell": 0.2 + 0.15 * rng.normal(size=users),
        "clusters": np.where(rng.random(users) < 0.5, -0.5, 0.5) + 0.05 * rng.normal(size=users),
        "shoulders": -0.3 + 0.12 * rng.standard_t(3, size=users),
        "skewed": 2 * rng.beta(2, 8, size=users) - 1,
        "ends": np.where(rng.random(users) < 0.4, -1.0, 1.0),
        "minority": np.where(np.arange(users) < 0.1 * users, 0.9, -0.2) + 0.03 * rng.normal(size=users),
        "few": np.where(np.arange(users) < 0.03 * users, -1.0, 0.1) + 0.03 * rng.normal(size=users),
        "fifth": np.where(np.arange(users) < 0.2 * users, 0.9, -0.2) + 0.05 * rng.normal(size=users),
    }[kind]
    return np.clip(means, -1, 1)


def one_bit_rmse(users: int, alpha: float = ALPHA) -> float:
    return (math.exp(alpha) + 1) / (math.exp(alpha) - 1) / math.sqrt(users)


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("bell", 0.7),
        ("shoulders", 0.75),
        ("skewed", 0.85),
        ("clusters", 0.95),
        ("ends", 1.05),
        ("minority", 1.0),
        ("few", 0.85),
        ("fifth", 1.05),
    ],
)
@pytest.mark.parametrize(("users", "alpha"), [(1000, 22 / 35), (4000, 22 / 35), (3000, 2.0)])
def test_segments_are_better_than_one_bit_and_covered(kind, most, users, alpha):
    result = simulate(plan_for(users, alpha), people(kind, users), 100, seed=3)
    assert result.rmse < most * one_bit_rmse(users, alpha) * 1.15  # 100 studies: the error is known within 7 %
    assert result.coverage >= 0.88  # 100 studies of intervals that cover 0.95 are below this once in 500 times


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bell", "shoulders", "skewed", "clusters", "ends", "minority", "few", "fifth"])
@pytest.mark.parametrize("alpha", [22 / 35, 2.0])
@pytest.mark.parametrize("users", [300, 3000])
def test_never_much_worse_than_one_bit(kind, alpha, users):
    result = simulate(plan_for(users, alpha), people(kind, users), 200, seed=4)
    assert result.rmse < 1.05 * 1.1 * one_bit_rmse(users, alpha)
    assert result.coverage >= 0.91


@pytest.mark.parametrize(("most_rounds", "names"), [(2, ["locate", "finish"]), (3, ["locate", "refine", "finish"])])
@pytest.mark.parametrize("alpha", [0.7, 2.0])
def test_rounds_follow_from_how_many_may_be_asked(alpha, most_rounds, names):
    plan = plan_for(8000, alpha, max_rounds=most_rounds)
    assert [round_.name for round_ in plan.rounds] == names
    assert sum(round_.share for round_ in plan.rounds) == pytest.approx(1)
    errors = [round_.error_after for round_ in plan.rounds]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("more", [{}, {"max_rounds": 1}])
def test_few_users_send_plain_bits(more):
    plan = plan_for(200, alpha=0.3, **more)
    (only,) = plan.rounds
    assert only.lens == Windows.whole_range()
    assert plan.forecast.predicted_rmse == pytest.approx(one_bit_rmse(200, 0.3), rel=1e-6)


def test_sizes_do_not_matter_for_equal_weights():
    """With means that follow sizes, the mean of means is found all the same, whatever M was assumed."""
    rng = np.random.default_rng(6)
    sizes = rng.choice([2, 400], size=6000)
    means = np.where(sizes == 2, -0.2, 0.2) + 0.05 * rng.normal(size=6000)
    result = simulate(plan_for(6000), dame.Population.arrays(sizes, means), 40, seed=7)
    assert abs(result.bias) < 3.5 * result.bias_se + 0.2 * one_bit_rmse(6000)
    assert result.coverage >= 0.85


def test_a_known_spread_narrows_what_is_plausible():
    learnt, known = plan_for(4000), plan_for(4000, between_sd=0.1)
    assert known.forecast.predicted_rmse < learnt.forecast.predicted_rmse
    result = simulate(known, people("bell", 4000), 60, seed=8)
    assert result.coverage >= 0.85


def test_precision_weights_saturate_at_the_spread():
    plan = plan_mean(users=20_000, alpha=1, sizes=SIZES, weights="precision", between_sd=0.2, study="p")
    last = plan.rounds[-1]
    assert last.lens.between_sd == 0.2
    assert moved(last.lens, 0.0).weight(10**9) <= 1 / 0.2 + 1e-9


def test_precision_estimates_the_weighted_mean():
    rng = np.random.default_rng(9)
    users, b = 30_000, 0.15
    sizes = np.maximum(rng.poisson(20, size=users), 1)
    means = np.clip(0.3 + b * rng.normal(size=users) + rng.normal(size=users) / np.sqrt(sizes), -1, 1)
    weights = np.sqrt(1 / (1 / sizes + b**2))
    truth = float(weights @ means / weights.sum())
    plan = plan_mean(users=users, alpha=1, sizes=SIZES, weights="precision", between_sd=b, study="p")
    values = [run_machine(plan, dame.Population.arrays(sizes, means), seed=seed).value for seed in range(30)]
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / math.sqrt(30) + 0.25 * np.std(values))


@pytest.mark.parametrize("protocol", ["paper", "kent"])
def test_papers_protocols_count_effective_sizes(protocol):
    alike = plan_mean(users=10_000, alpha=0.5, sizes=dame.Sizes.parse("constant:10000"), protocol=protocol, study="s")
    differing = plan_mean(
        users=10_000, alpha=0.5, sizes=dame.Sizes.parse("constant:10000"), protocol=protocol, between_sd=0.1, study="s"
    )
    assert differing.rounds[1].lens.cap == pytest.approx(1 / (1 / 10_000 + 0.01), abs=1)
    assert differing.rounds[0].lens.bins < alike.rounds[0].lens.bins
    assert "more weight" in " ".join(differing.notes)


@pytest.mark.parametrize("spread", [-0.1, 1.5, math.nan, "much", True])
def test_wrong_spreads_are_refused(spread):
    with pytest.raises(InvalidInput, match="between_sd"):
        plan_for(100, between_sd=spread)


def test_weights_are_one_of_two():
    with pytest.raises(InvalidInput, match="weights"):
        plan_for(100, weights="heavy")
    with pytest.raises(InvalidInput, match="between_sd"):
        plan_for(100, weights="precision")


def test_plans_travel_with_their_estimand():
    for plan in (plan_for(3000), plan_for(3000, between_sd=0.2), plan_for(3000, weights="precision", between_sd=0.2)):
        back = from_json(to_json(plan), plan)
        assert back == plan
    document = to_json(plan_for(3000))
    assert (document["weights"], document["between_sd"]) == ("equal", "learn")
    estimate = run_machine(plan_for(3000), people("bell", 3000), seed=1)
    assert estimate.to_json()["weights"] == "equal"
