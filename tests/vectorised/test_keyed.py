"""Keyed coins: their definition, their distribution, and that they follow the device word for word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dame.device.coins import discrete_laplace as device_laplace
from dame.vectorised.coins import KeyedCoins
from dame.vectorised.keyed import Keys, Lanes, coin_keys, discrete_laplace, mix
from dame.vectorised.unary import Ballots
from tests.chances import FALSE_ALARM, p_value, power
from tests.vectorised.examples import QUESTIONS
from tests.vectorised.keyed_oracle import UserCoins
from tests.vectorised.keyed_oracle import mix as mix_one

WORDS = st.integers(0, 2**64 - 1)
PURPOSE = ("coins", 7, "study", "mean", 0, 0)


def lanes(users: int, *purpose: str | int) -> Lanes:
    """The words of users whose hashes are 0, 1, 2, …: the worst that hashes can be."""
    return Lanes(Keys.of(*(purpose or PURPOSE)), np.arange(users, dtype=np.uint64))


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_mixer_is_that_of_splitmix(words: list[int]) -> None:
    assert mix(np.array(words, dtype=np.uint64)).tolist() == [mix_one(word) for word in words]


def test_mixer_matches_published_outputs() -> None:
    """SplitMix64 from state 1234567, as other libraries list it."""
    states = np.array([1234567 + 0x9E3779B97F4A7C15 * k & 2**64 - 1 for k in (1, 2, 3)], dtype=np.uint64)
    assert mix(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 2**63), st.integers(0, 9), st.integers(1, 5))
def test_words_are_those_of_the_definition(hashes: list[int], seed: int, first: int, count: int) -> None:
    purpose = ("coins", seed, "studie ü", "mean", 3, 0)
    rows = Lanes(Keys.of(*purpose), np.array(hashes, dtype=np.uint64)).words(first, count)
    assert rows.tolist() == [list(UserCoins(one, *purpose).words(first + count))[first:] for one in hashes]


def test_single_words_are_those_of_the_rows() -> None:
    some = lanes(5)
    users, numbers = np.array([4, 0, 4]), np.array([2, 0, 1], dtype=np.uint64)
    assert some.each(users, numbers).tolist() == some.words(0, 3)[[4, 0, 4], [2, 0, 1]].tolist()


def test_coins_hand_out_the_next_word_of_each_user() -> None:
    coins = KeyedCoins(lanes(6))
    assert np.array([coins.each(), coins.each()]).T.tolist() == lanes(6).words(0, 2).tolist()
    marks = np.zeros(6, np.int64)
    ballots = Ballots(yes=2**63, no=2**62, bins=5, first=marks, last=marks)
    rows = coins.vote_rows(ballots)
    taken = lanes(6).words(2, 5) < np.array([2**63] + [2**62] * 4, dtype=np.uint64)
    assert rows.tolist() == np.packbits(taken, axis=1, bitorder="little").tolist()
    assert coins.each().tolist() == lanes(6).words(7, 1).reshape(-1).tolist()
    assert coins.laplace(3).tolist() == discrete_laplace(lanes(6), 3, taken=8).tolist()


CHANGES: list[dict[str, object]] = [{"study": "other"}, {"target": "other"}, {"round": 2}]


def test_seed_study_slot_and_repetition_all_change_the_keys() -> None:
    question = QUESTIONS["bit"]
    asked = [question, *(replace(question, **change) for change in CHANGES)]
    keys = [coin_keys(7, one, 0) for one in asked] + [coin_keys(8, question, 0), coin_keys(7, question, 1)]
    assert len(set(keys)) == len(keys) == 6
    assert keys[0] == Keys.of("coins", 7, question.study, question.target, question.round, 0)


@pytest.mark.parametrize(
    ("purpose"),
    [
        ("coins", 8, "study", "mean", 0, 0),
        ("coins", 7, "studx", "mean", 0, 0),
        ("coins", 7, "study", "share", 0, 0),
        ("coins", 7, "study", "mean", 1, 0),
        ("coins", 7, "study", "mean", 0, 1),
    ],
)
def test_each_part_of_a_purpose_changes_every_word(purpose: tuple[str | int, ...]) -> None:
    assert not (lanes(50).words(0, 20) == lanes(50, *purpose).words(0, 20)).any()


class TestDistribution:
    """Uniform, and independent between users, words and keys: a chi-square on bytes, and correlations."""

    USERS, COUNT = 2000, 50

    def words(self, *purpose: str | int) -> np.ndarray:
        return lanes(self.USERS, *purpose).words(0, self.COUNT)

    @pytest.mark.parametrize("byte", range(8))
    def test_bytes_are_uniform(self, byte: int) -> None:
        seen = np.bincount(self.words().reshape(-1).view(np.uint8).reshape(-1, 8)[:, byte], minlength=256)
        assert stats.chisquare(seen).pvalue > FALSE_ALARM

    def test_neighbours_are_uncorrelated(self) -> None:
        units = self.words().astype(np.float64) / 2**64 - 0.5
        others = self.words("coins", 8, "study", "mean", 0, 0).astype(np.float64) / 2**64 - 0.5
        for one, other in ((units[1:], units[:-1]), (units[:, 1:], units[:, :-1]), (units, others)):
            z = (one * other).mean() * 12 * np.sqrt(one.size)
            assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)

    def test_a_linear_source_would_be_caught(self) -> None:
        """Without the mixer, neighbouring users' words differ by a constant."""
        units = (np.arange(self.USERS, dtype=np.float64) / self.USERS) - 0.5
        z = (units[1:] * units[:-1]).mean() * 12 * np.sqrt(units.size)
        assert abs(z) > stats.norm.isf(FALSE_ALARM / 2)


@given(st.lists(WORDS, min_size=1, max_size=6), st.one_of(st.integers(1, 50), st.integers(1, 2**45)))
@settings(max_examples=100)
def test_laplace_noise_is_what_each_device_draws(hashes: list[int], scale: int) -> None:
    drawn = discrete_laplace(Lanes(Keys.of(*PURPOSE), np.array(hashes, dtype=np.uint64)), scale)
    assert drawn.tolist() == [device_laplace(UserCoins(one, *PURPOSE), scale) for one in hashes]


def _laplace_chances(scale: float) -> dict[int, float]:
    weights = {k: float(np.exp(-abs(k) / scale)) for k in range(-60, 61)}
    return {k: weight / sum(weights.values()) for k, weight in weights.items()}


def test_laplace_noise_follows_its_distribution() -> None:
    draws = 40_000
    exact, mutant = _laplace_chances(2.0), _laplace_chances(2.2)
    assert power(exact, mutant, draws) > 0.999
    assert p_value(discrete_laplace(lanes(draws), 2).tolist(), exact) > FALSE_ALARM
