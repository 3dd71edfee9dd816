"""The audit's own arithmetic: on the safe side, tight, and apart from the device's."""

from __future__ import annotations

import ast
import inspect
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.audit import budget
from dame.audit.budget import covers, exp_below, ln_above
from dame.device.exact import ln_upper

exponents = st.fractions(0, 32, max_denominator=10**6)
ratios = st.one_of(
    st.fractions(1, 10**12, max_denominator=2**64),
    st.integers(1, 2**64 - 1).map(lambda numerator: 1 + Fraction(numerator, 2**90)),
)


@given(exponents)
def test_the_exponential_is_below_and_close(exponent):
    with mpmath.workdps(120):
        true = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        below = exp_below(exponent)
        gap = true - mpmath.mpf(below.numerator) / below.denominator
        assert 0 <= gap < mpmath.mpf(2) ** -230 * true


@given(ratios)
def test_the_logarithm_is_the_smallest_float_that_covers(ratio):
    epsilon = ln_above(ratio)
    assert covers(epsilon, ratio)
    assert epsilon == 0 or not covers(math.nextafter(epsilon, 0.0), ratio)


@settings(max_examples=12)
@given(ratios)
def test_the_logarithm_is_that_of_the_device(ratio):
    assert ln_above(ratio) == pytest.approx(ln_upper(ratio), rel=1e-15, abs=1e-300)


@given(st.floats(1e-6, 32.0))
def test_a_ratio_just_within_the_budget_has_an_epsilon_of_at_most_alpha(alpha):
    within = exp_below(Fraction(alpha))
    assert covers(alpha, within)
    assert ln_above(within) <= alpha
    assert not covers(alpha, within * (1 + Fraction(1, 2**200)))


def test_no_loss_is_zero():
    assert ln_above(Fraction(1)) == 0.0


def test_nothing_of_it_comes_from_the_device():
    tree = ast.parse(inspect.getsource(budget))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(module.startswith("dame") for module in modules)
