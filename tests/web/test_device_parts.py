"""The JavaScript device and bits on parts of the range: exact chances, fair parts, and no question beyond its α."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from dame.device.exact import WORD
from dame.device.questions import PartMeasure
from dame.device.randomisers import OneBit
from dame.device.records import summarise
from dame.device.reports import report_bytes
from tests.device.strategies import means, part_measures
from tests.fuzz.documents import damaged
from tests.web.test_device import collected
from tests.web.test_device_places import agreed, asked
from vectors import outcomes


def threshold(question: PartMeasure, mean: float, part: int) -> int:
    """How many of the 2^64 words should lead to a one: worked out anew, from the mean and the borders alone."""
    left, right = question.borders[part : part + 2]
    way = 0.0 if mean <= left else 1.0 if mean >= right else (mean - left) / (right - left)
    return question.noise.low + (question.noise.high - question.noise.low) * int(way * 2**32 + 0.5) // 2**32


def bordered(question: PartMeasure, name: str, given: list[object]) -> list[dict]:
    """The device asked with the first and the last word of every part, and either side of the threshold in it."""
    mean, count = summarise(given, question.low, question.high).mean, len(question.borders) - 1
    operations = []
    for part in range(count):
        ones = threshold(question, mean, part)
        for first, word, bit in ((part * WORD // count, ones - 1, 1), ((part + 1) * WORD // count - 1, ones, 0)):
            operation = outcomes.answer_operation(name, question, given, 0, [first, word])
            assert operation["expect"]["value"] == 2 * part + bit
            operations.append(operation)
    return operations


def test_the_chances_of_every_part_and_bit_are_exact_on_both_devices():
    questions, operations = {}, []
    for index, (question, mean) in enumerate(collected(st.tuples(part_measures(), means), 60)):
        questions[str(index)] = question.to_json()
        places = (-1.0, 1.0, mean, question.borders[index % len(question.borders)])
        for place in places:
            record = question.low + (place + 1) / 2 * (question.high - question.low)
            operations += bordered(question, str(index), [record] * (1 + index % 3))
    agreed(operations, questions)


def test_every_value_of_a_report_is_judged_alike():
    """All 256 values of the one byte: only those of a part that exists are reports."""
    questions, operations = {}, []
    for count in (2, 4, 8):
        borders = tuple(border / 16 for border in range(count + 1))
        question = PartMeasure(study="s", round=0, alpha=1.0, borders=borders, noise=OneBit.spending(1.0))
        questions[str(count)] = question.to_json()
        assert report_bytes(question) == 9
        tag = bytes.fromhex(outcomes.question_outcome(question.to_json())["tag"])
        for value in range(256):
            encoded = tag + bytes([value])
            expect = outcomes.outcome(lambda q=question, e=encoded: outcomes.decode_outcome(q, e))
            assert ("error" in expect) == (value >= 2 * count)
            operations.append({"op": "decode", "question": str(count), "report": encoded.hex(), "expect": expect})
    agreed(operations, questions)


def test_damaged_documents_are_judged_alike():
    documents = collected(part_measures().flatmap(lambda question: damaged(question.to_json())), 200)
    operations = []
    for document in documents:
        try:
            json.dumps(document, allow_nan=False)
        except ValueError:  # JSON has no such numbers
            continue
        operations.append(asked(document))
    assert sum("error" in one["expect"] for one in operations) > 80
    agreed(operations)


def test_dishonest_thresholds_are_refused_by_both():
    """From the sharpest bit that α allows, a single word more on both sides is too much; fewer words never are."""
    operations = []
    shifts = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
    for question, (low, high) in collected(st.tuples(part_measures(), shifts), 150):
        best = OneBit.spending(question.alpha)
        noise = {"kind": "one-bit", "low": f"{best.low - low:016x}", "high": f"{best.high + high:016x}"}
        operations.append(asked({**question.to_json(), "noise": noise}))
        if min(low, high) > 0:
            assert "error" in operations[-1]["expect"]
        if max(low, high) <= 0 and best.low - low < best.high + high:
            assert "error" not in operations[-1]["expect"]
    agreed(operations)
