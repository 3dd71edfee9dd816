"""The reader of stripes: right without noise, wherever θ is; honest about stripes that it cannot tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from dame.audit.expected import expected_tally
from dame.device.channels import Bits
from dame.device.stripes import Level, Stripes
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.protocols.one_round.planning import best_stripes, striped_round
from dame.protocols.one_round.reading import hear, read_stripes
from dame.sizes import Sizes
from dame.tally import Tally

PEOPLE = 4000


def brief_of(sizes: str, users: int, alpha: float = 1.0) -> Brief:
    return Brief(users=users, alpha=alpha, sizes=Sizes.parse(sizes), study="reading")


def question_of(brief: Brief, lens: Stripes):
    return Round(name="measure", share=1.0, lens=lens, channel=Bits.single(brief.alpha)).ask(brief, 0)


def told_by(question, brief: Brief, theta: float, reports: int) -> Tally:
    """The tally of people with records of -1 and 1, as if coins had no chance: to the nearest report."""
    rng = np.random.default_rng(3)
    sizes = brief.sizes.sample(rng, PEOPLE)
    means = 2 * rng.binomial(sizes, (1 + theta) / 2) / sizes - 1
    return expected_tally(question, sizes, means, np.full(PEOPLE, 1 / PEOPLE), reports)


@pytest.mark.parametrize("theta", [-1.0, -0.88, -0.3, 0.0, 0.123, 0.5, 0.77, 0.999, 1.0])
def test_without_noise_the_estimate_is_right(theta):
    brief = brief_of("poisson:500", 100_000)
    question = striped_round(brief, best_stripes(brief, 1e-6)).ask(brief, 0)
    found = read_stripes(brief, told_by(question, brief, theta, 10**9))
    grain = 3 / np.sqrt(500 * PEOPLE)  # of the people who were drawn
    assert found.value == pytest.approx(theta, abs=grain + 1e-3)
    assert found.failure_probability < 1e-12
    assert found.notes == ()


def test_an_interval_is_as_wide_as_the_plan_says():
    brief = brief_of("poisson:500", 100_000)
    design = best_stripes(brief, 1e-6)
    question = striped_round(brief, design).ask(brief, 0)
    found = read_stripes(brief, told_by(question, brief, 0.0, brief.users))
    assert found.standard_error == pytest.approx(design.risk**0.5, rel=0.05)
    low, high = found.interval
    assert (high - low) / 2 == pytest.approx(1.96 * found.standard_error, rel=0.01)


def test_the_angle_and_the_amplitude_of_each_level_are_found():
    brief = brief_of("constant:400", 10_000)
    lens = Stripes(levels=(Level(4.2, 21), Level(0.5, 43)))
    heard = hear(told_by(question_of(brief, lens), brief, 0.2, 10**9), brief.sizes)
    for level, seen in zip(heard.levels, heard.turned(0.2), strict=True):
        expected = np.exp(-((2 * np.pi / level.wavelength) ** 2) * 0.96 / 800)
        assert abs(seen - expected) < 0.05
    assert heard.reports == pytest.approx(10**9 * np.array([21, 43]) / 64, rel=1e-3)


def test_stripes_that_cannot_be_told_apart_are_all_in_the_interval():
    brief = brief_of("constant:100000", 10_000)
    lens = Stripes(levels=(Level(4.2, 1), Level(0.25, 63)))
    tally = told_by(question_of(brief, lens), brief, 0.1, 20_000)
    found = read_stripes(brief, tally)
    assert found.failure_probability > 0.5
    assert any("several stripes remain possible" in note for note in found.notes)
    low, high = found.interval
    assert low <= 0.1 <= high
    assert high - low > 1


def test_two_stripes_are_both_in_the_interval():
    """The coarse level has so few people that the neighbour of the right stripe is about as likely."""
    brief = brief_of("constant:100000", 10_000, alpha=0.5)
    lens = Stripes(levels=(Level(4.2, 3), Level(1.0, 61)))
    tally = told_by(question_of(brief, lens), brief, 0.1, 1500)
    found = read_stripes(brief, tally)
    assert 0.005 < found.failure_probability < 1
    assert found.interval[0] <= 0.1 <= found.interval[1]
    assert any("several stripes remain possible" in note for note in found.notes)


@pytest.mark.parametrize("windows", [[0], [0, 1], list(range(64))])
def test_whatever_few_people_say_the_estimate_is_inside_the_bounds(windows):
    brief = brief_of("constant:50", 100)
    lens = Stripes(levels=(Level(4.2, 5), Level(1.5, 59, 3)))
    tally = Tally.zero(question_of(brief, lens))
    for window in windows:
        tally = tally.plus(window, 1, (window % 2,))
    found = read_stripes(brief, tally)
    assert -1 <= found.interval[0] <= found.value <= found.interval[1] <= 1


def test_nothing_is_learnt_from_a_single_pattern():
    brief = brief_of("constant:50", 100)
    tally = Tally.zero(question_of(brief, Stripes.single(4.2, phases=16))).plus(3, 90, (40,))
    found = read_stripes(brief, tally)
    assert found.interval == (-1.0, 1.0)
    assert found.notes == ("too few reports on stripes: nothing was learnt",)
