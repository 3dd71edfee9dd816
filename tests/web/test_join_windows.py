"""The page of a participant, asked for a bit on one of several windows or on stripes: plain words, chances, no more."""

from __future__ import annotations

import math

import pytest

from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.device.questions import Question
from dame.device.reports import Report
from dame.device.stripes import Stripes
from tests.web.joining import arrived, asking, drawn, opened, question_of, refusal
from tests.web.test_accessibility import check

BORDERS = (-1.0, -0.5, 0.0, 0.25, 0.75)  # 0, 15, 30, 37.5 and 52.5 within the bounds of the study
SEGMENTS = ["0 to 15", "15 to 30", "30 to 37.5", "37.5 to 52.5"]
BEST = Bits.single(0.5)


def on_segments(study, borders: tuple[float, ...] = BORDERS) -> Question:
    return question_of(study, Windows.segments(borders), BEST)


@pytest.mark.parametrize("phone", [False, True], ids=["light", "dark-phone"])
def test_a_bit_on_a_segment_is_asked_drawn_shown_and_sent(guest, one_bit, screenshot, phone):
    person, question = guest(phone=phone, dark=phone), on_segments(one_bit)
    page = opened(person, asking(person, one_bit, question.to_json()))
    asked = page.locator("#asked").inner_text()
    assert "Where in the window 0 to 15, 15 to 30, 30 to 37.5 or 37.5 to 52.5 is the average of your numbers?" in asked
    assert "Your device draws which of them with fair coins." in asked
    low, high = (round(100 * chance / 2**64) for chance in (BEST.no, BEST.yes))
    assert (low, high) == (38, 62)
    assert f"about {low} say “high”, on purpose; of 100 at its upper end, or above it, about {high}." in asked
    assert "3 bits" in page.locator("#facts").inner_text()
    shown = drawn(page)
    report = Report.decode(question, shown)
    assert len(shown) == 9
    bits = [report.value, report.window & 1, report.window >> 1]
    assert page.locator("#bits li").all_inner_texts() == list(map(str, bits))
    text = page.locator("#report-text").inner_text()
    window = SEGMENTS[report.window]
    assert f"One single bit. 2 more bits say which of 4 windows fair coins drew for you: {window}." in text
    meaning = page.locator("#meaning-text").inner_text()
    ends = (low, high) if report.value else (100 - low, 100 - high)
    assert f"with the lowest possible average, about {ends[0]} would send this same {report.value}" in meaning
    assert f"of 100 with the highest, about {ends[1]}. " in meaning
    assert f"the least likely has {100 * math.exp(-0.5):.1f}\u202f%" in meaning
    assert page.locator("#meaning rect.chosen").count() == 1
    assert "how many numbers there are plays no part" in page.locator("#meaning figcaption").inner_text()
    check(page)
    screenshot(page, f"join-segments{'-phone' if phone else ''}")
    arrived(page)
    assert person.sent() == [shown]


def test_narrow_segments_are_told_apart(guest, one_bit):
    person = guest()
    page = opened(person, asking(person, one_bit, on_segments(one_bit, (0.1, 0.100001, 0.100002)).to_json()))
    assert "the window 33 to 33.00003 or 33.00003 to 33.00006 is" in page.locator("#asked").inner_text()
    drawn(page)
    assert "1 more bit says which of 2 windows" in page.locator("#report-text").inner_text()


def test_a_bit_on_stripes_is_asked_drawn_shown_and_sent(guest, one_bit, screenshot):
    lens = Stripes.single(0.8, phases=4, min_size=2)
    question, person = question_of(one_bit, lens, BEST), guest()
    page = opened(person, asking(person, one_bit, question.to_json()))
    asked = page.locator("#asked").inner_text()
    assert "The range from 0 to 60 is painted in dark and light stripes, each 12 wide." in asked
    assert "Your device draws one of 4 such patterns with fair coins." in asked
    assert "of 100 people on a light stripe, about 38 say “high”, on purpose; of 100 on a dark one, about 62." in asked
    assert "With fewer than 2 numbers it tosses a fair coin instead." in asked
    shown = drawn(page)
    report = Report.decode(question, shown)
    starts = ["8.22 to 20.22", "0 to 2.22", "0 to 8.22", "2.22 to 14.22"]
    text = page.locator("#report-text").inner_text()
    dark = starts[report.window]
    assert f"2 more bits say which of 4 patterns fair coins drew for you: dark from {dark}, and so on." in text
    meaning = page.locator("#meaning-text").inner_text()
    sides = (38, 62) if report.value else (62, 38)
    assert f"Of 100 people on a light stripe, about {sides[0]} would send this same {report.value}" in meaning
    assert f"of 100 on a dark one, about {sides[1]}. " in meaning
    assert page.locator("#meaning rect.chosen").count() == 1
    assert "with a bar for each stripe" in page.locator("#meaning figcaption").inner_text()
    check(page)
    screenshot(page, "join-stripes")
    arrived(page)
    assert person.sent() == [shown]


def test_two_centres_give_two_bits(guest, one_bit):
    """The self-calibrating last round: a fair coin of the device draws a centre, and the report says which."""
    lens = Windows(windows=((-0.25, -1.0, 1.0), (0.25, -1.0, 1.0)))
    person = guest()
    page = opened(person, asking(person, one_bit, question_of(one_bit, lens, BEST).to_json()))
    assert "How far below or above 22.5 or 37.5 is the average of your numbers?" in page.locator("#asked").inner_text()
    report = drawn(page)
    assert f"drew for you: around {[22.5, 37.5][report[8] >> 1]}." in page.locator("#report-text").inner_text()
    assert [int(bit) for bit in page.locator("#bits li").all_inner_texts()] == [report[8] & 1, report[8] >> 1]
    assert "as many numbers as you" in page.locator("#meaning figcaption").inner_text()


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        ("channel", {"no": f"{BEST.no - 1:016x}", "yes": f"{BEST.yes + 1:016x}"}, "privacy loss is at most alpha"),
        ("channel", {"kind": "laplace"}, "with the key 'steps'"),
        ("lens", {"windows": [[0.0, 0.0, 1.0]] * 3}, "fair coins draw one"),
        ("lens", {"windows": [[0.0, 1.0, 0.0]] * 4}, "the smaller one first"),
        ("lens", {"borders": [0.0, 1.0]}, "without unknown keys"),
    ],
)
def test_a_dishonest_bit_on_a_segment_is_refused_though_it_is_signed(guest, one_bit, part, change, sentence):
    person, document = guest(), on_segments(one_bit).to_json()
    assert sentence in refusal(person.open(asking(person, one_bit, {**document, part: {**document[part], **change}})))
