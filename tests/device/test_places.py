"""Votes for one of a few places: what is refused at birth, the exact loss, and means that are right on average."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import question_from_json, question_id
from dame.device.answer import respond
from dame.device.exact import WORD
from dame.device.questions import MOST_PLACES, PlaceVote, SizeVote
from dame.device.randomisers import POSITION_STEPS, OneOfMany, UnaryCode
from dame.device.records import Summary
from dame.errors import InvalidInput
from tests.device.enumeration import IMPOSSIBLE, Law, exact_law, is_private, largest_ratio
from tests.device.test_questions import ALPHA, NOT_FINITE, NOT_NUMBERS, PLACES, TOO_LARGE, VOTE, refused

ALPHAS = (1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
NEAR_CERTAIN = 1 - 1e-9


# --- refusals at birth


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("count", range(2, MOST_PLACES + 1))
def test_a_vote_for_a_place_whose_thresholds_spend_more_than_alpha_cannot_be_built(alpha, count):
    code, places = OneOfMany.spending(alpha, count), tuple(place / 8 for place in range(count))
    vote = dataclasses.replace(PLACES, alpha=alpha, places=places, code=code)
    assert vote.epsilon() <= alpha
    refused(vote, code=OneOfMany(yes=code.yes + count - 1, no=code.no - 1))


def test_a_code_is_of_exactly_the_kind_whose_loss_it_claims():
    """The same thresholds spend more when every bin has a coin of its own: a single mark has none to gain and lose."""
    refused(VOTE, neighbours=0, code=OneOfMany.spending(ALPHA, 8))
    with pytest.raises(InvalidInput, match="a UnaryCode"):
        SizeVote(study="s", round=0, alpha=ALPHA, bins=8, code=OneOfMany.spending(ALPHA, 8))
    refused(PLACES, code=UnaryCode(yes=PLACES.code.yes, no=PLACES.code.no))


@pytest.mark.parametrize(
    "places",
    [
        (),
        (0.0,),
        tuple(place / 16 for place in range(MOST_PLACES + 1)),
        (0.0, 0.0, 0.5),
        (0.0, -0.0, 0.5),
        (0.5, 0.0, 0.25),
        (0.0, 1e-13, 0.5),
        (-1.01, 0.0, 0.5),
        (-0.5, 0.0, 1.01),
        *((-0.5, wrong, 0.25) for wrong in (*NOT_NUMBERS, *NOT_FINITE, TOO_LARGE)),
        *NOT_NUMBERS,
        {-0.5, 0.0, 0.25},
        "abc",
    ],
)
def test_places_that_are_no_short_rising_list_are_refused(places):
    refused(PLACES, places=places)


def test_chances_of_places_that_do_not_sum_to_one_are_refused():
    code = PLACES.code
    for yes, no in ((code.yes - 1, code.no), (code.yes - 2, code.no), (code.yes, code.no - 1)):
        refused(PLACES, code=OneOfMany(yes=yes, no=no))
    refused(PLACES, places=(-0.5, 0.0, 0.25, 0.5))
    refused(PLACES, places=(-0.5, 0.0))


def test_what_a_vote_for_a_place_does_not_ask_cannot_be_set():
    for field in ("bins", "width", "origin", "neighbours", "min_size"):
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(PLACES, **{field: 1})
        with pytest.raises(InvalidInput, match="unknown keys"):
            question_from_json({**PLACES.to_json(), field: 1})


# --- identity and place


def test_places_of_any_kind_of_numbers_make_the_same_question():
    for places in ([-0.5, 0, 0.25], (-0.5, -0.0, 0.25), tuple(np.array([-0.5, 0.0, 0.25]))):
        other = dataclasses.replace(PLACES, places=places)
        assert other == PLACES
        assert question_id(other) == question_id(PLACES)


@pytest.mark.parametrize(
    ("mean", "first", "part"),
    [
        (-1.0, 0, 0.0),
        (-0.5, 0, 0.0),
        (-0.25, 0, 0.5),
        (math.nextafter(0.0, -1), 0, 1.0),
        (-0.0, 1, 0.0),
        (0.0, 1, 0.0),
        (0.0625, 1, 0.25),
        (0.25, 1, 1.0),
        (1.0, 1, 1.0),
    ],
)
def test_a_person_is_between_two_places_or_at_the_nearer_end(mean, first, part):
    person = Summary(size=4, mean=mean)
    assert (PLACES.own_bin(person), PLACES.part(person)) == (first, part * POSITION_STEPS)


# --- privacy


def place_vote(alpha: float, count: int) -> PlaceVote:
    places = tuple(-0.7 + 0.1 * place + 0.01 * place * place for place in range(count))
    return PlaceVote(study="s", round=0, alpha=alpha, places=places, code=OneOfMany.spending(alpha, count))


def people_at(vote: PlaceVote) -> list[Summary]:
    """People at every place, right beside it, between any two, beyond the ends, with one record or many."""
    near = [math.nextafter(place, side) for place in vote.places for side in (-2.0, 2.0)]
    between = [left + (right - left) * part for left, right in itertools.pairwise(vote.places) for part in (0.3, 0.5)]
    means = (-1.0, 1.0, 0.0, -0.0, *vote.places, *near, *between)
    return [Summary(size=size, mean=mean) for size in (1, 10**6) for mean in means]


def place_laws(vote: PlaceVote, code: OneOfMany) -> list[Law]:
    ends = [code.ends(vote.own_bin(person), vote.part(person), vote.bins) for person in people_at(vote)]
    draws = [lambda coins, p=p: respond(vote, p, coins).value for p in people_at(vote)]
    if code is not vote.code:
        draws = [
            lambda coins, p=p: code.draw_between(vote.own_bin(p), vote.part(p), vote.bins, coins)
            for p in people_at(vote)
        ]
    return [exact_law(draw, 1, borders) for draw, borders in zip(draws, ends, strict=True)]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("count", range(2, 9))
def test_the_loss_of_a_vote_for_a_place_is_exactly_the_enumerated_one(count, alpha):
    vote = place_vote(alpha, count)
    laws = place_laws(vote, vote.code)
    assert all(set(law) == {1 << place for place in range(count)} for law in laws)
    assert largest_ratio(laws) == vote.loss_ratio() == Fraction(vote.code.yes, vote.code.no)
    assert is_private(largest_ratio(laws), alpha)


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_vote_for_a_place_uses_up_its_budget(count):
    vote = place_vote(22 / 35, count)
    assert not is_private(largest_ratio(place_laws(vote, vote.code)), 22 / 35 * NEAR_CERTAIN)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_chance_of_two_places_among_four_is_convicted(alpha):
    vote, no = place_vote(alpha, 4), OneOfMany.spending(alpha, 2).no // 3
    assert not is_private(largest_ratio(place_laws(vote, OneOfMany(yes=WORD - 3 * no, no=no))), alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_word_more_for_the_own_place_is_convicted(alpha):
    vote = place_vote(alpha, 3)
    code = OneOfMany(yes=vote.code.yes + 2, no=vote.code.no - 1)
    assert not is_private(largest_ratio(place_laws(vote, code)), alpha)


def test_noise_between_the_two_nearest_places_only_is_convicted():
    vote, two = place_vote(1.0, 4), OneOfMany.spending(1.0, 2)
    laws = [
        exact_law(
            lambda coins, p=p: two.draw_between(0, vote.part(p), 2, coins) << vote.own_bin(p),
            1,
            two.ends(0, vote.part(p), 2),
        )
        for p in people_at(vote)
    ]
    assert largest_ratio(laws) == IMPOSSIBLE


@given(st.floats(-1, 1), st.integers(2, 8))
def test_a_mean_between_places_is_right_on_average(mean, count):
    """The places weighted with their chances beyond `no`, in exact integers: off by what rounding to 2^-32 costs."""
    vote = place_vote(1.0, count)
    person = Summary(size=3, mean=mean)
    span = vote.code.yes - vote.code.no
    ends = vote.code.ends(vote.own_bin(person), vote.part(person), count)
    beyond = [end - start - vote.code.no for start, end in itertools.pairwise((0, *ends))]
    average = sum(Fraction(place) * words for place, words in zip(vote.places, beyond, strict=True)) / span
    nearest = Fraction(min(max(mean, vote.places[0]), vote.places[-1]))
    widest = max(right - left for left, right in itertools.pairwise(vote.places))
    assert sum(beyond) == span
    assert abs(average - nearest) <= Fraction(widest) * Fraction(2**-32)
