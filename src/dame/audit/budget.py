"""Arithmetic on the safe side, written apart from the device's own: e^ε from below, ln from above.

The audit decides with these whether a likelihood ratio is within a budget. They share no line with
`dame.device.exact`, so a slip there cannot hide itself here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

_UNIT = 2**256


@lru_cache(maxsize=1024)
def exp_below(exponent: Fraction) -> Fraction:
    """A rational number that is at most e^exponent, for an exponent ≥ 0, and within 2^-240 or so of it.

    A partial sum of the series: every term is positive, and every term is rounded down.
    """
    assert exponent >= 0
    total, term, order = 0, _UNIT, 0
    while term:
        total += term
        order += 1
        term = term * exponent.numerator // (exponent.denominator * order)
    return Fraction(total, _UNIT)


def covers(epsilon: float | Fraction, ratio: Fraction) -> bool:
    """Whether a likelihood ratio is certainly at most e^epsilon."""
    return ratio <= exp_below(Fraction(epsilon))


def ln_above(ratio: Fraction) -> float:
    """The smallest float ε for which a likelihood ratio ≥ 1 is certainly at most e^ε."""
    assert ratio >= 1
    epsilon = math.log1p(float(ratio - 1))
    while not covers(epsilon, ratio):
        epsilon = math.nextafter(epsilon, math.inf)
    while epsilon > 0 and covers(math.nextafter(epsilon, 0.0), ratio):
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon
