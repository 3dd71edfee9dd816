"""Lemmas of the proof of Theorem 2 that serve as checks of a run."""

from __future__ import annotations

import math

from dame import checks
from dame.theory.effective import checked

WINDOW = 14.0
"""The width of the window of the estimation phase in units of τ: a bin of 2τ and 6τ beyond each border."""


def wrong_bin_bound(n_alpha2: float, survival: float, tau: float) -> float:
    """The bound of the Lemma "Upper bound on P(Ā)": the chance that ĵ is three bins or more from the bin of θ.

    Statement: P(|ĵ - l| > 2) ≤ exp(-nα²·P(m ≥ m̃)²/579)/τ; here at most 1.
    Assumes: α ≤ 22/35 and that half of the n users vote, each bit kept with probability e^{α/6}/(1+e^{α/6}).
    Side of error: true chances are much smaller. The printed proof loses a factor of 4 in the exponent (its steps give
    2316); the statement stands whenever m̃nα² ≥ 3, by counting the coins as independent given the votes:
    `wrong_bin_exponent`.
    """
    checks.real("survival", survival, 0.0, 1.0)
    checks.positive("tau", tau, math.inf)
    return min(1.0, math.exp(-checked(n_alpha2) * survival**2 / 579) / tau)


def wrong_bin_exponent(alpha: float, m_n_alpha2: float) -> float:
    """The proven K in P(Z_l ≤ Z_k) ≤ exp(-nα²·P(m ≥ m̃)²/K), for m_n_alpha2 = m̃nα².

    With t = tanh(α/12), the difference of two private bits has mean at least t·P(m ≥ m̃)·(1 - 1/(2(sqrt(m̃nα²) ∨ 1)))
    and, given the votes, two independent coins: it is sub-Gaussian with variance proxy 1/2 + t². Over n/2 users,
    K = 2(1 + 2t²)·(α/t)²/(1 - 1/(2(sqrt(m̃nα²) ∨ 1)))²; it is under 579 when α ≤ 22/35 and m̃nα² ≥ 3.
    """
    t = math.tanh(checks.alpha(alpha) / 12)
    gap = 1 - 1 / (2 * max(1.0, math.sqrt(checked(m_n_alpha2))))
    return 2 * (1 + 2 * t * t) * (alpha / t / gap) ** 2


def variance_bound(tau: float, alpha: float) -> float:
    """The bound of the Lemma "Majoration of Var(θ̂ⁿ | ĵ)" on the variance of one user's report, as printed.

    Statement: Var ≤ 2(14τ)²/α².
    Side of error: this is the variance of Laplace noise of scale 14τ/α alone; that of the projected mean, at most a
    quarter of the squared width, is missing. `variance_bound_with_projection` adds it: up to 5 % more at α = 22/35.
    """
    return 2 * (WINDOW * checks.positive("tau", tau, math.inf) / checks.alpha(alpha)) ** 2


def variance_bound_with_projection(tau: float, alpha: float) -> float:
    """(14τ)²·(2/α² + 1/4): the variance of the noise and the most that a value in the window can have."""
    return variance_bound(tau, alpha) + (WINDOW * tau) ** 2 / 4
