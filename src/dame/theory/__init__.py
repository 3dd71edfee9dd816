"""The theory: Theorems 1 and 2, the effective size m̃, the lemmas that serve as checks, and the information limits."""

from dame.theory.constants import PAPER, UNIT, Constants
from dame.theory.effective import bin_half_width, effective_size, phi
from dame.theory.information_limit import limit, mean_absolute_sum, privacy_factor
from dame.theory.lemmas import (
    variance_bound,
    variance_bound_with_projection,
    wrong_bin_bound,
    wrong_bin_exponent,
)
from dame.theory.lower import lower_bound, lower_bound_at
from dame.theory.one_round import LOSS_OF_ONE_ROUND, one_round_limit
from dame.theory.theorems import HIGH_PRIVACY, Bounds, bounds
from dame.theory.upper import TwoSizes, corollary_two_sizes, upper_bound, upper_bound_at

__all__ = [
    "HIGH_PRIVACY",
    "LOSS_OF_ONE_ROUND",
    "PAPER",
    "UNIT",
    "Bounds",
    "Constants",
    "TwoSizes",
    "bin_half_width",
    "bounds",
    "corollary_two_sizes",
    "effective_size",
    "limit",
    "lower_bound",
    "lower_bound_at",
    "mean_absolute_sum",
    "one_round_limit",
    "phi",
    "privacy_factor",
    "upper_bound",
    "upper_bound_at",
    "variance_bound",
    "variance_bound_with_projection",
    "wrong_bin_bound",
    "wrong_bin_exponent",
]
