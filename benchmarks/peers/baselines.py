"""Mechanisms that people would use for a mean instead, from their formulas: one number in, one noisy score out.

The mean of the scores is the estimate. Each is vectorised over users and unbiased for values in [-1, 1]. They are
yardsticks: their floats and their generator are those of a simulation, not of a device.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame.theory.information_limit import privacy_factor

Floats = NDArray[np.float64]
SWITCH = 0.61
"""Below this α the hybrid mechanism is the one-bit mechanism (Wang et al. 2019, section 3.3)."""


def one_bit(rng: Generator, values: Floats, alpha: float) -> Floats:
    """Duchi, Jordan, Wainwright 2018 (Microsoft's 1BitMean): ±B, P(+B) = 1/2 + x/(2B)."""
    factor = privacy_factor(alpha)
    return np.where(rng.random(len(values)) < 0.5 + values / (2 * factor), factor, -factor)


def piecewise(rng: Generator, values: Floats, alpha: float) -> Floats:
    """Wang et al. 2019, algorithm 2: mostly uniform on a piece around the value, otherwise uniform on the rest."""
    root = math.exp(alpha / 2)
    edge = (root + 1) / (root - 1)
    left = (edge + 1) / 2 * values - (edge - 1) / 2
    near = rng.random(len(values)) < root / (root + 1)
    place = rng.random(len(values))
    inside = left + place * (edge - 1)
    # The rest has the length edge + 1; what lies right of the piece is moved past it.
    outside = -edge + place * (edge + 1)
    outside += np.where(outside >= left, edge - 1, 0.0)
    return np.where(near, inside, outside)


def hybrid(rng: Generator, values: Floats, alpha: float) -> Floats:
    """Wang et al. 2019, section 3.3: piecewise with probability 1 - exp(-α/2), one bit otherwise."""
    if alpha <= SWITCH:
        return one_bit(rng, values, alpha)
    choose = rng.random(len(values)) < -math.expm1(-alpha / 2)
    return np.where(choose, piecewise(rng, values, alpha), one_bit(rng, values, alpha))
