"""Theorems 1 and 2 against brute force with 40 digits, and their shape."""

from __future__ import annotations

import dataclasses
import math
import time

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.theory import PAPER, UNIT, Bounds, Constants, bounds, effective_size, lower_bound, phi, upper_bound
from dame.theory import lower as lower_room
from tests.sizes import exact_sizes
from tests.theory import exact_bounds as exact

CASES = [
    ("poisson:5", 500),
    ("poisson:40", 3e5),
    ("poisson:50", 500),
    ("uniform:1:99", 5e4),
    ("binomial:1000:0.02", 2e5),
    ("two-point:100000:1000000:0.3", 4e5),
    ("zipf:1.6:5000", 1e5),
    ("constant:64", 1e4),
    ("geometric:0.1", 0.3),
    ("histogram:3=1,40=2,900=0.5", 2500),
]
BOTH = [(PAPER, exact.PAPER), (UNIT, exact.UNIT)]


@pytest.mark.parametrize(("spec", "n_alpha2"), CASES)
def test_bounds_agree_with_brute_force(spec: str, n_alpha2: float) -> None:
    sizes, law = Sizes.parse(spec), exact_sizes.atoms(spec)
    for constants, c in BOTH:
        found = bounds(sizes, n_alpha2, constants)
        x = mp.mpf(n_alpha2)
        value, at = exact.lower(law, x, c)
        assert found.m_tilde == exact.effective_size(law, x, c)
        assert found.lower == pytest.approx(float(value), rel=1e-11)
        assert found.lower_at == at
        assert found.upper == pytest.approx(float(exact.upper(law, x, found.m_tilde, c)), rel=1e-11)
        assert found.phi == pytest.approx(float(exact.phi(found.m_tilde, x, c)), rel=1e-13)
        assert (lower_bound(sizes, n_alpha2, constants), upper_bound(sizes, n_alpha2, constants)) == (
            (found.lower, found.lower_at),
            found.upper,
        )


def test_numbers_for_orientation() -> None:
    sizes = Sizes.parse("poisson:5")
    paper, unit = bounds(sizes, 500), bounds(sizes, 500, UNIT)
    assert (f"{paper.lower:.4e}", paper.upper, paper.m_tilde) == ("3.2292e-09", 4.0, 1)
    assert (f"{unit.lower:.4e}", f"{unit.upper:.4e}", unit.m_tilde) == ("4.2058e-04", "2.6554e-03", 8)
    constant = bounds(Sizes.constant(64), 1e4)
    assert (f"{constant.upper:.4e}", constant.m_tilde) == ("2.1499e-02", 64)


LAWS = st.dictionaries(st.integers(1, 60), st.integers(1, 1000), min_size=1, max_size=6)
SCALES = st.floats(-2, 7).map(lambda power: 10**power)


@settings(deadline=None, max_examples=80)
@given(LAWS, SCALES, st.sampled_from(BOTH))
def test_any_histogram_agrees_with_brute_force(weights, n_alpha2, both) -> None:
    constants, c = both
    total = sum(weights.values())
    law = {size: mp.mpf(weight) / total for size, weight in weights.items()}
    found = bounds(Sizes.from_weights(weights), n_alpha2, constants)
    assert found.m_tilde == exact.effective_size(law, mp.mpf(n_alpha2), c)
    assert found.lower == pytest.approx(float(exact.lower(law, mp.mpf(n_alpha2), c)[0]), rel=1e-10)
    assert found.upper <= 4
    assert found.lower <= found.upper or (found.m_tilde > 1 and found.phi > 1)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 10**12), SCALES, st.sampled_from([PAPER, UNIT]))
def test_phi_increases(a: int, n_alpha2: float, constants: Constants) -> None:
    assert phi(a, n_alpha2, constants) <= phi(a + 1, n_alpha2, constants) <= phi(2 * a + 1, n_alpha2, constants)


def test_a_survival_that_rounds_to_one_does_not_move_m_tilde() -> None:
    sizes = Sizes.parse("poisson:500")
    assert sizes.survival(100) == 1.0
    assert effective_size(sizes, 500, PAPER) == 1


@pytest.mark.parametrize(
    ("exponent", "largest", "n_alpha2"), [("1.5", 10**12, 1e7), ("0.5", 10**12, 1e9), ("1.25", 10**10, 1e8)]
)
@pytest.mark.parametrize("both", BOTH)
def test_effective_size_of_heavy_tails(exponent: str, largest: int, n_alpha2: float, both) -> None:
    constants, c = both
    m_tilde = effective_size(Sizes.parse(f"zipf:{exponent}:{largest}"), n_alpha2, constants)
    s, x = mp.mpf(exponent), mp.mpf(n_alpha2)
    total = exact_sizes.power_sum(-s, 1, largest)
    gaps = [(exact_sizes.power_sum(-s, a, largest) / total) ** 2 - exact.phi(a, x, c) for a in (m_tilde, m_tilde + 1)]
    # Where m̃ is near 1e12 a step of one changes the gap by less than rounding.
    rounding = 1e-12 * exact.phi(m_tilde, x, c)
    assert gaps[0] >= -rounding
    assert gaps[1] < rounding


