"""Every sum against 40 digits, for small laws, for long tails and for wide bells."""

from __future__ import annotations

import math
import time
import tracemalloc

import mpmath as mp
import numpy as np
import pytest

from dame.errors import InvalidInput
from dame.sizes import Sizes
from tests.sizes import exact_sizes as exact

SMALL = [
    "constant:100",
    "constant:1",
    "poisson:5",
    "poisson:0.01",
    "poisson:40",
    "poisson:1234.5",
    "uniform:1:99",
    "uniform:17:17",
    "uniform:1000:1400",
    "binomial:1000:0.005",
    "binomial:1000:0.02",
    "binomial:300:0.999",
    "binomial:5:1e-9",
    "geometric:0.1",
    "geometric:0.9",
    "zipf:1.5:4000",
    "zipf:1:3000",
    "zipf:0.3:2000",
    "zipf:7.5:500",
    "two-point:100000:1000000:0.3",
    "histogram:1=10,2=5",
    "histogram:3=0.25,10=7,1000000=1e-3",
    "scipy:nbinom:5:0.1",
]
HUGE = [
    "zipf:1.5:1000000000",
    "zipf:0.2:1000000000000",
    "uniform:1:1000000000",
    "constant:1000000000000",
    "geometric:1e-9",
    "poisson:1e9",
    "binomial:1000000000000:0.005",
]


def close(got: float, wanted: mp.mpf, relative: float = 1e-12) -> bool:
    # Below 1e-250 a sum may have lost terms that are no floats.
    return abs(mp.mpf(got) - wanted) <= relative * abs(wanted) + mp.mpf(10) ** -250


