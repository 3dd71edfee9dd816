"""Between-user variation, by bits on segments of the range: what is asked, what is refused, how it is read."""

from __future__ import annotations

import numpy as np
import pytest

import dame
from dame.cli.explain import describe
from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.device.questions import Question
from dame.errors import InvalidInput
from dame.planning.machines import MachinePlan
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally, simulate
from dame.protocols import next as next_step
from tests.adaptive.test_between_users import means_of, one_bit_rmse, people, plan_for
from tests.machines import from_json, to_json

EIGHTHS = tuple(-1 + part / 4 for part in range(9))


def borders_of(question: Question) -> tuple[float, ...]:
    """The borders of the segments that a question asks about."""
    windows = question.lens.windows
    return (*(window.centre for window in windows), windows[-1].centre + windows[-1].right)


def first_answered(plan: MachinePlan, means: np.ndarray, rng: np.random.Generator) -> list[dame.Tally]:
    return [draw_tally(next_step(plan, []), [Chunk(np.full(len(means), 20), means)], rng)]


def test_the_first_users_are_asked_about_eighths_and_the_others_about_what_follows():
    plan = plan_for(4000, 1.0)
    first, *later = plan.rounds
    question = next_step(plan, [])
    assert first.lens == question.lens == Windows.segments(EIGHTHS)
    assert all(question.lens.weight(size) == 1 for size in (1, 7, 10**6)), "everybody counts alike"
    assert {round_.shape for round_ in plan.rounds} == {"windows bits"}
    assert all(round_.lens.window_count == 8 for round_ in later)
    assert from_json(to_json(plan), plan) == plan


def test_eighths_again_if_nobody_answered():
    plan = plan_for(4000, 1.0)
    assert borders_of(next_step(plan, [dame.Tally.zero(next_step(plan, []))])) == EIGHTHS


