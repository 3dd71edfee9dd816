"""The exact audit of votes for a place: borders of words read from any mechanism, and every mistake convicted."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.audit import check_question, exact_epsilon
from dame.audit.exact import spends_all
from dame.audit.people import extreme_people
from dame.audit.probe import WORD, Unreadable, read_borders
from dame.audit.runs import kinds
from dame.device.questions import MOST_RECORDS, PlaceVote
from dame.device.randomisers import OneOfMany
from dame.device.records import Summary
from dame.vectorised import crowd, edge
from tests.device.strategies import place_votes

ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
VOTE = kinds(1.0)["vote for a place"]
assert isinstance(VOTE, PlaceVote)


def drawn_with(code):
    """The device's mechanism, with another code than the question names."""

    def mechanism(vote, person, coins):
        return code.draw_between(vote.own_bin(person), vote.part(person), vote.bins, coins)

    return mechanism


# --- ours


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("count", range(2, 9))
def test_a_vote_for_a_place_passes_and_spends_its_budget(alpha, count):
    places = tuple(place / 8 for place in range(count))
    vote = PlaceVote(study="s", round=0, alpha=alpha, places=places, code=OneOfMany.spending(alpha, count))
    check = check_question("place", vote)
    assert check.passed
    assert check.tight
    assert spends_all(vote)
    assert check.epsilon_exact == vote.epsilon()


@given(place_votes())
def test_extreme_people_are_at_every_place_and_between(vote):
    people = extreme_people(vote)
    assert {-1.0, 1.0, *vote.places} <= {person.mean for person in people}
    assert {person.size for person in people} == {1, MOST_RECORDS}
    assert all(-1 <= person.mean <= 1 for person in people)
    between = {vote.own_bin(person) for person in people if 0 < vote.part(person) < 2**32}
    assert between == set(range(vote.bins - 1))


def test_noisier_coins_than_the_claim_needs_are_a_failure():
    timid = PlaceVote(study="s", round=0, alpha=1.0, places=VOTE.places, code=OneOfMany.spending(0.9, 4))
    assert "wastes" in check_question("timid", timid).problem


# --- mutants


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("count", [2, 5, 8])
def test_one_word_too_many_for_the_own_place_is_convicted(alpha, count):
    """The finest mistake that integers can make: every other place has one word too few."""
    code, places = OneOfMany.spending(alpha, count), tuple(place / 8 for place in range(count))
    vote = PlaceVote(study="s", round=0, alpha=alpha, places=places, code=code)
    slipped = OneOfMany(yes=code.yes + count - 1, no=code.no - 1)
    check = check_question("off by one", vote, drawn_with(slipped))
    assert not check.passed
    assert check.epsilon_exact > alpha


def rounded_first(vote, person, coins):
    """A word of its own rounds the mean to a place, only where it is between two."""
    first, part = vote.own_bin(person), vote.part(person)
    if 0 < part < 2**32:
        part = 2**32 * (coins.words(1)[0] >> 32 < part)
    return vote.code.draw_between(first, part, vote.bins, coins)


def two_words(vote, person, coins):
    coins.words(1)
    return drawn_with(vote.code)(vote, person, coins)


@pytest.mark.parametrize("mechanism", [rounded_first, two_words])
def test_words_beyond_the_one_are_convicted(mechanism):
    check = check_question("words", VOTE, mechanism)
    assert not check.passed
    assert "it uses 2 words, not 1" in check.problem


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("two marks", lambda value: value | 1),
        ("no mark", lambda value: value & ~1),
        ("a place beyond the last", lambda value: value << 1),
        ("a negative value", lambda value: -value),
    ],
)
def test_anything_but_one_mark_cannot_be_read(name, change):
    check = check_question(name, VOTE, lambda *given: change(drawn_with(VOTE.code)(*given)))
    assert not check.passed
    assert check.epsilon_exact == math.inf
    assert "exactly one place" in check.problem


def test_the_last_digit_of_a_word_cannot_be_read():
    check = check_question("digit", VOTE, lambda vote, person, coins: 1 << (coins.words(1)[0] & 1))
    assert check.epsilon_exact == math.inf
    assert "as the word rises" in check.problem


def test_places_in_another_order_cannot_be_read():
    """The marks would have to be sorted first: whoever writes the coins otherwise changes the reports, too."""
    check = check_question("mirrored", VOTE, lambda *given: 8 // drawn_with(VOTE.code)(*given))
    assert not check.passed


@pytest.mark.parametrize("mean", [-1.0, 0.2, 1.0])
def test_a_place_that_somebody_never_marks_has_no_bound(mean):
    def mechanism(vote, person, coins):
        drawn = drawn_with(vote.code)(vote, person, coins)
        return min(drawn, 4) if person.mean == mean else drawn

    check = check_question("never", VOTE, mechanism)
    assert check.epsilon_exact == math.inf
    assert "more than it claims" in check.problem


def test_a_place_that_nobody_ever_marks_loses_nothing():
    check = check_question("never", VOTE, lambda *given: min(drawn_with(VOTE.code)(*given), 4))
    assert check.epsilon_exact <= 1.0


def test_a_size_that_shows_is_convicted():
    generous = OneOfMany.spending(1.5, 4)

    def mechanism(vote, person, coins):
        return drawn_with(vote.code if person.size == 1 else generous)(vote, person, coins)

    assert not check_question("size", VOTE, mechanism).passed


# --- the path for many people


def test_a_crowd_between_other_places_is_noticed(monkeypatch):
    honest = crowd.between_places

    def moved(*given):
        first, part = honest(*given)
        return first, part // 2

    monkeypatch.setattr(crowd, "between_places", moved)
    assert "other chances" in check_question("crowd", VOTE).problem


def test_a_crowd_whose_words_end_elsewhere_is_noticed(monkeypatch):
    honest = edge.place_ends
    monkeypatch.setattr(edge, "place_ends", lambda *given: (ends + ends.dtype.type(1) for ends in honest(*given)))
    assert "other chances" in check_question("edge", VOTE).problem


# --- reading


def marking(borders):
    """A draw of one mark that changes at the borders."""

    def draw(coins):
        (word,) = coins.words(1)
        return 1 << sum(word >= border for border in borders)

    return draw


@given(st.lists(st.integers(0, 2**64), min_size=1, max_size=7).map(sorted))
def test_borders_are_found_by_bisection(borders):
    """Borders that coincide, or that no word reaches, included."""
    expected = tuple(borders)
    wrong = tuple(max(border - 1, 0) for border in borders)
    assert read_borders(marking(borders), len(borders) + 1, wrong) == expected
    assert read_borders(marking(borders), len(borders) + 1, expected) == expected


def test_a_mark_that_comes_twice_cannot_be_read():
    def draw(coins):
        (word,) = coins.words(1)
        return 1 << (1 if WORD // 4 <= word < WORD // 2 else 0)

    with pytest.raises(Unreadable, match="as the word rises"):
        read_borders(draw, 2, (WORD // 4,))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6), place_votes())
def test_the_loss_between_any_people_is_at_most_that_of_the_extreme_ones(means, vote):
    people = [Summary(size=size, mean=mean) for size, mean in zip(itertools.cycle((1, 7, 10**9)), means, strict=False)]
    assert exact_epsilon(vote, people) <= exact_epsilon(vote, extreme_people(vote)) <= vote.alpha
