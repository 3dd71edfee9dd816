"""When nobody knows M: a survey of sizes, what it finds, and studies that go on with it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dame
from dame.audit.poisoning import largest_shift
from dame.cli.explain import describe
from dame.device.channels import Bits, Choice
from dame.device.lenses import SizeClasses
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.monitoring import vote_histogram
from dame.planning.machines import MachinePlan
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally, simulate, simulate_once
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.protocols.adaptive.survey import class_shares, continued, found_sizes, sharper_channel
from dame.tally import Tally
from tests.machines import from_json, to_json

ALPHA = 22 / 35
ASSUMED = "poisson:50"
LAW = "rademacher:0.37"


def people(true: str, law: str = LAW) -> dame.Population:
    return dame.Population.synthetic(dame.Sizes.parse(true), dame.parse_distribution(law))


@cache
def surveyed(users: int = 10_000, assumed: str = ASSUMED, share: float = 0.1, **choices: float) -> MachinePlan:
    sizes = dame.Sizes.parse(assumed)
    return plan_mean(users=users, alpha=ALPHA, sizes=sizes, survey=share, study="survey", **choices)


def survey_of(true: str, plan: MachinePlan, seed: int, users: int = 1000) -> Tally:
    """The votes of so many users."""
    rng = np.random.default_rng(seed)
    sizes = dame.Sizes.parse(true).sample(rng, users)
    return draw_tally(next_step(plan, []), [Chunk(sizes, np.zeros(users))], rng)


def found(true: str, users: int, seed: int = 1) -> dame.Sizes:
    return found_sizes(survey_of(true, surveyed(), seed, users), dame.Sizes.parse(ASSUMED))


# --- the question


@pytest.mark.parametrize("alpha", [0.1, ALPHA, 1.0, 1.2, 2.0, 4.0])
@pytest.mark.parametrize("classes", [2, 5, 12, 40])
def test_the_channel_with_less_noise_is_chosen(alpha: float, classes: int) -> None:
    """Wang et al. 2017: a choice of one among k is sharper than bits where k < 3·e^α + 2."""
    channel = sharper_channel(alpha, classes)
    assert isinstance(channel, Choice if classes < 3 * np.exp(alpha) + 2 else Bits)
    other = Bits.optimised(alpha, classes) if isinstance(channel, Choice) else Choice.spending(alpha, classes)
    assert channel.variance(0.0) <= other.variance(0.0)


@pytest.mark.parametrize("alpha", [ALPHA, 2.0])
def test_surveys_by_either_channel_tell_the_mean_weight(alpha: float) -> None:
    plan = plan_mean(users=10_000, alpha=alpha, sizes=dame.Sizes.parse(ASSUMED), survey=0.1, study="survey")
    assert plan.rounds[0].shape == ("size-classes bits" if alpha < 1 else "size-classes choice")
    tally = survey_of("poisson:200", plan, 1, 10**6)
    sizes = found_sizes(tally, dame.Sizes.parse(ASSUMED))
    assert sizes.mean_sqrt() == pytest.approx(dame.Sizes.parse("poisson:200").mean_sqrt(), rel=0.2)


# --- the plan


def test_plans_with_a_survey_survive_json() -> None:
    plan = surveyed(failure=1e-4)
    assert isinstance(plan.rounds[0].lens, SizeClasses)
    assert sum(plan.shares) == pytest.approx(1)
    assert from_json(to_json(plan), plan) == plan
    assert "records" in describe(plan.rounds[0])
    plain = plan_mean(users=10_000, alpha=ALPHA, sizes=dame.Sizes.parse(ASSUMED))
    assert 1 < plan.forecast.predicted_rmse / plain.forecast.predicted_rmse < 1.15


def test_a_survey_anywhere_but_first_is_refused() -> None:
    plan = surveyed()
    document = to_json(plan)
    document["rounds"] = document["rounds"][1:] + document["rounds"][:1]  # type: ignore[index]
    with pytest.raises(InvalidInput, match="rounds"):
        from_json(document, plan)


@pytest.mark.parametrize("share", [0.0, -0.1, 0.6, float("nan"), "all"])
def test_bad_shares_are_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="survey"):
        surveyed(share=share)


def test_under_between_user_variation_sizes_are_not_asked_for() -> None:
    with pytest.raises(InvalidInput, match="sizes are not used"):
        surveyed(between_sd="learn")
    with pytest.raises(InvalidInput, match="survey"):
        surveyed(protocol="paper")


def test_malicious_users_are_reckoned_with() -> None:
    plain = plan_mean(users=10_000, alpha=ALPHA, sizes=dame.Sizes.parse(ASSUMED))
    assert 0.5 * largest_shift(plain) <= largest_shift(surveyed()) <= 2.0


# --- what it finds


TRUE = ["constant:33", "constant:62", "poisson:50", "poisson:12.5", "poisson:200", "zipf:1.5:10000"]


@pytest.mark.parametrize("true", TRUE)
def test_many_votes_tell_the_mean_weight(true: str) -> None:
    truth = dame.Sizes.parse(true).mean_sqrt()
    assert found(true, 10**7).mean_sqrt() == pytest.approx(truth, rel=0.2)
    assert found(true, 10**4).mean_sqrt() == pytest.approx(truth, rel=0.4)


def test_classes_of_many_votes_are_believed() -> None:
    """Two clusters that are no plausible law: what the votes say stands."""
    true = dame.Sizes.parse("two-point:4:900:0.5")
    shares = class_shares(found("two-point:4:900:0.5", 10**6), 13)
    assert shares == pytest.approx(class_shares(true, 13), abs=0.02)


def test_without_votes_what_was_assumed_stands() -> None:
    plan = surveyed()
    silence = Tally.zero(next_step(plan, []))
    assert continued(plan, silence).brief.sizes == dame.Sizes.parse(ASSUMED)
    assert vote_histogram(plan, silence) is None
    assert vote_histogram(plan, survey_of(ASSUMED, plan, 1)) is None


# --- the study


def test_rounds_follow_from_the_survey() -> None:
    plan = surveyed(100_000)
    small, large = (next_step(plan, [survey_of(true, plan, 2, 10_000)]) for true in ("constant:1", "constant:4000"))
    assert small.round == large.round == 1
    assert small.lens.kind == "windows"
    assert large.lens.kind == "bins", "with so many records votes locate best"


def test_the_state_machine_is_pure_and_counts_everybody() -> None:
    plan = surveyed()
    played = simulate_once(plan, people("poisson:200"), np.random.default_rng(1))
    assert [tally.question.round for tally in played.tallies] == list(range(len(plan.rounds)))
    assert played.estimate.users == tuple(tally.reports for tally in played.tallies)
    assert sum(played.estimate.users) == plan.users
    again = next_step(from_json(to_json(plan), plan), played.tallies)
    assert isinstance(again, Estimate)
    assert again == played.estimate


# With so few repetitions the coverage has a standard error of 0.04, a ratio of errors one of 0.15.
REPETITIONS = 60
PRICE = {"poisson:50": 1.6, "poisson:12.5": 1.6, "poisson:200": 1.8, "zipf:1.5:10000": 2.3}
"""True sizes: the largest error allowed, relative to a study that knows M."""


@pytest.mark.parametrize("true", PRICE)
def test_a_wrong_guess_of_the_sizes_is_mended(true: str) -> None:
    check_a_wrong_guess(true, 10_000, REPETITIONS, coverage=0.83, slack=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("users", [10_000, 100_000])
@pytest.mark.parametrize("true", PRICE)
def test_a_wrong_guess_of_the_sizes_is_mended_at_length(true: str, users: int) -> None:
    check_a_wrong_guess(true, users, 150, coverage=0.9, slack=0.9)


def check_a_wrong_guess(true: str, users: int, repetitions: int, coverage: float, slack: float) -> None:
    known = plan_mean(users=users, alpha=ALPHA, sizes=dame.Sizes.parse(true))
    best = simulate(known, people(true), 100, seed=2)
    result = simulate(surveyed(users), people(true), repetitions, seed=3)
    assert result.coverage >= coverage
    assert result.rmse <= PRICE[true] * slack * best.rmse
