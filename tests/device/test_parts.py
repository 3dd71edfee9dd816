"""Bits on one of a few parts of the range: what is refused at birth, where a person is in each part, and averages."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from dame.audit.probe import ScriptedCoins
from dame.device import question_from_json, question_id
from dame.device.answer import respond
from dame.device.exact import WORD
from dame.device.questions import Measure
from dame.device.randomisers import DiscreteLaplace, OneBit
from dame.device.records import Summary
from dame.errors import InvalidInput
from tests.device.strategies import means, part_measures, sizes
from tests.device.test_questions import ALPHA, NOT_FINITE, NOT_NUMBERS, PARTS, TOO_LARGE, refused

ALPHAS = (1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
INNER = ("centre", "left", "right", "cap", "between_sd", "least_weight", "dither")


# --- refusals at birth


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_bit_on_a_part_whose_thresholds_spend_more_than_alpha_cannot_be_built(alpha):
    noise = OneBit.spending(alpha)
    parts = dataclasses.replace(PARTS, alpha=alpha, noise=noise)
    assert parts.epsilon() <= alpha
    refused(parts, noise=OneBit(low=noise.low - 1, high=noise.high + 1))


@pytest.mark.parametrize(
    "borders",
    [
        *(tuple(border / 16 for border in range(count)) for count in (0, 1, 2, 4, 6, 7, 8, 10, 17)),
        (0.0, 0.0, 0.5),
        (0.0, -0.0, 0.5),
        (0.5, 0.0, 0.25),
        (0.5, 0.25, 0.0),
        (0.0, 1e-13, 0.5),
        (-1.01, 0.0, 0.5),
        (-0.5, 0.0, 1.01),
        *((-0.5, wrong, 0.25) for wrong in (*NOT_NUMBERS, *NOT_FINITE, TOO_LARGE)),
        *NOT_NUMBERS,
        {-0.5, 0.0, 0.25},
        "abc",
    ],
)
def test_borders_that_are_no_rising_list_of_3_5_or_9_are_refused(borders):
    refused(PARTS, borders=borders)


def test_a_noisy_place_in_a_part_is_refused():
    refused(PARTS, noise=DiscreteLaplace.spending(ALPHA))
    laplace = {"kind": "laplace", "steps": 10, "scale": 1000}
    with pytest.raises(InvalidInput, match="noise"):
        question_from_json({**PARTS.to_json(), "noise": laplace})


def test_what_a_bit_on_a_part_does_not_ask_cannot_be_set():
    for field in INNER:
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(PARTS, **{field: 1})
        with pytest.raises(InvalidInput, match="unknown keys"):
            question_from_json({**PARTS.to_json(), field: 1})


# --- identity


def test_borders_of_any_kind_of_numbers_make_the_same_question():
    zero = dataclasses.replace(PARTS, borders=(-1.0, 0.0, 0.25))
    for borders in ([-1, 0, 0.25], (-1.0, -0.0, 0.25), tuple(np.array([-1.0, 0.0, 0.25]))):
        other = dataclasses.replace(PARTS, borders=borders)
        assert other == zero
        assert question_id(other) == question_id(zero)


def test_the_identity_of_a_known_question_never_changes():
    """Pinned: a change of this identity would make deployed devices and collectors talk past each other."""
    document = {
        "kind": "part-measure", "version": 1, "study": "sleep", "round": 0, "alpha": 0.6285714285714286, "low": 0.0,
        "high": 10.0, "borders": [-1.0, -0.5, 0.125, 0.25, 1.0],
        "noise": {"kind": "one-bit", "low": "590baf15ca5eb2ee", "high": "a6f450ea35a14d12"},
    }  # fmt: skip
    assert PARTS.to_json() == document
    assert question_id(PARTS) == "b3c27769c6201fdbc6c97d376394d02d288f4d0c4106a20c08fbe27c054f4dc4"


# --- the place in a part


@pytest.mark.parametrize(
    ("mean", "places"),
    [
        (-1.0, (0, 0, 0, 0)),
        (-0.75, (0.5, 0, 0, 0)),
        (-0.5, (1, 0, 0, 0)),
        (0.0, (1, 0.8, 0, 0)),
        (0.125, (1, 1, 0, 0)),
        (0.1875, (1, 1, 0.5, 0)),
        (0.25, (1, 1, 1, 0)),
        (0.625, (1, 1, 1, 0.5)),
        (1.0, (1, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 10**6])
def test_a_person_is_somewhere_in_a_part_or_at_its_nearer_end(mean, places, size):
    assert tuple(PARTS.position(Summary(size=size, mean=mean), arm) for arm in range(4)) == places


@given(part_measures(), means, sizes)
def test_a_place_is_one_difference_over_another_cut_to_the_part(question, mean, size):
    for arm in range(question.arms):
        left, right = question.borders[arm], question.borders[arm + 1]
        expected = min(max((mean - left) / (right - left), 0.0), 1.0)
        assert question.position(Summary(size=size, mean=mean), arm) == expected


@given(part_measures(), means)
def test_everybody_is_the_sum_of_what_she_has_of_each_part(question, mean):
    person, borders = Summary(size=3, mean=mean), [Fraction(border) for border in question.borders]
    widths = [right - left for left, right in itertools.pairwise(borders)]
    parts = [Fraction(question.position(person, arm)) * width for arm, width in enumerate(widths)]
    inside = min(max(Fraction(mean), borders[0]), borders[-1])
    assert abs(borders[0] + sum(parts) - inside) <= Fraction(2**-50)


@pytest.mark.parametrize("count", [2, 4, 8])
def test_the_part_is_the_first_bits_of_the_first_word_and_the_second_draws_the_bit(count):
    borders = tuple(math.sin(border / count * 3 - 1.5) for border in range(count + 1))
    question = dataclasses.replace(PARTS, borders=borders)
    person = Summary(size=2, mean=0.1)
    for arm in range(count):
        threshold = question.noise.threshold(question.position(person, arm))
        for first in (arm * (WORD // count), (arm + 1) * (WORD // count) - 1):
            for word, bit in ((threshold - 1, 1), (threshold, 0)):
                report = respond(question, person, ScriptedCoins([first, word]))
                assert report.value == 2 * arm + bit


def test_to_others_it_is_a_window_that_holds_all_parts():
    assert isinstance(PARTS, Measure)
    assert (PARTS.centre, PARTS.left, PARTS.right, PARTS.arms, PARTS.arm_bits) == (0.0, -1.0, 1.0, 4, 2)
    narrow = dataclasses.replace(PARTS, borders=(-0.25, 0.5, 0.75))
    assert (narrow.left, narrow.right, narrow.arms, narrow.arm_bits) == (-0.25, 0.75, 2, 1)
    assert all(narrow.weight(size) == 1 for size in (1, 7, 2**62)), "everybody counts alike"
