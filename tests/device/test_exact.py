"""Exact arithmetic: every bound lies on the promised side, and is as close as promised."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.exact import WORD, Loss, exp_lower, float_upper, ln_upper, symmetric_threshold

DIGITS = 120
ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
PARTS = (1, 2, 6)
"""α is used whole, in halves (one mark) and in sixths (three marks)."""
BUDGETS = tuple(Fraction(alpha) / parts for alpha in ALPHAS for parts in PARTS)

budgets = st.floats(1e-6, 32.0).map(Fraction)
ratios = st.builds(Fraction, st.integers(1, WORD), st.integers(1, WORD)).filter(lambda ratio: ratio > 1)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.fixture(autouse=True)
def _many_digits():
    with mpmath.workdps(DIGITS):
        yield


def check_exp_lower(exponent: Fraction) -> None:
    with mpmath.workdps(DIGITS):
        truth, bound = mpmath.exp(real(exponent)), real(exp_lower(exponent))
        assert bound <= truth
        assert (truth - bound) / truth < mpmath.mpf(10) ** -58


@pytest.mark.parametrize("exponent", BUDGETS)
def test_exp_lower_is_below_and_close_at_budgets_in_use(exponent):
    check_exp_lower(exponent)


@given(budgets, st.sampled_from([1, 2, 6, 10, 66]))
def test_exp_lower_is_below_and_close_everywhere(alpha, parts):
    check_exp_lower(alpha / parts)


def check_ln_upper(ratio: Fraction) -> None:
    with mpmath.workdps(DIGITS):
        truth, bound = mpmath.log(real(ratio)), ln_upper(ratio)
        assert mpmath.mpf(bound) >= truth
        assert mpmath.mpf(math.nextafter(bound, -math.inf)) < truth


@given(ratios)
def test_ln_upper_is_the_first_float_above(ratio):
    check_ln_upper(ratio)


@pytest.mark.parametrize("ratio", [Fraction(WORD // 2 + 1, WORD // 2), Fraction(WORD - 1), Fraction(2)])
def test_ln_upper_is_the_first_float_above_at_extremes(ratio):
    check_ln_upper(ratio)


@given(st.fractions(min_value=0, max_value=10**6))
def test_float_upper_is_the_smallest_float_above(value):
    bound = float_upper(value)
    assert Fraction(bound) >= value
    assert Fraction(math.nextafter(bound, -math.inf)) < value


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_threshold_is_the_largest_that_the_budget_allows(budget):
    t, limit = symmetric_threshold(budget), mpmath.exp(real(budget))
    assert 0 < t < WORD
    assert mpmath.mpf(t) / (WORD - t) <= limit
    assert mpmath.mpf(t + 1) / (WORD - t - 1) > limit


@given(budgets)
def test_the_threshold_is_the_largest_for_every_budget(budget):
    with mpmath.workdps(DIGITS):
        t, limit = symmetric_threshold(budget), mpmath.exp(real(budget))
        assert mpmath.mpf(t) / (WORD - t) <= limit < mpmath.mpf(t + 1) / (WORD - t - 1)


# --- losses


def true_loss(loss: Loss) -> mpmath.mpf:
    return mpmath.log(real(loss.ratio)) + real(loss.exponent)


losses = st.builds(
    Loss,
    ratio=st.one_of(st.just(Fraction(1)), ratios),
    exponent=st.one_of(st.just(Fraction(0)), st.fractions(0, 40, max_denominator=2**45)),
)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_ratio_is_within_a_budget_as_the_real_numbers_say(alpha):
    t = symmetric_threshold(Fraction(alpha))
    assert Loss(ratio=Fraction(t, WORD - t)).within(alpha)
    assert not Loss(ratio=Fraction(t + 1, WORD - t - 1)).within(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_ratio_too_close_to_tell_counts_as_above(alpha):
    assert Loss(ratio=exp_lower(Fraction(alpha))).within(alpha)
    assert not Loss(ratio=exp_lower(Fraction(alpha)) * (1 + Fraction(1, 10**57))).within(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_an_exponent_is_within_a_budget_that_it_equals_and_no_smaller_one(alpha):
    loss = Loss(exponent=Fraction(alpha))
    assert loss.within(alpha)
    assert loss.epsilon() == alpha
    assert not loss.within(math.nextafter(alpha, 0.0))
    assert not Loss(exponent=Fraction(alpha) + Fraction(1, 10**100)).within(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2), Fraction(99, 100)])
def test_a_ratio_and_an_exponent_share_a_budget(alpha, share):
    exponent = Fraction(alpha) * share
    t = symmetric_threshold(Fraction(alpha) - exponent)
    assert Loss(ratio=Fraction(t, WORD - t), exponent=exponent).within(alpha)
    assert not Loss(ratio=Fraction(t + 1, WORD - t - 1), exponent=exponent).within(alpha)
    assert not Loss(ratio=Fraction(t, WORD - t), exponent=exponent + Fraction(alpha) / 10**6).within(alpha)


def test_an_exponent_that_leaves_nothing_leaves_no_ratio():
    assert Loss(exponent=Fraction(1)).within(1.0)
    assert not Loss(ratio=Fraction(WORD + 1, WORD), exponent=Fraction(1)).within(1.0)
    assert not Loss(exponent=Fraction(2)).within(1.0)


def test_no_loss_is_within_every_budget():
    assert Loss().within(1e-6)
    assert Loss().epsilon() == 0.0


@given(losses, st.floats(1e-6, 32.0))
def test_within_decides_as_the_real_numbers_do(loss, alpha):
    with mpmath.workdps(DIGITS):
        assert loss.within(alpha) == (true_loss(loss) <= mpmath.mpf(alpha))


@given(losses)
def test_epsilon_is_above_and_within_two_floats(loss):
    with mpmath.workdps(DIGITS):
        truth, bound = true_loss(loss), loss.epsilon()
        below = math.nextafter(math.nextafter(bound, -math.inf), -math.inf)
        assert mpmath.mpf(below) < truth <= mpmath.mpf(bound)


@given(losses)
def test_a_loss_is_within_its_own_epsilon_and_a_little_more(loss):
    assert loss.within(math.nextafter(loss.epsilon(), math.inf))
