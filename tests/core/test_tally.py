"""Tallies: a commutative monoid of exact integers, tied to one question, that no bad report can touch."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins, Lens, SizeClasses, Windows
from dame.device.questions import Question, question_id
from dame.device.reports import Report
from dame.errors import InvalidInput, Mismatch, RejectedReport
from dame.tally import MOST_REPORTS, Tally, WindowTally, merged
from tests.device.strategies import bins, json_values, lenses, questions, reports_of, size_classes

HEADER = {"study": "s", "round": 0, "alpha": 1.0}
VOTE = Question(**HEADER, lens=Bins(bins=3, width=0.7), channel=Bits.optimised(1.0, 3))
CHOICE = Question(**HEADER, lens=SizeClasses(classes=3), channel=Choice.spending(1.0, 3))
BIT = Question(**HEADER, lens=Windows.whole_range(), channel=Bits.single(1.0))
GRID = Question(**HEADER, lens=Windows.whole_range(), channel=Laplace.spending(1.0))


def segments(count: int) -> Question:
    borders = tuple(2 * border / count - 1 for border in range(count + 1))
    return dataclasses.replace(BIT, lens=Windows.segments(borders))


NOISY_SEGMENTS = dataclasses.replace(GRID, lens=segments(2).lens)
QUESTIONS = (VOTE, CHOICE, BIT, segments(2), segments(4), GRID, NOISY_SEGMENTS)
FEW_BINS: st.SearchStrategy[Lens] = st.one_of(bins(most=20), size_classes(most=20), lenses(Windows))


@st.composite
def report_lists(draw: st.DrawFn, most: int = 12) -> tuple[Question, list[Report]]:
    question = draw(questions(FEW_BINS))
    return question, draw(st.lists(reports_of(question), max_size=most))


def tally_of(question: Question, reports: list[Report]) -> Tally:
    tally = Tally.zero(question)
    for report in reports:
        tally = tally.add(report)
    return tally


def report_of(question: Question, value: int, window: int = 0) -> Report:
    return Report(question=question_id(question), window=window, value=value)


# --- laws


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1))), st.sampled_from([1, 2, 4, 8]))
def test_reports_count_in_the_window_that_they_name(pairs, windows):
    question, pairs = segments(windows), [(window % windows, bit) for window, bit in pairs]
    tally = tally_of(question, [report_of(question, bit, window) for window, bit in pairs])
    counted = [[bit for own, bit in pairs if own == window] for window in range(windows)]
    assert tally.windows == tuple(WindowTally(len(bits), (sum(bits),)) for bits in counted)
    assert (tally.reports, tally.sums) == (len(pairs), (sum(bit for _, bit in pairs),))


@given(report_lists())
def test_zero_is_neutral(pair):
    question, reports = pair
    tally, zero = tally_of(question, reports), Tally.zero(question)
    assert tally.merge(zero) == zero.merge(tally) == tally
    assert zero.reports == 0
    assert not any(zero.sums)


@given(report_lists(), st.data())
def test_any_split_in_any_order_gives_the_same_tally(pair, data):
    question, reports = pair
    whole = tally_of(question, reports)
    places = data.draw(st.lists(st.integers(0, 3), min_size=len(reports), max_size=len(reports)))
    sites = [tally_of(question, [r for r, p in zip(reports, places, strict=True) if p == site]) for site in range(4)]
    order = data.draw(st.permutations(sites))
    assert merged(order) == whole


@given(report_lists(), st.data())
def test_merge_is_associative_and_commutative(pair, data):
    question, reports = pair
    one, two = sorted(data.draw(st.tuples(st.integers(0, len(reports)), st.integers(0, len(reports)))))
    a, b, c = (tally_of(question, part) for part in (reports[:one], reports[one:two], reports[two:]))
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(b) == b.merge(a)


@given(report_lists())
def test_a_tally_is_the_exact_sum_of_its_reports(pair):
    question, reports = pair
    tally = tally_of(question, reports)
    for window, counted in enumerate(tally.windows):
        entries = [question.channel.entries(report.value) for report in reports if report.window == window]
        assert counted.reports == len(entries)
        assert counted.sums == tuple(map(sum, zip(*entries, strict=True))) if entries else not any(counted.sums)
        assert all(type(number) is int for number in (counted.reports, *counted.sums))
    assert tally.reports == len(reports)


@given(report_lists(), st.data())
def test_reports_of_a_window_can_be_added_together(pair, data):
    question, reports = pair
    window = data.draw(st.integers(0, question.lens.window_count - 1))
    together = [question.channel.entries(report.value) for report in reports if report.window == window]
    others = tally_of(question, [report for report in reports if report.window != window])
    sums = [sum(column) for column in zip(*together, strict=True)] or [0] * len(question.channel.entry_limits)
    assert others.plus(window, len(together), sums) == tally_of(question, reports)


@given(report_lists())
def test_a_tally_survives_json_with_its_question(pair):
    tally = tally_of(*pair)
    assert Tally.from_json(json.loads(json.dumps(tally.to_json()))) == tally


# --- refusals


@given(report_lists(), questions())
def test_a_report_of_another_question_is_rejected_and_changes_nothing(pair, other):
    question, reports = pair
    assume(question != other)
    tally = tally_of(question, reports)
    before = tally.windows
    with pytest.raises(RejectedReport):
        tally.add(report_of(other, 0))
    assert tally.windows == before


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wrong", ["below", "above", "half", "text", "none"])
def test_a_value_that_no_device_sends_is_rejected_and_changes_nothing(question, wrong):
    low, high = question.channel.values
    value = {"below": low - 1, "above": high + 1, "half": 0.5, "text": "1", "none": None}[wrong]
    tally = Tally.zero(question).add(report_of(question, 1))
    with pytest.raises(RejectedReport):
        tally.add(report_of(question, value))
    assert tally == Tally.zero(question).add(report_of(question, 1))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("window", [-1, 0.0, True, None, "0", 64])
def test_a_window_that_no_device_draws_is_rejected_and_changes_nothing(question, window):
    tally = Tally.zero(question).add(report_of(question, 1))
    with pytest.raises(RejectedReport):
        tally.add(report_of(question, 1, window))
    assert tally == Tally.zero(question).add(report_of(question, 1))


@given(st.lists(st.integers(0, 2)))
def test_choices_are_counted_and_sum_to_the_reports(chosen):
    tally = tally_of(CHOICE, [report_of(CHOICE, bin_) for bin_ in chosen])
    assert tally.sums == tuple(chosen.count(bin_) for bin_ in range(3))
    assert sum(tally.sums) == tally.reports


@pytest.mark.parametrize("question", QUESTIONS)
def test_tallies_of_two_questions_do_not_merge(question):
    other = Tally.zero(dataclasses.replace(question, round=9))
    with pytest.raises(Mismatch):
        Tally.zero(question).merge(other)
    with pytest.raises(Mismatch):
        merged([Tally.zero(question), Tally.zero(question), other])


@given(json_values)
def test_arbitrary_json_is_refused_in_one_sentence(document):
    with pytest.raises(InvalidInput) as caught:
        Tally.from_json(document)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("question", QUESTIONS)
@given(data=st.data())
def test_any_value_in_any_field_gives_a_tally_or_a_refusal(question, data):
    document = Tally.zero(question).add(report_of(question, 1)).to_json()
    key = data.draw(st.sampled_from(sorted(document)))
    numbers = st.lists(st.integers(), max_size=4)
    document[key] = data.draw(st.one_of(json_values, numbers, st.lists(numbers, max_size=4)))
    with contextlib.suppress(InvalidInput):
        Tally.from_json(document)


@pytest.mark.parametrize(
    ("question", "windows"),
    [
        (VOTE, [(2, (3, 0, 0))]),
        (VOTE, [(2, (-1, 0, 0))]),
        (VOTE, [(2, (1, 1))]),
        (VOTE, [(2, (1, 1, 1, 1))]),
        (VOTE, [(-1, (0, 0, 0))]),
        (VOTE, [(MOST_REPORTS + 1, (0, 0, 0))]),
        (VOTE, [(2.0, (0, 0, 0))]),
        (VOTE, [(2, (1.0, 0, 0))]),
        (VOTE, [(2, (True, 0, 0))]),
        (VOTE, []),
        (VOTE, [(1, (0, 0, 0)), (1, (0, 0, 0))]),
        (CHOICE, [(2, (1, 0, 0))]),
        (CHOICE, [(2, (1, 1, 1))]),
        (CHOICE, [(2, (0, 0, 0))]),
        (CHOICE, [(2, (3, -1, 0))]),
        (CHOICE, [(0, (1, 0, 0))]),
        (BIT, [(0, (1,))]),
        (segments(2), [(1, (2,)), (1, (0,))]),
        (segments(2), [(0, (0,)), (2, (3,))]),
        (segments(2), [(2, (1,))]),
        (segments(2), [(MOST_REPORTS, (0,)), (1, (0,))]),
        (segments(4), [(1, (1,)), (1, (0,)), (0, (1,)), (1, (0,))]),
        (GRID, [(2, (5, 0))]),
        (GRID, [(2, (1000, 499_999))]),
        (GRID, [(1, (0, -1))]),
        (GRID, [(1, (10**9, 10**18))]),
        (NOISY_SEGMENTS, [(1, (0, 0)), (1, (5, 24))]),
    ],
)
def test_sums_that_no_reports_can_have_are_refused(question, windows):
    with pytest.raises(InvalidInput):
        Tally.of(question, windows)


@pytest.mark.parametrize(("reports", "sums"), [(-1, (0,)), (1, (2,)), (1, (-1,)), (1, (0, 0)), (1.0, (0,))])
def test_nothing_impossible_is_added(reports, sums):
    """Not even where the sum of both would be possible."""
    tally = Tally.of(segments(2), [(5, (3,)), (5, (3,))])
    with pytest.raises(InvalidInput):
        tally.plus(1, reports, sums)


@pytest.mark.parametrize("document", [{"reports": [1, 1]}, {"sums": [[0], [0]]}, {"sums": [0]}, {"reports": 1}])
def test_documents_whose_windows_do_not_fit_are_refused(document):
    with pytest.raises(InvalidInput):
        Tally.from_json({**Tally.zero(BIT).to_json(), **document})


def test_whole_numbers_of_numpy_become_exact_integers():
    tally = Tally.of(VOTE, [(np.int64(3), tuple(np.array([1, 2, 3])))])
    assert all(type(total) is int for total in (tally.reports, *tally.sums))
    assert json.dumps(tally.to_json())


def test_sums_beyond_64_bits_stay_exact():
    high = GRID.channel.values[1]
    big = Tally.of(GRID, [(2**50 - 1, (high * (2**50 - 1), high * high * (2**50 - 1)))])
    tally = big.merge(Tally.zero(GRID).add(report_of(GRID, high)))
    assert tally.sums == (high * 2**50, high * high * 2**50)
    assert tally.sums[1] > 2**64


def test_the_mean_of_an_entry_is_over_all_windows():
    tally = Tally.of(segments(2), [(3, (1,)), (5, (4,))])
    assert tally.mean() == 5 / 8