@pytest.mark.parametrize("middle", [-0.8, -0.2, 0.5])
def test_later_segments_are_narrow_where_the_many_are_and_cover_the_range(middle):
    plan, own, narrowest = plan_for(400_000, 1.0), [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        means = np.clip(middle + 0.03 * rng.normal(size=100_000), -1, 1)
        borders = np.array(borders_of(next_step(plan, first_answered(plan, means, rng))))
        assert (borders[0], borders[-1]) == (-1, 1)
        widths = np.diff(borders)
        own.append(widths[np.searchsorted(borders, middle) - 1])
        narrowest.append(widths.min())
        assert widths.max() > 0.25
    assert np.median(own) < 0.23, "narrower than those of one width, mostly"
    assert np.median(own) < 1.3 * np.median(narrowest)


def test_more_segments_watch_over_a_tail_where_somebody_is():
    plan, rng = plan_for(40_000, 1.0), np.random.default_rng(5)
    crowd = 0.02 * rng.normal(size=10_000)
    right = np.where(np.arange(10_000) < 1500, 0.9, crowd)
    alone, beside = (borders_of(next_step(plan, first_answered(plan, means, rng))) for means in (crowd, right))
    assert sum(border > 0.3 for border in beside) > sum(border > 0.3 for border in alone)


@pytest.mark.parametrize(("users", "alpha", "rounds"), [(300, 22 / 35, 1), (1000, 22 / 35, 3), (300, 2.0, 3)])
def test_few_users_are_asked_at_once(users, alpha, rounds):
    plan = plan_for(users, alpha)
    assert [round_.lens.window_count for round_ in plan.rounds] == [8] * rounds
    assert plan_for(users, alpha, max_rounds=1).rounds[0].lens == Windows.segments(EIGHTHS)


@pytest.mark.parametrize("kind", ["bell", "minority", "ends", "skewed"])
@pytest.mark.parametrize("users", [100, 300])
def test_a_single_round_is_never_noisier_than_plain_bits(kind, users):
    population = people(kind, users)
    result = simulate(plan_for(users, 1.0, max_rounds=1), population, 600, seed=12)
    squares = float(np.mean(means_of(kind, users) ** 2))
    bits = np.sqrt(one_bit_rmse(users, 1.0) ** 2 - squares / users)  # exact, for these very users
    assert result.rmse < 1.05 * bits  # 600 studies: known within 3 %
    assert result.coverage >= 0.92


def test_eighths_say_as_much_of_the_mean_as_plain_bits():
    """Whoever the users are: everybody is -1 plus what she has of each part, and so are the averages."""
    rng = np.random.default_rng(5)
    channel = Bits.single(1.0)
    for means in (rng.uniform(-1, 1, 4000), np.repeat([-1.0, 1.0], 2000), np.full(4000, 0.3)):
        parts = [np.clip((means - left) / 0.25, 0, 1) for left in EIGHTHS[:-1]]
        assert -1 + 0.25 * sum(part.mean() for part in parts) == pytest.approx(means.mean())
        eighths = sum(0.25**2 * channel.variance(float(part.mean())) / 500 for part in parts)
        plain = 2**2 * channel.variance(float((1 + means.mean()) / 2)) / 4000
        assert eighths <= plain * (1 + 1e-12)


def test_predictions_come_close_for_bells():
    """Predictions are an average over widths: they lie between the errors of narrow and of wide bells."""
    rng = np.random.default_rng(3)
    errors = []
    for width in (0.05, 0.85):
        means = np.clip(0.1 + width * rng.normal(size=3000), -1, 1)
        errors.append(simulate(plan_for(3000, 1.0), dame.Population.arrays(np.ones(3000, int), means), 60, 4).rmse)
    narrow, wide = errors
    assert narrow < plan_for(3000, 1.0).forecast.predicted_rmse < wide * 1.1
    assert plan_for(12_000, 1.0).forecast.predicted_rmse < 0.65 * plan_for(3000, 1.0).forecast.predicted_rmse


def test_segments_that_nobody_answered_for_are_not_heard():
    plan = plan_for(300, 1.0, max_rounds=1)
    question = next_step(plan, [])
    empty = dame.Tally.zero(question)
    assert next_step(plan, [empty]).interval == (-1.0, 1.0)
    one = dame.Tally.of(question, [(0, (0,))] * 7 + [(1, (1,))])
    low, high = next_step(plan, [one]).interval
    assert low == pytest.approx(-1.0, abs=0.01)
    assert high == pytest.approx(1.0, abs=0.01)


def test_a_round_without_answers_goes_on_and_ends_in_nothing_known():
    plan, rng = plan_for(4000, 1.0), np.random.default_rng(2)
    silent = dame.Tally.zero(next_step(plan, []))
    assert borders_of(next_step(plan, [silent])) == EIGHTHS
    tallies = first_answered(plan, np.full(2000, 0.4), rng)
    for _ in plan.rounds[1:]:
        tallies.append(dame.Tally.zero(next_step(plan, tallies)))
    assert next_step(plan, tallies).interval == (-1.0, 1.0)


@pytest.mark.parametrize("alpha", [1.0, 2.0, 8.0])
def test_segments_serve_any_alpha(alpha):
    assert {round_.shape for round_ in plan_for(4000, alpha).rounds} == {"windows bits"}


def test_votes_are_refused_under_between_user_variation():
    plan = plan_for(4000, 1.0)
    document = to_json(plan)
    votes = to_json(plan_for(20_000, 1.0, between_sd=0.0, sizes=dame.Sizes.parse("constant:100000")))
    assert votes["rounds"][0]["lens"]["kind"] == "bins"
    for rounds in (votes["rounds"], [votes["rounds"][0], *document["rounds"][1:]]):
        with pytest.raises(InvalidInput, match="rounds that adaptive has with between-user variation"):
            from_json({**document, "rounds": rounds}, plan)


def test_rounds_of_segments_are_described_in_words():
    words = {describe(round_) for round_ in plan_for(4000, 1.0).rounds}
    assert len(words) == 1
    assert "one of 8 segments" in words.pop()
