"""The NPMLE of user means: against a general solver, with what is known exactly, and intervals that cover."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dame.between_users.npmle import SegmentMean, fit
from dame.device.channels import Bits

CHANNEL = Bits.single(1.0)
EIGHTHS = np.linspace(-1, 1, 9)
Z2 = 1.959964**2


def exactly(means: np.ndarray, borders: np.ndarray, reports: float) -> list[SegmentMean]:
    """What would be heard without any noise."""
    return [
        SegmentMean(left, right, float(np.mean(np.clip((means - left) / (right - left), 0, 1))), reports)
        for left, right in pairwise(borders)
    ]


def heard(means: np.ndarray, borders: np.ndarray, reports: int, rng: np.random.Generator) -> list[SegmentMean]:
    segments = []
    for segment in exactly(means, borders, reports):
        error = math.sqrt(CHANNEL.variance(segment.share) / reports)
        segments.append(segment._replace(share=segment.share + error * rng.normal()))
    return segments


@pytest.mark.parametrize("means", [np.full(4, 0.3), np.array([-1.0, 1.0]), np.linspace(-0.9, 0.7, 50)])
def test_without_noise_the_mean_is_exact(means):
    found = fit(exactly(means, EIGHTHS, 1000), CHANNEL)
    assert found.mean == pytest.approx(means.mean(), abs=1e-4)
    assert found.shares.sum() == pytest.approx(1)
    assert (found.shares >= 0).all()
    assert found.above(0.5) == pytest.approx(np.mean(np.maximum(means - 0.5, 0)), abs=1e-3)
    assert found.below(-0.25) == pytest.approx(np.mean(np.maximum(-0.25 - means, 0)), abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_no_other_population_fits_better(seed):
    """A general solver, started elsewhere, finds no smaller misfit; nor a mean outside the interval that is as good."""
    rng = np.random.default_rng(seed)
    found = fit(heard(rng.uniform(-1, 1, 30), EIGHTHS, 150, rng), CHANNEL)

    def misfit(shares: np.ndarray) -> float:
        return float(np.sum((found.features @ shares - found.observed) ** 2))

    def best(*further: dict[str, object]) -> float:
        sums = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
        start = np.full(len(found.points), 1 / len(found.points))
        result = optimize.minimize(
            misfit, start, bounds=[(0, 1)] * len(start), constraints=[sums, *further], method="SLSQP"
        )
        return float(result.fun)

    assert misfit(found.shares) <= best() + 1e-3
    for end in found.interval(Z2):
        if abs(end) < 1:
            moved = {"type": "eq", "fun": lambda shares, end=end: shares @ found.points - end}
            assert best(moved) == pytest.approx(misfit(found.shares) + Z2, abs=0.05)


@pytest.mark.parametrize("means", [np.full(4, 0.5), np.array([-1.0, 1.0, 1.0]), np.linspace(-0.9, 0.7, 50)])
@pytest.mark.parametrize("reports", [30, 1000, 100_000])
@pytest.mark.parametrize("seed", range(3))
def test_the_ends_of_an_interval_fit_just_as_well_as_is_allowed(means, reports, seed):
    """The best fit with the mean at an end, by least squares that are not negative."""
    found = fit(heard(means, EIGHTHS, reports, np.random.default_rng(seed)), CHANNEL)
    firm = 3e3 * found.features.max()
    fixed = firm * np.vstack([np.ones(len(found.points)), found.points])

    def misfit(shares: np.ndarray) -> float:
        return float(np.sum((found.features @ shares - found.observed) ** 2))

    for end in found.interval(Z2):
        wanted = np.concatenate([found.observed, [firm, firm * end]])
        shares, _ = optimize.nnls(np.vstack([found.features, fixed]), wanted, maxiter=10_000)
        excess = misfit(shares) - misfit(found.shares)
        assert excess == pytest.approx(Z2, rel=0.01) or (abs(end) == 1 and excess < Z2)


def test_knowing_that_shares_are_not_negative_helps():
    """Where all users are in one place, noise elsewhere is cut off: the error is well below that of the plain sum."""
    rng, means = np.random.default_rng(8), np.full(5, 0.1)
    likely, plain = [], []
    for _ in range(300):
        segments = heard(means, EIGHTHS, 100, rng)
        likely.append(fit(segments, CHANNEL).mean - 0.1)
        plain.append(-1 + sum(0.25 * segment.share for segment in segments) - 0.1)
    assert np.std(likely) < 0.8 * np.std(plain)


@pytest.mark.parametrize(
    "means",
    [np.full(5, 0.1), np.repeat([-0.2, 0.9], [9, 1]), np.linspace(-1, 1, 101), np.repeat([-1.0, 1.0], [4, 6])],
    ids=["point", "minority", "uniform", "ends"],
)
def test_intervals_cover(means):
    rng, covered = np.random.default_rng(9), 0
    for _ in range(200):
        low, high = fit(heard(means, EIGHTHS, 150, rng), CHANNEL).interval(Z2)
        covered += low <= means.mean() <= high
    assert covered / 200 >= 0.905  # an interval of 0.95 is below this once in 500 times


def test_intervals_of_twice_the_error_would_be_noticed():
    """The test above rejects intervals that are too narrow: with half the quantile they cover far less."""
    rng, means, covered = np.random.default_rng(9), np.linspace(-1, 1, 101), 0
    for _ in range(100):
        low, high = fit(heard(means, EIGHTHS, 150, rng), CHANNEL).interval(Z2 / 4)
        covered += low <= means.mean() <= high
    assert covered / 100 < 0.85


def test_gathered_users_are_as_close_as_the_averages_allow():
    """Averages over segments do not tell a point from two of its neighbours: gathered, they are one."""
    found = fit(exactly(np.full(3, 0.1), EIGHTHS, 5000), CHANNEL)
    many = found.gathered(30.0)
    assert many.width <= found.width + 1e-9
    assert many.width < 0.05
    assert many.median == pytest.approx(0.1, abs=0.03)


@given(
    st.lists(st.tuples(st.floats(-2, 3), st.integers(1, 10**6)), min_size=8, max_size=8),
    st.lists(st.tuples(st.floats(-2, 3), st.integers(1, 10**6)), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_whatever_was_heard_there_is_a_population_and_an_interval_around_its_mean(first, more):
    segments = [SegmentMean(EIGHTHS[i], EIGHTHS[i + 1], share, reports) for i, (share, reports) in enumerate(first)]
    segments += [SegmentMean(i / 20, (i + 1) / 20, share, reports) for i, (share, reports) in enumerate(more)]
    found = fit(segments, CHANNEL)
    low, high = found.interval(Z2)
    assert -1 <= low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= high <= 1
