"""Quantiles and distributions of simulated people: right, in order, within their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dame.audit import largest_shift
from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.device.questions import Question
from dame.device.statistics import Value
from dame.errors import InvalidInput
from dame.planning.brief import Brief
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally
from dame.protocols import next, planned
from dame.sizes import Sizes
from dame.tally import Tally
from tests.people.populations import ATOM, BELL, CLUSTERS, FLOOR, SKEWED, Floats, People, study, true_share

LIMIT = Bits.single(1.0).variance(0.5)


@pytest.mark.parametrize("people", [BELL, SKEWED, CLUSTERS])
def test_quantiles_are_as_sharp_as_is_nearly_possible(people: People) -> None:
    found = [study(people, seed, levels=(0.5,)).quantiles[0] for seed in range(6)]
    errors = [true_share(people, one.value) - 0.5 for one in found]
    # The limit is 1; plain thresholds all over the range have ten times as much and more.
    assert np.mean(np.square(errors)) * 10_000 / LIMIT < 5


@pytest.mark.parametrize("people", [BELL, SKEWED, FLOOR])
def test_intervals_hold_the_truth(people: People) -> None:
    held = []
    for seed in range(6):
        for one in study(people, seed).quantiles:
            low, high = one.interval
            assert low <= one.value <= high
            shares = true_share(people, low - 1e-6), true_share(people, high + 1e-6)
            held.append(shares[0] <= one.at <= shares[1])
    assert sum(held) >= len(held) - 3


@pytest.mark.parametrize("people", [BELL, SKEWED, FLOOR, ATOM, CLUSTERS])
@pytest.mark.parametrize("protocol", ["quantiles", "distribution"])
def test_quantiles_and_curves_are_in_order(people: People, protocol: str) -> None:
    estimate = study(people, 3, protocol=protocol)
    values = [one.value for one in estimate.quantiles]
    assert values == sorted(values)
    for end in (0, 1):
        assert [one.interval[end] for one in estimate.quantiles] == sorted(
            one.interval[end] for one in estimate.quantiles
        )
    curve = estimate.distribution
    assert curve is not None
    for name in ("edges", "cdf", "low", "high"):
        assert list(getattr(curve, name)) == sorted(getattr(curve, name))
    each = zip(curve.low, curve.cdf, curve.high, strict=True)
    assert all(low <= share + 1e-9 and share <= high + 1e-9 for low, share, high in each)


@pytest.mark.parametrize(("people", "most"), [(BELL, 0.08), (SKEWED, 0.1), (FLOOR, 0.15)])
def test_the_whole_distribution_is_near_the_truth(people: People, most: float) -> None:
    curve = study(people, 1, protocol="distribution").distribution
    assert curve is not None
    apart = [abs(share - true_share(people, edge)) for edge, share in zip(curve.edges, curve.cdf, strict=True)]
    assert max(apart) < most


def test_everybody_at_one_point_is_found_there() -> None:
    (median,) = study(ATOM, 1, levels=(0.5,)).quantiles
    assert median.value == pytest.approx(0.3, abs=0.01)
    assert median.interval[0] <= 0.3 <= median.interval[1]


def test_a_number_at_which_many_sit_is_hit() -> None:
    def people(n: int, rng: np.random.Generator) -> Floats:
        return np.where(rng.random(n) < 0.5, 0.3, 2 * rng.random(n) - 1)

    found = [study(people, seed, levels=(0.6,)).quantiles[0].value for seed in range(4)]
    assert sum(abs(value - 0.3) < 1e-9 for value in found) >= 3


def test_one_round_is_enough_for_a_rough_curve() -> None:
    estimate = study(BELL, 2, protocol="distribution", max_rounds=1)
    assert len(estimate.users) == 1
    assert estimate.value == pytest.approx(0.2, abs=0.06)


def test_thresholds_close_in_on_the_quantile() -> None:
    brief = Brief(users=20_000, alpha=1.0, sizes=Sizes.constant(1), statistic=Value(), levels=(0.5,), study="s")
    plan = planned(brief, "quantiles")
    widths, history = [], []
    rng = np.random.default_rng(1)
    while isinstance(question := next(plan, history), Question):
        if history:
            lens = question.lens
            assert isinstance(lens, Windows)
            assert lens.thin
            places = [window.centre for window in lens.windows]
            widths.append(max(places) - min(places))
        history.append(_answered(question, 0.25 + 0.1 * rng.standard_normal(5000), rng))
    assert widths == sorted(widths, reverse=True)
    assert all(abs(place - 0.25) < 0.05 for place in places)


def _answered(question: Question, means: Floats, rng: np.random.Generator) -> Tally:
    return draw_tally(question, [Chunk(np.ones(len(means), np.int64), np.clip(means, -1, 1))], rng)


def test_silent_rounds_say_that_nothing_was_learnt() -> None:
    brief = Brief(users=100, alpha=1.0, sizes=Sizes.constant(1), statistic=Value(), levels=(0.5,), study="s")
    plan = planned(brief, "quantiles", max_rounds=1)
    question = next(plan, [])
    assert isinstance(question, Question)
    estimate = next(plan, [Tally.zero(question)])
    assert not isinstance(estimate, Question)
    assert estimate.quantiles[0].interval == (-1.0, 1.0)
    assert "nothing was learnt" in estimate.notes[0]


def test_predictions_follow_the_limit() -> None:
    def planned_error(users: int) -> float:
        brief = Brief(users=users, alpha=1.0, sizes=Sizes.constant(1), statistic=Value(), levels=(0.5,), study="s")
        return planned(brief, "quantiles").forecast.predicted_rmse / 2

    assert planned_error(100_000) == pytest.approx(math.sqrt(1.2 * LIMIT / 100_000), rel=0.1)
    assert planned_error(1000) < planned_error(300)


@pytest.mark.parametrize("levels", [(0.0,), (0.5, 0.5), (0.9, 0.1), tuple(k / 20 for k in range(1, 19))])
def test_levels_are_checked(levels: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="level"):
        Brief(users=100, alpha=1.0, sizes=Sizes.constant(1), levels=levels, study="s")


def test_a_log_scale_needs_positive_bounds() -> None:
    with pytest.raises(InvalidInput, match="scale"):
        Brief(users=100, alpha=1.0, sizes=Sizes.constant(1), levels=(0.5,), scale="log", study="s")


@pytest.mark.parametrize("protocol", ["quantiles", "distribution"])
def test_attackers_cannot_do_more_than_the_formula_says(protocol: str) -> None:
    levels = (0.5,) if protocol == "quantiles" else ()
    brief = Brief(users=10_000, alpha=1.0, sizes=Sizes.constant(1), statistic=Value(), levels=levels, study="s")
    plan = planned(brief, protocol)
    shift = largest_shift(plan, 0.05)
    channel = Bits.single(1.0)
    # Of people half of whom are below a threshold, 5 % always say yes: what the share below it seems to be then.
    seems = channel.debias(0.95 * channel.probability(0.5) + 0.05)
    unit = 2.0 if protocol == "quantiles" else 1.0
    assert shift >= (seems - 0.5) * unit * 0.999
