"""Answers: records are clipped, summed exactly, never shown, and never decide how many coins are tossed."""

from __future__ import annotations

import array
import dataclasses
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import answer
from dame.device.answer import answer_with_coins, respond
from dame.device.questions import Measure, PartMeasure, PlaceVote, Vote, question_id
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode, grid_point
from dame.device.records import HALF_GRID, Summary, grid_mean, summarise
from dame.device.reports import Report, check_value
from dame.errors import BadRecords, DameError
from tests.device.sources import CountingCoins, SeededCoins
from tests.device.strategies import bounds, measures, place_votes, questions, votes

LOW, HIGH = 0.0, 10.0
VOTE = Vote(
    study="s", round=0, alpha=1.0, low=LOW, high=HIGH, bins=8, width=0.25, neighbours=1, min_size=3,
    code=UnaryCode.symmetric(1.0, marks=3),
)  # fmt: skip
BIT = Measure(
    study="s", round=1, alpha=1.0, low=LOW, high=HIGH, centre=0.0, left=-1.0, right=1.0, cap=1.0,
    noise=OneBit.spending(1.0),
)  # fmt: skip
GRID = dataclasses.replace(BIT, noise=DiscreteLaplace.spending(1.0))
ARMS = dataclasses.replace(BIT, dither=0.5)
PARTS = PartMeasure(
    study="s", round=1, alpha=1.0, low=LOW, high=HIGH, borders=(-1.0, -0.5, 0.125, 0.25, 1.0),
    noise=OneBit.spending(1.0),
)  # fmt: skip
PLACES = PlaceVote(
    study="s", round=0, alpha=1.0, low=LOW, high=HIGH, places=(-0.5, 0.0, 0.75), code=OneOfMany.spending(1.0, 3)
)
QUESTIONS = (VOTE, BIT, GRID, ARMS, PARTS, PLACES)
SECRET = 8.7654321
SECRET_DIGITS = "8.7654321"

records = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)


class Unfloatable:
    """A record whose own conversion fails with an error that shows it."""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error

    def __float__(self) -> float:
        raise self._error(f"cannot convert {SECRET_DIGITS}")

    def __repr__(self) -> str:
        return SECRET_DIGITS


# --- the mean


@given(records, bounds())
def test_the_mean_is_that_of_the_clipped_records_within_half_a_grid_step(values, ends):
    low, high = ends
    person = summarise(values, low, high)
    exact = sum(Fraction(min(max(value, low), high)) for value in values) / len(values)
    inner = 2 * (exact - Fraction(low)) / (Fraction(high) - Fraction(low)) - 1
    assert person.size == len(values)
    # Half a step of the grid, and the rounding of bounds that are large beside their distance.
    slack = 0.5 / HALF_GRID + 1e-15 * (1 + max(abs(low), abs(high)) / (high - low))
    assert abs(person.mean - inner) <= slack


@given(records, bounds())
def test_records_outside_the_bounds_count_as_the_bounds(values, ends):
    low, high = ends
    clipped = [min(max(value, low), high) for value in values]
    assert summarise(values, low, high) == summarise(clipped, low, high)


@pytest.mark.parametrize("outside", [10.0, 10.1, 1e308])
def test_a_huge_record_is_just_the_upper_bound(outside):
    assert summarise([outside] * 3, LOW, HIGH) == Summary(size=3, mean=1.0)
    assert summarise([-outside] * 3, LOW, HIGH) == Summary(size=3, mean=-1.0)


@given(st.lists(st.floats(LOW, HIGH), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(values, shuffler):
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert summarise(values, LOW, HIGH) == summarise(shuffled, LOW, HIGH)
    for question in QUESTIONS:
        one, other = (answer_with_coins(question, each, SeededCoins(5)) for each in (values, shuffled))
        assert one == other


@given(st.integers(-HALF_GRID, HALF_GRID), st.integers(1, 2**22))
def test_equal_records_have_their_own_value_as_mean(value, size):
    assert grid_mean(value * size, size) == value / HALF_GRID


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.5, 2.25, 9.0], dtype=np.float32),
        np.array([1.5, 2.25, 9.0]),
        array.array("d", [1.5, 2.25, 9.0]),
        (1.5, 2.25, 9.0),
        iter([1.5, 2.25, 9.0]),
        [Fraction(3, 2), Decimal("2.25"), np.float16(9)],
    ],
    ids=["float32", "float64", "array", "tuple", "iterator", "mixed"],
)
def test_every_common_kind_of_numbers_is_read_alike(values):
    assert summarise(values, LOW, HIGH) == summarise([1.5, 2.25, 9.0], LOW, HIGH)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_])
def test_arrays_of_whole_numbers_are_read(dtype):
    assert summarise(np.array([0, 1, 1], dtype=dtype), LOW, HIGH) == summarise([0.0, 1.0, 1.0], LOW, HIGH)


# --- the report


