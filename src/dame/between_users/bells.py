"""Bell-shaped populations of user means, to predict errors with."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Atoms = tuple[Floats, Floats]
"""Users' means, and the share of the users at each."""

_TAIL = (0.002, 0.004, 0.008, 0.016, 0.03, 0.05, 0.07)
_WEIGHTS = np.array([*_TAIL, *([0.08] * 8), *_TAIL[::-1]])


def bell(width: float, middle: float = 0.0) -> Atoms:
    """A population shaped like a bell, cut at the ends of the range."""
    points, shares = _standard()
    return np.clip(middle + width * points, -1.0, 1.0), shares


@lru_cache(maxsize=1)
def _standard() -> Atoms:
    """Atoms of a normal distribution, fine in its tails, with mean 0 and variance 1."""
    shares = _WEIGHTS / _WEIGHTS.sum()
    levels = np.cumsum(shares) - shares / 2
    points = np.array([NormalDist().inv_cdf(level) for level in levels.tolist()])
    return points / math.sqrt(shares @ points**2), shares
