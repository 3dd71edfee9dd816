"""Theorem 2: what DAME attains; and its corollary for two sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.theory.constants import PAPER, Constants
from dame.theory.effective import checked, effective_size, last_true, phi, root
from dame.theory.lower import lower_bound_at

TRIVIAL = 4.0
"""The squared error that no estimate in [-1, 1] exceeds."""


def upper_bound(sizes: Sizes, n_alpha2: float, constants: Constants = PAPER) -> float:
    """The upper bound of Theorem 2 on the worst-case mean squared error of DAME.

    Statement: R ≤ min(4, c3·ln(c4(sqrt(m̃nα²) ∨ 1)) / (nα²·(E sqrt(m ∧ m̃))²)) with m̃ = `effective_size`.
    Assumes: records in [-1, 1], known M, α ≤ 22/35; and, which the paper does not say, φ(m̃) ≤ 1 when m̃ > 1
    (without it the statement is false: it contradicts Theorem 1 for constant:1e15 and nα² = 0.1).
    Side of error: DAME is usually far below. The printed proof leaves the variance of the projected mean out of its
    Lemma on the variance; with it, c3 = 1580 is proven in place of 1570.
    """
    return upper_bound_at(sizes, n_alpha2, effective_size(sizes, n_alpha2, constants), constants)


def upper_bound_at(sizes: Sizes, n_alpha2: float, m_tilde: int, constants: Constants = PAPER) -> float:
    """The expression of Theorem 2 for a given m̃, at most 4."""
    return _risk(sizes.mean_sqrt(m_tilde), m_tilde, checked(n_alpha2), constants)


def _risk(mean_sqrt: float, m_tilde: int, n_alpha2: float, constants: Constants) -> float:
    logarithm = math.log(constants.c4 * root(m_tilde, n_alpha2))
    return min(TRIVIAL, constants.c3 * logarithm / (n_alpha2 * mean_sqrt**2))


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSizes:
    """What the corollary says of users of whom a share ρ has m records and the others have one."""

    m_tilde: int
    """The a of the regime: ρ² lies in [φ(a), φ(a+1)), or above φ(m) for a = m."""
    upper: float
    """c3·ln(c4·sqrt(anα²)) / (nα²·((1-ρ) + ρ·sqrt(a))²), at most 4."""
    exponential: float | None
    """2·c3·c4·exp(-ρ²nα²/c5)/ρ², the second bound of the regimes 1 < a < m; None in the others."""
    lower: float
    """The larger value of Theorem 1 at a = 1 and at a = m."""


def corollary_two_sizes(size: int, share: float, n_alpha2: float, constants: Constants = PAPER) -> TwoSizes:
    """The bounds of the corollary of Theorem 2 for M(m) = ρ, M(1) = 1 - ρ, with its constants written out.

    Statement: R = O(ln(nα²)/(nα²)) always; O(ln(mnα²)/(nα²((1-ρ)+ρ·sqrt(m))²)) when ρ² ≥ φ(m); and for
    ρ² in [φ(a), φ(a+1)) the same with a in place of m, and O(exp(-ρ²nα²/c5)/ρ²).
    Assumes: Theorem 2, and nα² ≥ 1. Side of error: both are upper bounds; the exponential one follows from the other
    and is never smaller. The lower bound is Theorem 1 at a = 1 and a = m (the text says a = 0, which gives less).
    """
    size = checks.whole("size", size, 2, 10**15)
    share = checks.real("share", share, 0.0, 1.0)
    if not checked(n_alpha2) >= 1:
        raise InvalidInput("n_alpha2", n_alpha2, "at least 1 in the corollary")
    m_tilde = _regime(size, share, n_alpha2, constants)
    sizes = Sizes.parse(f"two-point:1:{size}:{share!r}")
    return TwoSizes(
        m_tilde=m_tilde,
        upper=_risk((1 - share) + share * math.sqrt(m_tilde), m_tilde, n_alpha2, constants),
        exponential=_exponential(share, n_alpha2, constants) if 1 < m_tilde < size else None,
        lower=max(lower_bound_at(sizes, n_alpha2, a, constants) for a in (1, size)),
    )


def _regime(size: int, share: float, n_alpha2: float, constants: Constants) -> int:
    """The largest a up to `size` with φ(a) ≤ ρ², or 1."""
    return last_true(lambda a: a <= size and phi(a, n_alpha2, constants) <= share**2, 1)


def _exponential(share: float, n_alpha2: float, constants: Constants) -> float:
    """2·c3·c4·exp(-ρ²nα²/c5)/ρ²: from ρ² < φ(2a), that is ln(2c4·anα²)/(2c4·anα²) ≤ exp(-ρ²nα²/c5)."""
    return 2 * constants.c3 * constants.c4 * math.exp(-(share**2) * n_alpha2 / constants.c5) / share**2
