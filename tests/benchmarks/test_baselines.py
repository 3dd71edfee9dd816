"""The mechanisms that DAME is measured against are what their authors say: unbiased, with the published variance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.peers import baselines
from dame.theory.information_limit import privacy_factor

DRAWS = 200_000
ALPHAS = (0.3, 22 / 35, 1.0, 3.0)
VALUES = (-1.0, -0.4, 0.0, 1.0)
SIGMAS = 5
"""A false alarm has a chance of about 6e-7 a comparison."""


def piecewise_variance(value: float, alpha: float) -> float:
    root = math.exp(alpha / 2)
    return value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)


def one_bit_variance(value: float, alpha: float) -> float:
    return privacy_factor(alpha) ** 2 - value**2


def hybrid_variance(value: float, alpha: float) -> float:
    if alpha <= baselines.SWITCH:
        return one_bit_variance(value, alpha)
    weight = -math.expm1(-alpha / 2)
    return weight * piecewise_variance(value, alpha) + (1 - weight) * one_bit_variance(value, alpha)


MECHANISMS = {
    baselines.one_bit: one_bit_variance,
    baselines.piecewise: piecewise_variance,
    baselines.hybrid: hybrid_variance,
}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.__name__)
def test_scores_are_unbiased_with_the_published_variance(mechanism, alpha):
    for value in VALUES:
        scores = mechanism(np.random.default_rng(1), np.full(DRAWS, value), alpha)
        variance = MECHANISMS[mechanism](value, alpha)
        assert abs(scores.mean() - value) < SIGMAS * math.sqrt(variance / DRAWS)
        spread = np.std((scores - value) ** 2) / math.sqrt(DRAWS)
        assert abs(np.mean((scores - value) ** 2) - variance) < SIGMAS * spread + 1e-9


@pytest.mark.parametrize("alpha", ALPHAS)
def test_piecewise_has_two_levels_whose_ratio_is_the_budget(alpha):
    root = math.exp(alpha / 2)
    edge = (root + 1) / (root - 1)
    scores = baselines.piecewise(np.random.default_rng(2), np.full(DRAWS, 0.3), alpha)
    assert np.abs(scores).max() <= edge
    left = (edge + 1) / 2 * 0.3 - (edge - 1) / 2
    inside = np.mean((scores >= left) & (scores <= left + edge - 1))
    density = inside / (edge - 1) / ((1 - inside) / (edge + 1))
    sigma = math.sqrt(1 / (DRAWS * inside * (1 - inside)))
    assert abs(math.log(density) - alpha) < SIGMAS * sigma
