"""Exact arithmetic for privacy: bounds of e^x and ln x on a known side, and integer thresholds that obey them.

A coin shows 1 with probability t / 2^64, where the threshold t is an integer. Whatever floats did before, the
likelihood ratios of a report are ratios of such integers, so its privacy loss is the logarithm of a rational number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

WORD = 2**64
"""How many values a random word can take."""

_DIGITS = 60


@lru_cache(maxsize=1024)
def exp_lower(exponent: Fraction) -> Fraction:
    """A rational number that is at most e^exponent, and closer to it than one part in 10^58."""
    down = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    quotient = down.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    # Decimal.exp rounds to the nearest number of so many digits: one step down is below the true value.
    return Fraction(quotient.exp(down).next_minus(down))


def ln_upper(ratio: Fraction) -> float:
    """A float that is at least ln(ratio), and exceeds it by no more than rounding to the next float does."""
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    quotient = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return float_upper(Fraction(quotient.ln(up).next_plus(up)))


def float_upper(value: Fraction) -> float:
    """The smallest float that is at least `value`."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A privacy loss, exactly: ln(ratio) + exponent, of a likelihood ratio and of noise that falls exponentially."""

    ratio: Fraction = Fraction(1)
    exponent: Fraction = Fraction(0)

    def within(self, alpha: float) -> bool:
        """Whether the loss is certainly at most α; one too close to tell counts as above."""
        left = Fraction(alpha) - self.exponent
        return left >= 0 and (self.ratio == 1 or self.ratio <= exp_lower(left))

    def epsilon(self) -> float:
        """The loss, rounded up to a float."""
        return float_upper(Fraction(0.0 if self.ratio == 1 else ln_upper(self.ratio)) + self.exponent)


def symmetric_threshold(budget: Fraction) -> int:
    """The largest t with t / (2^64 - t) ≤ e^budget: the honest side of a randomised response."""
    odds = exp_lower(budget)
    return math.floor(WORD * odds / (1 + odds))
