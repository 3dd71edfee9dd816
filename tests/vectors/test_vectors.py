"""The test vectors: up to date, replayed by this package, and replayed by a device written from the page alone."""

from __future__ import annotations

import ast
import copy
import inspect
import json
from collections import Counter
from pathlib import Path

import pytest

from dame import errors
from dame.device import coins as device_coins
from dame.device.answer import answer_with_coins
from dame.device.assignment import participant_hash, round_borders, round_of
from dame.device.questions import canonical, question_from_json, question_id, question_tag
from dame.device.records import summarise
from dame.device.reports import Report, report_bytes
from dame.errors import DameError, InvalidInput, RejectedReport
from dame.estimates import Estimate
from dame.planning.codec import plan_to_json
from dame.protocols import PROTOCOLS, plan_from_json
from dame.protocols import next as next_step
from dame.tally import Tally
from tests.vectors import reference_device as reference
from vectors import generate

FOLDER = Path(generate.FOLDER)
FILES = {path.stem: json.loads(path.read_text(encoding="ascii")) for path in sorted(FOLDER.glob("*.json"))}
CLOSE = 1e-12
DEVICE_OPERATIONS = {"question", "summarise", "answer", "decode", "round"}
OPERATIONS = DEVICE_OPERATIONS | {"tally", "merge", "plan", "next"}
STEPS = {
    "size", "mean", "words", "bin", "marks", "part", "ends", "weight", "arm", "position", "threshold", "grid_point",
    "value", "report",
}  # fmt: skip

ALL = [(name, index) for name, file in FILES.items() for index in range(len(file["operations"]))]


# --- the files themselves


def test_the_files_are_those_of_the_generator():
    written = {f"{name}.json" for name in FILES}
    assert written == generate.documents().keys()
    for name, document in generate.documents().items():
        stored, fresh = copy.deepcopy(FILES[Path(name).stem]), json.loads(generate.text_of(document))
        for one, other in zip(stored["operations"], fresh["operations"], strict=True):
            if "estimate" in one["expect"]:
                assert_close(one["expect"].pop("estimate"), other["expect"].pop("estimate"))
        assert stored == fresh, f"{name}: run  python -m vectors.generate"


@pytest.mark.parametrize("name", list(FILES))
def test_the_files_are_as_the_generator_writes_them(name):
    """Nobody edits them by hand: writing what was read gives the same bytes."""
    text = (FOLDER / f"{name}.json").read_text(encoding="ascii")
    assert generate.text_of(json.loads(text)) == text


def test_there_is_a_file_for_every_kind_and_protocol():
    assert {f"study-{protocol}" for protocol in PROTOCOLS} <= FILES.keys()
    kinds = {question["kind"] for file in FILES.values() for question in file["questions"].values()}
    assert kinds == {"vote", "size-vote", "place-vote", "measure", "part-measure"}
    places = FILES["answers-place-vote"]["questions"].values()
    assert {len(question["places"]) for question in places} == {2, 3, 4, 5, 8}
    parts = FILES["answers-part-measure"]["questions"].values()
    assert {len(question["borders"]) for question in parts} == {3, 5, 9}
    counts = Counter(operation["op"] for file in FILES.values() for operation in file["operations"])
    assert counts.keys() == OPERATIONS
    refused = Counter(
        operation["op"] for file in FILES.values() for operation in file["operations"] if "error" in operation["expect"]
    )
    assert refused.keys() >= {"question", "summarise", "answer", "decode", "plan", "next"}
    assert sum(counts.values()) > 500


def test_every_reason_of_rejection_and_every_kind_of_error_occurs():
    expected = [operation["expect"] for file in FILES.values() for operation in file["operations"]]
    problems = [expect["error"] for expect in expected if "error" in expect]
    assert {problem["kind"] for problem in problems} == {"InvalidInput", "BadRecords", "RejectedReport", "Mismatch"}
    assert {problem["reason"] for problem in problems if "reason" in problem} == {"length", "question", "range"}
    rejected = Counter(reason for expect in expected for reason in expect.get("rejected", ()))
    assert rejected.keys() == {"length", "question", "range"}


