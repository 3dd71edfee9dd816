"""Answers: statistic, lens, channel, in this order; records are never shown, and never decide how coins are tossed."""

from __future__ import annotations

import dataclasses
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
from tests.device.strategies import asked_rows, people, questions, records, takes_texts

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
    coins = SeededCoins(seed)
    person = question.statistic.summarise(values, coins.words(1)[0] if question.statistic.draws else 0)
    window = question.lens.draw_window(coins)
    value = question.channel.draw(question.lens.reading(person, window), coins)
    expected = Report(question=question_id(question), window=window, value=value)
    assert answer_with_coins(question, values, SeededCoins(seed)) == expected
    left = SeededCoins(seed)
    left.words(int(question.statistic.draws))
    assert respond(question, person, left) == expected


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


# --- people without records that count

NOBODY = ([], (), [{}], [{"other": SECRET}] * 5, [{"delay": None, "hours": None}], np.array([]), iter(()))
ANYBODY = [{"delay": SECRET, "hours": SECRET}] * 9


def by_column(question: Question) -> Question:
    """The question, about the column of hours if it names none."""
    named = question.statistic.column or "hours"
    return dataclasses.replace(question, statistic=dataclasses.replace(question.statistic, column=named))


@every_question
def test_a_person_without_records_answers_like_anybody_else(question):
    asked = by_column(question)
    for nobody in NOBODY:
        reports = [(answer(asked, nobody), answer(asked, ANYBODY)) for _ in range(4)]
        for report, other in reports:
            check_report(asked, report)
            assert type(report) is type(other)
            assert [type(getattr(report, name)) for name in Report.__slots__] == [str, int, int]
            assert len(report.encode(asked)) == len(other.encode(asked))


@every_question
@pytest.mark.parametrize("seed", range(8))
def test_the_coins_do_not_tell_a_person_without_records(question, seed):
    asked, taken = by_column(question), []
    for samples in ([], [{}], ANYBODY, ANYBODY[:1]):
        coins = CountingCoins(seed)
        answer_with_coins(asked, samples, coins)
        taken.append(coins.used)
    assert len(set(taken)) == 1


@every_question
def test_no_report_tells_a_person_without_records(question):
    """Whatever she sends, somebody with records sends as well: the coins of both reach every report of a small one."""
    asked = by_column(question)
    if asked.report_bits <= 3:
        without = {answer_with_coins(asked, [], SeededCoins(seed)) for seed in range(200)}
        assert without == {answer_with_coins(asked, ANYBODY, SeededCoins(seed)) for seed in range(200)}


@given(asked_rows(), questions(), st.integers(0, 2**32))
def test_records_of_several_columns_are_answered(asked, question, seed):
    statistic, values = asked
    own = dataclasses.replace(question, statistic=statistic)
    check_report(own, answer_with_coins(own, values, SeededCoins(seed)))


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
        {},
        {"delay": SECRET, "hours": SECRET},
        [math.nan],
        [math.inf],
        [-math.inf],
        [SECRET, math.nan],
        [SECRET, None],
        [SECRET_DIGITS.encode()],
        [bytearray(SECRET_DIGITS.encode())],
        [SECRET, [SECRET]],
        *([{"delay": bad, "hours": bad, "": bad}] for bad in (math.nan, [SECRET], Unfloatable(KeyError), 10**400)),
        [complex(SECRET, 1)],
        [SECRET, Decimal("sNaN")],
        [10**400],
        [np.array([SECRET, SECRET])],
        [np.array([SECRET])],
        [np.datetime64("2020-01-01")],
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


NUMBERS_ONLY = [question for question in QUESTIONS if not takes_texts(question.statistic)]


@pytest.mark.parametrize(
    "samples",
    [
        [SECRET, "x"],
        [SECRET_DIGITS],
        [np.str_(SECRET_DIGITS)],
        np.array([SECRET_DIGITS]),
        [{"delay": SECRET_DIGITS, "hours": SECRET_DIGITS}],
    ],
    ids=lambda samples: repr(samples)[:40],
)
@pytest.mark.parametrize("question", NUMBERS_ONLY, ids=question_name)
def test_texts_in_the_place_of_numbers_are_refused_without_showing_any(samples, question):
    assert_discreet(refusal_of(samples, question), SECRET_DIGITS, "8.76")


@given(records(longest=5), st.sampled_from([None, math.nan, math.inf, b"text", [], object()]), questions())
def test_the_message_names_the_place_of_a_bad_record_only(good, bad, question):
    error = refusal_of([*good, bad, SECRET], question)
    allowed = "a text or a finite number" if takes_texts(question.statistic) else "a finite number"
    assert str(error) == f"record number {len(good) + 1} must be {allowed}"
    assert error.__cause__ is None
    assert error.__context__ is None


def test_bad_records_are_errors_of_this_package_and_of_values():
    assert isinstance(refusal_of([None]), DameError)
    assert isinstance(refusal_of([None]), ValueError)


@every_question
def test_bad_records_use_no_coins_but_the_one_that_draws_a_record(question):
    coins = CountingCoins(1)
    with pytest.raises(BadRecords):
        answer_with_coins(question, [1.0, math.nan], coins)
    assert coins.used == int(question.statistic.draws)


@given(questions(), records(longest=3), st.integers(0, 99))
def test_a_report_holds_the_question_the_window_and_the_value_only(question, values, seed):
    report = answer_with_coins(question, values, SeededCoins(seed))
    assert Report.__slots__ == ("question", "window", "value")
    assert repr(report) == f"Report(question={report.question!r}, window={report.window}, value={report.value})"
