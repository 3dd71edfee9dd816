"""The planner of stripes: what it promises, when it falls back on plain bits, and that plans are quick."""

from __future__ import annotations

import time

import pytest

from dame.device.lenses import MOST_WINDOWS
from dame.errors import InvalidInput
from dame.planning.brief import Brief
from dame.protocols import plan_mean
from dame.protocols.one_round.certificate import wrong_stripe_bound
from dame.protocols.one_round.design import best_design
from dame.protocols.one_round.planning import STRIPES, best_stripes
from dame.protocols.one_round.responses import Responses, feared, grouped
from dame.sizes import Sizes
from dame.theory import limit, one_round_limit, privacy_factor

ALPHA = 22 / 35


def brief_of(sizes: str, users: int = 10_000, alpha: float = 1.0, **more) -> Brief:
    return Brief(users=users, alpha=alpha, sizes=Sizes.parse(sizes), **more)


@pytest.mark.parametrize(
    ("sizes", "alpha", "users", "most"),
    [
        ("poisson:50", 1.0, 10_000, 2.8),
        ("poisson:50", ALPHA, 100_000, 3.0),
        ("poisson:500", 1.0, 100_000, 3.1),
        ("poisson:500", ALPHA, 10_000, 2.5),
        ("constant:100000", 1.0, 10_000, 3.5),
        ("constant:100000", ALPHA, 10_000, 4.0),
        ("constant:3000", ALPHA, 30_000, 2.8),
        ("two-point:10:1000:0.3", 1.0, 100_000, 4.0),
    ],
)
def test_the_predicted_risk_is_close_to_the_limit(sizes, alpha, users, most):
    design = best_stripes(brief_of(sizes, users, alpha), 1e-6)
    assert design.failure <= 1e-6
    assert one_round_limit(users, alpha, Sizes.parse(sizes)) <= design.risk
    assert design.risk <= most * limit(users, alpha, Sizes.parse(sizes))


def test_each_level_is_finer_than_the_one_before_and_all_patterns_are_used():
    levels = best_stripes(brief_of("poisson:500"), 1e-6).levels
    assert sum(level.phases for level in levels) == MOST_WINDOWS
    lengths = [level.wavelength for level in levels]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 2
    assert all(level.phases % 2 for level in levels[:-1]), "an even number of phases has every border twice"
    assert levels[-1].phases > MOST_WINDOWS / 2


def test_whoever_accepts_fewer_failures_gives_more_people_to_the_coarse_levels():
    shares = []
    for failure in (1e-2, 1e-6, 1e-12):
        design = best_design(brief_of("constant:10000", alpha=ALPHA), failure)
        assert design.failure <= failure
        shares.append(design.levels[-1].phases / MOST_WINDOWS)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]


def test_the_bound_is_that_of_all_distributions_that_are_feared():
    brief = brief_of("poisson:50")
    design = best_design(brief, 1e-6)
    seen = Responses(feared(), grouped(brief.sizes))
    assert design.failure == wrong_stripe_bound(design.levels, seen, brief.users, privacy_factor(1.0))
    assert wrong_stripe_bound(design.levels, seen, brief.users / 2, privacy_factor(1.0)) > design.failure
    assert wrong_stripe_bound(design.levels, seen, 10, privacy_factor(1.0)) == 1.0


@pytest.mark.parametrize(
    ("sizes", "users"), [("constant:1", 10_000), ("poisson:5", 100_000), ("zipf:1.5:10000", 20_000), ("poisson:50", 5)]
)
def test_plain_bits_are_asked_where_stripes_are_no_better(sizes, users):
    plan = plan_mean(protocol="one-round", users=users, alpha=1.0, sizes=Sizes.parse(sizes))
    plain = plan_mean(protocol="one-bit", users=users, alpha=1.0, sizes=Sizes.parse(sizes))
    assert plan.rounds[0].lens == plain.rounds[0].lens
    assert plan.forecast == plain.forecast


@pytest.mark.parametrize("sizes", ["geometric:0.1", "uniform:1:99", "poisson:20", "two-point:1:1000:0.1"])
@pytest.mark.parametrize("users", [300, 30_000])
def test_no_plan_is_worse_than_plain_bits(sizes, users):
    of = {
        name: plan_mean(protocol=name, users=users, alpha=ALPHA, sizes=Sizes.parse(sizes)).forecast.predicted_rmse
        for name in ("one-round", "one-bit")
    }
    assert of["one-round"] <= of["one-bit"]


def test_one_round_of_adaptive_is_stripes_where_these_are_better():
    sizes = Sizes.parse("poisson:50")
    plan = plan_mean(users=10_000, alpha=1.0, sizes=sizes, max_rounds=1)
    assert [round_.shape for round_ in plan.rounds] == [STRIPES]
    assert plan.rounds[0].lens == plan_mean(protocol="one-round", users=10_000, alpha=1.0, sizes=sizes).rounds[0].lens
    plain = plan_mean(users=10_000, alpha=1.0, sizes=Sizes.parse("constant:1"), max_rounds=1)
    assert [round_.shape for round_ in plain.rounds] == ["windows bits"]


def test_under_between_user_variation_it_is_segments():
    plan = plan_mean(protocol="one-round", users=10_000, alpha=1.0, sizes=Sizes.parse("poisson:50"), between_sd="learn")
    (only,) = plan.rounds
    assert (only.shape, only.lens.window_count) == ("windows bits", 8)


def test_a_plan_says_its_bound_on_a_wrong_stripe():
    plan = plan_mean(protocol="one-round", users=10_000, alpha=1.0, sizes=Sizes.parse("poisson:50"), failure=1e-3)
    assert 0 < plan.forecast.failure_probability <= 1e-3
    assert "the chance of a wrong stripe is at most" in plan.notes[0]


def test_a_failure_that_is_no_chance_is_refused():
    with pytest.raises(InvalidInput, match="failure"):
        plan_mean(protocol="one-round", users=10_000, alpha=1.0, sizes=Sizes.parse("poisson:50"), failure=0.5)


def test_plans_are_quick():
    sizes = Sizes.parse("constant:40000")
    sizes.nodes()
    started = time.process_time()
    best_design(brief_of("constant:40000", 20_001, ALPHA), 1e-6)
    assert time.process_time() - started < 3
