"""The planner's arithmetic against independent computations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dame
from dame.theory.frontier import frontier_ratio
from dame.theory.response import ROOMS, ResponseTable, group_sizes, mean_atoms

ALPHA = 22 / 35


@pytest.mark.parametrize("room", [0.04, 0.3, 1.0])
@pytest.mark.parametrize("size", [1, 7, 60, 900, 100_000])
def test_atoms_have_the_moments_of_a_mean_of_plus_and_minus_one(room: float, size: int) -> None:
    values, chances = mean_atoms(room, size)
    variance = room * (2 - room) / size
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert chances @ values == pytest.approx(0, abs=1e-9 + 2e-3 * math.sqrt(variance))
    assert chances @ values**2 == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("spec", ["constant:9", "poisson:50", "zipf:1.5:10000", "two-point:100:10000:0.3"])
def test_groups_keep_the_mean_root(spec: str) -> None:
    sizes = dame.Sizes.parse(spec)
    groups = group_sizes(sizes)
    assert len(groups.sizes) <= 16
    assert groups.shares.sum() == pytest.approx(1)
    assert groups.shares @ groups.roots == pytest.approx(sizes.mean_sqrt(), rel=1e-9)


@pytest.mark.parametrize(
    ("spec", "clip", "room", "delta"), [("poisson:5", 1.5, 0.6, 0.1), ("constant:400", 1.0, 1.0, -0.02)]
)
def test_the_table_agrees_with_drawn_users(spec: str, clip: float, room: float, delta: float) -> None:
    sizes, rng = dame.Sizes.parse(spec), np.random.default_rng(5)
    table = ResponseTable.of(sizes, np.array([math.inf]), np.array([clip]))
    drawn = sizes.sample(rng, 400_000)
    # The family has 1 - |θ| = room, with the rare value above the mean.
    theta = -(1 - room)
    means = 2 * rng.binomial(drawn, (1 + theta) / 2) / drawn - 1 - theta
    weights = np.maximum(np.sqrt(drawn), clip / (1 + abs(theta)))
    expected = np.clip(weights * (means + delta), -clip, clip).mean()
    law = int(np.argmin(np.abs(ROOMS - room)))
    found = table.at(np.full((len(ROOMS), 1), delta))[0, 0, law, 0]
    assert found == pytest.approx(expected, abs=0.012)


def test_no_law_overshoots_a_clip_more_than_plus_and_minus_one() -> None:
    """Hoeffding's comparison, on which the family of laws rests: E(Z - k)+ is largest for records at the ends."""
    rng = np.random.default_rng(8)
    size, clip, users = 6, 1.2, 200_000
    for _ in range(6):
        points, weights = rng.uniform(-1, 1, 4), rng.dirichlet(np.ones(4))
        theta = float(points @ weights)
        means = rng.choice(points, p=weights, size=(users, size)).mean(axis=1)
        ends = 2 * rng.binomial(size, (1 + theta) / 2, users) / size - 1
        inner, outer = (np.maximum(math.sqrt(size) * (x - theta) - clip, 0).mean() for x in (means, ends))
        assert inner <= outer + 0.01


def test_the_frontier_is_the_limit_for_single_records_and_rises_with_users() -> None:
    assert frontier_ratio(10**6, ALPHA, dame.Sizes.constant(1)) == pytest.approx(1, rel=1e-3)
    ratios = [frontier_ratio(n, ALPHA, dame.Sizes.constant(50)) for n in (10**4, 10**5, 10**6, 10**8)]
    assert ratios == sorted(ratios)
    # With a perfect centre and the best clip, exact binomial sums give 2.2, 3.3 and 6.0 for the last three.
    assert ratios[1:] == pytest.approx([2.2, 3.3, 6.0], rel=0.12)
