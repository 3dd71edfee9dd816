"""The information limit: the risk that no α-LDP protocol with one report per user beats, asymptotically."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import Sizes

_EXACT = 64
_TABLE = np.array([0.0] + [2 * k * math.comb(2 * k, k) / 4**k for k in range(1, _EXACT)])
"""A(2k) = A(2k - 1) = 2k·C(2k, k)/4^k for small k, correctly rounded."""
_SERIES = (1.0, 1 / 64, -19 / 8192, 631 / 524288, -174317 / 134217728)
"""Γ(k + 1/2)/Γ(k) = sqrt(w)·Σ series[j]/w^(2j) with w = k - 1/4; the next term is under 1e-20 from k = 64 on."""


def privacy_factor(alpha: float) -> float:
    """B = (e^α + 1)/(e^α - 1) = 1/tanh(α/2): by how much one private bit must be stretched."""
    return 1 / math.tanh(checks.alpha(alpha) / 2)


def mean_absolute_sum(sizes: ArrayLike) -> NDArray[np.float64]:
    """A(m) = E|r_1 + … + r_m| for fair signs r_i, that is m·C(m-1, ⌊(m-1)/2⌋)/2^(m-1), for each m.

    Equal to (2/sqrt(π))·Γ(k + 1/2)/Γ(k) with k = ⌈m/2⌉; about sqrt(2m/π). An m that is not whole, as among the nodes
    of an expectation over a long tail, gets the average of the even and the odd form, in which A is smooth.
    """
    m = np.asarray(sizes, dtype=np.float64)
    if not (m >= 1).all():
        raise InvalidInput("sizes", sizes, "numbers, at least 1")
    rounded = np.ceil(m / 2)
    whole = np.where(rounded < _EXACT, _TABLE[np.minimum(rounded, _EXACT - 1).astype(np.int64)], _smooth(rounded))
    return np.where(m == np.floor(m), whole, (_smooth(m / 2) + _smooth((m + 1) / 2)) / 2)


def limit(users: int, alpha: float, sizes: Sizes) -> float:
    """B² / (n·(E_M A(m))²): the smallest mean squared error for ±1 records at θ = 0, n users and α-LDP.

    Statement: for a population of fair ±1 records no α-LDP protocol with one report per user has, asymptotically in n,
    a smaller risk at θ = 0 (L1-information, Duchi and Ruan; the sign mechanism attains it). Assumes: α ≤ 1, and that θ
    is known up to small errors. Side of error: a limit for one family; the worst case over all laws on [-1, 1] is
    larger, and so is the risk at finite n.
    """
    users = checks.whole("users", users, 1, 2**62)
    return privacy_factor(alpha) ** 2 / (users * sizes.expectation(mean_absolute_sum) ** 2)


def _smooth(k: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2/sqrt(π))·Γ(k + 1/2)/Γ(k) by its series."""
    w = k - 0.25
    inverse_square = 1 / (w * w)
    series = np.polynomial.polynomial.polyval(inverse_square, np.array(_SERIES))
    result: NDArray[np.float64] = 2 / math.sqrt(math.pi) * np.sqrt(w) * series
    return result