@pytest.mark.parametrize("spec", SMALL)
def test_small_laws_agree_with_40_digits(spec: str) -> None:
    sizes, law = Sizes.parse(spec), exact.atoms(spec)
    low, high = min(law), max(law)
    middle = int(sizes.mean)
    points = {0, 1, low - 1, low, low + 1, middle, middle + 1, (low + high) // 2, high, high + 1}
    for a in sorted(points | {middle + 0.5, low - 0.5}):
        wanted = exact.survival(law, a)
        if wanted > 1e-40 or (a > high and sizes.largest):
            assert close(sizes.survival(a), wanted), a
            assert close(sizes.mean_sqrt_below(a), exact.mean_sqrt_below(law, a)), a
        if a > 0:
            assert close(sizes.mean_sqrt(a), exact.mean_sqrt(law, a)), a
    assert close(sizes.mean_sqrt(), exact.mean_sqrt(law, math.inf))
    assert close(sizes.mean, exact.mean(law))
    assert close(sizes.expectation(np.sqrt), exact.mean_sqrt(law, math.inf))
    effective = mp.fsum(p / (1 / mp.mpf(m) + mp.mpf(0.01)) for m, p in law.items())
    assert close(sizes.expectation(lambda m: 1 / (1 / m + 0.01)), effective)


@pytest.mark.parametrize("spec", SMALL + HUGE)
def test_monotone_and_exactly_one_at_the_smallest(spec: str) -> None:
    sizes = Sizes.parse(spec)
    top = sizes.largest or 10**13
    points = np.unique(np.geomspace(1, top + 1, 300).round())
    survival, below = sizes.survival(points), sizes.mean_sqrt_below(points)
    assert (np.diff(survival) <= 0).all()
    assert (np.diff(below) >= 0).all()
    assert sizes.survival(sizes.smallest) == 1.0
    assert sizes.survival(-math.inf) == 1.0
    assert sizes.survival(math.inf) == 0.0
    assert sizes.mean_sqrt_below(math.inf) == sizes.mean_sqrt()
    assert survival[0] == sizes.survival(float(points[0]))
    assert sizes.survival(points.reshape(1, -1)).shape == (1, len(points))


@pytest.mark.parametrize(
    ("exponent", "largest"),
    [("1.5", 10**9), ("0.5", 10**12), ("1", 10**10), ("3.25", 10**9), ("1.625", 2**21 + 1)],
)
def test_long_zipf(exponent: str, largest: int) -> None:
    sizes = Sizes.parse(f"zipf:{exponent}:{largest}")
    s = mp.mpf(exponent)
    total = exact.power_sum(-s, 1, largest)
    for a in (2, 1000, 2**20, 2**20 + 1, 2**20 + 2, 2097000, largest // 3, largest - 1, largest):
        assert close(sizes.survival(a), exact.power_sum(-s, a, largest) / total), a
        below = exact.power_sum(mp.mpf(1) / 2 - s, 1, a) / total
        assert close(sizes.mean_sqrt_below(a), below), a
        capped = below + mp.sqrt(a) * exact.power_sum(-s, a + 1, largest) / total
        assert close(sizes.mean_sqrt(a), capped), a
    assert close(sizes.mean, exact.power_sum(1 - s, 1, largest) / total)
    assert close(sizes.expectation(np.sqrt), exact.power_sum(mp.mpf(1) / 2 - s, 1, largest) / total)


@pytest.mark.parametrize(("low", "high"), [(1, 10**9), (7, 10**12), (10**9, 2 * 10**9)])
def test_long_uniform(low: int, high: int) -> None:
    sizes = Sizes.parse(f"uniform:{low}:{high}")
    count = high - low + 1
    for a in (low, low + 5, low + 2**20, low + 2**20 + 1, (low + high) // 2, high):
        assert close(sizes.survival(a), mp.mpf(high - a + 1) / count)
        assert close(sizes.mean_sqrt_below(a), exact.power_sum(mp.mpf(1) / 2, low, a) / count), a
    assert close(sizes.mean, mp.mpf(low + high) / 2)
    assert close(sizes.expectation(np.sqrt), exact.power_sum(mp.mpf(1) / 2, low, high) / count)


@pytest.mark.parametrize("success", ["1e-9", "1e-6", "1e-5", "0.0003"])
def test_long_geometric(success: str) -> None:
    sizes = Sizes.parse(f"geometric:{success}")
    p = mp.mpf(float(success))
    decay = -mp.log1p(-p)
    for a in (10, int(0.1 / p), int(2 / p), int(9 / p)):
        below = p * mp.exp(decay) * exact.decaying_sqrt_sum(decay, a)
        assert close(sizes.mean_sqrt_below(a), below), a
        assert close(sizes.survival(a), mp.exp(-decay * (a - 1)))
    assert close(sizes.mean, 1 / p)


@pytest.mark.parametrize("rate", [10**4, 10**6, 10**9, 10**10])
def test_wide_poisson_mean_sqrt(rate: int) -> None:
    x = mp.mpf(rate)
    wanted = mp.sqrt(x) * (1 - 1 / (8 * x) - 7 / (128 * x**2) - 75 / (1024 * x**3))
    sizes = Sizes.parse(f"poisson:{rate}")
    assert close(sizes.mean_sqrt(), wanted)
    assert close(sizes.expectation(np.sqrt), wanted)
    assert close(sizes.mean, x)


@pytest.mark.parametrize("z", [-4, -1, 0, 1, 3, 6, 12, 20])
def test_wide_poisson_survival(z: int) -> None:
    a = 10**5 + z * 316
    assert close(Sizes.parse("poisson:1e5").survival(a), exact.poisson_survival(10**5, a))


@pytest.mark.parametrize("z", [-1, 0, 2, 8])
def test_wide_binomial_survival(z: int) -> None:
    trials, success = 200_000, 0.25
    a = 50_000 + z * 193
    wanted = exact.binomial_survival(trials, success, a)
    assert close(Sizes.parse(f"binomial:{trials}:{success}").survival(a), wanted)


def test_a_wide_bell_keeps_the_average_of_even_and_odd_sizes() -> None:
    sizes = Sizes.parse("poisson:1e8")
    assert abs(sizes.expectation(lambda m: m % 2) - 0.5) < 1e-12


@pytest.mark.parametrize("spec", HUGE)
def test_huge_sizes_are_quick_and_small(spec: str) -> None:
    tracemalloc.start()
    start = time.perf_counter()
    sizes = Sizes.parse(spec)
    for cap in (1, 1e3, 1e6, 1e9, 1e12, math.inf):
        assert 0 < sizes.mean_sqrt(cap) <= math.sqrt(cap) * (1 + 1e-12)
    assert abs(sizes.expectation(np.sqrt) / sizes.mean_sqrt() - 1) < 1e-12
    draws = sizes.sample(np.random.default_rng(1), 1000)
    seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert draws.min() >= sizes.smallest
    assert seconds < 3  # a fifth of a second on an idle core
    assert peak < 200e6


@pytest.mark.parametrize("spec", ["zipf:1.5:1000000000", "poisson:1e9", "geometric:1e-9"])
def test_scalars_and_arrays_agree(spec: str) -> None:
    sizes = Sizes.parse(spec)
    points = np.geomspace(1, 2e9, 37).round()
    assert [sizes.survival(a) for a in points.tolist()] == sizes.survival(points).tolist()
    assert [sizes.mean_sqrt_below(a) for a in points.tolist()] == sizes.mean_sqrt_below(points).tolist()


def test_many_queries_of_a_long_tail_do_not_need_much_memory() -> None:
    sizes = Sizes.parse("zipf:1.5:1000000000")
    points = np.linspace(1, 1e9, 100_001)
    survival = sizes.survival(points)
    assert survival[0] == 1.0
    assert (np.diff(survival) < 0).all()


def test_whole_and_broken_caps() -> None:
    sizes = Sizes.parse("uniform:1:4")
    assert sizes.mean_sqrt(2.25) == pytest.approx((1 + math.sqrt(2) + 1.5 + 1.5) / 4, rel=1e-15)
    assert sizes.mean_sqrt(0.25) == 0.5
    assert sizes.mean_sqrt(0) == 0.0


@pytest.mark.parametrize("value", [math.nan, "x", None, [1.0, math.nan], 10**400])
def test_points_that_are_no_numbers_are_refused(value: object) -> None:
    sizes = Sizes.constant(3)
    with pytest.raises(InvalidInput):
        sizes.survival(value)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput):
        sizes.mean_sqrt_below(value)  # type: ignore[call-overload]


@pytest.mark.parametrize("value", [math.nan, -1, "x", None])
def test_caps_that_are_no_numbers_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        Sizes.constant(3).mean_sqrt(value)  # type: ignore[arg-type]