@given(questions(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.integers(0, 2**32))
def test_a_report_is_never_outside_its_support(question, values, seed):
    report = answer_with_coins(question, values, SeededCoins(seed))
    check_value(question, report)
    assert report.question == question_id(question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_public_answer_draws_from_the_operating_system(question):
    report = answer(question, [SECRET])
    assert isinstance(report, Report)
    assert len({answer(question, [SECRET]).value for _ in range(64)}) > 1


@given(votes(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.integers(0, 99))
def test_a_vote_uses_one_word_for_each_bin_whatever_the_data(question, values, seed):
    coins = CountingCoins(seed)
    answer_with_coins(question, values, coins)
    assert coins.used == question.bins


@given(measures(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.integers(0, 99))
def test_a_bit_uses_as_many_words_whatever_the_data(question, values, seed):
    if isinstance(question.noise, DiscreteLaplace):
        return
    coins = CountingCoins(seed)
    answer_with_coins(question, values, coins)
    assert coins.used == (2 if question.arms > 1 else 1)


@given(place_votes(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.integers(0, 99))
def test_a_vote_for_a_place_uses_one_word_whatever_the_data(question, values, seed):
    coins = CountingCoins(seed)
    answer_with_coins(question, values, coins)
    assert coins.used == 1


@given(st.floats(-1, 1), st.integers(1, 1000), st.integers(0, 1000))
def test_the_words_of_a_noisy_grid_point_depend_on_the_noise_only(mean, size, seed):
    one, other = CountingCoins(seed), CountingCoins(seed)
    here = respond(GRID, Summary(size=size, mean=mean), one).value
    there = respond(GRID, Summary(size=1, mean=-1.0), other).value
    assert one.used == other.used
    assert here - there == grid_point((mean + 1) / 2, GRID.noise.steps)


# --- bad records


def exception_chain(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None:
            yield one
            waiting += [one.__cause__, one.__context__]


def refusal_of(samples: object, question: Vote | Measure = VOTE) -> BadRecords:
    with pytest.raises(BadRecords) as caught:
        answer_with_coins(question, samples, SeededCoins(1))  # type: ignore[arg-type]
    return caught.value


def assert_discreet(error: BaseException, *secrets: str) -> None:
    for one in exception_chain(error):
        told = f"{one} {one!r} {one.args!r} {getattr(one, '__notes__', '')!r} {vars(one)!r}"
        for secret in secrets:
            assert secret not in told


@pytest.mark.parametrize(
    "samples",
    [
        [],
        (),
        np.array([]),
        {},
        range(0),
        [math.nan],
        [math.inf],
        [-math.inf],
        [SECRET, math.nan],
        [SECRET, None],
        [SECRET, "x"],
        [SECRET_DIGITS],
        [SECRET_DIGITS.encode()],
        [bytearray(SECRET_DIGITS.encode())],
        [np.str_(SECRET_DIGITS)],
        [SECRET, [SECRET]],
        [{"value": SECRET}],
        [complex(SECRET, 1)],
        [SECRET, Decimal("sNaN")],
        [10**400],
        [np.array([SECRET, SECRET])],
        [np.array([SECRET])],
        [np.datetime64("2020-01-01")],
        np.array([SECRET_DIGITS]),
        SECRET_DIGITS,
        SECRET_DIGITS.encode(),
        bytearray(SECRET_DIGITS.encode()),
        SECRET,
        np.float64(SECRET),
        np.array(SECRET),
        None,
        [Unfloatable(ValueError)],
        [Unfloatable(TypeError)],
        [Unfloatable(OverflowError)],
        [Unfloatable(RuntimeError)],
        [Unfloatable(KeyError)],
    ],
    ids=lambda samples: repr(samples)[:40],
)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bad_records_are_refused_without_showing_any(samples, question):
    error = refusal_of(samples, question)
    assert_discreet(error, SECRET_DIGITS, "8.76", "4000", "datetime")
    assert "\n" not in str(error)


@given(st.lists(st.floats(LOW, HIGH), max_size=5), st.sampled_from([None, math.nan, math.inf, "text", [], object()]))
def test_the_message_names_the_place_of_a_bad_record_only(good, bad):
    error = refusal_of([*good, bad, SECRET])
    assert str(error) == f"record number {len(good) + 1} must be a finite number"
    assert error.__cause__ is None
    assert error.__context__ is None


def test_bad_records_are_errors_of_this_package_and_of_values():
    assert isinstance(refusal_of([]), DameError)
    assert isinstance(refusal_of([]), ValueError)


def test_bad_records_use_no_coins():
    coins = CountingCoins(1)
    with pytest.raises(BadRecords):
        answer_with_coins(VOTE, [1.0, math.nan], coins)
    assert coins.used == 0


@given(st.integers(0, 10**9), st.floats(-1, 1))
def test_a_summary_shows_nothing(size, mean):
    person = Summary(size=size, mean=mean)
    assert repr(person) == str(person) == f"{person}" == "Summary()"
