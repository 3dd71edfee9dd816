"""The page of a participant, asked for a bit on one part of the range: plain words, the part, chances, nothing else."""

from __future__ import annotations

import math

import pytest

from dame.device.questions import PartMeasure
from dame.device.randomisers import OneBit
from dame.device.reports import Report
from tests.web.joining import drawn, opened, refusal
from tests.web.test_accessibility import check
from tests.web.test_join_places import asking

BORDERS = (-1.0, -0.5, 0.0, 0.25, 0.75)  # 0, 15, 30, 37.5 and 52.5 within the bounds of the study
PARTS = ["0 to 15", "15 to 30", "30 to 37.5", "37.5 to 52.5"]
BEST = OneBit.spending(0.5)


def part_measure(study, borders: tuple[float, ...] = BORDERS) -> PartMeasure:
    return PartMeasure(study=study.name, round=0, alpha=0.5, low=0.0, high=60.0, borders=borders, noise=BEST)


@pytest.mark.parametrize("phone", [False, True], ids=["light", "dark-phone"])
def test_a_bit_on_a_part_is_asked_drawn_shown_and_sent(guest, one_bit, screenshot, phone):
    person, question = guest(phone=phone, dark=phone), part_measure(one_bit)
    page = opened(person, asking(person, one_bit, question.to_json()))
    asked = page.locator("#asked").inner_text()
    assert "Your device draws the part with fair coins: 0 to 15, 15 to 30, 30 to 37.5 or 37.5 to 52.5." in asked
    low, high = (round(100 * chance / 2**64) for chance in (BEST.low, BEST.high))
    assert (low, high) == (38, 62)
    assert f"about {low} say “high”, on purpose; at its upper end, or above it, about {high}." in asked
    assert "3 bits" in page.locator("#facts").inner_text()
    report = drawn(page)
    value = Report.decode(question, report).value
    assert len(report) == 9
    assert page.locator("#bits li").all_inner_texts() == [str(value >> bit & 1) for bit in range(3)]
    sentence = f"3 bits: the answer, and which of 4 parts fair coins chose for you ({PARTS[value >> 1]})."
    assert sentence in page.locator("#report-text").inner_text()
    meaning = page.locator("#meaning-text").inner_text()
    ends = (low, high) if value & 1 else (100 - low, 100 - high)
    assert f"with the lowest possible average, about {ends[0]} would send this same {value & 1}" in meaning
    assert f"of 100 with the highest, about {ends[1]}. " in meaning
    assert f"the least likely has {100 * math.exp(-0.5):.1f} %" in meaning
    assert page.locator("#meaning rect.chosen").count() == 1
    assert "how many numbers there are plays no part" in page.locator("#meaning figcaption").inner_text()
    check(page)
    screenshot(page, f"join-parts{'-phone' if phone else ''}")
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")
    assert person.sent() == [report]


def test_narrow_parts_are_told_apart(guest, one_bit):
    person = guest()
    page = opened(person, asking(person, one_bit, part_measure(one_bit, (0.1, 0.100001, 0.100002)).to_json()))
    assert "33 to 33.00003 or 33.00003 to 33.00006." in page.locator("#asked").inner_text()
    drawn(page)
    assert "2 bits: the answer, and which of 2 parts" in page.locator("#report-text").inner_text()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"noise": {"kind": "one-bit", "low": f"{BEST.low - 1:016x}", "high": f"{BEST.high + 1:016x}"}},
            "privacy loss is at most alpha",
        ),
        ({"noise": {"kind": "laplace", "steps": 10, "scale": 100}}, "one bit"),
        ({"borders": [-0.5, 0.0, 0.25, 0.75]}, "a list of 3, 5 or 9 numbers"),
        ({"borders": [-0.5, 0.25, 0.0]}, "the smaller ones first"),
        ({"alpha": 0.6}, "would spend α = 0.6"),
        ({"arms": 4}, "without unknown keys"),
    ],
)
def test_a_dishonest_bit_on_a_part_is_refused_though_it_is_signed(guest, one_bit, change, sentence):
    person = guest()
    assert sentence in refusal(person.open(asking(person, one_bit, {**part_measure(one_bit).to_json(), **change})))
