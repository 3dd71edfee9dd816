"""What all rounds say together: models predict rightly, a wrong M is noticed, and intervals cover all the same."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dame
from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.rounds import moved, windows_around_zero
from dame.populations.simulation import simulate, simulate_once
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.protocols.adaptive.models import LEANINGS, ROOMS, Models, Spot, distribution_chances
from dame.protocols.adaptive.models import plausible as plausible_models
from dame.protocols.adaptive.posterior import Heard, HeardBits, HeardCentre, HeardWindow, posterior
from dame.protocols.adaptive.tuning import TUNING

ALPHA = 22 / 35
ASSUMED = dame.Sizes.parse("poisson:50")


CHANNEL = Bits.single(ALPHA)


def windows(centre: float, half: float, dither: float = 0.0, cap: float | None = None) -> Windows:
    return moved(windows_around_zero(half, cap=cap, dither=dither), centre)


def plausible(brief: Brief) -> Models:
    return plausible_models(brief, TUNING.trust)


def brief(sizes: dame.Sizes, users: int = 10_000) -> Brief:
    return Brief(users=users, alpha=ALPHA, sizes=sizes, study="s")


def mean_z(asked: Windows, theta: float, size: int, values: tuple[float, float]) -> float:
    """E z by the binomial distribution, for records of two values with mean θ."""
    low, high = values
    hits = np.arange(size + 1)
    chances = stats.binom.pmf(hits, size, (theta - low) / (high - low))
    means = low + (high - low) * hits / size
    ((centre, left, right),) = asked.windows
    return float(chances @ np.clip(math.sqrt(size) * (means - centre), left, right))


# Records with a mean far from 0 cannot vary as much as others.
# Every other law is tabulated, those with odd numbers lie between two of them.
@pytest.mark.parametrize(("theta", "law"), [(-0.6, 4), (-0.6, 6), (-0.6, 7), (0.0, 8), (0.0, 11), (0.0, 12), (0.37, 8)])
@pytest.mark.parametrize("size", [3, 20, 400])
def test_models_predict_what_two_valued_records_say(theta: float, law: int, size: int) -> None:
    """The two ends of the leanings are records of two values, one of them at a bound."""
    variance = float(ROOMS[law] * (2 - ROOMS[law]))
    centre = theta + 0.3 / math.sqrt(size)
    asked = windows(centre=centre, half=1.0)
    models = plausible(brief(dame.Sizes.constant(size)))
    spot = Spot(place=theta, crowds=np.array([0]), leanings=LEANINGS[[0, -1]])
    told = models.predicted(asked, np.array([theta]), centre, spot)[0, :, law, 0]
    left = mean_z(asked, theta, size, (-1.0, theta + variance / (1 + theta)))
    right = mean_z(asked, theta, size, (theta - variance / (1 - theta), 1.0))
    # θ is rounded a little when models are looked up, and cells of the normal law stand for many records.
    assert told == pytest.approx([left, right], abs=0.05)


@pytest.mark.parametrize("away", [0.0, 0.2, 0.349, 0.35, 0.36, 2.0, -0.35])
def test_equal_means_have_a_ramp_with_sharp_corners(away: float) -> None:
    """If records do not vary, z is the same for everybody, and clipped where the window ends."""
    size = 100_000
    asked = windows(centre=0.1, half=0.35)
    models = plausible(brief(dame.Sizes.constant(size)))
    spot = Spot(place=0.1, crowds=np.array([0]), leanings=LEANINGS)
    told = models.predicted(asked, np.array([0.1 + away / math.sqrt(size)]), 0.1, spot)[0, :, 0, 0]
    assert told == pytest.approx([max(min(away, 0.35), -0.35)] * len(LEANINGS), abs=1e-9)


def heard_from(true: dame.Sizes, theta: float, reports: int) -> list[Heard]:
    """A centre, and the expected answers in two windows, if sizes are true and records are of -1 and 1."""
    asked = windows(centre=theta + 0.01, half=1.0, dither=0.05)
    points, weights = true.nodes()
    told = []
    for window in asked.windows:
        alone = windows(centre=window.centre, half=1.0)
        z = sum(
            weight * mean_z(alone, theta, int(size), (-1.0, 1.0)) for size, weight in zip(points, weights, strict=True)
        )
        bit = (CHANNEL.no + (z + 1) / 2 * (CHANNEL.yes - CHANNEL.no)) / 2**64
        told.append(HeardWindow(window.centre, reports / 2, float(bit)))
    centre = HeardCentre(centre=theta + 0.01, spread=np.full(len(ROOMS), 0.03))
    return [centre, HeardBits(lens=asked, channel=CHANNEL, windows=tuple(told))]


@pytest.mark.parametrize("theta", [-0.5, 0.1])
def test_without_chance_theta_is_found(theta: float) -> None:
    found = posterior(plausible(brief(ASSUMED)), heard_from(ASSUMED, theta, 10**6), theta + 0.01, 0.01)
    assert found.mean == pytest.approx(theta, abs=0.5 * found.spread)
    assert found.quantile(0.025) < theta < found.quantile(0.975)
    assert found.as_assumed > 0.9
    assert found.chances.sum() == pytest.approx(1)


@pytest.mark.parametrize("true", ["poisson:12.5", "poisson:200"])
def test_two_windows_tell_a_wrong_guess_of_the_sizes(true: str) -> None:
    said = heard_from(dame.Sizes.parse(true), 0.1, 10**6)
    found = posterior(plausible(brief(ASSUMED)), said, 0.11, 0.01)
    assert found.as_assumed < 0.05
    assert found.quantile(0.025) < 0.1 < found.quantile(0.975)


def test_more_reports_say_more_and_silence_says_nothing() -> None:
    models = plausible(brief(ASSUMED))
    few, many = (posterior(models, heard_from(ASSUMED, 0.1, n), 0.11, 0.01) for n in (10**4, 10**6))
    silent = posterior(models, heard_from(ASSUMED, 0.1, 10**4)[:1], 0.11, 0.01)
    assert many.spread < few.spread < silent.spread == pytest.approx(0.03, rel=0.02)
    assert silent.as_assumed == pytest.approx(0.8, abs=0.02)


def test_a_vote_that_was_wrong_is_outvoted() -> None:
    """The place of a vote and the bits of everybody over the whole range contradict each other."""
    wrong = HeardCentre(centre=0.5, spread=np.full(len(ROOMS), 1e-3))
    told = HeardWindow(0.0, 10**6, 0.5 - 0.2 / 2 * math.tanh(ALPHA / 2))
    bits = HeardBits(lens=Windows.whole_range(), channel=CHANNEL, windows=(told,))
    found = posterior(plausible(brief(ASSUMED)), [wrong, bits], 0.5, 1e-3)
    assert found.mean == pytest.approx(-0.2, abs=0.01)


# --- studies whose plan was made for a wrong M


def people(true: str, law: str = "rademacher:0.37") -> dame.Population:
    return dame.Population.synthetic(dame.Sizes.parse(true), dame.parse_distribution(law))


# With 60 repetitions a coverage of 0.95 has a standard error of 0.03.
WRONG = ("poisson:12.5", "poisson:200")


@pytest.mark.parametrize("true", WRONG)
def test_intervals_cover_when_sizes_are_four_times_larger_or_smaller(true: str) -> None:
    plan = plan_mean(users=10_000, alpha=ALPHA, sizes=ASSUMED)
    assert simulate(plan, people(true), 60, seed=5).coverage >= 0.83


@pytest.mark.slow
@pytest.mark.parametrize("law", ["rademacher:0.37", "two-point:-1:0.3:0.8", "rademacher:0"])
@pytest.mark.parametrize(("true", "least"), [*((true, 0.89) for true in WRONG), ("zipf:1.5:10000", 0.8)])
@pytest.mark.parametrize("users", [10_000, 100_000])
def test_intervals_cover_when_sizes_are_wrong_at_length(true: str, least: float, law: str, users: int) -> None:
    plan = plan_mean(users=users, alpha=ALPHA, sizes=ASSUMED)
    assert simulate(plan, people(true, law), 300, seed=6).coverage >= least


def test_an_estimate_says_that_sizes_seem_to_be_others() -> None:
    plan = plan_mean(users=200_000, alpha=1.0, sizes=ASSUMED, study="s")
    wrong = simulate_once(plan, people("poisson:200"), np.random.default_rng(2)).estimate
    right = simulate_once(plan, people("poisson:50"), np.random.default_rng(2)).estimate
    assert any("sizes" in note for note in wrong.notes)
    assert right.notes == ()


def test_two_machines_ask_the_same_question() -> None:
    """Centres come from sums of floats: they are rounded, so that the last digits do not matter."""
    plan = plan_mean(users=10_000, alpha=ALPHA, sizes=ASSUMED, study="s")
    played = simulate_once(plan, people("poisson:50"), np.random.default_rng(3))
    first, last = played.tallies[-1].question.lens.windows
    centre = (first.centre + last.centre) / 2
    assert centre == pytest.approx(round(centre, 12), abs=1e-15)
    again = next_step(plan, played.tallies)
    assert isinstance(again, Estimate)
    assert again == played.estimate


def test_a_single_round_with_two_windows_is_read_as_well() -> None:
    """Nobody plans this, but a plan from elsewhere may hold it."""
    plan = plan_mean(users=40_000, alpha=1.0, sizes=dame.Sizes.constant(9), protocol="one-bit", study="s")
    lens = windows_around_zero(1.0, cap=1.0, dither=0.25)
    dithered = replace(plan, protocol="adaptive", rounds=(replace(plan.rounds[0], lens=lens),))
    result = simulate(dithered, people("constant:9", "rademacher:0.3"), 30, seed=1)
    assert result.coverage >= 0.8
    assert result.rmse < 3 * plan.forecast.predicted_rmse


def test_chances_of_laws_at_every_place() -> None:
    """They add up to one; where the mean leaves room for a variance, the largest that it allows is the likeliest."""
    theta = np.array([-1.0, -0.88, -0.3, 0.0, 0.55, 1.0])
    chances = np.exp(distribution_chances(theta))
    assert chances.sum(axis=0) == pytest.approx(np.ones(len(theta)))
    variances = ROOMS * (2 - ROOMS)
    for at, column in zip(theta, chances.T, strict=True):
        allowed = variances <= 1 - at**2 + 1e-9
        assert (column[allowed] > 0).all()
        assert (column[variances > 1.3 * (1 - at**2) + 1e-9] == 0).all()
        assert (np.diff(column[allowed]) >= 0).all()
