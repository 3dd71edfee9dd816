"""Tallies: a commutative monoid of exact integers, tied to one question, that no bad report can touch."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, Vote, question_id
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.reports import Report, tally_entries, value_range
from dame.errors import InvalidInput, Mismatch, RejectedReport
from dame.tally import MOST_REPORTS, Tally, merged
from tests.device.strategies import json_values, measures, place_votes, questions, values_of, votes

VOTE = Vote(study="s", round=0, alpha=1.0, bins=3, width=0.7, code=UnaryCode.optimised(1.0))
BIT = Measure(study="s", round=1, alpha=1.0, centre=0.0, left=-1.0, right=1.0, noise=OneBit.spending(1.0))
ARMS = dataclasses.replace(BIT, dither=0.5)
GRID = dataclasses.replace(BIT, noise=DiscreteLaplace.spending(1.0))
PLACES = PlaceVote(study="s", round=0, alpha=1.0, places=(-0.5, 0.0, 0.25), code=OneOfMany.spending(1.0, 3))


def parts(count: int) -> PartMeasure:
    borders = tuple(2 * border / count - 1 for border in range(count + 1))
    return PartMeasure(study="s", round=1, alpha=1.0, borders=borders, noise=OneBit.spending(1.0))


QUESTIONS = (VOTE, BIT, ARMS, parts(4), GRID, PLACES)


@st.composite
def report_lists(draw: st.DrawFn, most: int = 12) -> tuple[Question, list[Report]]:
    question = draw(st.one_of(votes(most_bins=20), place_votes(), measures()))
    values = draw(st.lists(values_of(question), max_size=most))
    return question, [Report(question=question_id(question), value=value) for value in values]


def tally_of(question: Question, reports: list[Report]) -> Tally:
    tally = Tally.zero(question)
    for report in reports:
        tally = tally.add(report)
    return tally


def report_of(question: Question, value: int) -> Report:
    return Report(question=question_id(question), value=value)


# --- laws


@given(st.lists(st.integers(0, 15)), st.sampled_from([2, 4, 8]))
def test_arms_are_those_that_reports_name(values, arms):
    """The bits above bit 0 of a report on a part are its arm, bit 0 what it says."""
    question, values = parts(arms), [value % (2 * arms) for value in values]
    counted = [[value & 1 for value in values if value >> 1 == arm] for arm in range(arms)]
    tally = tally_of(question, [report_of(question, value) for value in values])
    assert tally.arms == tuple((len(bits), sum(bits)) for bits in counted)
    bits = [value & 1 for value in values]
    assert tally_of(BIT, [report_of(BIT, bit) for bit in bits]).arms == ((len(bits), sum(bits)),)


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
    parts = [tally_of(question, [r for r, p in zip(reports, places, strict=True) if p == part]) for part in range(4)]
    order = data.draw(st.permutations(parts))
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
    entries = [tally_entries(question, report.value) for report in reports]
    assert tally.reports == len(reports)
    assert tally.sums == tuple(map(sum, zip(*entries, strict=True))) if entries else not any(tally.sums)
    assert all(type(total) is int for total in tally.sums)


@given(report_lists())
def test_a_tally_survives_json(pair):
    question, reports = pair
    tally = tally_of(question, reports)
    assert Tally.from_json(json.loads(json.dumps(tally.to_json())), question) == tally


# --- refusals


@given(report_lists(), questions())
def test_a_report_of_another_question_is_rejected_and_changes_nothing(pair, other):
    question, reports = pair
    assume(question != other)
    tally = tally_of(question, reports)
    before = (tally.reports, tally.sums)
    with pytest.raises(RejectedReport):
        tally.add(report_of(other, 0))
    assert (tally.reports, tally.sums) == before


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wrong", ["below", "above", "half", "text", "none"])
def test_a_value_that_no_device_sends_is_rejected_and_changes_nothing(question, wrong):
    low, high = value_range(question)
    value = {"below": low - 1, "above": high + 1, "half": 0.5, "text": "1", "none": None}[wrong]
    tally = Tally.zero(question).add(report_of(question, 1))
    with pytest.raises(RejectedReport):
        tally.add(report_of(question, value))
    assert tally == Tally.zero(question).add(report_of(question, 1))


@pytest.mark.parametrize("value", [0b000, 0b011, 0b101, 0b111, 0b1000])
def test_a_report_without_exactly_one_place_is_rejected_and_changes_nothing(value):
    tally = Tally.zero(PLACES).add(report_of(PLACES, 0b010))
    with pytest.raises(RejectedReport):
        tally.add(report_of(PLACES, value))
    assert tally.sums == (0, 1, 0)


@given(st.lists(st.integers(0, 2)))
def test_places_are_counted_and_sum_to_the_reports(places):
    tally = tally_of(PLACES, [report_of(PLACES, 1 << place) for place in places])
    assert tally.sums == tuple(places.count(place) for place in range(3))
    assert sum(tally.sums) == tally.reports


@pytest.mark.parametrize("question", QUESTIONS)
def test_tallies_of_two_questions_do_not_merge(question):
    other = Tally.zero(dataclasses.replace(question, round=9))
    with pytest.raises(Mismatch):
        Tally.zero(question).merge(other)
    with pytest.raises(Mismatch):
        merged([Tally.zero(question), Tally.zero(question), other])


@pytest.mark.parametrize("question", QUESTIONS)
def test_json_of_another_question_is_a_mismatch(question):
    document = Tally.zero(dataclasses.replace(question, study="other")).to_json()
    with pytest.raises(Mismatch):
        Tally.from_json(document, question)


@given(json_values)
def test_arbitrary_json_is_refused_in_one_sentence(document):
    with pytest.raises((InvalidInput, Mismatch)) as caught:
        Tally.from_json(document, VOTE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("question", QUESTIONS)
@given(data=st.data())
def test_any_value_in_any_field_gives_a_tally_or_a_refusal(question, data):
    document = Tally.zero(question).add(report_of(question, 1)).to_json()
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = data.draw(st.one_of(json_values, st.lists(st.integers(), max_size=4)))
    with contextlib.suppress(InvalidInput, Mismatch):
        Tally.from_json(document, question)


@pytest.mark.parametrize(
    ("question", "reports", "sums"),
    [
        (VOTE, 2, (3, 0, 0)),
        (VOTE, 2, (-1, 0, 0)),
        (VOTE, 2, (1, 1)),
        (VOTE, 2, (1, 1, 1, 1)),
        (VOTE, -1, (0, 0, 0)),
        (VOTE, MOST_REPORTS + 1, (0, 0, 0)),
        (VOTE, 2.0, (0, 0, 0)),
        (VOTE, 2, (1.0, 0, 0)),
        (VOTE, 2, (True, 0, 0)),
        (PLACES, 2, (1, 0, 0)),
        (PLACES, 2, (1, 1, 1)),
        (PLACES, 2, (0, 0, 0)),
        (PLACES, 2, (3, -1, 0)),
        (PLACES, 0, (1, 0, 0)),
        (BIT, 0, (1,)),
        (ARMS, 2, (2, 1, 0)),
        (ARMS, 2, (0, 1, 2)),
        (parts(4), 3, (1, 1, 0, 1, 0, 1, 0)),
        (parts(4), 3, (0, 0, 0, 2, 0, 0, 1)),
        (parts(4), 3, (0, 2, 0, 2, 0, 0, 0)),
        (GRID, 2, (5, 0)),
        (GRID, 2, (1000, 499_999)),
        (GRID, 1, (0, -1)),
        (GRID, 1, (10**9, 10**18)),
    ],
)
def test_sums_that_no_reports_can_have_are_refused(question, reports, sums):
    with pytest.raises(InvalidInput):
        Tally(question=question, reports=reports, sums=sums)


def test_whole_numbers_of_numpy_become_exact_integers():
    tally = Tally(question=VOTE, reports=np.int64(3), sums=tuple(np.array([1, 2, 3])))
    assert all(type(total) is int for total in (tally.reports, *tally.sums))
    assert json.dumps(tally.to_json())


def test_sums_beyond_64_bits_stay_exact():
    high = value_range(GRID)[1]
    tally = Tally.zero(GRID)
    big = Tally(question=GRID, reports=2**50 - 1, sums=(high * (2**50 - 1), high * high * (2**50 - 1)))
    tally = big.merge(tally.add(report_of(GRID, high)))
    assert tally.sums == (high * 2**50, high * high * 2**50)
    assert tally.sums[1] > 2**64
