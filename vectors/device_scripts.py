"""Scripts for whoever writes a device: what all questions share, records, reports and slots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dame.device.assignment import participant_hash, slot_borders
from dame.device.exact import WORD
from dame.device.questions import TAG_BYTES, Question, question_tag
from dame.device.reports import report_bytes
from dame.device.statistics import Value
from vectors.collecting import merge_operation, tally_operation, tally_outcome
from vectors.outcomes import (
    Document,
    decode_outcome,
    outcome,
    question_operation,
    slot_operation,
    summary_operation,
)
from vectors.spoilt import lacking

# --- questions


def identity_script(questions: Sequence[Question]) -> list[Document]:
    """Questions and their identities; and documents that say the same with other numbers."""
    good = [question.to_json() for question in questions]
    window = next(document for document in good if document["lens"]["kind"] == "windows")  # type: ignore[index]
    whole: Document = {
        "round": 0, "alpha": 1, "statistic": {"kind": "value", "column": "", "low": -1, "high": 1},
        "lens": {
            "kind": "windows", "windows": [[0, -1, 1], [-0.0, -0.0, 2]], "cap": 1, "between_sd": 0,
            "least_weight": -0.0,
        },
        "channel": {"kind": "laplace", "steps": 7, "scale": 7},
    }  # fmt: skip
    decimals: Document = {
        "alpha": 0.1, "statistic": {"kind": "value", "column": "", "low": -1.5e-7, "high": 1234567890123456.0},
        "lens": {
            "kind": "windows", "windows": [[0.0001, -1e-05, 1e11]], "cap": 2.0**62, "between_sd": 5e-324,
            "least_weight": 0.30000000000000004,
        },
        "channel": {"kind": "laplace", "steps": 1, "scale": 10},
    }  # fmt: skip
    names: Document = {"study": "~ \u00a1\u2603\U0001f600" + "x" * 123, "target": "\u00e9" * 64}
    return [question_operation(document) for document in (*good, *(window | one for one in (whole, decimals, names)))]


def header_refusals(question: Question) -> list[Document]:
    """Documents whose header or statistic must be refused."""
    good = question.to_json()
    changes: list[Document] = [
        {"version": 2}, {"version": "1"}, {"version": True}, {"version": None}, {"comment": "hello"},
        {"kind": "vote"}, {"bins": 8}, {"low": 0.0}, {"study": ""}, {"study": "x" * 129}, {"study": "line\nfeed"},
        {"study": "\u200b"}, {"study": "a\u00a0b"}, {"study": "\ud800"}, {"study": 7}, {"study": None}, {"target": ""},
        {"target": "x" * 65}, {"target": "tab\t"}, {"target": 7}, {"target": ["mean"]}, {"round": -1}, {"round": 64},
        {"round": "0"}, {"round": 0.5}, {"round": True}, {"round": None}, {"alpha": 0}, {"alpha": -1.0},
        {"alpha": 9e-7}, {"alpha": 32.5}, {"alpha": 10**400}, {"alpha": "1"}, {"alpha": True}, {"alpha": None},
        {"alpha": math.nextafter(question.alpha, 0.0)}, {"lens": None}, {"lens": "bins"}, {"lens": []}, {"lens": {}},
        {"lens": {"kind": "stripe"}}, {"lens": {"kind": None}},
    ]  # fmt: skip
    statistics: list[object] = [
        None, "value", [], {}, {"kind": "value"}, {"column": "", "low": -1.0, "high": 1.0},
        {"kind": "cube", "column": "", "low": -1.0, "high": 1.0},
        *(
            {"kind": "value", "column": "", "low": low, "high": high}
            for low, high in (
                (1.0, 1.0), (2.0, 1.0), (-1.0, 1e101), (-1e101, 1.0), (None, 1.0), (-1.0, "1"), (False, 1.0),
                (0.0, 1e-101), (-1.0, [1.0]),
            )
        ),
        {"kind": "value", "column": "", "low": -1.0, "high": 1.0, "unit": "h"},
    ]  # fmt: skip
    return [
        *(good | change for change in changes),
        *(good | {"statistic": statistic} for statistic in statistics),
        *lacking(good),
    ]


def refusal_script(documents: Sequence[object]) -> list[Document]:
    """Documents that must be refused, all of them."""
    script = [question_operation(document) for document in (*documents, {}, [], "question", None)]
    for operation in script:
        assert "error" in operation["expect"], operation["document"]  # type: ignore[operator]
    return script


# --- records


def record_script() -> list[Document]:
    """Records and their means: clipping, rounding, order, large and tiny bounds; and lists that must be refused."""
    thirds = [index / 3 for index in range(-5, 6)]
    lists: list[tuple[float, float, Sequence[object]]] = [
        (-1.0, 1.0, [0.0]), (-1.0, 1.0, [-1.0, 1.0]), (-1.0, 1.0, [0.1, 0.2, 0.3]), (-1.0, 1.0, [0.3, 0.2, 0.1]),
        (-1.0, 1.0, [-7.5, 1e308, -1e308]), (0.0, 10.0, [0, 10, 5, 3]), (0.0, 10.0, [1e-9, 2.5e-9, 9.999999999]),
        (0.0, 1.0, [2.0**-31, 3 * 2.0**-32, 2.0**-32, 5e-324]), (-273.15, 5e6, [36.6, 37.2, 41.0, 12.0]),
        (1e-7, 1e-5, [3.3e-6, 1.1e-6]), (-1e100, 1e100, [1e99, -3e98, 12.0]), (-1.0, 1.0, thirds),
        (0.1, 0.7, thirds), (5.0, 6.0, [5.5] * 100 + [5.25]), (0.0, 3.0, [1, 1, 2]), (-1.0, 1.0, [-0.0, 0.0]),
    ]  # fmt: skip
    bad: list[Sequence[object]] = [[None], [0.5, "0.5"], ["nan"], [[0.5]], [{}]]
    usual: object = Value().to_json()
    statistics: list[object] = [None, "value", {"kind": "value", "column": "", "low": 1.0, "high": 0.0}]
    return [
        *(summary_operation(Value(low=low, high=high).to_json(), records) for low, high, records in lists),
        *(summary_operation(usual, records) for records in bad),
        *(summary_operation(statistic, [0.5]) for statistic in statistics),
    ]


# --- reports


def report_script(questions: dict[str, Question]) -> list[Document]:
    """Encoded reports: the ends of the range, and bytes that must be refused; their tally, and sums of tallies."""
    script: list[Document] = []
    for name, question in questions.items():
        encodings = _encodings(question)
        for encoded in encodings:
            expect = outcome(lambda q=question, e=encoded: decode_outcome(q, e))
            script.append({"op": "decode", "question": name, "report": encoded.hex(), "expect": expect})
        script.append(tally_operation(name, question, [*encodings, *encodings[:2]]))
    return script


def _encodings(question: Question) -> list[bytes]:
    low, high = question.channel.values
    bits, size, tag = question.channel.value_bits, report_bytes(question) - TAG_BYTES, question_tag(question)
    last = question.lens.window_count - 1
    codes = [0, high - low, (high - low) // 3, last << bits, last << bits | high - low]
    outside = [high - low + 1, (last + 1) << bits, (1 << 8 * size) - 1]
    payloads = [code.to_bytes(size, "little") for code in dict.fromkeys((*codes, *outside)) if code < 1 << 8 * size]
    first = payloads[0]
    return [
        *(tag + payload for payload in payloads),
        tag[:-1] + bytes([tag[-1] ^ 1]) + first,
        *(tag + first + b"\0", tag + first[1:]),
    ]


def merge_script(one: Question, other: Question) -> list[Document]:
    """Sums of tallies; tallies of two questions, and tallies that cannot be."""
    good, more = (tally_outcome(question, _encodings(question))["tally"] for question in (one, other))
    assert isinstance(good, dict)
    windows, entries = len(good["reports"]), len(good["sums"][0])
    changes: list[Document] = [
        {"reports": [-1] * windows}, {"reports": [2**50] * windows, "sums": [[0] * entries] * windows},
        {"reports": [1.5] * windows}, {"reports": 3}, {"reports": []}, {"reports": [0] * windows},
        {"sums": [[10**9] * entries] * windows}, {"sums": [[]] * windows}, {"sums": []}, {"sums": None},
        {"sums": [["1"] * entries] * windows}, {"question": "0" * 64}, {"question": {}}, {"arms": 2},
    ]  # fmt: skip
    spoilt = [*(good | change for change in changes), *lacking(good), {}, [], None]
    return [
        *(merge_operation(tallies) for tallies in ([good], [good, good, good], [more, more], [good, more])),
        *(merge_operation([tally]) for tally in spoilt),
    ]


# --- slots


def slot_script() -> list[Document]:
    """Who answers in which slot; among the shares some whose borders are right at a participant's hash."""
    cases = [
        ("vectors", shares, participant)
        for shares in ([1.0], [0.5, 0.5], [0.1, 0.2, 0.7], [0.03, 0.094, 0.876], [1e-6, 1.0], [1 / 3, 1 / 3, 1 / 3])
        for participant in ("ada", "grace", "person-17", "Grüße 😀", "", "two\nlines")
    ]
    cases += [("ab", [0.5, 0.5], "c"), ("a", [0.5, 0.5], "bc"), ("vectors", [0.5, 0.5], "\ud800")]
    for participant in ("ada", "grace", "Grüße 😀"):
        number = participant_hash("vectors", participant)
        cases += [("vectors", _shares_at(number + past), participant) for past in (0, 1)]
    return [slot_operation(*case) for case in cases]


def _shares_at(border: int) -> list[float]:
    """Shares of two slots whose border is exactly this number."""
    part = Fraction(2 * border + 1, 2 * WORD).limit_denominator(2**40)
    shares = [part.numerator * 2.0**-41, (part.denominator - part.numerator) * 2.0**-41]
    assert slot_borders(tuple(shares)) == (border,)
    return shares
