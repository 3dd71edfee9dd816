from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from dame.errors import InvalidInput
from dame.vectorised import geometric
from dame.vectorised.bernoulli import PLANES
from dame.vectorised.laplace import discrete_laplace
from dame.vectorised.words import SecureWords
from tests.vectorised.sources import FALSE_ALARM, ConstantPlanes, ReplayWords, chi_square_p, fast

COUNT = 2**18
SCALES = (1, 2, 7, 1000, 2**40)


def law_p(values: np.ndarray, scale: int) -> float:
    """The p-value of values against the exact law, over at most a few hundred cells of equal width."""
    width = max(1, scale // 10)
    edge = -(-25 * scale // width)
    lows = np.arange(-edge, edge + 1, dtype=np.int64) * width - width // 2
    # P(k >= low) for low >= 1 is r^low/(1+r); the law is symmetric.
    r = np.exp(-1 / scale)
    beyond = np.where(lows > 0, r ** np.maximum(lows, 0) / (1 + r), 1 - r ** (1 - np.minimum(lows, 0)) / (1 + r))
    expected = -np.diff(np.concatenate([[1], beyond, [0]])) * values.size
    cells = np.searchsorted(lows, values, side="right")
    return chi_square_p(np.bincount(cells, minlength=len(expected)), expected)


def numpy_laplace(scale: float, seed: int) -> np.ndarray:
    """The same law up to floats: the difference of two geometric variables."""
    rng = np.random.default_rng(seed)
    p = -np.expm1(-1 / scale)
    return rng.geometric(p, COUNT) - rng.geometric(p, COUNT)


@pytest.mark.parametrize("scale", SCALES)
def test_values_follow_the_law(scale: int) -> None:
    assert law_p(discrete_laplace(fast(21), scale, COUNT), scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 2, 7, 1000])
def test_the_test_knows_the_law(scale: int) -> None:
    assert law_p(numpy_laplace(scale, 22), scale) > FALSE_ALARM
    assert law_p(numpy_laplace(scale * 1.25, 22), scale) < FALSE_ALARM


@pytest.mark.parametrize("scale", [8, 1000, 2**40])
def test_a_larger_scale_is_noticed(scale: int) -> None:
    assert law_p(discrete_laplace(fast(23), scale * 5 // 4, COUNT), scale) < FALSE_ALARM


def test_zeros_counted_twice_are_noticed() -> None:
    values = discrete_laplace(fast(24), 1, COUNT)
    doubled = np.concatenate([values, np.zeros(np.count_nonzero(values == 0), np.int64)])
    assert law_p(doubled, 1) < FALSE_ALARM


@pytest.mark.parametrize("scale", [2**40, 2**45, 2**45 - 1])
def test_large_scales_have_the_right_moments_and_low_digits(scale: int) -> None:
    values = discrete_laplace(fast(25), scale, COUNT)
    # |k|/scale is exponential and the sign fair, to within 2^-40.
    assert stats.kstest(np.abs(values) / scale, "expon").pvalue > FALSE_ALARM
    assert abs(values.mean()) < 5 * scale * np.sqrt(2 / COUNT)
    assert abs(np.abs(values).mean() / scale - 1) < 5 / np.sqrt(COUNT)
    assert chi_square_p(np.bincount(values & 255), np.full(256, COUNT / 256)) > FALSE_ALARM


def test_neighbours_are_independent() -> None:
    values = discrete_laplace(fast(26), 3, COUNT)
    signs = np.sign(values) + 1
    pairs = np.bincount(3 * signs[:-64] + signs[64:], minlength=9)
    share = np.bincount(signs) / COUNT
    assert chi_square_p(pairs, np.outer(share, share).ravel() * pairs.sum()) > FALSE_ALARM


def test_secure_words_give_the_same_law() -> None:
    assert law_p(discrete_laplace(SecureWords(), 5, COUNT), 5) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 2, 3, 7, 1000, 2**20 + 1, 2**45])
def test_digits_of_the_probabilities_are_exact(scale: int) -> None:
    with mpmath.workprec(2000):
        for place in range(geometric.width(scale)):
            r = mpmath.exp(-(mpmath.mpf(2) ** place) / scale)
            for count in (8, 64, 200):
                assert geometric._leading(scale, place, count) == int(mpmath.floor(r / (1 + r) * 2**count))
        beyond = mpmath.exp(-(mpmath.mpf(2) ** geometric.width(scale)) / scale)
        for count in (8, 64, 200):
            assert geometric._leading(scale, geometric.width(scale), count) == int(mpmath.floor(beyond * 2**count))


@pytest.mark.parametrize("scale", [1, 3, 1000, 2**45])
def test_bounds_hold_the_power_between_them(scale: int) -> None:
    with mpmath.workprec(4000):
        for place, (low, high) in enumerate(geometric._powers(scale, 256)):
            true = mpmath.exp(-(mpmath.mpf(2) ** place) / scale) * 2**256
            assert low <= true <= high
            assert high - low < 2**80


def test_more_places_are_used_when_bounds_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    places = 3, geometric.width(1000)
    sure = [geometric._leading(1000, place, 64) for place in places]
    monkeypatch.setattr(geometric, "_SPARE", 0)
    assert [geometric._leading(1000, place, 64) for place in places] == sure


def test_independent_digits_are_the_geometric_law() -> None:
    scale, places = 2, geometric.width(2)
    odds = [geometric._leading(scale, place, 64) / 2**64 for place in range(places)]
    for x in range(2**places):
        product = np.prod([p if x >> place & 1 else 1 - p for place, p in enumerate(odds)])
        assert product == pytest.approx(np.exp(-x / scale) * -np.expm1(-1 / scale), rel=1e-9)


def first_one(scale: int) -> int:
    """The place of the first digit one in the probability of a magnitude beyond the digits."""
    return next(n for n in range(1, 200) if geometric._leading(scale, geometric.width(scale), n))


@pytest.mark.parametrize("scale", [1, 7, 2**45])
@pytest.mark.parametrize("again", [0, 1, 2])
def test_magnitudes_beyond_all_digits_are_drawn_too(scale: int, again: int) -> None:
    # Some lanes agree up to the first one of that tiny probability, and disagree there: these are beyond. The others
    # disagree with the first digit, which is a zero of every probability: they stay zero.
    place, chosen = first_one(scale), 0xF000_0000_0000_004D
    beyond = [chosen] * (place - 1) + [0] * (PLANES - (place - 1) % PLANES)
    plus, settled = [0], [0] * PLANES
    words = ConstantPlanes(beyond + plus + beyond * again + settled)
    low = sum((geometric._leading(scale, j, place) % 2) << j for j in range(geometric.width(scale)))
    expected = low + (1 + again) * 2 ** geometric.width(scale)
    values = discrete_laplace(words, scale, 64)
    assert values.tolist() == [expected if chosen >> lane & 1 else 0 for lane in range(64)]


@pytest.mark.parametrize("count", [0, 1, 5, 64, 1000])
@pytest.mark.parametrize("scale", [1, 50])
def test_as_many_values_as_asked(scale: int, count: int) -> None:
    values = discrete_laplace(fast(27), scale, count)
    assert values.shape == (count,)
    assert values.dtype == np.int64


@pytest.mark.parametrize("scale", [0, -1, 2**45 + 1, 1.5, float("nan"), None, True])
def test_other_scales_are_refused(scale: object) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        discrete_laplace(ReplayWords([]), scale, 1)
