"""Differences, ratios and standard deviations: right values, intervals that cover, nothing negative, no NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.estimates import Estimate
from dame.studies.combining import among_present, difference, standard_deviation

REACH = 1.959964


def normal(value: float, error: float, low: float = -math.inf, high: float = math.inf) -> Estimate:
    """An estimate with a normal interval, cut to where the value can be."""
    ends = (min(max(value - REACH * error, low), high), min(max(value + REACH * error, low), high))
    return Estimate(value=min(max(value, low), high), standard_error=error, interval=ends, users=(1,))


def test_the_difference_of_normal_estimates_has_the_textbook_interval():
    found = difference(normal(3.0, 0.3), normal(1.0, 0.4))
    assert found.value == 2.0
    assert found.standard_error == pytest.approx(0.5)
    assert found.interval == pytest.approx((2 - REACH * 0.5, 2 + REACH * 0.5))


def test_intervals_that_lean_give_differences_that_lean():
    one = Estimate(value=0.0, standard_error=1.0, interval=(0.0, 3.0), users=(1,))
    other = Estimate(value=0.0, standard_error=1.0, interval=(-4.0, 0.0), users=(1,))
    assert difference(one, other).interval == pytest.approx((0.0, 5.0))
    assert difference(other, one).interval == pytest.approx((-5.0, 0.0))


def test_a_known_share_just_scales():
    total, present = normal(60 + 10, 2.0), normal(0.5, 0.0)
    found = among_present(total, present, (0.0, 120.0))
    assert found.value == pytest.approx(80.0)
    assert found.interval == pytest.approx((60 + 2 * (10 - REACH * 2), 60 + 2 * (10 + REACH * 2)))


places = st.floats(-1, 1)


@given(places, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_whatever_was_measured_the_ratio_stays_inside_the_bounds(value, error, share, share_error):
    found = among_present(normal(value, error, -1, 1), normal(share, share_error, 0, 1), (-1.0, 1.0))
    low, high = found.interval
    assert -1 <= low <= found.value <= high <= 1
    assert found.standard_error >= 0


@given(places, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_whatever_was_measured_a_standard_deviation_is_a_number_inside_its_range(mean, error, square, square_error):
    found = standard_deviation(normal(mean, error, -1, 1), normal(square, square_error, 0, 1), (-1.0, 1.0))
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
    assert math.isfinite(found.standard_error)


def test_a_variance_below_0_gives_0_and_an_interval_that_is_not_empty():
    found = standard_deviation(normal(0.9, 0.01), normal(0.5, 0.01, 0, 1), (-1.0, 1.0))
    assert found.value == 0
    assert found.interval[0] == 0 < found.interval[1]


# --- coverage: 4,000 draws each; three standard errors of a coverage of 0.95 are 0.010


DRAWS = 4000


def covered(truth: float, draws: list[Estimate]) -> float:
    return sum(one.interval[0] <= truth <= one.interval[1] for one in draws) / len(draws)


@pytest.mark.parametrize(("mean", "share"), [(0.5, 0.5), (-0.8, 0.3), (0.0, 0.9), (0.95, 0.6)])
def test_ratios_cover(mean, share):
    rng = np.random.default_rng(1)
    pairs = zip(rng.normal(mean * share, 0.02, DRAWS), rng.normal(share, 0.03, DRAWS), strict=True)
    draws = [among_present(normal(t, 0.02, -1, 1), normal(p, 0.03, 0, 1), (-1.0, 1.0)) for t, p in pairs]
    assert 0.94 <= covered(mean, draws) <= 0.975


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.5), (0.4, 0.3), (-0.7, 0.5)])
def test_standard_deviations_cover(mean, sd):
    rng = np.random.default_rng(2)
    square = sd**2 + mean**2
    pairs = list(zip(rng.normal(mean, 0.01, DRAWS), rng.normal(square, 0.02, DRAWS), strict=True))
    draws = [standard_deviation(normal(m, 0.01), normal(s, 0.02), (-1.0, 1.0)) for m, s in pairs]
    assert 0.94 <= covered(sd, draws) <= 0.975
    biased = [standard_deviation(normal(m, 0.01), normal(s + 0.03, 0.02), (-1.0, 1.0)) for m, s in pairs]
    assert covered(sd, biased) < 0.9
