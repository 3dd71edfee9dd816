"""Coins: the law of every draw, by enumeration where it is finite and by chi-square where it is not."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import coins as coins_module
from dame.device.coins import SystemCoins, bernoulli_exp, discrete_laplace, uniform_below
from dame.device.exact import WORD
from dame.errors import Mismatch
from tests.chances import FALSE_ALARM, POWER, p_value, power
from tests.device.sources import SeededCoins, explore, replayed

CUTOFF = Fraction(1, 10**8)
UNEXPLORED = 1e-3
DRAWS = 12_000
SEED = 20250
SCALES = (1, 2, 7, 40)
WRONG_SCALE = 1.25


def laplace_law(scale: float, zero_weight: float = 1.0) -> dict[int, float]:
    """Probability of each integer, proportional to exp(-|k| / scale); a zero of double weight is a classic mistake."""
    reach = math.ceil(60 * scale)
    weights = {k: math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)}
    weights[0] *= zero_weight
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def exp_minus(numerator: int, denominator: int) -> Fraction:
    return Fraction(math.exp(-numerator / denominator))


# --- words


def test_system_words_are_the_bytes_of_the_operating_system_most_significant_first(monkeypatch):
    asked = []

    def stored(count):
        asked.append(count)
        return bytes(range(1, count + 1))

    monkeypatch.setattr(coins_module.os, "urandom", stored)
    assert list(SystemCoins().words(2)) == [0x0102030405060708, 0x090A0B0C0D0E0F10]
    assert asked == [16]


def test_system_words_differ_from_call_to_call():
    assert len({word for _ in range(10) for word in SystemCoins().words(10)}) == 100


@given(st.lists(st.integers(0, WORD - 1), min_size=1, max_size=20), st.data())
def test_replayed_words_come_in_order_and_then_end(words, data):
    coins = replayed(*words)
    cut = data.draw(st.integers(0, len(words)))
    assert [*coins.words(cut), *coins.words(len(words) - cut)] == words
    assert coins.exhausted
    with pytest.raises(Mismatch):
        coins.words(1)


def test_coins_that_are_not_used_up_say_so():
    coins = replayed(1, 2)
    coins.words(1)
    assert not coins.exhausted


# --- uniform_below


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 10, 63, 64, 65])
@pytest.mark.parametrize("low_bits", ["zeros", "ones"])
def test_uniform_below_takes_the_top_bits_each_value_once_and_rejects_the_rest(limit, low_bits):
    bits = (limit - 1).bit_length()
    shift = 64 - bits
    tail = 0 if low_bits == "zeros" else (1 << shift) - 1
    seen = []
    for top in range(1 << bits):
        coins = replayed(top << shift | tail)
        if top < limit:
            seen.append(uniform_below(coins, limit))
        else:
            with pytest.raises(Mismatch):
                uniform_below(coins, limit)
        assert coins.exhausted
    assert sorted(seen) == list(range(limit))


@given(st.integers(0, WORD - 1))
def test_uniform_below_two_to_the_64_is_the_word(word):
    assert uniform_below(replayed(word), WORD) == word


@given(st.integers(1, WORD), st.integers(0, 10**6))
def test_uniform_below_stays_below(limit, seed):
    assert 0 <= uniform_below(SeededCoins(seed), limit) < limit


@pytest.mark.parametrize("limit", [3, 10, 1000])
def test_uniform_below_is_uniform(limit):
    coins = SeededCoins(SEED)
    law = dict.fromkeys(range(limit), 1 / limit)
    assert p_value([uniform_below(coins, limit) for _ in range(DRAWS)], law) > FALSE_ALARM


def test_a_modulo_instead_of_rejection_would_be_noticed():
    coins, limit = SeededCoins(SEED), 10
    law = dict.fromkeys(range(limit), 1 / limit)
    modulo = {value: (2 if value < 6 else 1) / 16 for value in range(limit)}
    assert power(law, modulo, DRAWS) > POWER
    assert p_value([(coins.words(1)[0] >> 60) % limit for _ in range(DRAWS)], law) < FALSE_ALARM


# --- bernoulli_exp


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (0, 3), (1, 1), (1, 2), (2, 3), (3, 7), (1, 50)])
def test_bernoulli_exp_is_true_with_probability_e_to_the_minus_quotient(numerator, denominator, monkeypatch):
    monkeypatch.setattr(coins_module, "uniform_below", lambda choices, limit: choices.below(limit))
    law, unexplored = explore(lambda choices: bernoulli_exp(choices, numerator, denominator), CUTOFF)
    assert unexplored < UNEXPLORED
    truth = mpmath.exp(-mpmath.mpf(numerator) / denominator)
    assert float(law[True]) <= truth <= float(law[True] + unexplored)


def test_bernoulli_exp_by_chi_square():
    coins, truth = SeededCoins(SEED), math.exp(-5 / 8)
    law = {1: truth, 0: 1 - truth}
    assert p_value([int(bernoulli_exp(coins, 5, 8)) for _ in range(DRAWS)], law) > FALSE_ALARM
    assert p_value([int(not bernoulli_exp(coins, 5, 8)) for _ in range(DRAWS)], law) < FALSE_ALARM


# --- discrete_laplace


class Rejected(Exception):
    """The sampler starts again from its first draw."""


def one_attempt(scale: int):
    """A program that makes one attempt of the sampler: an integer, or None where the sampler would start again."""

    def program(choices):
        begun = []

        def below(_, limit):
            if limit == scale:
                begun.append(limit)
                if len(begun) > 1:
                    raise Rejected
            return choices.below(limit)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(coins_module, "uniform_below", below)
            patch.setattr(coins_module, "bernoulli_exp", lambda _, *quotient: choices.chance(exp_minus(*quotient)))
            try:
                return discrete_laplace(choices, scale)
            except Rejected:
                return None

    return program


@pytest.mark.parametrize("scale", [1, 3, 8])
def test_discrete_laplace_has_its_exact_law_given_its_two_kinds_of_coins(scale):
    law, unexplored = explore(one_attempt(scale), CUTOFF)
    again = law.pop(None)
    truth = laplace_law(scale)
    assert unexplored < 1e-6
    for k in range(-6 * scale, 6 * scale + 1):
        assert float(law[k] / (1 - again)) == pytest.approx(truth[k], rel=1e-12, abs=1e-6)
        assert law[k] == law[-k]


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_by_chi_square(scale):
    coins = SeededCoins(SEED + scale)
    assert p_value([discrete_laplace(coins, scale) for _ in range(DRAWS)], laplace_law(scale)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [4, 40])
def test_a_scale_that_is_a_quarter_too_large_would_be_noticed(scale):
    coins = SeededCoins(SEED)
    assert power(laplace_law(scale), laplace_law(WRONG_SCALE * scale), DRAWS) > POWER
    wrong = [discrete_laplace(coins, int(WRONG_SCALE * scale)) for _ in range(DRAWS)]
    assert p_value(wrong, laplace_law(scale)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_a_zero_that_is_drawn_twice_as_often_would_be_noticed(scale):
    coins = SeededCoins(SEED)
    assert power(laplace_law(scale), laplace_law(scale, zero_weight=2.0), DRAWS) > POWER
    wrong = [sign_after_magnitude(coins, scale) for _ in range(DRAWS)]
    assert p_value(wrong, laplace_law(scale)) < FALSE_ALARM


def sign_after_magnitude(coins, scale: int) -> int:
    """The mutant: magnitude, then sign, without rejecting the negative zero."""
    while True:
        fraction = uniform_below(coins, scale)
        if bernoulli_exp(coins, fraction, scale):
            break
    wholes = 0
    while bernoulli_exp(coins, 1, 1):
        wholes += 1
    sign = 1 - 2 * uniform_below(coins, 2)
    return sign * (fraction + scale * wholes)


def test_a_noise_without_negative_values_would_be_noticed():
    coins = SeededCoins(SEED)
    assert p_value([abs(discrete_laplace(coins, 3)) for _ in range(DRAWS)], laplace_law(3)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [2**20, 2**45])
def test_the_widest_noise_has_the_right_spread(scale):
    draws = 4000
    coins = SeededCoins(SEED)
    magnitudes = [abs(discrete_laplace(coins, scale)) / scale for _ in range(draws)]
    # |k|/scale is close to exponential: mean 1, standard error 1/sqrt(draws); 5 standard errors fail once in 1e6.
    assert abs(math.fsum(magnitudes) / draws - 1) < 5 / math.sqrt(draws)
