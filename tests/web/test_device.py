"""The JavaScript device: it replays the test vectors, and agrees with the Python device on questions of any kind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dame.device.questions import question_from_json
from dame.device.randomisers import OneBit
from tests.device.strategies import alphas, means, questions, studies
from tests.fuzz.documents import encoded_reports, question_documents
from tests.web.needs import DEVICE, ROOT, node
from vectors import outcomes

FILES = {path.stem: json.loads(path.read_text("ascii")) for path in sorted((ROOT / "vectors" / "v1").glob("*.json"))}
WHOLE_RANGE = FILES["answers-one-bit"]["questions"]["whole-range"]
DEVICE_OPERATIONS = {"question", "summarise", "answer", "decode", "round"}


def one_sided(low: int, high: int) -> dict:
    """A bit that is nearly always 0, or nearly always 1: the rare value is twice as likely at one end, and α is 0.5."""
    document = {**WHOLE_RANGE, "noise": {"kind": "one-bit", "low": f"{low:016x}", "high": f"{high:016x}"}}
    expect = outcomes.outcome(lambda: outcomes.question_outcome(document))
    assert expect == {"error": {"kind": "InvalidInput", "field": "noise"}}
    return {"op": "question", "document": document, "expect": expect}


ONE_SIDED = [one_sided(2**32, 2**33), one_sided(2**64 - 2**33, 2**64 - 2**32)]
CASES = FILES | {"one-sided": {"questions": {}, "operations": ONE_SIDED}}


def played(device: Path, files: dict) -> dict:
    return node("replay.mjs", device, stdin={"files": files})


def binding(expected: dict) -> dict:
    """What of an expected outcome binds a device: the field of a refusal is for people."""
    if "error" not in expected:
        return expected
    return {"error": {key: value for key, value in expected["error"].items() if key != "field"}}


def differences(files: dict, outcomes_: dict) -> list[tuple]:
    return [
        (name, operation, outcome)
        for name, file in files.items()
        for operation, outcome in zip(file["operations"], outcomes_[name], strict=True)
        if operation["op"] in DEVICE_OPERATIONS and outcome != binding(operation["expect"])
    ]


# --- the vectors


def test_the_device_replays_all_device_vectors():
    outcomes_ = played(DEVICE, CASES)
    assert differences(CASES, outcomes_) == []
    counted = [one for outcomes_of_file in outcomes_.values() for one in outcomes_of_file if one is not None]
    assert len(counted) > 600
    assert sum("error" in one for one in counted) > 80


BROKEN = [
    ("answer.js", "word < limit", "word <= limit"),
    ("answer.js", "(mean - question.origin) / question.width", "(mean + 1) / question.width"),
    ("answer.js", ">= question.min_size", "> question.min_size"),
    ("answer.js", "limit = first <= bin", "limit = first < bin"),
    ("answer.js", "word >> BigInt(64 - Math.log2(question.arms))", "word & BigInt(question.arms - 1)"),
    ("answer.js", "(2 * arm - 1) * question.dither", "(1 - 2 * arm) * question.dither"),
    ("answer.js", "question.borders.slice(arm, arm + 2)", "[question.borders[0], question.borders.at(-1)]"),
    ("answer.js", "[left, 0, right - left]", "[left, 0, 2 / question.arms]"),
    (
        "answer.js",
        'if (question.kind === "part-measure") return 1;',
        'if (question.kind === "part-measure") return size;',
    ),
    ("answer.js", "clamp((z - left) / (right - left), 0, 1)", "(z - left) / (right - left)"),
    ("questions.js", "PARTS = [2, 4, 8]", "PARTS = [1, 2, 4, 8]"),
    ("questions.js", "PARTS = [2, 4, 8]", "PARTS = [2, 3, 4, 8]"),
    ("questions.js", "PARTS = [2, 4, 8]", "PARTS = [2, 4, 8, 16]"),
    ("questions.js", 'return rising("borders", list)', "return list"),
    (
        "questions.js",
        'question.kind === "part-measure" && question.noise.kind',
        'question.kind === "" && question.noise.kind',
    ),
    ("answer.js", "2n * arm + bit", "arm + 2n * bit"),
    ("answer.js", "Math.max(root, question.least_weight)", "root"),
    ("answer.js", "1 + size * (spread * spread)", "1 + size * spread"),
    ("answer.js", "place * steps + 0.5", "place * steps"),
    ("answer.js", ">> 32n", "/ ((1n << 32n) - 1n)"),
    ("answer.js", "-reach, steps + reach", "0n, steps"),
    ("answer.js", "slice(1, -1).filter", "slice(1).filter"),
    ("answer.js", "(place) => mean >= place", "(place) => mean > place"),
    ("answer.js", "clamp((person.mean - left) / (right - left), 0, 1)", "(person.mean - left) / (right - left)"),
    ("answer.js", "before + (yes - no) - moved", "before + moved"),
    ("answer.js", "((yes - no) * part(question, person)) >> 32n", "(yes * part(question, person)) >> 32n"),
    ("answer.js", "word >= end", "word > end"),
    ("records.js", "clamp(number(record, index), low, high)", "number(record, index)"),
    ("records.js", "* scale + 0.5", "* scale"),
    ("records.js", ": Number.NaN", ": Number(record)"),
    ("coins.js", "while (bernoulliExp(coins, 1n, 1n)) wholes", "if (bernoulliExp(coins, 1n, 1n)) wholes"),
    ("coins.js", "!(negative && magnitude === 0n)", "true"),
    ("coins.js", "flips % 2n === 1n", "flips % 2n === 0n"),
    ("reports.js", "payload : payload.reverse()", "payload : payload"),
    ("reports.js", "+ 1;", ";"),
    ("reports.js", "bytes.length !== expected", "bytes.length > expected"),
    ("reports.js", "value === 0n || ", ""),
    ("reports.js", " || (value & (value - 1n)) !== 0n", ""),
    ("questions.js", "few = Math.min(bins, 4 * neighbours + 2)", "few = Math.min(bins, neighbours + 1)"),
    ("questions.js", "withinBudget(up, down, alpha)", "withinBudget(up, down, 1.25 * alpha)"),
    ("questions.js", "withinBudget(code.yes, code.no, alpha)", "withinBudget(code.yes, code.no, 1.25 * alpha)"),
    ("questions.js", "withinBudget(code.yes, code.no, alpha)", "withinBudget(code.yes - 1n, code.no + 1n, alpha)"),
    ("questions.js", 'if (question.kind === "place-vote") checkSum(question);', ""),
    ("questions.js", "MOST_PLACES = 8", "MOST_PLACES = 9"),
    ("questions.js", "place - places[index - 1] >= 1e-12", "place > places[index - 1]"),
    ("questions.js", "real(name, place, -1, 1)", "real(name, place, -2, 1)"),
    ("questions.js", "noise.high, noise.low, alpha)", "noise.high, noise.low, 32)"),
    ("questions.js", "WORD - noise.low, WORD - noise.high, alpha)", "WORD - noise.low, WORD - noise.high, 32)"),
    ("questions.js", "noise.steps * denominator <=", "0n <="),
    ("questions.js", "alpha: [1e-6, 32]", "alpha: [1e-6, 64]"),
    ("checks.js", "Number(value) + 0", "Number(value)"),
    ("json.js", "exponent >= 16", "exponent >= 21"),
    ("json.js", 'padStart(2, "0")}`;', 'padStart(1, "0")}`;'),
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
    assert differences(CASES, played(several / str(index), CASES))


# --- against the Python device


def collected(strategy: st.SearchStrategy, count: int) -> list:
    """So many examples of a strategy, to be played by one process of Node."""
    found: list = []

    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one):
        found.append(one)

    collect()
    return found


numbers = st.one_of(
    st.floats(-1e7, 1e7), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60)
)
records = st.lists(numbers, min_size=1, max_size=12)
seeds = st.integers(0, 2**32)


def test_both_devices_give_the_same_answers_to_random_questions():
    cases = collected(st.tuples(questions(), records, means, seeds), 300)
    file: dict = {"questions": {}, "operations": []}
    for index, (question, some, mean, seed) in enumerate(cases):
        file["questions"][str(index)] = question.to_json()
        inside = question.low + (mean + 1) / 2 * (question.high - question.low)
        file["operations"] += [
            {"op": "question", "document": question.to_json(), "expect": outcomes.question_outcome(question.to_json())},
            outcomes.answer_operation(str(index), question, some, seed),
            outcomes.answer_operation(str(index), question, [inside] * (seed % 40 + 1), seed),
        ]
    assert len(cases) >= 250
    assert differences({"random": file}, played(DEVICE, {"random": file})) == []


def test_both_devices_refuse_the_same_documents():
    documents = collected(question_documents(), 300)
    operations = []
    for document in documents:
        expect = outcomes.outcome(lambda document=document: outcomes.question_outcome(document))
        try:
            json.dumps(document, allow_nan=False)
        except ValueError:  # JSON has no such numbers
            continue
        operations.append({"op": "question", "document": document, "expect": expect})
    file = {"questions": {}, "operations": operations}
    assert sum("error" in one["expect"] for one in operations) > 100
    assert differences({"random": file}, played(DEVICE, {"random": file})) == []


def test_both_devices_read_the_same_reports():
    file: dict = {"questions": {}, "operations": []}
    for index, (question, encoded) in enumerate(collected(encoded_reports(), 200)):
        file["questions"][str(index)] = question.to_json()
        expect = outcomes.outcome(lambda q=question, e=encoded: outcomes.decode_outcome(q, e))
        file["operations"].append({"op": "decode", "question": str(index), "report": encoded.hex(), "expect": expect})
    assert differences({"random": file}, played(DEVICE, {"random": file})) == []


def test_both_devices_assign_the_same_rounds():
    shares = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=8)
    people = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    operations = [
        {
            "op": "round",
            "study": study,
            "shares": parts,
            "participant": who,
            "expect": outcomes.round_outcome(study, parts, who),
        }
        for study, parts, who in collected(st.tuples(studies, shares, people), 200)
    ]
    file = {"questions": {}, "operations": operations}
    assert differences({"random": file}, played(DEVICE, {"random": file})) == []


def test_thresholds_at_the_edge_of_the_budget_are_judged_alike():
    """One more than the largest threshold that α allows is refused by both."""
    operations = []
    for alpha, step in collected(st.tuples(alphas, st.integers(-2, 2)), 100):
        high = OneBit.spending(alpha).high + step
        noise = {"kind": "one-bit", "low": f"{2**64 - high:016x}", "high": f"{high:016x}"}
        document = {**WHOLE_RANGE, "alpha": alpha, "noise": noise}
        expect = outcomes.outcome(lambda document=document: outcomes.question_outcome(document))
        assert ("error" in expect) == (step > 0)
        operations.append({"op": "question", "document": document, "expect": expect})
    file = {"questions": {}, "operations": operations}
    assert differences({"random": file}, played(DEVICE, {"random": file})) == []
    assert all(question_from_json(one["document"]) for one in operations if "error" not in one["expect"])
