"""The page of a participant, asked for one of a few places: plain words, chances, one mark, and nothing else."""

from __future__ import annotations

import hashlib
import json
import math
import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dame.device.questions import PlaceVote, canonical
from dame.device.randomisers import OneOfMany
from dame.device.reports import Report
from tests.web.joining import drawn, opened, refusal
from tests.web.test_accessibility import check

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key().public_bytes_raw().hex()
PLACES = (-0.5, 0.0, 0.25, 0.75)  # 15, 30, 37.5 and 52.5 within the bounds of the study


def place_vote(study, places: tuple[float, ...] = PLACES) -> PlaceVote:
    code = OneOfMany.spending(0.5, len(places))
    return PlaceVote(study=study.name, round=0, alpha=0.5, low=0.0, high=60.0, places=places, code=code)


def asking(person, study, document: dict) -> str:
    """A link to the study, of which another operator holds the key from now on; he asks this question."""
    signed = b"\n".join([b"dame-question-v1", study.call("")["plan_id"].encode(), canonical(document)])
    question = {
        "question": document,
        "question_id": hashlib.sha256(canonical(document)).hexdigest(),
        "signature": KEY.sign(signed).hex(),
    }

    def describe(route):
        route.fulfill(json={**json.loads(route.fetch().body()), "public_key": PUBLIC})

    person.context.route(re.compile(r"/api/v1/studies/[^/]+$"), describe)
    person.context.route("**/question", lambda route: route.fulfill(json=question))
    person.context.route("**/reports", lambda route: route.fulfill(json={"result": "accepted"}))
    return re.sub("key=[0-9a-f]{64}", f"key={PUBLIC}", study.links[0][0])


@pytest.mark.parametrize("phone", [False, True], ids=["light", "dark-phone"])
def test_a_vote_for_places_is_asked_drawn_shown_and_sent(guest, one_bit, screenshot, phone):
    person, question = guest(phone=phone, dark=phone), place_vote(one_bit)
    page = opened(person, asking(person, one_bit, question.to_json()))
    asked = page.locator("#asked").inner_text()
    assert "Which of these 4 places is the average of your numbers closest to: 15, 30, 37.5 or 52.5?" in asked
    own, other = (round(100 * chance / 2**64) for chance in (question.code.yes, question.code.no))
    assert (own, other) == (35, 22)
    assert f"about {own} mark that place and about {other} each of the others" in asked
    assert "4 bits" in page.locator("#facts").inner_text()
    report = drawn(page)
    place = Report.decode(question, report).value.bit_length() - 1
    assert len(report) == 9
    assert page.locator("#bits li").all_inner_texts() == ["1" if bit == place else "0" for bit in range(4)]
    assert "4 bits, one for each place; exactly one of them is 1." in page.locator("#report-text").inner_text()
    assert "From left to right: 15, 30, 37.5, 52.5." in page.locator("#bits").inner_text()
    assert page.locator("#bits li.one").get_attribute("title") == ["15", "30", "37.5", "52.5"][place]
    meaning = page.locator("#meaning-text").inner_text()
    at_place = ["15", "30", "37.5", "52.5"][place]
    assert f"Of 100 people with an average of {at_place}, about {own} would send this same report" in meaning
    assert f"of 100 at any other of the places, about {other}. " in meaning
    assert f"the least likely has {100 * math.exp(-0.5):.1f} %" in meaning
    assert page.locator("#meaning rect.chosen").count() == 1
    assert "how many numbers there are plays no part" in page.locator("#meaning figcaption").inner_text()
    check(page)
    screenshot(page, f"join-places{'-phone' if phone else ''}")
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")
    assert person.sent() == [report]


def test_two_close_places_are_told_apart(guest, one_bit):
    person = guest()
    page = opened(person, asking(person, one_bit, place_vote(one_bit, (0.1, 0.100001)).to_json()))
    asked = page.locator("#asked").inner_text()
    assert "these 2 places" in asked
    assert "33 or 33.00003?" in asked
    assert "mark that place and about 38 the other one" in asked
    drawn(page)
    assert "of 100 at the other place, about 38. " in page.locator("#meaning-text").inner_text()


def test_her_report_is_shown_again_without_her_numbers(guest, one_bit):
    person = guest()
    page = opened(person, asking(person, one_bit, place_vote(one_bit).to_json()))
    shown = drawn(page)
    page.reload()
    page.wait_for_selector("#report:not([hidden])")
    assert bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", "")) == shown
    assert page.locator("#meaning rect.chosen").count() == 0


BEST = OneOfMany.spending(0.5, 4)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"code": {"yes": f"{BEST.yes + 3:016x}", "no": f"{BEST.no - 1:016x}"}}, "privacy loss is at most alpha"),
        ({"code": {"yes": f"{BEST.yes + 1:016x}", "no": f"{BEST.no:016x}"}}, "places that sum to 1"),
        ({"places": [-0.5, 0.0, 0.25]}, "places that sum to 1"),
        ({"places": [-0.5, 0.25, 0.0, 0.75]}, "the smaller ones first"),
        ({"places": [-0.5]}, "a list of 2 to 8 numbers"),
        ({"alpha": 0.6}, "would spend α = 0.6"),
        ({"bins": 4}, "without unknown keys"),
    ],
)
def test_a_dishonest_vote_for_places_is_refused_though_it_is_signed(guest, one_bit, change, sentence):
    person = guest()
    assert sentence in refusal(person.open(asking(person, one_bit, {**place_vote(one_bit).to_json(), **change})))
