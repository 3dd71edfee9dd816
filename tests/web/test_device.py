"""The JavaScript device: it replays the test vectors, and agrees with the Python device on any question."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest
from hypothesis import strategies as st

from dame.device import STATISTICS
from dame.device.channels import Bits
from dame.device.exact import WORD
from dame.device.lenses import Windows
from dame.device.questions import Question, question_from_json
from dame.device.statistics import Indicator, Square, Statistic, Value
from dame.errors import BadRecords
from tests.device.examples import own
from tests.device.strategies import alphas, asked_rows, bounds, means, questions, statistics, studies
from tests.fuzz.documents import encoded_reports, question_documents
from tests.web.needs import DEVICE, ROOT, node
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
    ("lenses.js", "MOST_WINDOWS = 128", "MOST_WINDOWS = 64"),
    ("lenses.js", "MOST_WINDOWS = 128", "MOST_WINDOWS = 256"),
    ("lenses.js", "phase -= Number(phases);", ""),
    ("lenses.js", "BigInt(size) >= fewest", "BigInt(size) > fewest"),
    ("lenses.js", "(phase + SHIFT)", "(window + SHIFT)"),
    ("lenses.js", "level.length !== 3", "level.length < 3"),
    ("lenses.js", " && Number.isInteger(Math.log2(count))", ""),
    ("lenses.js", "ends.length !== 3", "ends.length < 3"),
    ("lenses.js", "right - left >= NARROWEST", "right > left"),
    ("lenses.js", "[-3, 3]", "[-1, 1]"),
    ("lenses.js", "[-3, 3]", "[-4, 4]"),
    ("statistics.js", "clamp(value, low, high)", "value"),
    ("statistics.js", "* scale + 0.5", "* scale"),
    ("statistics.js", "HALF_GRID + 0.5)", "HALF_GRID)"),
    ("statistics.js", "(step * step) / HALF_GRID", "Number((BigInt(step) ** 2n) >> 30n)"),
    ("statistics.js", "value > number", "value >= number"),
    ("statistics.js", "value < number", "value <= number"),
    ("statistics.js", "value === than || value === number", "value === than"),
    ("statistics.js", "value === than || value === number", "value == than"),
    ("statistics.js", "NUMBER.test(this.than)", "true"),
    ("statistics.js", "Number.isFinite(number) ? number", "!Number.isNaN(number) ? number"),
    ("statistics.js", 'this.relation !== "is" &&', "false &&"),
    ("statistics.js", 'this.relation === "is" ? numbersOrTexts : numbers', "numbersOrTexts"),
    ("statistics.js", "RELATIONS.includes(value)", "true"),
    ("statistics.js", 'value === "" ? value : name(field, value)', "value"),
    ("statistics.js", 'value === "" ? value : name(field, value)', "name(field, value)"),
    ("statistics.js", "LONGEST_NAME = 128", "LONGEST_NAME = 129"),
    ("statistics.js", ".length ? 1 : -1", ".length ? 1 : 0"),
    ("statistics.js", "size: 1, mean", "size: records.length, mean"),
    ("records.js", ": Number.NaN", ": Number(item)"),
    ("records.js", '"bigint", "boolean"', '"bigint"'),
    ("records.js", "ABSENT = { size: 1,", "ABSENT = { size: 0,"),
    ("records.js", "column && isPlain(record)", "isPlain(record)"),
    ("records.js", "record ?? Number.NaN", "record ?? null"),
    ("records.js", "[null, Object.prototype].includes(Object.getPrototypeOf(record))", "true"),
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
    cases = collected(st.tuples(questions(), bounds(), records, means, seeds), 300)
    documents, operations = {}, []
    for index, (asked, (low, high), some, mean, seed) in enumerate(cases):
        question = dataclasses.replace(asked, statistic=Value(low=low, high=high))
        documents[str(index)] = question.to_json()
        inside = low + (mean + 1) / 2 * (high - low)
        operations += [
            outcomes.question_operation(question.to_json()),
            outcomes.answer_operation(str(index), question, some, seed),
            outcomes.answer_operation(str(index), question, [inside] * (seed % 40 + 1), seed),
        ]
    assert len(cases) >= 250
    agreed(operations, documents)


def test_both_devices_answer_by_any_statistic_of_any_records():
    cases = collected(st.tuples(questions(), asked_rows(), seeds), 500)
    documents, operations = {}, []
    for index, (asked, (statistic, some), seed) in enumerate(cases):
        question = dataclasses.replace(asked, statistic=statistic)
        documents[str(index)] = question.to_json()
        operations += [
            outcomes.question_operation(question.to_json()),
            outcomes.summary_operation(statistic.to_json(), some),
            outcomes.answer_operation(str(index), question, some, seed),
        ]
    assert {type(statistic) for _, (statistic, _), _ in cases} == set(own(STATISTICS))
    assert sum(not some for _, (_, some), _ in cases) > 5
    agreed(operations, documents)


def test_both_devices_square_alike():
    """Doubles near the borders of the grid, whose squares need more than 53 bits."""
    steps = st.one_of(st.integers(-(2**30), 2**30), st.integers(2**29, 2**30), st.integers(-200, 200))
    near = st.tuples(steps, st.sampled_from([0.0, 0.5, -0.5, 0.25])).map(lambda pair: sum(pair) / 2**30)
    lists = collected(st.lists(near, min_size=1, max_size=9), 300)
    agreed([outcomes.summary_operation(Square().to_json(), some) for some in lists])


def test_both_devices_sum_more_records_than_a_double_can():
    """More than 2^20 records at the upper bound, beside one in the middle: a sum of doubles would lose steps."""
    some = [1.0] * (2**20 + 3) + [1 / 3] * 7
    agreed([outcomes.summary_operation(Value().to_json(), some)])


def test_both_devices_refuse_the_same_records():
    odd = st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.lists(st.integers(), max_size=1), numbers)
    cell = st.dictionaries(st.sampled_from(["", "a", "toString"]), odd, max_size=3)
    lists = st.lists(st.one_of(odd, cell), max_size=3)
    asked = statistics().flatmap(
        lambda one: st.sampled_from(["", "a", "toString"]).map(lambda column: dataclasses.replace(one, column=column))
    )
    operations = [
        outcomes.summary_operation(statistic.to_json(), some)
        for statistic, some in collected(st.tuples(asked, lists), 600)
    ]
    assert 100 < sum("error" in one["expect"] for one in operations) < 500
    agreed(operations)


def test_objects_of_a_page_are_read_by_their_own_values_only():
    """What JSON cannot hold: inherited values, `undefined`, holes, and objects that are no records."""
    outcomes_ = node("page_records.mjs", DEVICE, stdin=None)
    absent, half = {"size": 1, "mean": 0}, {"size": 1, "mean": 0.5}
    assert outcomes_.pop("refused") == ["record number 1 must be a finite number"] * 7
    assert outcomes_ == {
        "toString": absent,
        "__proto__": absent,
        "constructor": absent,
        "undefined": absent,
        "own toString": half,
        "own __proto__": half,
        "hasOwnProperty": half,
    }


def refusal(statistic: Statistic, some: object) -> str:
    with pytest.raises(BadRecords) as caught:
        statistic.summarise(some)
    return str(caught.value)


def test_both_devices_refuse_records_in_the_same_words():
    minutes, red = Value(column="minutes"), Indicator(column="minutes", relation="is", than="red")
    lists = [[1, None], [{"minutes": "12"}], [1.0, {"minutes": [1]}], {"minutes": 1}, "12", 7, None]
    cases = [(statistic, some) for statistic in (minutes, red) for some in lists]
    texts = [(statistic, some) for statistic, some in cases if (statistic, some) != (red, [{"minutes": "12"}])]
    asked = [{"statistic": statistic.to_json(), "records": some} for statistic, some in texts]
    assert node("refusals.mjs", DEVICE, stdin=asked) == [refusal(*case) for case in texts]


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
