"""What one round can reach at best: without a first round, questions must be good wherever θ is."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.sizes import Sizes
from dame.theory.information_limit import privacy_factor
from dame.theory.response import group_sizes

Floats = NDArray[np.float64]

LOSS_OF_ONE_ROUND = 2 * math.e / math.pi
"""By this factor one round loses at least to several, where all users have as many records: 1.73."""
_GROUPS = 48
_FREQUENCIES = 400
_POWERS = np.linspace(0.0, 1.2, 25)


def one_round_limit(users: int, alpha: float, sizes: Sizes) -> float:
    """B²/(n·J): no protocol of one round has a smaller risk, on average over all places where θ may be.

    Statement: let user means be normal around θ with variance 1/m, as those of many fair signs are, let θ lie anywhere
    in a range that is long compared with them, and let α be small. A report tells of θ by the slope of E g(X̄), for some
    bounded function |g| ≤ 1 of what a person has, which is the same for all θ. Of a g with the Fourier transform ĝ the
    squared slope is, on average over θ, Σ|ĝ(ω)|²·ω²·e^{-ω²/m} ≤ max_ω ω²e^{-ω²/m} = m/e, where A(m)² ≈ 2m/π is possible
    around a known θ. For unequal sizes let k_m(ω) = M(m)·ω·e^{-ω²/2m}; by Cauchy and Schwarz, for any weights λ_m > 0,
    J ≤ max_ω Σ_m k_m(ω)²/λ_m · Σ_m λ_m. Here λ_m is proportional to M(m)·m^p with the best p.

    Side of error: as `limit`, for one family and asymptotic; a bound on the average over θ bounds the worst case too.
    """
    users = checks.whole("users", users, 1, 2**62)
    return privacy_factor(alpha) ** 2 / (users * one_round_information(sizes))


def one_round_information(sizes: Sizes) -> float:
    """J: a bound on what one round tells per user, where A(m)² is what several rounds can reach."""
    groups = group_sizes(sizes, count=_GROUPS)
    m, shares = groups.sizes, groups.shares
    # k²/λ = M(m)·ω²·e^{-ω²/m}/m^p; its largest value lies between those of the smallest and of the largest size.
    omegas = np.sqrt(np.geomspace(m.min() / 2, m.max() * 2, _FREQUENCIES))[:, None]
    told = shares * omegas**2 * np.exp(-(omegas**2) / m)
    return min(_with_power(told, m, shares, float(power)) for power in _POWERS)


def _with_power(told: Floats, m: Floats, shares: Floats, power: float) -> float:
    weights = (m / m.max()) ** power
    return float((told / weights).sum(axis=1).max() * (shares @ weights))
