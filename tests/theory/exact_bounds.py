"""Theorems 1 and 2 over a dictionary of probabilities, to 40 digits and by brute force: the oracle of the tests."""

from __future__ import annotations

import mpmath as mp

from tests.sizes import exact_sizes

PAPER = {"c1": mp.exp(-9) / 16, "c2": 24, "c3": 1570, "c4": 8, "c5": mp.mpf(8685) / 10}
UNIT = {"c1": 1, "c2": 1, "c3": 1, "c4": 8, "c5": 1}


def phi(a: int, x, c):
    inside = c["c4"] * max(a * x, mp.mpf(1))
    return mp.mpf(c["c5"]) / x * mp.log(inside / mp.log(inside))


def effective_size(law, x, c) -> int:
    """m̃ by walking down from the largest size."""
    a = max(law)
    tail = mp.mpf(0)
    while True:
        tail += law.get(a, 0)
        # Rounding of 40 digits must not decide that P(m ≥ smallest) is below one.
        survival = mp.mpf(1) if a <= min(law) else tail
        if survival**2 >= min(phi(a, x, c), 1):
            return a
        a -= 1


def lower(law, x, c):
    """The maximum of Theorem 1 over a = 0 and all sizes, and where it is."""
    best, at = c["c1"] * mp.exp(-c["c2"] * x), 0
    above, below = mp.mpf(1), mp.mpf(0)
    for a in sorted(law):
        above -= law[a]
        below += mp.sqrt(a) * law[a]
        value = c["c1"] * mp.exp(-c["c2"] * x * above**2) / max(x * below**2, mp.mpf(1))
        if value > best:
            best, at = value, a
    return best, at


def upper(law, x, m_tilde: int, c):
    logarithm = mp.log(c["c4"] * max(mp.sqrt(m_tilde * x), mp.mpf(1)))
    return min(mp.mpf(4), c["c3"] * logarithm / (x * exact_sizes.mean_sqrt(law, m_tilde) ** 2))