@pytest.mark.parametrize(
    "spec", ["zipf:1.6:1000000", "uniform:1:1000000", "geometric:0.001", "poisson:1e5", "zipf:0.5:20000"]
)
@pytest.mark.parametrize("n_alpha2", [0.5, 100, 1e6, 1e12])
@pytest.mark.parametrize("constants", [PAPER, UNIT])
def test_the_search_of_long_supports_finds_the_maximum_over_all_sizes(
    spec: str, n_alpha2: float, constants: Constants
) -> None:
    sizes = Sizes.parse(spec)
    value, at = lower_bound(sizes, n_alpha2, constants)
    found_at, logarithm = lower_room._search(sizes, n_alpha2, constants)
    assert constants.c1 * math.exp(logarithm) == pytest.approx(value, rel=1e-11)
    assert found_at == pytest.approx(at, rel=1e-4)


@pytest.mark.parametrize(
    "spec", ["zipf:1.5:1000000", "zipf:1.5:1000000000000", "uniform:1:1000000000", "geometric:1e-9", "poisson:1e9"]
)
def test_heavy_tails_are_answered_quickly(spec: str) -> None:
    start = time.process_time()
    found = bounds(Sizes.parse(spec), 1e5)
    assert time.process_time() - start < 5  # a search by size would take hours
    assert 0 < found.lower < found.upper <= 4


def slope(x: np.ndarray, y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


@pytest.mark.parametrize("form", ["poisson:{0}", "uniform:1:{1}", "binomial:1000:{2}"])
def test_slopes_in_the_mean_size_are_minus_one(form: str) -> None:
    means = np.unique(np.geomspace(30, 300, 12).round())
    found = [bounds(Sizes.parse(form.format(m, 2 * int(m) - 1, m / 1000)), 500, UNIT) for m in means]
    assert slope(means, [b.lower for b in found]) == pytest.approx(-1, abs=0.05)
    assert slope(means, [b.upper / math.log(8 * math.sqrt(b.m_tilde * 500)) for b in found]) == pytest.approx(
        -1, abs=0.05
    )


def test_slope_of_the_upper_bound_with_its_logarithm() -> None:
    means = np.unique(np.geomspace(300, 3000, 12).round())
    found = [bounds(Sizes.parse(f"poisson:{m}"), 5e6, UNIT) for m in means]
    assert slope(means, [b.upper for b in found]) == pytest.approx(-1, abs=0.05)
    assert slope(means, [b.lower for b in found]) == pytest.approx(-1, abs=0.05)
    ratios = [b.upper / b.lower / math.log(8 * math.sqrt(b.m_tilde * 5e6)) for b in found]
    assert max(ratios) / min(ratios) < 1.05


def test_slopes_in_n_alpha2_are_minus_one() -> None:
    scales = np.geomspace(1e5, 1e8, 12)
    found = [bounds(Sizes.parse("poisson:5"), x, UNIT) for x in scales]
    assert slope(scales, [b.lower for b in found]) == pytest.approx(-1, abs=0.02)
    without_log = [b.upper / math.log(8 * math.sqrt(b.m_tilde * x)) for b, x in zip(found, scales, strict=True)]
    assert slope(scales, without_log) == pytest.approx(-1, abs=0.05)


def test_keys_and_warnings() -> None:
    found = bounds(Sizes.constant(64), 1e4)
    assert set(dataclasses.asdict(found)) == {"lower", "lower_at", "upper", "m_tilde", "phi", "constants"}
    assert found.constants == "paper"
    assert [text for text in found.warnings() if "φ(64) = 1.104" in text] == list(found.warnings())
    assert len(found.warnings(alpha=1.0)) == 2
    assert len(found.warnings(alpha=22 / 35)) == 1
    quiet = Bounds(lower=0.1, lower_at=1, upper=1.0, m_tilde=1, phi=5.0, constants="paper")
    assert quiet.warnings(0.5) == ()
    assert len(quiet.warnings(math.nan)) == 1


@pytest.mark.parametrize(("spec", "n_alpha2", "constants"), [("constant:1e15", 0.1, PAPER), ("constant:9", 1, UNIT)])
def test_where_the_printed_theorems_contradict_each_other_a_warning_says_so(spec, n_alpha2, constants) -> None:
    found = bounds(Sizes.parse(spec), n_alpha2, constants)
    assert found.lower > found.upper
    assert found.phi > 1
    assert any("contradict" in text for text in found.warnings())


def test_constants() -> None:
    assert Constants.named("paper") is PAPER
    assert Constants.named("unit") is UNIT
    assert pytest.approx(math.exp(-9) / 16) == PAPER.c1
    for wrong in ("Paper", "", None, 3):
        with pytest.raises(InvalidInput):
            Constants.named(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        dataclasses.replace(UNIT, c4=1.0)
    with pytest.raises(InvalidInput):
        dataclasses.replace(UNIT, c2=math.nan)


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "500", None, True])
def test_a_bad_n_alpha2_is_refused(wrong: object) -> None:
    sizes = Sizes.parse("poisson:5")
    for function in (bounds, effective_size, lower_bound, upper_bound):
        with pytest.raises(InvalidInput, match="n_alpha2"):
            function(sizes, wrong)  # type: ignore[operator]