def test_files_carry_format_and_version():
    assert all(file["format"] == "dame-vectors" and file["version"] == 1 for file in FILES.values())
    assert all(operation.keys() >= {"op", "expect"} for file in FILES.values() for operation in file["operations"])


# --- this package


def replayed(file: dict, operation: dict) -> dict:
    """The outcome of an operation, in the form of its expectation."""
    play = {
        "question": play_question, "summarise": play_summarise, "answer": play_answer, "decode": play_decode,
        "round": play_round, "tally": play_tally, "merge": play_merge, "plan": play_plan, "next": play_next,
    }[operation["op"]]  # fmt: skip
    try:
        return play(file, operation)
    except DameError as error:
        return {"error": {"kind": type(error).__name__, **_details(error)}}


def _details(error: DameError) -> dict:
    if isinstance(error, RejectedReport):
        return {"reason": error.reason}
    return {"field": error.field} if isinstance(error, InvalidInput) else {}


def named(file: dict, operation: dict):
    return question_from_json(file["questions"][operation["question"]])


def play_question(_, operation):
    question = question_from_json(operation["document"])
    return {
        "canonical": canonical(question.to_json()).decode(),
        "id": question_id(question),
        "tag": question_tag(question).hex(),
        "report_bytes": report_bytes(question),
    }


def play_summarise(_, operation):
    person = summarise(operation["records"], operation["low"], operation["high"])
    return {"size": person.size, "mean": person.mean}


def play_answer(file, operation):
    question = named(file, operation)
    coins = device_coins.ReplayCoins(bytes.fromhex(operation["coins"]))
    report = answer_with_coins(question, operation["records"], coins)
    assert coins.exhausted
    person = summarise(operation["records"], question.low, question.high)
    return {
        "size": person.size,
        "mean": person.mean,
        "words": len(operation["coins"]) // 16,
        "value": report.value,
        "report": report.encode(question).hex(),
    }


def play_decode(file, operation):
    return {"value": Report.decode(named(file, operation), bytes.fromhex(operation["report"])).value}


def play_round(_, operation):
    study, shares, participant = operation["study"], operation["shares"], operation["participant"]
    return {
        "hash": f"{participant_hash(study, participant):016x}",
        "borders": [f"{border:016x}" for border in round_borders(shares)],
        "round": round_of(study, shares, participant),
    }


def play_tally(file, operation):
    question = named(file, operation)
    tally, rejected = Tally.zero(question), Counter()
    for text in operation["reports"]:
        before = tally
        try:
            tally = tally.add(Report.decode(question, bytes.fromhex(text)))
        except RejectedReport as error:
            rejected[error.reason] += 1
            assert tally is before
    return {"tally": tally.to_json(), "rejected": dict(rejected)}


def play_merge(file, operation):
    question = named(file, operation)
    tally = Tally.zero(question)
    for document in operation["tallies"]:
        tally = tally.merge(Tally.from_json(document, question))
    return {"tally": tally.to_json()}


def play_plan(_, operation):
    return {"plan": plan_to_json(plan_from_json(operation["document"]))}


def play_next(file, operation):
    plan, tallies = plan_from_json(file["plans"][operation["plan"]]), []
    for index, document in enumerate(operation["tallies"]):
        if index == len(plan.rounds):
            next_step(plan, [*tallies, tallies[-1]])  # refuses: there is no such round
        tallies.append(Tally.from_json(document, next_step(plan, tallies)))
    step = next_step(plan, tallies)
    return {"estimate": step.to_json()} if isinstance(step, Estimate) else {"question": step.to_json()}


