"""How a crowd responds to a window, against sums over every value that a user's mean can have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dame.sizes import Sizes
from dame.theory.response import delta_grid, fitted_weights, group_sizes, user_means

SIZES = Sizes.parse("histogram:1=2,3=1,12=1")
WINDOWS = (0.3, 2.0, 200.0)
"""A narrow window, one that cuts some users, and one that cuts nobody."""


def by_hand(room: float, stretch: float, deltas: np.ndarray, least: float, half: float) -> np.ndarray:
    """E clip(weight·(mean + δ), ±half), user size by user size and mean by mean."""
    total = np.zeros(len(deltas))
    for size, share in zip((1, 3, 12), (0.5, 0.25, 0.25), strict=True):
        hits = np.arange(size + 1)
        means = stretch * (2 * hits / size - room)
        weight = max(np.sqrt(size), least)
        cut = np.clip(weight * (means[:, None] + deltas), -half, half)
        total += share * stats.binom.pmf(hits, size, room / 2) @ cut
    return total


@pytest.mark.parametrize("half", WINDOWS)
@pytest.mark.parametrize("stretch", [1.0, 0.4, -0.7])
@pytest.mark.parametrize("room", [0.12, 0.6, 1.0])
def test_clipped_means_are_what_a_sum_over_all_means_gives(room: float, stretch: float, half: float) -> None:
    groups, deltas = group_sizes(SIZES), delta_grid(4.0, 41)
    means = user_means(room, groups, stretch=stretch)
    found = means.clipped(deltas, fitted_weights(groups.roots, np.inf, 1.2), half)
    assert found == pytest.approx(by_hand(room, stretch, deltas, 1.2, half), abs=1e-12)


def test_users_whose_records_are_all_the_same_are_where_theta_is() -> None:
    groups, deltas = group_sizes(SIZES), delta_grid(4.0, 41)
    found = user_means(0.0, groups).clipped(deltas, groups.roots, 0.5)
    assert found == pytest.approx(groups.shares @ np.clip(groups.roots[:, None] * deltas, -0.5, 0.5), abs=1e-12)
