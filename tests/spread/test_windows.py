"""The two windows of a round: where they are put, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from dame.device.randomisers import OneBit
from dame.spread import HALVES, Beliefs, best_pair, clipped, family
from dame.spread.windows import GRID

BIT = OneBit.spending(1.0)
REPORTS = 20_000


def after_halves(means: np.ndarray, users: int = REPORTS) -> Beliefs:
    """What is believed once the halves were measured, without any luck in it."""
    averages = clipped(*HALVES)(means).mean(axis=0)
    variances = np.array([BIT.variance(min(max(float(a) + 1 - i, 0.0), 1.0)) for i, a in enumerate(averages)])
    return Beliefs.before(family(), departure=1e-4, users=users).after(clipped(*HALVES), averages, variances / users)


def test_windows_are_of_one_width_and_on_the_grid():
    for place in (-0.9, -0.3, 0.0, 0.5):
        (left, right), (other, end) = best_pair(after_halves(np.full(9, place)), BIT.variance, REPORTS)[0]
        assert right - left == pytest.approx(end - other)
        ends = np.array([left, right, other, end])
        assert np.all(ends * GRID == np.round(ends * GRID))
        assert np.abs(ends).max() <= 1


def test_windows_are_narrow_for_users_who_are_alike_and_wide_for_others():
    rng = np.random.default_rng(1)
    widths = []
    for spread in (0.05, 0.3, 0.9):
        means = np.clip(0.1 + spread * rng.choice([-1, 1], size=4000), -1, 1)
        (left, right), _ = best_pair(after_halves(means), BIT.variance, REPORTS)[0]
        widths.append(right - left)
    assert widths[0] < widths[1] < widths[2]
    assert widths[2] > 0.8


def test_the_expected_error_falls_with_the_number_of_reports():
    beliefs = after_halves(np.full(9, 0.2))
    errors = [best_pair(beliefs, BIT.variance, reports)[1] for reports in (500, 5000, 50_000)]
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[0] < beliefs.of_mean().covariance[0, 0]


@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_halves_are_never_noisier_than_a_plain_bit(alpha, seed):
    """The exact variance of both, for some population of users: chance assignment to arms included."""
    rng = np.random.default_rng(seed)
    means = np.clip(rng.normal(rng.uniform(-1, 1), rng.uniform(0, 1), size=50), -1, 1)
    bit, users = OneBit.spending(alpha), len(means)
    plain = np.mean([4 * bit.variance((mean + 1) / 2) for mean in means])
    lower, upper = np.clip(means, -1, 0), np.clip(means, 0, 1)
    noise = np.mean(
        [2 * bit.variance(low + 1) + 2 * bit.variance(high) for low, high in zip(lower, upper, strict=True)]
    )
    # Half of the users, drawn at random, are in the one arm: what they lack there, the others lack in the other arm.
    chance = np.var(upper - lower, ddof=1) * (users / 2) / users * 2
    assert noise + chance <= plain * (1 + 1e-9) + 1.0 / users
