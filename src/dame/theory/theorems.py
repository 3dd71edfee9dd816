"""Both theorems at once, with what is known against them."""

from __future__ import annotations

from dataclasses import dataclass

from dame.sizes import Sizes
from dame.theory.constants import PAPER, Constants
from dame.theory.effective import effective_size, phi
from dame.theory.lower import lower_bound
from dame.theory.upper import upper_bound_at

HIGH_PRIVACY = 22 / 35
"""The largest α that the theorems cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The lower bound (Theorem 1) and the upper bound (Theorem 2) on the worst-case risk."""

    lower: float
    lower_at: int
    """The a that attains the lower bound."""
    upper: float
    m_tilde: int
    """The effective size m̃."""
    phi: float
    """φ(m̃): above 1, the proof of Theorem 2 does not cover m̃ > 1."""
    constants: str
    """The name of the constants."""

    def warnings(self, alpha: float | None = None) -> tuple[str, ...]:
        """One sentence for each assumption of the theorems that is violated."""
        found = []
        if alpha is not None and not alpha <= HIGH_PRIVACY:
            found.append(f"The theorems assume alpha ≤ 22/35 = {HIGH_PRIVACY:.4f}; alpha = {alpha:g} is not covered.")
        if self.m_tilde > 1 and self.phi > 1:
            found.append(
                f"The proof of the upper bound needs φ(m̃) ≤ 1 when m̃ > 1; here φ({self.m_tilde}) = {self.phi:.4g}, "
                "so the upper bound is not proven."
            )
        if self.lower > self.upper:
            found.append("The two bounds contradict each other: the upper one does not hold here.")
        return tuple(found)


def bounds(sizes: Sizes, n_alpha2: float, constants: Constants = PAPER) -> Bounds:
    """Both bounds for n users and budget α, which matter only through nα²."""
    m_tilde = effective_size(sizes, n_alpha2, constants)
    lower, lower_at = lower_bound(sizes, n_alpha2, constants)
    return Bounds(
        lower=lower,
        lower_at=lower_at,
        upper=upper_bound_at(sizes, n_alpha2, m_tilde, constants),
        m_tilde=m_tilde,
        phi=phi(m_tilde, n_alpha2, constants),
        constants=constants.name,
    )
