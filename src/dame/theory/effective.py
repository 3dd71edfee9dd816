"""The effective size m̃ of Theorem 2, the function φ that decides it, and the half-width τ of a bin."""

from __future__ import annotations

import math
from collections.abc import Callable

from dame import checks
from dame.sizes import Sizes
from dame.theory.constants import PAPER, Constants

LARGEST_N_ALPHA2 = 1e100


def checked(n_alpha2: float) -> float:
    """nα² as a float above zero."""
    return checks.positive("n_alpha2", n_alpha2, LARGEST_N_ALPHA2)


def phi(a: float, n_alpha2: float, constants: Constants = PAPER) -> float:
    """φ(a) = c5/(nα²) · ln( c4(anα² ∨ 1) / ln(c4(anα² ∨ 1)) ), Theorem 2: what P(m ≥ a)² must reach.

    It increases with a, since x/ln(x) does beyond e and c4 is larger than e.
    """
    inside = constants.c4 * max(checks.real("a", a, 0.0, 1e100) * checked(n_alpha2), 1.0)
    return constants.c5 / n_alpha2 * math.log(inside / math.log(inside))


def effective_size(sizes: Sizes, n_alpha2: float, constants: Constants = PAPER) -> int:
    """m̃ of Theorem 2: the largest a with P(m ≥ a)² ≥ min(φ(a), 1).

    The left side falls and the right side rises, so doubling brackets m̃ and bisection finds it. All a up to the
    smallest size qualify. Where φ(a) ≥ 1 no larger a does; this is decided without P(m ≥ a), which may round to 1.
    """
    checked(n_alpha2)

    def qualifies(a: int) -> bool:
        level = phi(a, n_alpha2, constants)
        return a <= sizes.smallest if level >= 1 else sizes.survival(a) ** 2 >= level

    return last_true(qualifies, sizes.smallest)


def last_true(holds: Callable[[int], bool], known: int) -> int:
    """The last whole number at which a condition holds that holds at `known` and, once it fails, keeps failing."""
    low, high = known, 2 * known
    while holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def bin_half_width(m_tilde: int, n_alpha2: float) -> float:
    """τ = sqrt(2 ln(8(sqrt(m̃nα²) ∨ 1)) / m̃): a bin of the localisation has width 2τ.

    By Hoeffding, the mean of m̃ records in [-1, 1] is farther than τ from θ with probability at most
    1/(4(sqrt(m̃nα²) ∨ 1)).
    """
    return math.sqrt(2 * math.log(8 * root(m_tilde, n_alpha2)) / m_tilde)


def root(m_tilde: int, n_alpha2: float) -> float:
    """sqrt(m̃nα²) ∨ 1."""
    return max(math.sqrt(checks.whole("m_tilde", m_tilde, 1, 2**62) * checked(n_alpha2)), 1.0)
