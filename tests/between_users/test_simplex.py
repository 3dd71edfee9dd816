"""The best shares: against a solver of another kind, and where they are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dame.between_users.simplex import best_shares

FIRM = 1e4


def value(curvature: np.ndarray, cost: np.ndarray, shares: np.ndarray) -> float:
    return float(shares @ curvature @ shares / 2 + cost @ shares)


def is_best(curvature: np.ndarray, cost: np.ndarray, shares: np.ndarray) -> bool:
    """No exchange of shares for others would lower the function: the condition for a minimum of a convex one."""
    slopes = curvature @ shares + cost
    scale = np.abs(curvature).max() + np.abs(cost).max() + 1e-300
    return slopes.min() >= slopes @ shares - 1e-8 * scale


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 60), st.sampled_from([0.0, 1.0, 1e3]))
@settings(max_examples=150, deadline=None)
def test_shares_are_the_best_of_all(seed, rows, places, cost_scale):
    """Whether or not the minimum is unique: mostly there are more places than observations."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, places))
    curvature, cost = features.T @ features, cost_scale * rng.normal(size=places)
    shares = best_shares(curvature, cost)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    assert is_best(curvature, cost, shares)


@pytest.mark.parametrize("seed", range(20))
def test_as_least_squares_that_are_not_negative(seed):
    rng = np.random.default_rng(seed)
    features, observed = rng.normal(size=(10, 40)), rng.normal(size=10)
    apart = features - observed[:, None]
    ours = best_shares(apart.T @ apart, np.zeros(40))
    theirs, _ = optimize.nnls(np.vstack([features, np.full((1, 40), FIRM)]), np.append(observed, FIRM))
    misfits = [np.sum((features @ shares - observed) ** 2) for shares in (ours, theirs / theirs.sum())]
    assert misfits[0] <= misfits[1] + 1e-9
    np.testing.assert_allclose(features @ ours, features @ theirs, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_any_start_leads_to_the_same_value_and_the_best_one_stays(seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(8, 30))
    curvature, cost = features.T @ features, rng.normal(size=30)
    best = best_shares(curvature, cost)
    np.testing.assert_allclose(best_shares(curvature, cost, best), best, atol=1e-9)
    for start in (rng.dirichlet(np.ones(30)), np.eye(30)[seed], best_shares(curvature, -cost)):
        again = best_shares(curvature, cost, start)
        assert value(curvature, cost, again) == pytest.approx(value(curvature, cost, best))


def test_places_that_say_the_same_are_exchanged_for_the_cheapest():
    """Three places on one line: the middle is a mixture of the others, at no curvature, and only costs tell."""
    features = np.array([[0.0, 0.5, 1.0]])
    curvature = (features - 0.5).T @ (features - 0.5)
    np.testing.assert_allclose(best_shares(curvature, np.array([1.0, 0.0, 1.0])), [0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(best_shares(curvature, np.array([0.0, 1.0, 0.0])), [0.5, 0, 0.5], atol=1e-9)


def test_without_curvature_the_cheapest_place_has_everybody():
    np.testing.assert_allclose(best_shares(np.zeros((3, 3)), np.array([2.0, 1.0, 3.0])), [0, 1, 0])
