"""Answers: statistic, lens, channel, in this order; records are never shown, and never decide how coins are tossed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import answer
from dame.device.answering import answer_with_coins, respond
from dame.device.channels import Laplace, grid_point
from dame.device.exact import WORD
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.device.reports import Report, check_report
from dame.errors import BadRecords, DameError
from tests.device.examples import BIT, CHOICE, DITHER, GRID, QUESTIONS, SEGMENTS, SIZES, VOTE, question_name
from tests.device.sources import CountingCoins, SeededCoins, replayed
from tests.device.strategies import people, questions, records

SECRET = 8.7654321
SECRET_DIGITS = "8.7654321"
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=question_name)


class Unfloatable:
    """A record whose own conversion fails with an error that shows it."""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error

    def __float__(self) -> float:
        raise self._error(f"cannot convert {SECRET_DIGITS}")

    def __repr__(self) -> str:
        return SECRET_DIGITS


# --- the report


@given(questions(), records(), st.integers(0, 2**32))
def test_a_report_is_never_outside_its_support(question, values, seed):
    report = answer_with_coins(question, values, SeededCoins(seed))
    check_report(question, report)
    assert report.question == question_id(question)


@given(questions(), records(), st.integers(0, 2**32))
def test_an_answer_is_statistic_lens_and_channel(question, values, seed):
    person, coins = question.statistic.summarise(values), SeededCoins(seed)
    window = question.lens.draw_window(coins)
    value = question.channel.draw(question.lens.reading(person, window), coins)
    expected = Report(question=question_id(question), window=window, value=value)
    assert answer_with_coins(question, values, SeededCoins(seed)) == expected
    assert respond(question, person, SeededCoins(seed)) == expected


@given(questions(), records(), st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_the_order_of_records_does_not_matter(question, values, shuffler, seed):
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    one, other = (answer_with_coins(question, each, SeededCoins(seed)) for each in (values, shuffled))
    assert one == other


@every_question
def test_the_public_answer_draws_from_the_operating_system(question):
    reports = {answer(question, [SECRET]) for _ in range(64)}
    assert all(isinstance(report, Report) for report in reports)
    assert len(reports) > 1
    assert {report.window for report in reports} == set(range(question.lens.window_count))


@pytest.mark.parametrize("question", [DITHER, SEGMENTS], ids=["dither", "segments"])
def test_the_window_is_the_first_bits_of_the_first_word_and_the_second_draws_the_bit(question):
    person, count = Summary(size=2, mean=0.1), question.lens.window_count
    for window in range(count):
        threshold = question.channel.threshold(question.lens.position(person, window))
        for first in (window * (WORD // count), (window + 1) * (WORD // count) - 1):
            for word, bit in ((threshold - 1, 1), (threshold, 0)):
                coins = replayed(first, word)
                report = respond(question, person, coins)
                assert (report.window, report.value) == (window, bit)
                assert coins.exhausted


# --- words


def words_taken(question: Question, person: Summary, seed: int) -> int:
    coins = CountingCoins(seed)
    respond(question, person, coins)
    return coins.used


@given(questions(), people, people, st.integers(0, 2**32))
def test_the_words_taken_do_not_depend_on_the_person(question, one, other, seed):
    assert words_taken(question, one, seed) == words_taken(question, other, seed)


@pytest.mark.parametrize(
    ("question", "words"), [(VOTE, 8), (SIZES, 12), (CHOICE, 1), (BIT, 1), (DITHER, 2), (SEGMENTS, 2)]
)
@given(person=people, seed=st.integers(0, 99))
def test_a_channel_that_compares_takes_a_word_for_each_bit_and_one_for_the_window(question, words, person, seed):
    assert words_taken(question, person, seed) == words


@given(st.floats(-1, 1), st.integers(1, 1000), st.integers(0, 1000))
def test_the_noise_on_a_grid_point_does_not_depend_on_the_person(mean, size, seed):
    one, other = Summary(size=size, mean=mean), Summary(size=1, mean=-1.0)
    here, there = (respond(GRID, person, SeededCoins(seed)).value for person in (one, other))
    points = [grid_point(GRID.lens.position(person), GRID.channel.steps) for person in (one, other)]
    assert here - there == points[0] - points[1]


@given(questions(None, Laplace), people, people, st.integers(0, 99))
def test_noise_takes_as_many_words_whatever_the_data(question, one, other, seed):
    assert words_taken(question, one, seed) == words_taken(question, other, seed)


# --- bad records


def exception_chain(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None:
            yield one
            waiting += [one.__cause__, one.__context__]


def refusal_of(samples: object, question: Question = VOTE) -> BadRecords:
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
@every_question
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bad_records_are_refused_without_showing_any(samples, question):
    error = refusal_of(samples, question)
    assert_discreet(error, SECRET_DIGITS, "8.76", "4000", "datetime")
    assert "\n" not in str(error)


@given(records(longest=5), st.sampled_from([None, math.nan, math.inf, "text", [], object()]), questions())
def test_the_message_names_the_place_of_a_bad_record_only(good, bad, question):
    error = refusal_of([*good, bad, SECRET], question)
    assert str(error) == f"record number {len(good) + 1} must be a finite number"
    assert error.__cause__ is None
    assert error.__context__ is None


def test_bad_records_are_errors_of_this_package_and_of_values():
    assert isinstance(refusal_of([]), DameError)
    assert isinstance(refusal_of([]), ValueError)


@every_question
def test_bad_records_use_no_coins(question):
    coins = CountingCoins(1)
    with pytest.raises(BadRecords):
        answer_with_coins(question, [1.0, math.nan], coins)
    assert coins.used == 0


@given(questions(), records(longest=3), st.integers(0, 99))
def test_a_report_holds_the_question_the_window_and_the_value_only(question, values, seed):
    report = answer_with_coins(question, values, SeededCoins(seed))
    assert Report.__slots__ == ("question", "window", "value")
    assert repr(report) == f"Report(question={report.question!r}, window={report.window}, value={report.value})"
