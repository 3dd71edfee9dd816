"""The corollary for two sizes, τ, and the lemmas on the wrong bin and the variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.theory import (
    PAPER,
    UNIT,
    bin_half_width,
    bounds,
    corollary_two_sizes,
    phi,
    variance_bound,
    variance_bound_with_projection,
    wrong_bin_bound,
    wrong_bin_exponent,
)


@pytest.mark.parametrize("constants", [PAPER, UNIT])
@pytest.mark.parametrize("n_alpha2", [20.0, 1e4, 3e6])
def test_the_corollary_is_theorem_2_for_two_sizes(constants, n_alpha2: float) -> None:
    for share in np.linspace(0, 1, 11).tolist():
        found = corollary_two_sizes(50, share, n_alpha2, constants)
        theorem = bounds(Sizes.parse(f"two-point:1:50:{share}"), n_alpha2, constants)
        assert found.lower <= theorem.lower * (1 + 1e-12)
        if theorem.phi <= 1:
            assert found.m_tilde == theorem.m_tilde
            assert found.upper == pytest.approx(theorem.upper, rel=1e-12)
        else:
            # The corollary has no "∧ 1": it stays where the proof holds.
            assert found.m_tilde == 1 or phi(found.m_tilde, n_alpha2, constants) <= 1


def test_the_regimes_of_the_corollary() -> None:
    n_alpha2 = 500.0
    for a in (2, 3, 10, 40):
        low, high = phi(a, n_alpha2, UNIT) ** 0.5, phi(a + 1, n_alpha2, UNIT) ** 0.5
        found = corollary_two_sizes(50, low + 0.5 * (high - low), n_alpha2, UNIT)
        assert found.m_tilde == a
        assert found.exponential is not None
        assert found.exponential >= found.upper
    assert corollary_two_sizes(50, 0.0, n_alpha2, UNIT).m_tilde == 1
    assert corollary_two_sizes(50, 0.0, n_alpha2, UNIT).exponential is None
    assert corollary_two_sizes(50, 1.0, n_alpha2, UNIT).m_tilde == 50


@pytest.mark.parametrize(
    ("size", "share", "n_alpha2"), [(1, 0.5, 10), (5, 1.5, 10), (5, math.nan, 10), (5, 0.5, 0.9), (2.5, 0.5, 10)]
)
def test_bad_input_of_the_corollary(size, share: float, n_alpha2: float) -> None:
    with pytest.raises(InvalidInput):
        corollary_two_sizes(size, share, n_alpha2)


def test_half_width_of_a_bin() -> None:
    assert bin_half_width(100, 400) == pytest.approx(math.sqrt(2 * math.log(8 * 200) / 100))
    assert bin_half_width(1, 1e-9) == pytest.approx(math.sqrt(2 * math.log(8)))
    assert bin_half_width(1, 1e-9) > 1  # one bin: DAME is then Duchi's procedure
    for wrong in (0, 1.5, -1):
        with pytest.raises(InvalidInput):
            bin_half_width(wrong, 400)  # type: ignore[arg-type]


def chance_of_losing(users: int, alpha: float, share: float) -> float:
    """P(Z_l ≤ Z_k) exactly, for a bin that a share of the users votes for and one that nobody does."""
    keep = 1 / (1 + math.exp(-alpha / 6))
    voters = np.arange(users // 2 + 1.0)
    right = share * keep + (1 - share) * (1 - keep)
    log_choose = special.gammaln(users / 2 + 1) - special.gammaln(voters + 1) - special.gammaln(users / 2 - voters + 1)
    most = np.exp(log_choose + voters * math.log(right) + (users / 2 - voters) * math.log1p(-right))
    return float(most @ special.bdtrc(voters - 1, users // 2, 1 - keep))


@pytest.mark.parametrize("alpha", [0.1, 0.3, 22 / 35])
@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_the_chance_of_a_wrong_bin_is_under_its_bound(alpha: float, share: float) -> None:
    for users in (100, 1000, 20_000):
        assert chance_of_losing(users, alpha, share) <= wrong_bin_bound(users * alpha**2, share, 1.0)


def test_the_exponent_of_the_lemma_is_proven_where_it_is_used() -> None:
    for alpha in np.linspace(0.01, 22 / 35, 30).tolist():
        assert wrong_bin_exponent(alpha, 3.0) < 579
        assert wrong_bin_exponent(alpha, 1e6) < 579 / 1.9
        assert wrong_bin_exponent(alpha, 1.0) > 579


def test_wrong_bin_bound() -> None:
    assert wrong_bin_bound(5790, 1.0, 0.5) == pytest.approx(2 * math.exp(-10))
    assert wrong_bin_bound(1e-3, 1.0, 0.01) == 1.0
    for arguments in ((0, 1, 1), (1, 1.1, 1), (1, math.nan, 1), (1, 1, 0)):
        with pytest.raises(InvalidInput):
            wrong_bin_bound(*arguments)


def test_variance_bounds() -> None:
    assert variance_bound(0.01, 0.5) == pytest.approx(2 * 0.14**2 / 0.25)
    worst = variance_bound_with_projection(0.01, 22 / 35) / variance_bound(0.01, 22 / 35)
    assert worst == pytest.approx(1 + (22 / 35) ** 2 / 8)
    for arguments in ((0, 0.5), (math.nan, 0.5), (0.1, 0), (0.1, math.inf)):
        with pytest.raises(InvalidInput):
            variance_bound(*arguments)
