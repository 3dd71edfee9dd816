"""The page of a participant, asked for how many numbers she has: one of a few classes, drawn by chance."""

from __future__ import annotations

import math

import pytest

from dame.device.channels import Bits, Choice
from dame.device.lenses import SizeClasses
from dame.device.questions import Question
from dame.device.reports import Report
from tests.web.joining import arrived, asking, drawn, opened, question_of, refusal
from tests.web.test_accessibility import check

CLASSES = ["1", "2 – 3", "4 – 7", "8 or more"]
BEST = Choice.spending(0.5, 4)


def choice(study, classes: int = 4) -> Question:
    return question_of(study, SizeClasses(classes=classes), Choice.spending(0.5, classes))


@pytest.mark.parametrize("phone", [False, True], ids=["light", "dark-phone"])
def test_a_class_is_asked_drawn_shown_and_sent(guest, one_bit, screenshot, phone):
    person, question = guest(phone=phone, dark=phone), choice(one_bit)
    page = opened(person, asking(person, one_bit, question.to_json()))
    asked = page.locator("#asked").inner_text()
    assert "How many numbers have you? Your class is one of 4: 1, 2 – 3, 4 – 7, and so on." in asked
    own, other = (round(100 * chance / 2**64) for chance in (BEST.yes, BEST.no))
    assert (own, other) == (35, 22)
    assert f"about {own} name that class and about {other} each of the others, on purpose." in asked
    assert "2 bits" in page.locator("#facts").inner_text()
    shown = drawn(page)
    value = Report.decode(question, shown).value
    assert len(shown) == 9
    assert page.locator("#bits li").all_inner_texts() == [str(value & 1), str(value >> 1)]
    assert f"One of 4 classes: {CLASSES[value]}." in page.locator("#report-text").inner_text()
    meaning = page.locator("#meaning-text").inner_text()
    assert f"Of 100 people in the class {CLASSES[value]}, about {own} would send this same report" in meaning
    assert f"of 100 in any other one, about {other}. " in meaning
    assert f"the least likely has {100 * math.exp(-0.5):.1f}\u202f%" in meaning
    assert page.locator("#meaning rect").count() == 4
    assert page.locator("#meaning rect.chosen").count() == 1
    check(page)
    screenshot(page, f"join-classes{'-phone' if phone else ''}")
    arrived(page)
    assert person.sent() == [shown]


def test_a_bit_for_each_class_is_named(guest, one_bit):
    person = guest()
    question = question_of(one_bit, SizeClasses(classes=4), Bits.optimised(0.5, bins=4))
    page = opened(person, asking(person, one_bit, question.to_json()))
    assert "flips a coin for every class" in page.locator("#asked").inner_text()
    drawn(page)
    assert "4 bits, one for each class; " in page.locator("#report-text").inner_text()
    assert "From left to right: 1, 2 – 3, and so on." in page.locator("#bits").inner_text()
    assert [one.get_attribute("title") for one in page.locator("#bits li").all()] == CLASSES


def test_her_report_is_shown_again_without_her_numbers(guest, one_bit):
    person = guest()
    page = opened(person, asking(person, one_bit, choice(one_bit).to_json()))
    shown = drawn(page)
    arrived(page)
    page.reload()
    arrived(page)
    assert bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", "")) == shown
    assert page.locator("#meaning rect.chosen").count() == 0


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        ("channel", {"yes": f"{BEST.yes + 3:016x}", "no": f"{BEST.no - 1:016x}"}, "privacy loss is at most alpha"),
        ("channel", {"yes": f"{BEST.yes + 1:016x}"}, "chances of 4 bins that sum to 1"),
        ("lens", {"classes": 3}, "those of the lens, 3"),
        ("lens", {"classes": 4.0}, "a whole number"),
        ("lens", {"kind": "bins"}, "with the key 'bins'"),
    ],
)
def test_a_dishonest_choice_is_refused_though_it_is_signed(guest, one_bit, part, change, sentence):
    person, document = guest(), choice(one_bit).to_json()
    assert sentence in refusal(person.open(asking(person, one_bit, {**document, part: {**document[part], **change}})))
