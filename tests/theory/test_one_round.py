"""The bound for one round: the known constant for equal sizes, and an order that must hold for all others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dame.sizes import Sizes
from dame.theory import LOSS_OF_ONE_ROUND, limit, one_round_limit
from dame.theory.one_round import one_round_information


def test_one_round_loses_1_73_where_sizes_are_equal():
    assert pytest.approx(2 * math.e / math.pi) == LOSS_OF_ONE_ROUND
    sizes = Sizes.constant(100_000)
    assert one_round_limit(1000, 1.0, sizes) / limit(1000, 1.0, sizes) == pytest.approx(LOSS_OF_ONE_ROUND, rel=1e-3)
    assert one_round_information(sizes) == pytest.approx(100_000 / math.e, rel=1e-3)


@pytest.mark.parametrize("spec", ["poisson:50", "uniform:10:500", "two-point:100:10000:0.3", "zipf:1.5:10000"])
def test_no_single_frequency_tells_more_than_the_bound(spec):
    """A cosine of one frequency, for whoever has enough records, is a protocol of one round."""
    sizes = Sizes.parse(spec)
    bound = one_round_information(sizes)
    for omega in np.geomspace(0.5, 150, 60):
        for least in (1, omega**2 / 4, omega**2):
            told = sizes.expectation(lambda m, w=omega, a=least: np.where(m >= a, w * np.exp(-(w**2) / (2 * m)), 0.0))
            assert told**2 <= bound * 1.001
    assert one_round_limit(100, 1.0, sizes) > 0


def test_the_bound_is_far_above_the_limit_where_sizes_differ_much():
    sizes = Sizes.parse("two-point:100:1000000:0.5")
    assert one_round_limit(100, 1.0, sizes) > LOSS_OF_ONE_ROUND * limit(100, 1.0, sizes)
