"""The JavaScript device: it replays the test vectors, and agrees with the Python device on any question."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import strategies as st

from dame.device.channels import Bits
from dame.device.exact import WORD
from dame.device.lenses import Windows
from dame.device.questions import Question, question_from_json
from tests.device.strategies import alphas, means, questions, studies
from tests.fuzz.documents import encoded_reports, question_documents
from tests.web.needs import DEVICE, ROOT
from tests.web.replaying import agreed, asked_all, collected, differences, played
from vectors import outcomes

FILES = {path.stem: json.loads(path.read_text("ascii")) for path in sorted((ROOT / "vectors" / "v1").glob("*.json"))}


# --- the vectors


def test_the_device_replays_all_device_vectors():
    outcomes_ = played(DEVICE, FILES)
    assert differences(FILES, outcomes_) == []
    counted = [one for outcomes_of_file in outcomes_.values() for one in outcomes_of_file if one is not None]
    assert len(counted) > 600
    assert sum("error" in one for one in counted) > 80


BROKEN = [
    ("channels.js", "end <= word", "end < word"),
    ("channels.js", "first, last + 1)", "first, last)"),
    ("channels.js", "1 - outcome)", "outcome)"),
    ("channels.js", ".reverse().join", ".join"),
    ("channels.js", ">> 32n", "/ ((1n << 32n) - 1n)"),
    ("channels.js", "* steps + 0.5", "* steps"),
    ("channels.js", "bin >= first", "bin > first"),
    ("channels.js", "bin >= first", "bin === first"),
    ("channels.js", "...this.values", "0n, this.steps"),
    ("channels.js", "-45n * this.scale", "-46n * this.scale"),
    ("channels.js", "(this.no < this.yes)", "(this.no <= this.yes)"),
    ("channels.js", "this.yes + (this.bins - 1n) * this.no !== WORD", "false"),
    ("channels.js", "gained === lost && gained <= 1n", "true"),
    ("channels.js", "some(([gained]) => gained)", "some(() => false)"),
    ("channels.js", "one[0] * most[1] > most[0] * one[1]", "one[0] * most[1] < most[0] * one[1]"),
    ("channels.js", "this.steps * farthest", "0n"),
    ("channels.js", "[0-9a-f]{16}", "[0-9a-fA-F]{16}"),
    ("lenses.js", "(mean - this.origin) / this.width", "(mean + 1) / this.width"),
    ("lenses.js", ">= this.min_size", "> this.min_size"),
    ("lenses.js", "last: 0, mark: 0", "last: 0, mark: 1"),
    ("lenses.js", "bin + neighbours, bins - 1", "bin + neighbours, bins"),
    ("lenses.js", "few = Math.min(bins, 4 * neighbours + 2)", "few = Math.min(bins, neighbours + 1)"),
    ("lenses.js", "if (someSilent) runs.push(NOTHING);", ""),
    ("lenses.js", "this.min_size > 1n", "true"),
    ("lenses.js", "Math.min(bitLength(BigInt(size)), Number(this.classes)) - 1", "0"),
    ("lenses.js", "bitLength(BigInt(size))", "Math.round(Math.log2(size)) + 1"),
    ("lenses.js", ">> BigInt(64 - this.windowBits)", "& BigInt(2 ** this.windowBits - 1)"),
    ("lenses.js", "this.windows[window]", "this.windows[0]"),
    ("lenses.js", "Math.max(root, this.least_weight)", "root"),
    ("lenses.js", "size * (this.between_sd * this.between_sd)", "size * this.between_sd"),
    ("lenses.js", "Math.min(effective, this.cap)", "this.cap"),
    ("lenses.js", "[0n, 1n], [1n, 0n]", "[0n, 0n]"),
    ("lenses.js", "MOST_WINDOWS = 64", "MOST_WINDOWS = 32"),
    ("lenses.js", "MOST_WINDOWS = 64", "MOST_WINDOWS = 128"),
    ("lenses.js", " && Number.isInteger(Math.log2(count))", ""),
    ("lenses.js", "ends.length !== 3", "ends.length < 3"),
    ("lenses.js", "right - left >= NARROWEST", "right > left"),
    ("lenses.js", "[-3, 3]", "[-1, 1]"),
    ("lenses.js", "[-3, 3]", "[-4, 4]"),
    ("statistics.js", "clamp(record, low, high)", "record"),
    ("statistics.js", "* scale + 0.5", "* scale"),
    ("statistics.js", ": Number.NaN", ": Number(record)"),
    ("coins.js", "while (bernoulliExp(coins, 1n, 1n)) wholes", "if (bernoulliExp(coins, 1n, 1n)) wholes"),
    ("coins.js", "!(negative && magnitude === 0n)", "true"),
    ("coins.js", "flips % 2n === 1n", "flips % 2n === 0n"),
    ("reports.js", 'fromHex("code", digits).reverse()', 'fromHex("code", digits)'),
    ("reports.js", "BigInt(window) <<", "0n <<"),
    ("reports.js", "(value - channel.values[0])", "BigInt.asUintN(valueBits(channel), value)"),
    ("reports.js", "bytes.length !== expected", "bytes.length > expected"),
    ("reports.js", "(value <= high)", "true"),
    ("reports.js", "window < 2 ** lens.windowBits", "true"),
    ("questions.js", "lens.bins !== channel.bins", "false"),
    ("questions.js", "real(1e-6, 32)", "real(1e-6, 64)"),
    ("questions.js", "printable(64)", "printable(128)"),
    ("questions.js", "whole(0n, 63n)", "whole(0n, 64n)"),
    ("exact.js", "expBelow(left,", "expBelow((5n * left) / 4n,"),
    ("exact.js", "left >= 0n && ", ""),
    ("exact.js", "total += term;", "total = term;"),
    ("checks.js", "Number(value) + 0", "Number(value)"),
    ("json.js", "size >= 1e16", "size >= 1e21"),
    ("json.js", '"0$&"', '"$&"'),
    ("json.js", "size < 1e-4 ", "size < 1e-6 "),
    ("json.js", "left[place] - right[place]", "1"),
    ("json.js", "[^ -~]", "[^\\u0000-\\u00ff]"),
    ("assignment.js", "border <= hash", "border > hash"),
    ("assignment.js", "${study}\\n${participant}", "${study} ${participant}"),
    ("sha256.js", "near >>> 10", "near >>> 11"),
]


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Copies of the device, each broken in one place."""
    folder = tmp_path_factory.mktemp("devices")
    shutil.copy(DEVICE.parent / "package.json", folder)  # older versions of Node learn from it that these are modules
    for index, (name, good, bad) in enumerate(BROKEN):
        copy = folder / str(index)
        shutil.copytree(DEVICE, copy)
        text = (copy / name).read_text("utf-8")
        assert text.count(good) >= 1, f"{name} has no {good!r}"
        (copy / name).write_text(text.replace(good, bad), "utf-8")
    return folder


