from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.errors import InvalidInput
from dame.vectorised import bernoulli
from dame.vectorised.bernoulli import packed_bits
from dame.vectorised.words import SecureWords
from tests.vectorised.sources import (
    EXAMPLES,
    FALSE_ALARM,
    ConstantPlanes,
    RepeatedWords,
    ReplayWords,
    WordPlanes,
    binomial_p,
    chi_square_p,
    fast,
    ones,
    unpacked,
)

WORD = st.integers(0, 2**64 - 1)
NOTHING = ReplayWords([])


def lanes_below(planes: np.ndarray, threshold: int) -> np.ndarray:
    """The bits u < threshold, u being put together digit by digit: a one in a plane is agreement there."""
    digits = [int(digit) for digit in f"{threshold:064b}"]
    below = np.zeros(planes.shape[1] * 64, np.uint8)
    agreements = np.stack([unpacked(plane, below.size) for plane in planes])
    for lane in range(below.size):
        u = int("".join(str(d if same else 1 - d) for d, same in zip(digits, agreements[:, lane], strict=True)), 2)
        below[lane] = u < threshold
    return below


@pytest.mark.parametrize("sixty_fourths", range(65))
def test_all_values_of_six_digits_give_exactly_the_probability(sixty_fourths: int) -> None:
    # Lane l carries the six digits of l: every value of u once.
    planes = [sum(1 << lane for lane in range(64) if lane >> digit & 1) for digit in range(6)]
    drawn = packed_bits(ConstantPlanes(planes), sixty_fourths << 58, 64)
    assert int(drawn[0]).bit_count() == sixty_fourths


@given(threshold=WORD, planes=st.lists(WORD, min_size=64, max_size=64))
def test_bits_are_the_comparison_of_whole_integers(threshold: int, planes: list[int]) -> None:
    drawn = packed_bits(ConstantPlanes(planes), threshold, 64)
    assert np.array_equal(unpacked(drawn, 64), lanes_below(np.array(planes, np.uint64)[:, None], threshold))


@pytest.mark.parametrize("threshold", EXAMPLES[:4] + EXAMPLES[5:])
def test_words_that_are_settled_early_keep_their_place(threshold: int) -> None:
    # Lanes agree with chance 7/8, so that words leave at many different digits.
    source = fast(11)
    planes = np.stack([source.take(40) | source.take(40) | source.take(40) for _ in range(64)])
    drawn = packed_bits(WordPlanes(planes), threshold, 40 * 64)
    assert np.array_equal(unpacked(drawn, 40 * 64), lanes_below(planes, threshold))


def test_full_agreement_is_not_below() -> None:
    planes = ConstantPlanes([2**64 - 1] * 64)
    assert packed_bits(planes, 2**64 - 1, 64)[0] == 0
    assert planes.taken == 64


@pytest.mark.parametrize(("threshold", "planes"), [(2**63, 1), (3 * 2**61, 3), (2**64 - 2**60, 4)])
def test_digits_end_at_the_last_one(threshold: int, planes: int) -> None:
    source = ConstantPlanes([2**64 - 1] * planes)
    packed_bits(source, threshold, 640)
    assert source.taken == planes


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_certain_bits_need_no_words(count: int) -> None:
    assert not packed_bits(NOTHING, 0, count).any()
    sure = packed_bits(NOTHING, 2**64, count)
    assert ones(sure) == count
    assert sure.size == -(-count // 64)


@pytest.mark.parametrize("threshold", EXAMPLES)
@pytest.mark.parametrize("count", [1, 100, 64 * bernoulli.BLOCK + 1])
def test_lanes_beyond_the_count_are_zero(threshold: int, count: int) -> None:
    drawn = packed_bits(fast(12), threshold, count)
    assert int(drawn[-1]) >> (count % 64) == 0


@pytest.mark.parametrize("threshold", EXAMPLES)
def test_frequency_is_the_threshold(threshold: int) -> None:
    drawn = packed_bits(fast(13), threshold, 2**22)
    assert binomial_p(ones(drawn), 2**22, threshold / 2**64) > FALSE_ALARM


@pytest.mark.parametrize("threshold", [2**64 // 3, 2**56, 2**63])
def test_a_larger_threshold_is_noticed(threshold: int) -> None:
    drawn = packed_bits(fast(14), threshold * 5 // 4, 2**20)
    assert binomial_p(ones(drawn), 2**20, threshold / 2**64) < FALSE_ALARM


def joint_p(drawn: np.ndarray, p: float) -> float:
    """The p-value of the pairs made of a lane of the first and one of the second half of the words."""
    half = drawn.size // 2
    first, second = drawn[:half], drawn[half:]
    cells = [ones(a & b) for a in (first, ~first) for b in (second, ~second)]
    q = 1 - p
    return chi_square_p(cells, 64 * half * np.array([p * p, p * q, q * p, q * q]))


def test_lanes_are_independent() -> None:
    threshold = 0x45D8_F7A2_0000_0001
    assert joint_p(packed_bits(fast(15), threshold, 2**20), threshold / 2**64) > FALSE_ALARM


def test_words_used_twice_are_noticed() -> None:
    threshold = 0x45D8_F7A2_0000_0001
    assert joint_p(packed_bits(RepeatedWords(16, 2**13), threshold, 2**20), threshold / 2**64) < FALSE_ALARM


def test_secure_words_give_the_same_frequency() -> None:
    drawn = packed_bits(SecureWords(), 2**64 // 3, 2**22)
    assert binomial_p(ones(drawn), 2**22, 1 / 3) > FALSE_ALARM


@pytest.mark.parametrize("threshold", [-1, 2**64 + 1, 0.5, float("nan"), True, None, "1"])
def test_other_thresholds_are_refused(threshold: object) -> None:
    with pytest.raises(InvalidInput, match="threshold must be a whole number"):
        packed_bits(NOTHING, threshold, 1)


@pytest.mark.parametrize("count", [-1, 1.5, "many"])
def test_other_counts_are_refused(count: object) -> None:
    with pytest.raises(InvalidInput, match="count"):
        packed_bits(NOTHING, 1, count)
