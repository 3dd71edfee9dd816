"""Reports: one value, one encoding; anything else is rejected with a word to count by."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dame.device import Report, report_bytes
from dame.device.questions import TAG_BYTES, Measure, PartMeasure, PlaceVote, Question, Vote, question_id, question_tag
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.reports import check_value, tally_entries, value_range
from dame.errors import RejectedReport
from tests.device.strategies import place_votes, questions, values_of, votes

VOTE = Vote(study="s", round=0, alpha=1.0, bins=12, width=0.2, code=UnaryCode.optimised(1.0))
BIT = Measure(study="s", round=1, alpha=1.0, centre=0.0, left=-1.0, right=1.0, noise=OneBit.spending(1.0))
ARMS = dataclasses.replace(BIT, dither=0.5)
PARTS = PartMeasure(study="s", round=1, alpha=1.0, borders=(-1.0, -0.5, 0.125, 0.25, 1.0), noise=OneBit.spending(1.0))
GRID = dataclasses.replace(BIT, noise=DiscreteLaplace.spending(1.0))
PLACES = PlaceVote(study="s", round=0, alpha=1.0, places=(-0.5, 0.0, 0.25), code=OneOfMany.spending(1.0, 3))
QUESTIONS = (VOTE, BIT, ARMS, PARTS, GRID, PLACES)


@st.composite
def reports(draw: st.DrawFn) -> tuple[Question, Report]:
    question = draw(questions())
    return question, Report(question=question_id(question), value=draw(values_of(question)))


def rejected(question: Question, encoded: bytes) -> str:
    with pytest.raises(RejectedReport) as caught:
        Report.decode(question, encoded)
    return caught.value.reason


# --- round trip


@given(reports())
def test_decode_undoes_encode(pair):
    question, report = pair
    encoded = report.encode(question)
    assert Report.decode(question, encoded) == report
    assert len(encoded) == report_bytes(question)
    assert encoded[:TAG_BYTES] == question_tag(question)


@given(reports(), st.data())
def test_one_value_has_exactly_one_encoding(pair, data):
    question, report = pair
    encoded = report.encode(question)
    place = data.draw(st.integers(0, len(encoded) - 1))
    changed = bytes(byte ^ (data.draw(st.integers(1, 255)) if i == place else 0) for i, byte in enumerate(encoded))
    try:
        other = Report.decode(question, changed)
    except RejectedReport:
        return
    assert other != report
    assert other.encode(question) == changed


@given(questions(), st.binary(max_size=40))
def test_arbitrary_bytes_are_rejected_or_decode_to_what_encodes_back(question, body):
    for encoded in (body, question_tag(question) + body):
        try:
            report = Report.decode(question, encoded)
        except RejectedReport as refusal:
            reason = refusal.reason
            assert reason in {"length", "question", "range"}
        else:
            assert report.encode(question) == encoded


@pytest.mark.parametrize(
    ("question", "value", "payload"),
    [
        (VOTE, 0, "0000"),
        (VOTE, 0b1000_0000_0001, "0108"),
        (VOTE, 0b1111_1111_1111, "ff0f"),
        (BIT, 1, "01"),
        (ARMS, 0b11, "03"),
        (ARMS, 0b10, "02"),
        (PARTS, 0b111, "07"),
        (PARTS, 0b100, "04"),
        (PLACES, 0b001, "01"),
        (PLACES, 0b100, "04"),
        (GRID, 1, "00000001"),
        (GRID, -1, "ffffffff"),
        (GRID, -45 * 2**20, "fd300000"),
        (GRID, 46 * 2**20, "02e00000"),
    ],
)
def test_known_encodings(question, value, payload):
    report = Report(question=question_id(question), value=value)
    assert report.encode(question)[TAG_BYTES:].hex() == payload


def test_sizes_of_reports():
    assert [report_bytes(question) for question in QUESTIONS] == [10, 9, 9, 9, 12, 9]
    assert report_bytes(dataclasses.replace(VOTE, bins=64)) == 16


# --- rejections


@pytest.mark.parametrize("question", QUESTIONS)
def test_left_over_and_missing_bytes_are_rejected(question):
    encoded = Report(question=question_id(question), value=1).encode(question)
    assert rejected(question, encoded + b"\0") == "length"
    assert rejected(question, encoded[:-1]) == "length"
    assert rejected(question, b"") == "length"
    assert rejected(question, encoded * 2) == "length"


@given(reports(), questions())
def test_a_report_of_another_question_is_rejected(pair, other):
    question, report = pair
    assume(question != other)
    with pytest.raises(RejectedReport):
        Report.decode(other, report.encode(question))
    with pytest.raises(RejectedReport) as caught:
        report.encode(other)
    assert caught.value.reason == "question"


def test_a_report_of_a_question_with_the_same_shape_is_rejected_by_its_tag():
    other = dataclasses.replace(VOTE, round=1)
    encoded = Report(question=question_id(VOTE), value=5).encode(VOTE)
    assert rejected(other, encoded) == "question"


@given(votes(), st.data())
def test_padding_bits_that_are_set_are_rejected(question, data):
    padding = 8 * (report_bytes(question) - TAG_BYTES) - question.bins
    assume(padding)
    bit = data.draw(st.integers(question.bins, question.bins + padding - 1))
    payload = (1 << bit).to_bytes(report_bytes(question) - TAG_BYTES, "little")
    assert rejected(question, question_tag(question) + payload) == "range"


@pytest.mark.parametrize(("question", "value"), [(BIT, 2), (BIT, 255), (ARMS, 4), (ARMS, 128), (PARTS, 8)])
def test_a_bit_with_more_bits_is_rejected(question, value):
    assert rejected(question, question_tag(question) + bytes([value])) == "range"


@given(place_votes())
def test_exactly_one_mark_is_a_place(question):
    """Of all bytes, those with a single bit among the places are reports, and nothing else is."""
    assert report_bytes(question) == TAG_BYTES + 1
    good = {1 << place for place in range(question.bins)}
    for value in range(256):
        encoded = question_tag(question) + bytes([value])
        if value in good:
            assert Report.decode(question, encoded).value == value
        else:
            assert rejected(question, encoded) == "range"


def test_more_or_fewer_marks_than_one_cannot_be_encoded():
    for value in (0, 0b011, 0b111):
        with pytest.raises(RejectedReport, match="exactly one place") as caught:
            Report(question=question_id(PLACES), value=value).encode(PLACES)
        assert caught.value.reason == "range"


@given(st.integers(1, 2**24), st.floats(1e-6, 32.0), st.integers(1, 2**60), st.booleans())
def test_a_noisy_grid_point_beyond_the_reach_is_rejected(steps, alpha, beyond, right):
    noise = DiscreteLaplace.spending(alpha, steps=steps)
    question = dataclasses.replace(GRID, alpha=alpha, noise=noise)
    low, high = value_range(question)
    assert (low, high) == (-45 * noise.scale, steps + 45 * noise.scale)
    value, length = (high + beyond if right else low - beyond), report_bytes(question) - TAG_BYTES
    assume(-(1 << 8 * length - 1) <= value < 1 << 8 * length - 1)
    assert rejected(question, question_tag(question) + value.to_bytes(length, "big", signed=True)) == "range"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_value_out_of_range_cannot_be_encoded(question):
    low, high = value_range(question)
    for value in (low - 1, high + 1):
        report = Report(question=question_id(question), value=value)
        with pytest.raises(RejectedReport) as caught:
            report.encode(question)
        assert caught.value.reason == "range"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("value", [0.5, 1.0, "1", None, True, b"1"])
def test_a_value_that_is_no_whole_number_is_rejected(question, value):
    with pytest.raises(RejectedReport):
        check_value(question, Report(question=question_id(question), value=value))


# --- entries


def test_entries_of_a_vote_are_its_bits():
    assert tally_entries(VOTE, 0b0000_0000_0101) == (1, 0, 1, *[0] * 9)
    assert tally_entries(PLACES, 0b010) == (0, 1, 0)


@pytest.mark.parametrize(
    ("value", "entries"), [(0b00, (0, 0, 0)), (0b01, (1, 0, 0)), (0b10, (0, 1, 0)), (0b11, (0, 1, 1))]
)
def test_entries_of_a_bit_with_two_arms_say_which(value, entries):
    assert tally_entries(ARMS, value) == entries


def test_entries_of_a_bit_on_one_of_four_parts_say_which():
    assert tally_entries(PARTS, 0b001) == (1, 0, 0, 0, 0, 0, 0)
    assert tally_entries(PARTS, 0b010) == (0, 1, 0, 0, 0, 0, 0)
    assert tally_entries(PARTS, 0b111) == (0, 0, 0, 0, 0, 1, 1)


def test_entries_of_a_noisy_grid_point_are_it_and_its_square():
    assert tally_entries(GRID, -7) == (-7, 49)
    assert tally_entries(BIT, 1) == (1,)