@pytest.mark.parametrize("name", list(FILES))
def test_this_package_replays_the_vectors(name):
    file = FILES[name]
    for operation in file["operations"]:
        outcome, expected = replayed(file, operation), operation["expect"]
        if "estimate" in expected:
            assert_close(outcome["estimate"], expected["estimate"])
        else:
            assert outcome == {key: expected[key] for key in outcome}, operation
            assert outcome.keys() <= expected.keys()
            assert ("error" in outcome) == ("error" in expected)


def assert_close(estimate: dict, expected: dict) -> None:
    assert estimate.keys() == expected.keys()
    for key, value in expected.items():
        if key in ("estimate", "standard_error", "interval", "failure_probability"):
            assert estimate[key] == pytest.approx(value, rel=CLOSE, abs=CLOSE)
        else:
            assert estimate[key] == value


# --- the device from the page


def played_by_the_reference(file: dict, operation: dict) -> dict:
    if operation["op"] == "question":
        q = reference.question(operation["document"])
        text = reference.canonical(reference.written(q))
        digest = reference.identity(q)
        return {
            "canonical": text,
            "id": digest.hex(),
            "tag": digest[:8].hex(),
            "report_bytes": reference.report_bytes(q),
        }
    if operation["op"] == "summarise":
        size, total, mean = reference.summarise(operation["records"], operation["low"], operation["high"])
        return {"size": size, "total": total, "mean": mean}
    if operation["op"] == "round":
        number, borders, index = reference.round_of(operation["study"], operation["shares"], operation["participant"])
        return {"hash": f"{number:016x}", "borders": [f"{border:016x}" for border in borders], "round": index}
    q = reference.question(file["questions"][operation["question"]])
    if operation["op"] == "answer":
        value, encoded = reference.answer(q, operation["records"], operation["coins"])
        return {"value": value, "report": encoded.hex()}
    return {"value": reference.decode(q, bytes.fromhex(operation["report"]))}


@pytest.mark.parametrize("name", list(FILES))
def test_a_device_written_from_the_page_replays_the_vectors(name):
    file = FILES[name]
    for operation in file["operations"]:
        if operation["op"] not in DEVICE_OPERATIONS:
            continue
        expected = operation["expect"]
        if "error" in expected:
            word = expected["error"].get("reason", expected["error"]["kind"])
            with pytest.raises(reference.Refused, match=word):
                played_by_the_reference(file, operation)
        else:
            outcome = played_by_the_reference(file, operation)
            assert outcome == {key: expected[key] for key in outcome}, operation


def test_that_device_imports_nothing_of_this_package():
    tree = ast.parse(inspect.getsource(reference))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not any(module.startswith("dame") for module in modules)


# --- the replay would notice


CHANGED = [
    "answers-vote", "answers-size-vote", "answers-place-vote", "answers-one-bit", "answers-part-measure",
    "answers-laplace", "reports", "rounds",
]  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_outcome_is_noticed(name):
    file = FILES[name]
    for operation in file["operations"]:
        if "error" in operation["expect"] or "tally" in operation["expect"]:
            continue
        key = {"answer": "report", "decode": "value", "question": "id"}.get(operation["op"], "hash")
        changed = copy.deepcopy(operation)
        changed["expect"][key] = "00"
        assert replayed(file, changed) != changed["expect"]


def test_kinds_of_errors_are_those_of_this_package():
    assert all(
        issubclass(getattr(errors, expect["error"]["kind"]), DameError)
        for file in FILES.values()
        for operation in file["operations"]
        if "error" in (expect := operation["expect"])
    )


def test_answers_list_only_steps_that_the_page_names():
    page = (Path(__file__).parents[2] / "docs" / "vectors.md").read_text(encoding="utf-8")
    for file in FILES.values():
        for operation in file["operations"]:
            if operation["op"] == "answer" and "error" not in operation["expect"]:
                assert operation["expect"].keys() <= STEPS
    assert all(f"`{step}`" in page for step in STEPS)
    assert all(f"`{operation}`" in page for operation in OPERATIONS)
