"""The frontier: what one bit per user around a perfectly known centre could reach, against the worst law."""

from __future__ import annotations

import math

import numpy as np

from dame.sizes import Sizes
from dame.theory.information_limit import limit, privacy_factor
from dame.theory.response import ROOMS, ResponseTable

_CLIPS = np.geomspace(0.1, 12.0, 60)
_OFF_CENTRE = 0.2
"""The slope is taken over so many standard deviations: wider than the lattice on which means of few records lie."""


def frontier_mse(users: int, alpha: float, sizes: Sizes) -> float:
    """The least worst-case risk of one bit on clip(sqrt(m)·(X̄ - θ), ±k), the best k and a perfect centre given.

    Noise k²B²/n plus the squared bias that clipping causes for the worst law of records of -1 and 1, over (E
    sqrt(m))²; or plain one-bit over the whole range where that is less. A heuristic floor for protocols of bits that
    know neither the law nor its family: not a theorem, as other transformations of z are conceivable.
    """
    table = ResponseTable.of(sizes, np.array([math.inf]), _CLIPS)
    off = np.full((len(ROOMS), 1), _OFF_CENTRE / sizes.mean_sqrt())
    bias = table.at(0 * off)[0, :, :, 0]
    slope = (table.at(off) - table.at(-off))[0, :, :, 0] / (2 * off[:, 0])
    noise = privacy_factor(alpha) ** 2 / users
    risk = (_CLIPS[:, None] ** 2 * noise + bias**2) / np.maximum(slope, 1e-9) ** 2
    return min(float(risk.max(axis=1).min()), noise)


def frontier_ratio(users: int, alpha: float, sizes: Sizes) -> float:
    """The frontier in units of the information limit."""
    return frontier_mse(users, alpha, sizes) / limit(users, alpha, sizes)
