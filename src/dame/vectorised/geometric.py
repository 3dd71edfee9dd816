"""The exact binary digits of geometric variables: a table of probabilities, from integers alone.

If P(x) is proportional to exp(-x/t) on x = 0, 1, 2, …, then the binary digits of x are independent, because the
weight is a product over them: digit j is one with probability r/(1+r), r = exp(-2^j/t). These numbers are
irrational, so their own binary digits never end; they are found, as far as a comparison needs them, between a lower
and an upper bound in integer arithmetic.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dame.vectorised.bernoulli import PLANES, flips_of
from dame.vectorised.words import WordArray

Bounds = tuple[int, int]

_SPARE = 192
"""Binary places, beyond those asked for, that settle them at the first attempt in all but the rarest cases."""


def width(scale: int) -> int:
    """How many digits to draw one by one: what lies beyond them has a chance below exp(-48), and a coin of its own."""
    return (48 * scale - 1).bit_length()


@lru_cache(maxsize=1024)
def digit_flips(scale: int, group: int) -> WordArray:
    """A group of digits, for `flips_of`, of the probabilities of each digit of x and, last, of x >= 2^width."""
    count = PLANES * (group + 1)
    last = [_leading(scale, place, count) % 2**PLANES for place in range(width(scale) + 1)]
    return flips_of(np.unpackbits(np.array([last], np.uint8), axis=0))


def _leading(scale: int, place: int, count: int) -> int:
    """The integer part of 2^count · r/(1+r), for r = exp(-2^place/scale); beyond all digits, of 2^count · r itself."""
    precision = _SPARE + -(-count // 64) * 64
    while True:
        one = 1 << precision
        powers = _powers(scale, precision)[place]
        low, high = ((power << count) // (one + power if place < width(scale) else one) for power in powers)
        if low == high:
            return low
        precision *= 2


@lru_cache(maxsize=256)
def _powers(scale: int, precision: int) -> tuple[Bounds, ...]:
    """Bounds on 2^precision · exp(-2^j/scale) for j = 0 … width: one series, then squares of the one before."""
    bounds = [_root(scale, precision)]
    for _ in range(width(scale)):
        low, high = bounds[-1]
        bounds.append((low * low >> precision, -(-high * high >> precision)))
    return tuple(bounds)


def _root(scale: int, precision: int) -> Bounds:
    """Bounds on 2^precision · exp(-1/scale) from its alternating series.

    Each term is rounded down by less than one, and all that is left out sums to less than one.
    """
    term, total, terms = 2**precision, 0, 0
    while term:
        total += -term if terms % 2 else term
        terms += 1
        term //= terms * scale
    return total - terms - 1, min(total + terms + 1, 2**precision)
