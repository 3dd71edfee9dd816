"""The information limit: A(m) from its definition, by exact formula and to 30 digits; B; the whole."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.theory import limit, mean_absolute_sum, privacy_factor


def a_of(m: int) -> mp.mpf:
    with mp.workdps(40):
        half = (m - 1) // 2
        choose = mp.loggamma(m) - mp.loggamma(half + 1) - mp.loggamma(m - half)
        return mp.exp(mp.log(m) + choose - (m - 1) * mp.log(2))


@pytest.mark.parametrize("m", range(1, 13))
def test_it_is_the_mean_of_the_absolute_sum(m: int) -> None:
    total = sum(abs(sum(signs)) for signs in itertools.product((-1, 1), repeat=m))
    assert mean_absolute_sum(m) == pytest.approx(total / 2**m, rel=1e-15)


def test_small_sizes_are_exact_and_large_ones_have_13_digits() -> None:
    small = np.arange(1, 600)
    wanted = [float(Fraction(m * math.comb(m - 1, (m - 1) // 2), 2 ** (m - 1))) for m in small.tolist()]
    assert np.abs(mean_absolute_sum(small) / wanted - 1).max() < 1e-15
    for m in (601, 1000, 12345, 10**6 + 1, 10**9, 10**12, 10**15):
        assert abs(mp.mpf(float(mean_absolute_sum(m))) / a_of(m) - 1) < 1e-13, m


def test_shape_and_growth() -> None:
    m = np.arange(1, 3000).reshape(1, -1)
    values = mean_absolute_sum(m)
    assert values.shape == m.shape
    assert (np.diff(values) >= 0).all()
    assert (values[0, 0::2][:-1] == values[0, 1::2]).all()
    assert mean_absolute_sum(1e15) == pytest.approx(math.sqrt(2e15 / math.pi), rel=1e-14)
    between = mean_absolute_sum(np.array([2000.0, 2000.5, 2001.0]))
    assert between[0] < between[1] < between[2]


@pytest.mark.parametrize(("m", "squared"), [(1, 1), (20, 12), (500, 318), (5000, 3183)])
def test_what_plain_one_bit_loses(m: int, squared: int) -> None:
    one_bit = privacy_factor(0.6) ** 2 / 1000
    assert round(one_bit / limit(1000, 0.6, Sizes.constant(m))) == squared


def test_the_privacy_factor() -> None:
    assert privacy_factor(math.log(3)) == pytest.approx(2, rel=1e-15)
    assert privacy_factor(1e-6) == pytest.approx(2e6 + 1e-6 / 6, rel=1e-14)
    assert privacy_factor(32) == pytest.approx(1 + 2 * math.exp(-32), rel=1e-15)
    for wrong in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(InvalidInput):
            privacy_factor(wrong)  # type: ignore[arg-type]


def test_the_limit_of_two_sizes() -> None:
    mean = 0.75 * 1 + 0.25 * 3 * 2 / 4
    assert limit(50, 0.5, Sizes.parse("histogram:1=3,3=1")) == pytest.approx(privacy_factor(0.5) ** 2 / (50 * mean**2))


@pytest.mark.parametrize("spec", ["zipf:1.5:2000000", "uniform:1:2000000", "geometric:0.0005", "poisson:1e8"])
def test_nodes_of_long_supports_lose_nothing(spec: str) -> None:
    sizes = Sizes.parse(spec)
    every = sizes.support().astype(float)
    weights = -np.diff(sizes.survival(np.append(every, every[-1] + 1)))
    assert sizes.expectation(mean_absolute_sum) == pytest.approx(weights @ mean_absolute_sum(every), rel=1e-10)


def test_bad_input() -> None:
    for users in (0, 1.5, -1, None):
        with pytest.raises(InvalidInput):
            limit(users, 0.5, Sizes.constant(1))  # type: ignore[arg-type]
    for size in (0, math.nan, 0.5):
        with pytest.raises(InvalidInput):
            mean_absolute_sum(size)
