"""A study that has begun is finished by a release with other constants: what was asked is what counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dame
from dame.between_users.tuning import SEGMENTS
from dame.device.lenses import Windows
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.protocols.adaptive import one_distribution, search, segments
from dame.protocols.adaptive.tuning import TUNING
from tests.core.conformance import check_estimate

CACHES = (search._best_design, one_distribution._located, segments._expected)
THETA = 0.3


@pytest.fixture
def other_constants(monkeypatch):
    """A function that replaces tuned constants, as another release would have them, for as long as the test runs."""

    def change(tuning: object, **constants: object) -> None:
        before = {name: getattr(tuning, name) for name in constants}
        undo.append((tuning, before))
        for name, value in constants.items():
            object.__setattr__(tuning, name, value)
        for cache in CACHES:
            cache.cache_clear()

    def back() -> None:
        while undo:
            tuning, before = undo.pop()
            for name, value in before.items():
                object.__setattr__(tuning, name, value)
        for cache in CACHES:
            cache.cache_clear()

    undo: list[tuple[object, dict[str, object]]] = []
    change.back = back
    yield change
    back()


def answered(plan: MachinePlan, history: list[dame.Tally], rounds: int, means: np.ndarray) -> list[dame.Tally]:
    """The history after so many more rounds, by today's constants."""
    rng = np.random.default_rng(len(history))
    for _ in range(rounds):
        question = next_step(plan, history)
        part = rng.choice(means, round(len(means) * plan.shares[len(history)]))
        history = [*history, draw_tally(question, [Chunk(np.full(len(part), 50), part)], rng)]
    return history


def finished(plan: MachinePlan, history: list[dame.Tally]) -> Estimate:
    estimate = next_step(plan, history)
    assert isinstance(estimate, Estimate)
    check_estimate(estimate, plan)
    return estimate


def users(count: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return 2 * rng.binomial(50, (THETA + 1) / 2, count) / 50 - 1


@pytest.mark.parametrize("constants", [{"misfit": 0.011}, {"digits": 4, "belief": 0.99}, {"points": 61, "trust": 0.5}])
def test_two_rounds_under_other_constants(other_constants, constants):
    """The issue that this was found with: one constant changed from 0.01 to 0.011, and the study could not go on."""
    other_constants(TUNING, **constants)
    plan = plan_mean(users=20_000, alpha=1.0, sizes=dame.Sizes.parse("constant:50"), study="outlive", max_rounds=4)
    assert len(plan.rounds) >= 3
    means = users(plan.users)
    before = answered(plan, [], 2, means)
    as_it_was = next_step(plan, before)
    other_constants.back()
    assert next_step(plan, before) != as_it_was or "belief" in constants or "trust" in constants
    history = answered(plan, before, len(plan.rounds) - 2, means)
    assert [tally.question for tally in history[:2]] == [tally.question for tally in before]
    low, high = finished(plan, history).interval
    assert low < THETA < high


def test_segments_under_other_constants(other_constants):
    other_constants(SEGMENTS, reach=2.5, count=4)
    plan = plan_mean(
        users=20_000, alpha=1.0, sizes=dame.Sizes.parse("constant:50"), study="outlive", between_sd="learn"
    )
    means = users(plan.users)
    before = answered(plan, [], 2, means)
    assert before[1].question.lens.window_count == 4
    other_constants.back()
    history = answered(plan, before, 1, means)
    assert history[2].question.lens.window_count == 8
    assert abs(finished(plan, history).value - THETA) < 0.1


def test_a_survey_under_other_constants(other_constants):
    other_constants(TUNING, clips=(0.7, 1.1, 2.2), survey_trust=0.9)
    plan = plan_mean(users=20_000, alpha=1.0, sizes=dame.Sizes.parse("constant:50"), study="outlive", survey=0.1)
    means = users(plan.users)
    before = answered(plan, [], 2, means)
    other_constants.back()
    history = answered(plan, before, len(plan.rounds) - 2, means)
    assert abs(finished(plan, history).value - THETA) < 0.05


def test_a_question_that_nobody_would_ask_today_is_read_as_it_was_asked():
    """The windows of the second round are three times as wide, and around another centre: the estimate is right."""
    plan = plan_mean(users=40_000, alpha=1.0, sizes=dame.Sizes.parse("constant:50"), study="outlive")
    means = users(plan.users)
    history = answered(plan, [], 1, means)
    question = next_step(plan, history)
    lens = question.lens
    assert isinstance(lens, Windows)
    wide = [
        window._replace(centre=window.centre + 0.05, left=3 * window.left, right=3 * window.right)
        for window in lens.windows
    ]
    odd = replace(question, lens=replace(lens, windows=tuple(wide)))
    rng = np.random.default_rng(9)
    history.append(draw_tally(odd, [Chunk(np.full(10_000, 50), rng.choice(means, 10_000))], rng))
    history = answered(plan, history, len(plan.rounds) - 2, means)
    low, high = finished(plan, history).interval
    assert low < THETA < high
