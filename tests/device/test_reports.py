"""Reports: one value, one encoding; anything else is rejected with a word to count by."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dame.device import Report, report_bytes
from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins, SizeClasses, Windows
from dame.device.questions import TAG_BYTES, Question, question_id, question_tag
from dame.device.reports import check_report
from dame.errors import RejectedReport
from tests.device.examples import BIT, CHOICE, DITHER, QUESTIONS, SEGMENTS, SIZES, VOTE, ask, question_name
from tests.device.strategies import answered_questions, lenses, questions

EVEN_GRID = ask(Windows.whole_range(), Laplace.spending(1.0), 1.0)
WINDOWED_GRID = ask(SEGMENTS.lens, Laplace.spending(1.0), 1.0)
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=question_name)


def rejected(question: Question, encoded: bytes) -> str:
    with pytest.raises(RejectedReport) as caught:
        Report.decode(question, encoded)
    return caught.value.reason


def report_of(question: Question, value: int, window: int = 0) -> Report:
    return Report(question=question_id(question), window=window, value=value)


# --- round trip


@given(answered_questions())
def test_decode_undoes_encode(pair):
    question, report = pair
    encoded = report.encode(question)
    assert Report.decode(question, encoded) == report
    assert len(encoded) == report_bytes(question)
    assert encoded[:TAG_BYTES] == question_tag(question)


@given(answered_questions(), st.data())
def test_one_report_has_exactly_one_encoding(pair, data):
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


SEVEN = ask(SizeClasses(classes=7), Choice.spending(1.0, bins=7), 1.0)


@pytest.mark.parametrize("question", [VOTE, SIZES, CHOICE, SEVEN, BIT, DITHER, SEGMENTS], ids=question_name)
def test_of_all_bytes_exactly_the_reports_are_accepted(question):
    """Every string of the right length, one by one: those of the reports, each once, and no other."""
    low, high = question.channel.values
    reports = {(w, v) for w in range(question.lens.window_count) for v in range(low, high + 1)}
    length, found = report_bytes(question) - TAG_BYTES, []
    for payload in itertools.product(range(256), repeat=length):
        try:
            report = Report.decode(question, question_tag(question) + bytes(payload))
        except RejectedReport as refusal:
            reason = refusal.reason
            assert reason == "range"
        else:
            found.append((report.window, report.value))
    assert len(found) == len(reports)
    assert set(found) == reports


@pytest.mark.parametrize(
    ("question", "window", "value", "payload"),
    [
        (SIZES, 0, 0, "0000"),
        (SIZES, 0, 0b1000_0000_0001, "0108"),
        (SIZES, 0, 0b1111_1111_1111, "ff0f"),
        (CHOICE, 0, 2, "02"),
        (BIT, 0, 1, "01"),
        (DITHER, 0, 1, "01"),
        (DITHER, 1, 0, "02"),
        (DITHER, 1, 1, "03"),
        (SEGMENTS, 3, 1, "07"),
        (SEGMENTS, 2, 0, "04"),
        (EVEN_GRID, 0, -45 * 2**20, "00000000"),
        (EVEN_GRID, 0, -1, "ffffcf02"),
        (EVEN_GRID, 0, 0, "0000d002"),
        (EVEN_GRID, 0, 46 * 2**20, "0000b005"),
        (WINDOWED_GRID, 1, -45 * 2**20, "00000008"),
        (WINDOWED_GRID, 3, 46 * 2**20, "0000b01d"),
    ],
)
def test_known_encodings(question, window, value, payload):
    report = report_of(question, value, window)
    assert report.encode(question)[TAG_BYTES:].hex() == payload
    assert Report.decode(question, question_tag(question) + bytes.fromhex(payload)) == report


def test_sizes_of_reports():
    assert [report_bytes(question) for question in QUESTIONS] == [9, 10, 9, 9, 9, 9, 9, 12, 9, 9, 9, 9]
    wide = ask(Bins(bins=64, width=1 / 32), Bits.optimised(1.0, bins=64), 1.0)
    assert report_bytes(wide) == 16
    assert report_bytes(ask(Bins(bins=65, width=1 / 32), Bits.optimised(1.0, bins=65), 1.0)) == 17
    assert [question.report_bits for question in QUESTIONS] == [8, 12, 2, 1, 2, 3, 4, 28, 1, 1, 1, 4]


@given(questions())
def test_a_report_is_as_short_as_its_bits(question):
    assert question.report_bits == question.lens.window_bits + question.channel.value_bits
    assert 0 <= 8 * (report_bytes(question) - TAG_BYTES) - question.report_bits < 8


# --- rejections


@every_question
def test_left_over_and_missing_bytes_are_rejected(question):
    encoded = report_of(question, 1).encode(question)
    assert rejected(question, encoded + b"\0") == "length"
    assert rejected(question, encoded[:-1]) == "length"
    assert rejected(question, b"") == "length"
    assert rejected(question, encoded * 2) == "length"


@given(answered_questions(), questions())
def test_a_report_of_another_question_is_rejected(pair, other):
    question, report = pair
    assume(question != other)
    with pytest.raises(RejectedReport):
        Report.decode(other, report.encode(question))
    with pytest.raises(RejectedReport) as caught:
        report.encode(other)
    assert caught.value.reason == "question"


@every_question
@pytest.mark.parametrize("changes", [{"round": 9}, {"target": "other"}, {"study": "other"}])
def test_a_report_of_a_question_with_the_same_shape_is_rejected_by_its_tag(question, changes):
    other = dataclasses.replace(question, **changes)
    assert rejected(other, report_of(question, 1).encode(question)) == "question"


@given(questions(), st.data())
def test_padding_bits_that_are_set_are_rejected(question, data):
    length = report_bytes(question) - TAG_BYTES
    assume(8 * length > question.report_bits)
    bit = data.draw(st.integers(question.report_bits, 8 * length - 1))
    assert rejected(question, question_tag(question) + (1 << bit).to_bytes(length, "little")) == "range"


@given(questions(None, Choice), st.data())
def test_a_bin_beyond_the_last_is_rejected(question, data):
    length = report_bytes(question) - TAG_BYTES
    value = data.draw(st.integers(question.channel.bins, 256**length - 1))
    assert rejected(question, question_tag(question) + value.to_bytes(length, "little")) == "range"


@given(questions(lenses(Windows), Laplace), st.data())
def test_a_noisy_grid_point_beyond_the_reach_is_rejected(question, data):
    low, high = question.channel.values
    length, bits = report_bytes(question) - TAG_BYTES, question.channel.value_bits
    assume(high - low + 1 < 1 << bits)
    window = data.draw(st.integers(0, question.lens.window_count - 1))
    code = window << bits | data.draw(st.integers(high - low + 1, (1 << bits) - 1))
    assert rejected(question, question_tag(question) + code.to_bytes(length, "little")) == "range"


@every_question
def test_a_value_or_a_window_out_of_range_cannot_be_encoded(question):
    low, high = question.channel.values
    wrong = [report_of(question, value) for value in (low - 1, high + 1)]
    wrong += [report_of(question, 1, window) for window in (-1, question.lens.window_count)]
    for report in wrong:
        with pytest.raises(RejectedReport) as caught:
            report.encode(question)
        assert caught.value.reason == "range"


@every_question
@pytest.mark.parametrize("wrong", [0.5, 1.0, "1", None, True, b"1"])
def test_a_value_or_a_window_that_is_no_whole_number_is_rejected(question, wrong):
    for report in (report_of(question, wrong), report_of(question, 1, wrong)):
        with pytest.raises(RejectedReport) as caught:
            check_report(question, report)
        assert caught.value.reason == "range"


@given(answered_questions())
def test_a_report_that_a_device_could_send_is_accepted(pair):
    question, report = pair
    check_report(question, report)


def test_the_message_of_a_rejected_report_does_not_show_its_value():
    for report in (report_of(VOTE, 987654321), report_of(DITHER, 1, 987654321)):
        with pytest.raises(RejectedReport) as caught:
            check_report(VOTE if report.value > 1 else DITHER, report)
        assert "987654321" not in str(caught.value)
