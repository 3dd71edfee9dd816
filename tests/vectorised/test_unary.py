from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.errors import InvalidInput
from dame.vectorised import unary
from dame.vectorised.bitmatrix import ones_per_row
from dame.vectorised.unary import Ballots, count_rows, count_votes, vote_matrix, vote_rows
from dame.vectorised.words import SecureWords, Words
from tests.vectorised.sources import (
    FALSE_ALARM,
    RepeatedWords,
    ReplayWords,
    binomial_p,
    chi_square_p,
    fast,
    ones,
    unpacked,
)

SURE = 2**64
YES, NO = 2**63, int(SURE / (1 + np.e))
NOTHING = ReplayWords([])


def true_votes(bins: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The votes without noise, one row of bits per user."""
    places = np.arange(bins)
    return ((first[:, None] <= places) & (places <= last[:, None])).astype(np.uint8)


def ballots(yes: int, no: int, bins: int, first: np.ndarray, last: np.ndarray) -> Ballots:
    return Ballots(yes=yes, no=no, bins=bins, first=first, last=last)


def votes_of(words: Words, asked: Ballots) -> np.ndarray:
    """The bits of each user, one by one."""
    return np.stack([unpacked(row, asked.first.size) for row in vote_matrix(words, asked)], axis=1)


def random_runs(bins: int, users: int, longest: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Runs of up to `longest` bins, some of them empty."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, bins, users)
    return first, np.minimum(first + rng.integers(-1, longest, users), bins - 1)


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray]:
    bins = draw(st.integers(1, 140))
    run = st.tuples(st.integers(0, bins - 1), st.integers(0, bins - 1))
    chosen = draw(st.lists(run, max_size=200))
    first, last = (np.array([pair[side] for pair in chosen], np.int64) for side in (0, 1))
    return bins, first, last


@given(case=runs())
@settings(max_examples=60)
def test_without_noise_the_votes_come_back(case: tuple[int, np.ndarray, np.ndarray]) -> None:
    bins, first, last = case
    votes = true_votes(bins, first, last)
    asked = ballots(SURE, 0, bins, first, last)
    assert np.array_equal(votes_of(NOTHING, asked), votes)
    assert np.array_equal(ones_per_row(vote_matrix(NOTHING, asked)), votes.sum(axis=0))
    assert np.array_equal(vote_rows(NOTHING, asked), np.packbits(votes, axis=1, bitorder="little"))
    assert np.array_equal(count_votes(NOTHING, asked), votes.sum(axis=0))


@pytest.mark.parametrize("bins", [1, 7, 8, 9, 63, 64, 65, 130])
@pytest.mark.parametrize("users", [0, 1, 63, 64, 65, 1000])
def test_counts_and_reports_are_the_same_bits(bins: int, users: int) -> None:
    asked = ballots(YES, NO, bins, *random_runs(bins, users, 3, 32))
    votes, rows = votes_of(fast(31), asked), vote_rows(fast(31), asked)
    assert rows.dtype == np.uint8
    assert np.array_equal(rows, np.packbits(votes, axis=1, bitorder="little"))
    assert np.array_equal(count_votes(fast(31), asked), votes.sum(axis=0))
    assert np.array_equal(count_rows(rows, bins), votes.sum(axis=0))


def test_many_blocks_of_users_keep_their_places() -> None:
    users = 3 * unary.BLOCK + 100
    first, last = random_runs(64, users, 3, 33)
    votes = true_votes(64, first, last)
    rows = np.packbits(votes, axis=1, bitorder="little")
    assert np.array_equal(vote_rows(NOTHING, ballots(SURE, 0, 64, first, last)), rows)
    assert np.array_equal(count_rows(rows, 64), votes.sum(axis=0))


@pytest.mark.parametrize("block", [1, 64, 100, 10**6])
def test_blocks_do_not_change_the_count(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unary, "BLOCK", block)
    first, last = random_runs(10, 5000, 3, 34)
    expected = true_votes(10, first, last).sum(axis=0)
    assert np.array_equal(count_votes(NOTHING, ballots(SURE, 0, 10, first, last)), expected)


def test_everybody_says_the_opposite_when_thresholds_do() -> None:
    first, last = random_runs(70, 500, 4, 35)
    asked = ballots(0, SURE, 70, first, last)
    assert np.array_equal(votes_of(NOTHING, asked), 1 - true_votes(70, first, last))


def test_older_numpy_counts_by_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = fast(36).take(640).reshape(8, 80)
    expected = [ones(row) for row in packed]
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert np.array_equal(ones_per_row(packed), expected)
    assert np.array_equal(ones_per_row(packed[:, ::2]), ones_per_row(packed[:, ::2].copy()))


def coin_p(votes: np.ndarray, true: np.ndarray, yes: float, no: float) -> float:
    """The smaller p-value of the coins on voted and on other bins, corrected for looking twice."""
    voted = true.astype(bool)
    return 2 * min(
        binomial_p(votes[voted].sum(), voted.sum(), yes), binomial_p(votes[~voted].sum(), (~voted).sum(), no)
    )


@pytest.mark.parametrize("longest", [1, 3, 64])
def test_coins_have_their_thresholds(longest: int) -> None:
    first, last = random_runs(64, 20_000, longest, 37)
    true = true_votes(64, first, last)
    votes = votes_of(fast(38), ballots(YES, NO, 64, first, last))
    assert coin_p(votes, true, YES / SURE, NO / SURE) > FALSE_ALARM


@pytest.mark.parametrize(("yes", "no"), [(NO, YES), (YES * 5 // 4, NO), (YES, NO * 5 // 4)])
def test_wrong_coins_are_noticed(yes: int, no: int) -> None:
    first, last = random_runs(64, 20_000, 3, 37)
    true = true_votes(64, first, last)
    votes = votes_of(fast(38), ballots(yes, no, 64, first, last))
    assert coin_p(votes, true, YES / SURE, NO / SURE) < FALSE_ALARM


def joint_p(three: np.ndarray, odds: tuple[float, float, float]) -> float:
    """The p-value of three bits per user against independent coins."""
    cells = np.bincount(three @ np.array([4, 2, 1]), minlength=8)
    expected = [np.prod([p if cell >> (2 - place) & 1 else 1 - p for place, p in enumerate(odds)]) for cell in range(8)]
    return chi_square_p(cells, len(three) * np.array(expected))


def test_coins_of_one_user_are_independent() -> None:
    users = 50_000
    first = np.random.default_rng(39).integers(0, 60, users)
    votes = votes_of(fast(40), ballots(YES, NO, 64, first, first + 2)).astype(np.int64)
    three = votes[np.arange(users)[:, None], first[:, None] + np.arange(3)]
    assert joint_p(three, (0.5, 0.5, 0.5)) > FALSE_ALARM
    edge = votes[np.arange(users)[:, None], first[:, None] + np.arange(2, 4)]
    assert joint_p(np.c_[edge, votes[np.arange(users), first - 1]], (0.5, NO / SURE, NO / SURE)) > FALSE_ALARM
    assert joint_p(np.c_[three[:, :2], three[:, 0]], (0.5, 0.5, 0.5)) < FALSE_ALARM


def test_coins_of_neighbours_are_independent_and_reused_words_are_noticed() -> None:
    first = np.full(50_048, 5)
    asked = ballots(YES, NO, 64, first, first)
    for words, fine in ((fast(41), True), (RepeatedWords(41, 64), False)):
        voted = unpacked(vote_matrix(words, asked)[5], first.size).astype(np.int64)
        triples = np.c_[voted[:-8192], voted[4096:-4096], voted[8192:]]
        assert (joint_p(triples, (0.5, 0.5, 0.5)) > FALSE_ALARM) is fine


def test_secure_words_give_the_same_counts() -> None:
    first = np.random.default_rng(42).integers(0, 16, 100_000)
    counts = count_votes(SecureWords(), ballots(YES, NO, 16, first, first))
    votes = np.bincount(first, minlength=16)
    others, p = first.size - votes, NO / SURE
    mean, sd = votes / 2 + others * p, np.sqrt(votes / 4 + others * p * (1 - p))
    assert np.abs((counts - mean) / sd).max() < 6  # 16 normal values: chance below 1e-7


def test_counting_does_not_hold_all_bits() -> None:
    first = np.random.default_rng(43).integers(0, 256, 300_000)
    asked = ballots(YES, NO, 256, first, first)
    tracemalloc.start()
    count_votes(fast(44), asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6  # all bits would be 9.6 MB


def test_no_users_and_nobody_voting() -> None:
    nobody = np.empty(0, np.int64)
    empty = ballots(YES, NO, 64, nobody, nobody)
    assert vote_rows(NOTHING, empty).shape == (0, 8)
    assert count_votes(NOTHING, empty).tolist() == [0] * 64
    silent = ballots(SURE, 0, 4, np.full(100, 3), np.full(100, 2))
    assert count_votes(NOTHING, silent).tolist() == [0] * 4


def test_empty_votes_may_lie_anywhere() -> None:
    smallest, largest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    first, last = np.array([largest, 0, 99]), np.array([smallest, -1, 50])
    assert count_votes(NOTHING, ballots(SURE, 0, 4, first, last)).tolist() == [0] * 4


def test_small_integer_types_are_welcome() -> None:
    first = np.array([0, 3], np.uint8)
    assert count_votes(NOTHING, ballots(SURE, 0, 4, first, first)).tolist() == [1, 0, 0, 1]


RUN = np.array([1, 2])


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("threshold", (-1, 0, 4, RUN, RUN)),
        ("threshold", (0.5, 0, 4, RUN, RUN)),
        ("threshold", (0, 2**64 + 1, 4, RUN, RUN)),
        ("votes", (1, 0, 0, RUN, RUN)),
        ("votes", (1, 0, 2, RUN, RUN)),
        ("votes", (1, 0, 4, -RUN, RUN)),
        ("first", (1, 0, 4, RUN / 2, RUN)),
        ("first", (1, 0, 4, RUN.astype(np.uint64), RUN)),
        ("last", (1, 0, 4, RUN, RUN[:1])),
        ("last", (1, 0, 4, RUN, RUN[None])),
    ],
)
def test_bad_ballots_are_refused(field: str, arguments: tuple[object, ...]) -> None:
    for draw in (vote_matrix, count_votes):
        with pytest.raises(InvalidInput) as caught:
            draw(NOTHING, ballots(*arguments))
        assert caught.value.field == field


@pytest.mark.parametrize("reports", [np.zeros((3, 2), np.uint8), np.zeros(3, np.uint8), np.zeros((3, 1))])
def test_reports_of_another_width_are_refused(reports: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="reports must be rows of 1 bytes"):
        count_rows(reports, 8)
