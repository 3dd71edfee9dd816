"""An independent judge of privacy: the exact law of a report, and the largest likelihood ratio between people.

It runs the code under test with every combination of random words that can matter. A program that only compares words
with thresholds behaves alike for all words between two thresholds, so one word of each such cell, with the cell's
share of 2^64 as its weight, gives the exact law as rational numbers.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from fractions import Fraction

import mpmath

from dame.device.coins import Coins, ReplayCoins
from dame.device.exact import WORD

Law = Mapping[Hashable, Fraction]
IMPOSSIBLE = math.inf
"""The ratio when a report is possible for one person and impossible for another."""


def exact_law(program: Callable[[Coins], Hashable], words: int, thresholds: Collection[int]) -> Law:
    """The law of what a program makes of so many words, if it only compares them with the thresholds."""
    borders = sorted({0, *thresholds, WORD})
    cells = [(low, Fraction(high - low, WORD)) for low, high in itertools.pairwise(borders)]
    law: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    for chosen in itertools.product(cells, repeat=words):
        coins = ReplayCoins(struct.pack(f">{words}Q", *(word for word, _ in chosen)))
        law[program(coins)] += math.prod((weight for _, weight in chosen), start=Fraction(1))
    assert sum(law.values()) == 1
    return dict(law)


def largest_ratio(laws: Iterable[Law]) -> Fraction | float:
    """The largest P(report | one person) / P(report | another) over all reports and all pairs of people."""
    different = {frozenset(law.items()): law for law in laws}.values()
    reports = {report for law in different for report in law}
    largest: Fraction | float = Fraction(1)
    for report in reports:
        chances = [law.get(report, Fraction(0)) for law in different]
        if not all(chances):
            return IMPOSSIBLE
        largest = max(largest, max(chances) / min(chances))
    return largest


def laplace_loss(points: Collection[int], scale: int) -> Fraction:
    """The largest log-likelihood ratio of integer noise of weight exp(-|k| / scale) added to two of the points."""
    # Between two points the ratio is monotone: the points, and places beyond all of them, tell everything.
    reports = {*points, min(points) - 1, max(points) + 1}
    return max(
        Fraction(abs(report - other) - abs(report - one), scale)
        for report in reports
        for one, other in itertools.product(points, repeat=2)
    )


def is_private(ratio: Fraction | float, alpha: float) -> bool:
    """Whether a likelihood ratio is at most e^α, decided with 100 digits."""
    if ratio == IMPOSSIBLE:
        return False
    with mpmath.workdps(100):
        exact = Fraction(ratio)
        return bool(mpmath.mpf(exact.numerator) / exact.denominator <= mpmath.exp(mpmath.mpf(alpha)))
