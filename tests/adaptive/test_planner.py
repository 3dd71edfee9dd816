"""What the planner promises."""

from __future__ import annotations

import itertools

import pytest

import dame
from dame.errors import InvalidInput
from dame.planning.machines import MachinePlan
from dame.protocols import plan_mean
from dame.protocols.adaptive import search
from dame.protocols.adaptive.doubts import Doubt
from dame.protocols.needed import alpha_needed, users_needed

ALPHA = 22 / 35
BASELINES = ("one-bit", "duchi", "paper", "kent")
GRID = list(
    itertools.product(
        ("constant:1", "poisson:5", "poisson:50", "constant:100000"), (100, 3000, 10**5), (0.1, ALPHA, 3.0)
    )
)


def counted_error(plan: MachinePlan) -> float:
    return plan.forecast.counted_rmse


def adaptive(spec: str, users: int, alpha: float = ALPHA, **choices: float) -> MachinePlan:
    return plan_mean(users=users, alpha=alpha, sizes=dame.Sizes.parse(spec), **choices)


@pytest.mark.parametrize(("spec", "users", "alpha"), GRID)
def test_never_more_than_5_percent_worse_than_any_baseline(spec: str, users: int, alpha: float) -> None:
    ours = counted_error(adaptive(spec, users, alpha))
    sizes = dame.Sizes.parse(spec)
    theirs = (counted_error(plan_mean(users=users, alpha=alpha, sizes=sizes, protocol=name)) for name in BASELINES)
    assert ours <= 1.05 * min(theirs)


def test_single_records_get_plain_one_bit() -> None:
    plan = adaptive("constant:1", 10**5)
    assert len(plan.rounds) == 1
    assert plan.forecast.predicted_rmse**2 == pytest.approx(plan.forecast.limit_mse, rel=1e-6)


@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_rounds_are_limited_and_more_of_them_never_hurt(most: int) -> None:
    plan = adaptive("constant:100000", 10**4, max_rounds=most)
    assert len(plan.rounds) <= most
    fewer = adaptive("constant:100000", 10**4, max_rounds=max(most - 1, 1))
    assert plan.forecast.predicted_rmse <= fewer.forecast.predicted_rmse * 1.02
    assert sum(plan.shares) == pytest.approx(1)


@pytest.mark.parametrize("allowed", [1e-3, 1e-6, 1e-9])
def test_the_chance_of_a_wrong_window_stays_below_what_is_allowed(allowed: float) -> None:
    plan = adaptive("constant:100000", 4000, failure=allowed)
    assert 0 < plan.forecast.failure_probability <= allowed


def test_a_wrong_place_is_counted_and_weighed() -> None:
    """Too few people for a sure vote: what a wrong place costs is in the error, and people vote until it is small."""
    plan = adaptive("constant:100000", 1000, 0.6)
    forecast = plan.forecast
    assert plan.rounds[0].shape == "bins bits"
    assert 1e-6 < forecast.failure_probability < 1e-2
    # The mean squared error of a place anywhere in the range is 4/3 if θ is at its end.
    wrong = forecast.predicted_rmse_with_failures**2 - forecast.predicted_rmse**2
    assert wrong == pytest.approx(forecast.failure_probability * 4 / 3)
    assert forecast.counted_rmse == forecast.predicted_rmse_with_failures


def test_without_the_cost_of_wrong_places_votes_would_be_less_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = dame.Sizes.parse("constant:90000")
    weighed = plan_mean(users=1100, alpha=0.6, sizes=sizes)
    monkeypatch.setattr(Doubt, "risk", property(lambda doubt: 0.0))
    search._best_design.cache_clear()
    careless = plan_mean(users=1100, alpha=0.6, sizes=sizes)
    search._best_design.cache_clear()
    assert careless.forecast.failure_probability > 10 * weighed.forecast.failure_probability
    assert careless.forecast.counted_rmse > weighed.forecast.counted_rmse


@pytest.mark.parametrize("users", [300, 700, 1000, 1500, 3000])
def test_few_people_with_many_records_lose_nothing_suddenly(users: int) -> None:
    """From plain bits to sure votes the error falls all the way."""
    fewer, more = (adaptive("constant:100000", count, 1.0) for count in (users, round(1.3 * users)))
    assert more.forecast.counted_rmse < fewer.forecast.counted_rmse


@pytest.mark.parametrize("rho", [0.02, 0.08, 0.13, 0.18, 0.3])
def test_a_growing_minority_with_most_of_the_records_never_hurts(rho: float) -> None:
    """The vote of the large users fails below some share; what follows is then located by everybody."""
    sizes = [f"two-point:1000:10000000:{share}" for share in (rho, 1.3 * rho)]
    fewer, more = (counted_error(adaptive(each, 10**5, max_rounds=4)) for each in sizes)
    assert more < 1.1 * fewer
    alone = counted_error(adaptive("constant:1000", 10**5, max_rounds=4))
    assert fewer < 1.05 * alone


def test_errors_fall_as_users_and_large_users_grow() -> None:
    by_users = [adaptive("poisson:50", n).forecast.predicted_rmse for n in (300, 3000, 300_000)]
    assert by_users == sorted(by_users, reverse=True)
    by_share = [
        adaptive(f"two-point:100000:1000000:{rho}", 10**5).forecast.predicted_rmse for rho in (0.1, 0.5, 0.7, 0.9)
    ]
    assert by_share == sorted(by_share, reverse=True)


def test_a_billion_users_can_be_planned_for() -> None:
    plan = adaptive("zipf:1.5:10000", 10**9)
    assert plan.forecast.predicted_rmse < 1.05e-4


def test_every_bit_is_a_bit() -> None:
    """Bits only: nothing that a malicious device could make unbounded."""
    for spec in ("poisson:5", "constant:100000", "zipf:1.5:10000"):
        for round_ in adaptive(spec, 10**5).rounds:
            assert round_.channel.kind == "bits"


@pytest.mark.parametrize("protocol", ["one-bit", "duchi", "adaptive"])
def test_users_for_a_target_error_are_just_enough(protocol: str) -> None:
    sizes = dame.Sizes.parse("poisson:20")

    def make(users: int) -> MachinePlan:
        return plan_mean(users=users, alpha=1.0, sizes=sizes, protocol=protocol)

    found = users_needed(make, counted_error, 0.02)
    assert counted_error(found) <= 0.02
    assert counted_error(make(int(found.users / 1.03))) > 0.02


def test_alpha_for_a_target_error_is_just_enough() -> None:
    def make(alpha: float) -> MachinePlan:
        return adaptive("poisson:20", 5000, alpha)

    found = alpha_needed(make, counted_error, 0.02)
    assert counted_error(found) <= 0.02 < counted_error(make(found.alpha / 1.05))


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan"), 1e-12])
def test_targets_out_of_reach_are_refused(target: float) -> None:
    with pytest.raises(InvalidInput, match="target error"):
        users_needed(
            lambda users: plan_mean(users=users, alpha=1.0, sizes=dame.Sizes.constant(1), protocol="one-bit"),
            counted_error,
            target,
        )


@pytest.mark.parametrize(
    "choices", [{"max_rounds": 0}, {"max_rounds": 7}, {"max_rounds": 2.5}, {"failure": 0.0}, {"colour": 3}]
)
def test_bad_choices_are_refused(choices: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        adaptive("poisson:5", 1000, **choices)
