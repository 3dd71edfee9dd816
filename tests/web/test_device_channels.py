"""The JavaScript device, draw by draw: exact chances of every window and value, and no question beyond its α."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from dame.device.channels import Bits, Choice
from dame.device.exact import WORD
from dame.device.lenses import SizeClasses, Windows
from dame.device.questions import Question, question_tag
from dame.device.reports import report_bytes
from dame.device.statistics import Value
from tests.device.strategies import lenses, means, questions, segments
from tests.fuzz.documents import damaged
from tests.web.replaying import agreed, asked_all, binding, collected
from vectors import outcomes


def threshold(question: Question, mean: float, window: int) -> int:
    """How many of the 2^64 words should lead to a one: worked out anew, from the mean and the segment alone."""
    left, _, width = question.lens.windows[window]
    way = 0.0 if mean <= left else 1.0 if mean >= left + width else (mean - left) / width
    steps = min(int(way * 2**32 + 0.5), 2**32)
    return question.channel.no + (question.channel.yes - question.channel.no) * steps // 2**32


def by_value(question: Question) -> Question:
    """The question, about values: every record counts, wherever it lies."""
    return dataclasses.replace(question, statistic=Value(low=-40.0, high=85.0))


def bordered_segments(question: Question, name: str, given: list[float]) -> list[dict]:
    """The device asked with the first and the last word of every segment, and either side of the threshold in it."""
    mean, count = question.statistic.summarise(given).mean, question.lens.window_count
    operations = []
    for window in range(count):
        ones = threshold(question, mean, window)
        for first, word, bit in ((window * WORD // count, ones - 1, 1), ((window + 1) * WORD // count - 1, ones, 0)):
            script = [first, word] if count > 1 else [word]
            operation = outcomes.answer_operation(name, question, given, 0, script)
            assert operation["expect"]["window"] == window
            assert operation["expect"]["value"] == str(bit)
            operations.append(operation)
    return operations


def test_the_chances_of_every_segment_and_bit_are_exact_on_both_devices():
    documents, operations = {}, []
    for index, (question, mean) in enumerate(
        collected(st.tuples(questions(segments(), Bits).map(by_value), means), 60)
    ):
        documents[str(index)] = question.to_json()
        windows, low, high = question.lens.windows, question.statistic.low, question.statistic.high
        for inner in (-1.0, 1.0, mean, windows[index % len(windows)].centre):
            operations += bordered_segments(
                question, str(index), [low + (inner + 1) / 2 * (high - low)] * (1 + index % 3)
            )
    agreed(operations, documents)


def bordered_choices(question: Question, name: str, size: int) -> list[dict]:
    """The device asked with the first and the last word of every class, of which it may get none wrong."""
    operations, start = [], 0
    own = min(size.bit_length(), question.channel.bins) - 1
    for class_ in range(question.channel.bins):
        end = start + (question.channel.yes if class_ == own else question.channel.no)
        for word in (start, end - 1):
            operation = outcomes.answer_operation(name, question, [0.0] * size, 0, [word])
            assert operation["expect"]["value"] == str(class_)
            operations.append(operation)
        start = end
    assert start == WORD
    return operations


def test_the_chances_of_every_class_are_exact_on_both_devices():
    documents, operations = {}, []
    chosen = questions(lenses(SizeClasses).filter(lambda lens: 2 <= lens.classes <= 12), Choice).map(by_value)
    for index, (question, size) in enumerate(collected(st.tuples(chosen, st.integers(1, 70)), 40)):
        documents[str(index)] = question.to_json()
        operations += bordered_choices(question, str(index), size)
    agreed(operations, documents)


def judged(name: str, question: Question, valid: range) -> list[dict]:
    """All 256 values of the one byte of a report: only these are reports."""
    operations = []
    assert report_bytes(question) == 9
    for value in range(256):
        encoded = question_tag(question) + bytes([value])
        expect = outcomes.outcome(lambda e=encoded: outcomes.decode_outcome(question, e))
        assert ("error" not in expect) == (value in valid)
        operations.append({"op": "decode", "question": name, "report": encoded.hex(), "expect": expect})
    return operations


def test_every_value_of_a_report_is_judged_alike():
    documents, operations = {}, []
    for count in (1, 2, 4, 8, 64):
        lens = Windows.segments([border / 64 for border in range(count + 1)])
        question = Question(study="s", round=0, alpha=1.0, lens=lens, channel=Bits.single(1.0))
        documents[f"segments {count}"] = question.to_json()
        operations += judged(f"segments {count}", question, range(2 * count))
    for count in (2, 3, 5, 8, 200):
        lens = SizeClasses(classes=count)
        question = Question(study="s", round=0, alpha=1.0, lens=lens, channel=Choice.spending(1.0, count))
        documents[f"classes {count}"] = question.to_json()
        operations += judged(f"classes {count}", question, range(count))
    agreed(operations, documents)


def test_damaged_windows_are_judged_alike():
    documents = collected(questions(lenses(Windows)).flatmap(lambda question: damaged(question.to_json())), 300)
    operations = asked_all(documents)
    assert sum("error" in one["expect"] for one in operations) > 80
    agreed(operations)


def with_thresholds(question: Question, yes: int, no: int) -> dict:
    document = question.to_json()
    return {**document, "channel": {**question.channel.to_json(), "yes": f"{yes:016x}", "no": f"{no:016x}"}}


def test_dishonest_bits_are_refused_by_both():
    """From the sharpest bit that α allows, a single word more on both sides is too much; fewer words never are."""
    operations = []
    shifts = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
    for question, (low, high) in collected(st.tuples(questions(segments(), Bits), shifts), 150):
        best = Bits.single(question.alpha)
        operations.append(outcomes.question_operation(with_thresholds(question, best.yes + high, best.no - low)))
        if min(low, high) > 0:
            assert "error" in operations[-1]["expect"]
        if max(low, high) <= 0 and best.no - low < best.yes + high:
            assert "error" not in operations[-1]["expect"]
    agreed(operations)


def test_dishonest_choices_are_refused_by_both():
    """From the sharpest chances that α allows, a single word more for the own class is too much; so is a wrong sum."""
    operations = []
    chosen = questions(lenses(SizeClasses).filter(lambda lens: lens.classes > 1), Choice)
    for question, shift, surplus in collected(st.tuples(chosen, st.integers(-2, 2), st.integers(-1, 1)), 150):
        bins = question.channel.bins
        no = Choice.spending(question.alpha, bins).no + shift
        yes = WORD - (bins - 1) * no + surplus
        operations.append(outcomes.question_operation(with_thresholds(question, yes, no)))
        honest = shift >= 0 and surplus == 0 and yes > no
        assert ("error" in operations[-1]["expect"]) == (not honest)
    assert {binding(one["expect"]).get("error", {}).get("kind") for one in operations} == {None, "InvalidInput"}
    agreed(operations)
