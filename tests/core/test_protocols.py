"""What every protocol promises, whatever is asked and whatever comes back. New protocols inherit it all."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dame
from dame.device.channels import Bits
from dame.device.lenses import Bins, SizeClasses, Windows
from dame.device.questions import Question, question_id
from dame.device.statistics import Value
from dame.errors import InvalidInput, Mismatch
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.populations.simulation import simulate
from dame.protocols import DEFAULT, PROTOCOLS, plan_mean
from dame.protocols import next as next_step
from dame.protocols.base import Protocol
from dame.protocols.needed import users_needed
from dame.protocols.registry import OF_PEOPLE
from dame.sizes import Sizes
from dame.tally import Tally
from tests.core.conformance import (
    EXTREME_ALPHAS,
    FEW_USERS,
    SEED,
    SIZES,
    check_estimate,
    drive,
    every_protocol,
    likely_tally,
    plan_of,
    population,
    possible_tallies,
)
from tests.machines import from_json, run_machine, to_json

# --- the list


def test_the_suite_covers_every_protocol():
    def leaves(kind: type) -> set[type]:
        found = {leaf for child in kind.__subclasses__() for leaf in leaves(child)}
        return found | ({kind} if "name" in vars(kind) else set())

    assert set(PROTOCOLS) >= {"paper", "kent", "duchi", "one-bit", "adaptive"}
    assert {protocol.name for protocol in PROTOCOLS.values()} == set(PROTOCOLS)
    ours = {leaf for leaf in leaves(Protocol) if leaf.__module__.startswith("dame.")}
    assert ours <= {type(protocol) for protocol in (*PROTOCOLS.values(), *OF_PEOPLE.values())}
    assert DEFAULT in PROTOCOLS
    assert all(protocol.summary.strip() for protocol in PROTOCOLS.values())


# --- plans


@every_protocol
@pytest.mark.parametrize(("alpha", "bounds"), [(22 / 35, (-1.0, 1.0)), (3.0, (-273.15, 1e6))])
def test_a_plan_survives_json(name, alpha, bounds):
    plan = plan_of(name, alpha=alpha, bounds=bounds)
    assert plan.notes or name != "paper" or alpha < 1
    document = to_json(plan)
    assert from_json(document, plan) == plan
    assert next_step(from_json(document, plan), []) == next_step(plan, [])


@every_protocol
def test_a_plan_has_the_keys_that_others_rely_on(name):
    plan = dame.plan(users=1001, alpha=22 / 35, sizes=SIZES, protocol=name)
    document = dame.plan_to_json(plan)
    common = {"protocol", "protocol_version", "alpha", "users", "rounds", "predicted_rmse", "failure_probability"}
    bounds = {"limit_mse", "lower_bound", "upper_bound"}
    own = {"m_tilde", "tau", "bins", "phi"} if name in ("paper", "kent") else set()
    assert common | bounds | own <= document.keys()
    assert document["protocol"] == name


@every_protocol
def test_the_same_brief_gives_the_same_plan(name):
    assert plan_of.__wrapped__(name) == plan_of(name)


@every_protocol
def test_shares_add_up_to_everybody(name):
    for users in (1, 1001):
        assert math.fsum(plan_of(name, users).shares) == pytest.approx(1.0, abs=1e-12)


@every_protocol
@pytest.mark.parametrize("alpha", EXTREME_ALPHAS)
@pytest.mark.parametrize(
    ("users", "sizes"),
    [
        (1, "constant:1"),
        (2, SIZES),
        (3, "constant:1e9"),
        (10**9, "constant:1"),
        (10**9, SIZES),
        (10**9, "constant:1e9"),
    ],
)
def test_few_and_huge_numbers_of_users_at_every_alpha_are_planned_and_played(name, alpha, users, sizes):
    plan = plan_of(name, users, alpha, sizes)
    forecast = plan.forecast
    assert 0 < forecast.predicted_rmse <= forecast.predicted_rmse_with_failures < math.inf
    assert 0 <= forecast.failure_probability <= 1
    assert 0 < forecast.limit_mse < math.inf
    assert 0 <= forecast.lower_bound <= forecast.upper_bound
    _, estimate = drive(plan, lambda question: likely_tally(question, max(users // 2, 1)))
    check_estimate(estimate, plan)


@every_protocol
@pytest.mark.parametrize("sizes", [SIZES, "constant:1e15"])
def test_bins_cover_the_whole_range_whatever_the_sizes(name, sizes):
    lens = next_step(plan_of(name, 10**6, 1.0, sizes), []).lens
    if isinstance(lens, Bins):
        assert lens.origin == -1
        assert lens.origin + lens.bins * lens.width >= 1
        assert lens.origin + (lens.bins - 1) * lens.width < 1


@every_protocol
@pytest.mark.parametrize("wrong", [0, -1, 1.5, math.nan, math.inf, "10", None, True, 10**13])
def test_a_wrong_number_of_users_is_refused(name, wrong):
    with pytest.raises(InvalidInput, match="users"):
        plan_mean(users=wrong, alpha=1.0, sizes=Sizes.constant(5), protocol=name)


@every_protocol
@pytest.mark.parametrize("wrong", [0, -1, 9e-7, 33, 1e6, math.nan, math.inf, "1", None, True])
def test_a_wrong_alpha_is_refused(name, wrong):
    with pytest.raises(InvalidInput, match="alpha"):
        plan_mean(users=10, alpha=wrong, sizes=Sizes.constant(5), protocol=name)


@every_protocol
@pytest.mark.parametrize(
    "wrong",
    [(1, 1), (1, 0), (math.nan, 1), (0, math.nan), (0, math.inf), (0,), (0, 1, 2), None, 5, "ab", (-1e300, 1e300)],
)
def test_wrong_bounds_are_refused(name, wrong):
    with pytest.raises(InvalidInput, match="bound"):
        plan_mean(users=10, alpha=1.0, sizes=Sizes.constant(5), protocol=name, bounds=wrong)


@pytest.mark.parametrize("wrong", ["dame", "", "PAPER", None, 5, ["paper"]])
def test_an_unknown_protocol_is_refused(wrong):
    with pytest.raises(InvalidInput, match="protocol must be one of"):
        plan_mean(users=10, alpha=1.0, sizes=Sizes.constant(5), protocol=wrong)


@every_protocol
@pytest.mark.parametrize("wrong", ["poisson:5", None, 5, {1: 1.0}])
def test_sizes_that_are_no_sizes_are_refused(name, wrong):
    with pytest.raises(InvalidInput, match="sizes"):
        plan_mean(users=10, alpha=1.0, sizes=wrong, protocol=name)


@every_protocol
def test_choices_that_a_planner_does_not_know_are_refused(name):
    with pytest.raises(InvalidInput, match="choice"):
        plan_mean(users=10, alpha=1.0, sizes=Sizes.constant(5), protocol=name, luck=1.0)


@every_protocol
def test_without_a_name_every_study_has_its_own_identity(name):
    one, other = (plan_mean(users=10, alpha=1.0, sizes=Sizes.constant(1), protocol=name) for _ in range(2))
    assert one.study != other.study
    assert question_id(next_step(one, [])) != question_id(next_step(other, []))


# --- the state machine


@every_protocol
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_the_tallies_questions_keep_the_budget_and_the_estimate_is_inside_the_bounds(name, data):
    plan = plan_of(name, bounds=data.draw(st.sampled_from([(-1.0, 1.0), (0.1, 0.7)])))
    _, estimate = drive(plan, lambda question: data.draw(possible_tallies(question)))
    check_estimate(estimate, plan)


@every_protocol
@settings(max_examples=20)
@given(data=st.data())
def test_first_and_next_are_pure(name, data):
    plan, tallies = plan_of(name), []
    twin = from_json(to_json(plan), plan)
    assert next_step(plan, []) == next_step(plan, [])
    while not isinstance(step := next_step(plan, tallies), Estimate):
        kept = list(tallies)
        assert next_step(plan, tuple(tallies)) == step
        assert next_step(twin, list(tallies)) == step
        assert tallies == kept
        tallies.append(data.draw(possible_tallies(step)))
    assert next_step(twin, tallies) == step


@every_protocol
def test_too_many_tallies_are_a_mismatch(name):
    plan, tallies = plan_of(name), []
    drive(plan, lambda question: tallies.append(likely_tally(question, 50)) or tallies[-1])
    with pytest.raises(Mismatch):
        next_step(plan, [*tallies, tallies[-1]])


@every_protocol
def test_a_tally_of_another_question_is_a_mismatch(name):
    plan, tallies = plan_of(name), []
    drive(plan, lambda question: tallies.append(likely_tally(question, 50)) or tallies[-1])
    for place, tally in enumerate(tallies):
        changes = ({"study": "other"}, {"round": 60}, {"target": "other"}, {"statistic": Value(low=-1.0, high=2.0)})
        for change in (*changes, {"alpha": 2 * plan.alpha}):
            foreign = likely_tally(dataclasses.replace(tally.question, **change), 50)
            with pytest.raises(Mismatch):
                next_step(plan, [*tallies[:place], foreign])
    if len(tallies) > 1:
        with pytest.raises(Mismatch):
            next_step(plan, tallies[::-1])


@every_protocol
def test_questions_of_another_shape_are_a_mismatch(name):
    plan, tallies = plan_of(name, users=100_000, sizes="constant:10000"), []
    drive(plan, lambda question: tallies.append(likely_tally(question, 500)) or tallies[-1])
    lens, channel = SizeClasses(classes=4), Bits.optimised(plan.alpha, 4)
    last = dataclasses.replace(tallies[-1].question, lens=lens, channel=channel)
    with pytest.raises(Mismatch, match="size-classes bits"):
        next_step(plan, [*tallies[:-1], likely_tally(last, 50)])


@every_protocol
def test_a_silent_round_gives_the_whole_range_and_says_so(name):
    plan = plan_of(name, bounds=(0.0, 10.0))
    for silent in range(len(plan.rounds)):
        _, estimate = drive(
            plan, lambda question, silent=silent: likely_tally(question, 0 if question.round == silent else 40)
        )
        assert estimate.interval == (0.0, 10.0)
        assert estimate.value == 5.0
        assert any("no reports" in note for note in estimate.notes)
        assert estimate.users[silent] == 0


# --- studies


@every_protocol
@pytest.mark.parametrize("users", FEW_USERS)
@pytest.mark.parametrize("alpha", EXTREME_ALPHAS)
def test_a_handful_of_users_gives_an_estimate(name, users, alpha):
    plan = plan_of(name, users, alpha)
    for seed in range(5):
        estimate = run_machine(plan, population(), seed=seed)
        check_estimate(estimate, plan)
        assert sum(estimate.users) == users


@every_protocol
def test_a_study_is_the_same_in_other_units(name):
    inner, hours = plan_of(name), plan_of(name, bounds=(0.0, 10.0))
    for seed in range(4):
        one, other = (run_machine(plan, population(), seed=seed) for plan in (inner, hours))
        assert other.value == pytest.approx(5 * (one.value + 1), abs=1e-12)
        assert other.standard_error == pytest.approx(5 * one.standard_error, rel=1e-12)
        assert other.interval == pytest.approx([5 * (end + 1) for end in one.interval], abs=1e-12)
        assert other.users == one.users
    assert hours.forecast.predicted_rmse == pytest.approx(5 * inner.forecast.predicted_rmse)
    assert hours.forecast.limit_mse == pytest.approx(25 * inner.forecast.limit_mse)


@every_protocol
def test_the_same_seed_gives_the_same_study(name):
    plan = plan_of(name)
    one, same, other = (run_machine(plan, population(), seed=seed) for seed in (SEED, SEED, SEED + 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize("seed", [-1, 1.5, "1", 2**65, True])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed"):
        dame.run(dame.plan(users=9, alpha=1.0, sizes=SIZES, protocol="one-bit"), population(), seed=seed)
    with pytest.raises(InvalidInput, match="seed"):
        simulate(plan_of("one-bit"), population(), 2, seed=seed)


@pytest.mark.parametrize("repetitions", [0, -1, 1.5, math.nan, "1", None, True])
def test_a_wrong_number_of_repetitions_is_refused(repetitions):
    with pytest.raises(InvalidInput, match="repetitions"):
        simulate(plan_of("one-bit"), population(), repetitions)


# --- how many users a target takes


@pytest.mark.parametrize("name", ["one-bit", "duchi", "paper"])
@pytest.mark.parametrize("target", [0.05, 0.3, 5.0])
def test_the_fewest_users_that_reach_a_target_are_found(name, target):
    def make(users: int) -> MachinePlan:
        return plan_of(name, users, 1.0, "constant:100", (0.0, 10.0))

    found = users_needed(make, lambda plan: plan.forecast.counted_rmse, target)
    assert found.forecast.predicted_rmse_with_failures <= target
    if found.users > 1:
        assert make(found.users - 1).forecast.predicted_rmse_with_failures > target


@pytest.mark.parametrize("target", [0, -1.0, math.nan, math.inf, 1e-9])
def test_a_target_that_nobody_can_reach_is_refused(target):
    with pytest.raises(InvalidInput, match="target error"):
        users_needed(
            lambda users: plan_of("one-bit", users, 1.0, "constant:1"), lambda plan: plan.forecast.counted_rmse, target
        )


# --- measurements


@every_protocol
def test_every_measurement_holds_the_whole_range_or_a_window_around_a_centre(name):
    def answers(question: Question) -> Tally:
        if isinstance(question.lens, Windows):
            assert all(window.left < window.right for window in question.lens.windows)
            assert all(-2 <= window.centre <= 2 for window in question.lens.windows)
        return likely_tally(question, 100)

    drive(plan_of(name), answers)