@pytest.mark.parametrize("index", range(len(BROKEN)), ids=lambda index: " ".join(BROKEN[index][:2])[:40])
def test_the_vectors_notice_a_broken_device(several, index):
    assert differences(FILES, played(several / str(index), FILES))


# --- against the Python device

numbers = st.one_of(
    st.floats(-1e7, 1e7), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60)
)
records = st.lists(numbers, min_size=1, max_size=12)
seeds = st.integers(0, 2**32)


def test_both_devices_give_the_same_answers_to_random_questions():
    cases = collected(st.tuples(questions(), records, means, seeds), 300)
    documents, operations = {}, []
    for index, (question, some, mean, seed) in enumerate(cases):
        documents[str(index)] = question.to_json()
        low, high = question.statistic.low, question.statistic.high
        inside = low + (mean + 1) / 2 * (high - low)
        operations += [
            outcomes.question_operation(question.to_json()),
            outcomes.answer_operation(str(index), question, some, seed),
            outcomes.answer_operation(str(index), question, [inside] * (seed % 40 + 1), seed),
        ]
    assert len(cases) >= 250
    agreed(operations, documents)


def test_both_devices_refuse_the_same_documents():
    operations = asked_all(collected(question_documents(), 300))
    assert sum("error" in one["expect"] for one in operations) > 100
    agreed(operations)


def test_both_devices_read_the_same_reports():
    documents, operations = {}, []
    for index, (question, encoded) in enumerate(collected(encoded_reports(), 200)):
        documents[str(index)] = question.to_json()
        expect = outcomes.outcome(lambda q=question, e=encoded: outcomes.decode_outcome(q, e))
        operations.append({"op": "decode", "question": str(index), "report": encoded.hex(), "expect": expect})
    agreed(operations, documents)


def test_both_devices_assign_the_same_slots():
    shares = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=8)
    people = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    agreed([outcomes.slot_operation(*case) for case in collected(st.tuples(studies, shares, people), 200)])


def single_bit(alpha: float, no: int, yes: int) -> dict:
    """A document of a single bit with these thresholds, on the whole range."""
    lens = Windows.whole_range()
    document = Question(study="s", round=0, alpha=alpha, lens=lens, channel=Bits.single(alpha)).to_json()
    return {**document, "channel": {"kind": "bits", "bins": 1, "yes": f"{yes:016x}", "no": f"{no:016x}"}}


def test_thresholds_at_the_edge_of_the_budget_are_judged_alike():
    """One more than the largest threshold that α allows is refused by both."""
    operations = []
    for alpha, step in collected(st.tuples(alphas, st.integers(-2, 2)), 100):
        yes = Bits.single(alpha).yes + step
        operations.append(outcomes.question_operation(single_bit(alpha, WORD - yes, yes)))
        assert ("error" in operations[-1]["expect"]) == (step > 0)
    agreed(operations)
    assert all(question_from_json(one["document"]) for one in operations if "error" not in one["expect"])


def test_bits_that_are_nearly_always_the_same_are_judged_by_the_rare_value():
    """The rare value is twice as likely at one end as at the other, and α is 0.5."""
    operations = [
        outcomes.question_operation(single_bit(0.5, 2**32, 2**33)),
        outcomes.question_operation(single_bit(0.5, WORD - 2**33, WORD - 2**32)),
    ]
    assert [one["expect"] for one in operations] == [{"error": {"kind": "InvalidInput", "field": "channel"}}] * 2
    agreed(operations)
