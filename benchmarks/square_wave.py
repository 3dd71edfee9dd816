"""The square wave mechanism with expectation maximisation and smoothing (EMS): a rival for distributions.

Li et al., "Estimating numerical distributions under local differential privacy" (2020): a value in [0, 1] is reported
as a point near it with a larger, and anywhere else with a smaller density; 1,024 bins, and their rule to stop.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 1024
MOST_STEPS = 10_000


def half_width(alpha: float) -> float:
    """Half the width of the wave that tells most."""
    grown = math.exp(alpha)
    return (alpha * grown - grown + 1) / (2 * grown * (grown - 1 - alpha))


def densities(alpha: float) -> tuple[float, float]:
    """The densities of a report near the value and elsewhere; their ratio is e^α."""
    far = 1 / (2 * half_width(alpha) * math.exp(alpha) + 1)
    return far * math.exp(alpha), far


def reports(values: Floats, alpha: float, rng: Generator) -> Floats:
    """A report of each value."""
    half, (near, _) = half_width(alpha), densities(alpha)
    close = rng.random(len(values)) < 2 * half * near
    elsewhere = rng.random(len(values))
    away = np.where(elsewhere < values, elsewhere - half, elsewhere + half)
    return np.where(close, values - half + 2 * half * rng.random(len(values)), away)


@lru_cache(maxsize=4)
def _chances(alpha: float) -> tuple[Floats, Floats]:
    """Edges of the bins of reports, and the chance of each bin for a value in the middle of each of as many bins."""
    half, (near, far) = half_width(alpha), densities(alpha)
    edges = np.linspace(-half, 1 + half, BINS + 1)
    values = (np.arange(BINS) + 0.5) / BINS
    inside = np.minimum(edges[1:, None], values + half) - np.maximum(edges[:-1, None], values - half)
    return edges, far * (edges[1] - edges[0]) + (near - far) * np.maximum(inside, 0.0)


def estimated_cdf(values: Floats, alpha: float, rng: Generator) -> tuple[Floats, Floats]:
    """Edges of 1,024 bins, and the share of values that is estimated to lie below each."""
    edges, chances = _chances(alpha)
    counts = np.histogram(reports(values, alpha, rng), edges)[0]
    shares, before = np.full(BINS, 1 / BINS), -math.inf
    for _ in range(MOST_STEPS):
        expected = chances @ shares
        likelihood = float(counts @ np.log(expected))
        if abs(likelihood - before) < 1e-3 * math.exp(alpha):
            break
        before = likelihood
        shares = _smoothed(shares * (chances.T @ (counts / expected)))
    return np.linspace(0.0, 1.0, BINS + 1), np.append(0.0, np.cumsum(shares))


def _smoothed(weights: Floats) -> Floats:
    """Shares that are averaged with their neighbours, with weights 1, 2 and 1."""
    padded = np.concatenate([[0.0], weights, [0.0]])
    smooth = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    smooth[[0, -1]] *= 4 / 3
    return np.asarray(smooth / smooth.sum())
