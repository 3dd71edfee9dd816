"""The JavaScript device and votes for places: exact chances, one mark, and no question that spends more than its α."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import strategies as st

from dame.device.exact import WORD, within_budget
from dame.device.questions import PlaceVote, question_from_json
from dame.device.randomisers import OneOfMany
from dame.device.records import summarise
from dame.device.reports import report_bytes
from tests.device.strategies import means, place_votes
from tests.fuzz.documents import damaged
from tests.web.needs import DEVICE
from tests.web.test_device import binding, collected, differences, played
from vectors import outcomes


def agreed(operations: list[dict], questions: dict[str, dict] | None = None) -> None:
    """Both devices come to the same outcomes."""
    file = {"questions": questions or {}, "operations": operations}
    assert operations
    assert differences({"places": file}, played(DEVICE, {"places": file})) == []


def asked(document: object) -> dict:
    expect = outcomes.outcome(lambda: outcomes.question_outcome(document))
    return {"op": "question", "document": document, "expect": expect}


def chances(question: PlaceVote, mean: float) -> list[int]:
    """How many of the 2^64 words should lead to each place: worked out anew, from the mean and the places alone."""
    weights = [Fraction(0)] * len(question.places)
    inner = min(max(mean, question.places[0]), question.places[-1])
    right = next(index for index, place in enumerate(question.places) if index and inner <= place)
    left = right - 1
    way = (inner - question.places[left]) / (question.places[right] - question.places[left])
    weights[right] = Fraction(int(way * 2**32 + 0.5), 2**32)
    weights[left] = 1 - weights[right]
    moved = int(weights[right] * (question.code.yes - question.code.no))
    counts = [question.code.no] * len(weights)
    counts[right] += moved
    counts[left] += question.code.yes - question.code.no - moved
    return counts


def bordered(question: PlaceVote, name: str, given: list[object]) -> list[dict]:
    """The device asked with the first and the last word of every place, of which it may get none wrong."""
    operations, start = [], 0
    for place, count in enumerate(chances(question, summarise(given, question.low, question.high).mean)):
        for word in (start, start + count - 1):
            operation = outcomes.answer_operation(name, question, given, 0, [word])
            assert operation["expect"]["value"] == 1 << place
            operations.append(operation)
        start += count
    assert start == WORD
    return operations


def test_the_chances_of_every_place_are_exact_on_both_devices():
    questions, operations = {}, []
    for index, (question, mean) in enumerate(collected(st.tuples(place_votes(), means), 60)):
        questions[str(index)] = question.to_json()
        outside = [question.low, question.high]
        at_places = [question.low + (place + 1) / 2 * (question.high - question.low) for place in question.places]
        between = question.low + (mean + 1) / 2 * (question.high - question.low)
        for record in (*outside, between, at_places[index % len(at_places)]):
            operations += bordered(question, str(index), [record])
    agreed(operations, questions)


def test_no_two_people_differ_by_more_than_the_budget_at_any_place():
    for question, one, other in collected(st.tuples(place_votes(), means, means), 100):
        pairs = zip(chances(question, one), chances(question, other), strict=True)
        assert all(within_budget(Fraction(left, right), question.alpha) for left, right in pairs)


def test_every_value_of_a_report_is_judged_alike():
    """All 256 values of the one byte: only those with exactly one bit, at one of the places, are reports."""
    questions, operations = {}, []
    for count in (2, 3, 5, 7, 8):
        places = tuple(-0.9 + 0.2 * place for place in range(count))
        question = PlaceVote(study="values", round=0, alpha=1.0, places=places, code=OneOfMany.spending(1.0, count))
        questions[str(count)] = question.to_json()
        assert report_bytes(question) == 9
        tag = bytes.fromhex(outcomes.question_outcome(question.to_json())["tag"])
        for value in range(256):
            expect = outcomes.outcome(lambda q=question, e=tag + bytes([value]): outcomes.decode_outcome(q, e))
            assert ("value" in expect) == (value in [1 << place for place in range(count)])
            report = (tag + bytes([value])).hex()
            operations.append({"op": "decode", "question": str(count), "report": report, "expect": expect})
    agreed(operations, questions)


def test_both_devices_refuse_the_same_damaged_votes_for_places():
    operations = []
    for document in collected(place_votes().flatmap(lambda question: damaged(question.to_json())), 200):
        try:
            json.dumps(document, allow_nan=False)
        except ValueError:  # JSON has no such numbers
            continue
        operations.append(asked(document))
    assert sum("error" in one["expect"] for one in operations) > 80
    agreed(operations)


def test_dishonest_thresholds_are_refused_by_both():
    """From the sharpest chances that α allows, a single word more for the own place is too much; so is a wrong sum."""
    operations = []
    for question, shift, surplus in collected(st.tuples(place_votes(), st.integers(-2, 2), st.integers(-1, 1)), 150):
        count = len(question.places)
        best = OneOfMany.spending(question.alpha, count)
        no = best.no + shift
        yes = WORD - (count - 1) * no + surplus
        code = {"yes": f"{yes:016x}", "no": f"{no:016x}"}
        operations.append(asked({**question.to_json(), "code": code}))
        honest = shift >= 0 and surplus == 0 and yes > no
        assert ("error" in operations[-1]["expect"]) == (not honest)
    assert {binding(one["expect"]).get("error", {}).get("kind") for one in operations} == {None, "InvalidInput"}
    agreed(operations)
    assert all(question_from_json(one["document"]) for one in operations if "error" not in one["expect"])
