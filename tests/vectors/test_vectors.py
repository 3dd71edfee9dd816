"""The test vectors: up to date, replayed by this package, and replayed by a device written from the page alone."""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from dame import errors
from dame.device import CHANNELS, LENSES, STATISTICS
from dame.device import coins as device_coins
from dame.device.answering import answer_with_coins
from dame.device.assignment import slot_of
from dame.device.questions import Question, question_from_json, question_id, question_tag
from dame.device.reports import Report, report_bytes
from dame.errors import DameError, InvalidInput, RejectedReport
from dame.protocols import PROTOCOLS
from dame.studies.codec import plan_from_json, plan_to_json
from dame.studies.running import next as next_step
from dame.tally import Tally, merged
from tests.vectors import reference_device as reference
from tests.vectors import reference_statistics
from vectors import generate

FOLDER = Path(generate.FOLDER)
PAGE = (Path(__file__).parents[2] / "docs" / "vectors.md").read_text(encoding="utf-8")
FILES = {path.stem: json.loads(path.read_text(encoding="ascii")) for path in sorted(FOLDER.glob("*.json"))}
CLOSE = 1e-9
MISFITS = {("windows", "choice"), ("stripes", "choice")}
"""A choice needs at least two bins, and a window is one."""
DEVICE_OPERATIONS = {"question", "summarise", "answer", "decode", "slot", "tally"}
OPERATIONS = DEVICE_OPERATIONS | {"merge", "plan", "next"}


def operations(*names: str) -> list[dict]:
    """All operations of these names, of any name if none is given."""
    every = [operation for file in FILES.values() for operation in file["operations"]]
    return [operation for operation in every if not names or operation["op"] in names]


# --- the files themselves


def test_the_files_are_those_of_the_generator():
    written = generate.documents()
    assert {f"{name}.json" for name in FILES} == written.keys()
    for name, document in written.items():
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


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.json")) < 1_572_864


def test_there_is_a_file_for_every_protocol_and_for_every_lens_and_channel_that_fit():
    assert {f"study-{protocol}" for protocol in PROTOCOLS} <= FILES.keys()
    pairs = set(itertools.product((lens.kind for lens in LENSES), (channel.kind for channel in CHANNELS)))
    for lens, channel in pairs - MISFITS:
        questions = FILES[f"answers-{lens}-{channel}"]["questions"].values()
        assert {(one["lens"]["kind"], one["channel"]["kind"]) for one in questions} == {(lens, channel)}


def test_windows_are_one_two_segments_and_many_with_every_kind_of_weight():
    asked = [question["lens"] for file in FILES.values() for question in file["questions"].values()]
    windows = [lens for lens in asked if lens["kind"] == "windows"]
    assert {len(lens["windows"]) for lens in windows} >= {1, 2, 4, 8, 64}
    weights = {(lens["cap"] is None, lens["between_sd"] > 0, lens["least_weight"] > 0) for lens in windows}
    assert len(weights) == 8


def test_every_statistic_is_asked_about_people_with_several_columns_and_about_people_without_any():
    kinds = {statistic.kind for statistic in STATISTICS}
    questions = FILES["answers-statistics"]["questions"]
    asked: dict[str, list] = {kind: [] for kind in kinds}
    for operation in FILES["answers-statistics"]["operations"]:
        asked[questions[operation["question"]]["statistic"]["kind"]].append(operation["records"])
    for people in asked.values():
        assert [] in people
        assert any(len(record) > 2 for records in people for record in records if isinstance(record, dict))
    summarised = {one["statistic"]["kind"] for one in operations("summarise") if isinstance(one["statistic"], dict)}
    assert summarised == kinds


def test_every_operation_occurs_and_is_refused_where_it_can_be():
    assert Counter(operation["op"] for operation in operations()).keys() == OPERATIONS
    refused = Counter(operation["op"] for operation in operations() if "error" in operation["expect"])
    assert refused.keys() == OPERATIONS - {"tally"}
    assert refused["question"] > 200
    assert len(operations()) > 1500


def test_every_reason_of_rejection_and_every_kind_of_error_occurs():
    problems = [operation["expect"]["error"] for operation in operations() if "error" in operation["expect"]]
    assert {problem["kind"] for problem in problems} == {"InvalidInput", "BadRecords", "RejectedReport", "Mismatch"}
    assert {problem["reason"] for problem in problems if "reason" in problem} == {"length", "question", "range"}
    rejected = Counter(reason for operation in operations("tally") for reason in operation["expect"]["rejected"])
    assert rejected.keys() == {"length", "question", "range"}
    assert all(issubclass(getattr(errors, problem["kind"]), DameError) for problem in problems)


def test_files_carry_format_and_version():
    assert all(file["format"] == "dame-vectors" and file["version"] == 1 for file in FILES.values())
    assert all(operation.keys() >= {"op", "expect"} for operation in operations())


def test_the_page_names_all_that_the_files_have():
    names = {"op", "expect", "steps", "field", "reason", *OPERATIONS, *FILES["study-paper"]}
    for operation in operations():
        names |= operation.keys() | operation["expect"].keys() | operation.get("steps", {}).keys()
    for question in (*FILES["reports"]["questions"].values(), *FILES["answers-statistics"]["questions"].values()):
        for part in (question, question["statistic"], question["lens"], question["channel"]):
            names |= part.keys()
    assert not {name for name in names - {"error"} if f"`{name}`" not in PAGE}
    answers = {"-".join(name.split("-")[:1]) for name in FILES}
    assert not {name for name in answers if f"`{name}" not in PAGE}


# --- this package


def named(file: dict, operation: dict):
    return question_from_json(file["questions"][operation["question"]])


def said(report: Report) -> dict:
    return {"window": report.window, "value": str(report.value)}


def play_question(_, operation):
    question = question_from_json(operation["document"])
    tag = question_tag(question).hex()
    return {"id": question_id(question), "tag": tag, "bits": question.report_bits, "bytes": report_bytes(question)}


def play_summarise(_, operation):
    word = int(operation.get("word", "0"), 16)
    person = STATISTICS.from_json(operation["statistic"]).summarise(operation["records"], word)
    return {"size": person.size, "mean": person.mean}


def play_answer(file, operation):
    question = named(file, operation)
    coins = device_coins.ReplayCoins(bytes.fromhex(operation["coins"]))
    report = answer_with_coins(question, operation["records"], coins)
    assert coins.exhausted
    return {"report": report.encode(question).hex(), **said(report)}


def play_decode(file, operation):
    return said(Report.decode(named(file, operation), bytes.fromhex(operation["report"])))


def play_slot(_, operation):
    return {"slot": slot_of(operation["study"], operation["shares"], operation["participant"])}


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


def play_merge(_, operation):
    return {"tally": merged(map(Tally.from_json, operation["tallies"])).to_json()}


def play_plan(_, operation):
    return {"plan": plan_to_json(plan_from_json(operation["document"]))}


def play_next(file, operation):
    history = list(map(Tally.from_json, operation["tallies"]))
    step = next_step(plan_from_json(file["plans"][operation["plan"]]), history)
    return {"question": step.to_json()} if isinstance(step, Question) else {"estimate": step.only.to_json()}


PLAY = {
    "question": play_question, "summarise": play_summarise, "answer": play_answer, "decode": play_decode,
    "slot": play_slot, "tally": play_tally, "merge": play_merge, "plan": play_plan, "next": play_next,
}  # fmt: skip


def replayed(file: dict, operation: dict) -> dict:
    """The outcome of an operation, in the form of its expectation."""
    try:
        return PLAY[operation["op"]](file, operation)
    except DameError as error:
        return {"error": {"kind": type(error).__name__, **_details(error)}}


def _details(error: DameError) -> dict:
    if isinstance(error, RejectedReport):
        return {"reason": error.reason}
    return {"field": error.field} if isinstance(error, InvalidInput) else {}


@pytest.mark.parametrize("name", list(FILES))
def test_this_package_replays_the_vectors(name):
    file = FILES[name]
    for operation in file["operations"]:
        outcome, expected = replayed(file, operation), operation["expect"]
        if "estimate" in expected:
            assert_close(outcome["estimate"], expected["estimate"])
        else:
            assert outcome == expected, operation


def assert_close(estimate: dict, expected: dict) -> None:
    """The same estimate, up to what other machines do to the last digits."""
    assert estimate.keys() == expected.keys()
    for key, value in expected.items():
        if key in ("estimate", "standard_error", "interval", "failure_probability"):
            assert estimate[key] == pytest.approx(value, rel=CLOSE, abs=CLOSE)
        else:
            assert estimate[key] == value


# --- the device from the page


def play_by_the_reference(file: dict, operation: dict) -> tuple[dict, dict]:
    """The outcome of an operation and its steps."""
    match operation["op"]:
        case "question":
            q = reference.question(operation["document"])
            digest = reference.identity(q)
            size = {"bits": reference.report_bits(q), "bytes": reference.report_bytes(q)}
            steps = {"canonical": reference.canonical(reference.written(q))}
            return {"id": digest.hex(), "tag": digest[:8].hex(), **size}, steps
        case "summarise":
            statistic = reference.statistic(operation["statistic"])
            words = iter([int(operation["word"], 16)]) if "word" in operation else iter(())
            size, total, mean = reference.summarise(statistic, operation["records"], words)
            assert not list(words)
            return {"size": size, "mean": mean}, {"total": total}
        case "slot":
            given = (operation[key] for key in ("study", "shares", "participant"))
            number, borders, slot = reference.slot_of(*given)
            return {"slot": slot}, {"hash": f"{number:016x}", "borders": [f"{border:016x}" for border in borders]}
    q = reference.question(file["questions"][operation["question"]])
    match operation["op"]:
        case "answer":
            window, value, report, steps = reference.answer(q, operation["records"], operation["coins"])
            return {"report": report.hex(), "window": window, "value": str(value)}, steps
        case "decode":
            window, value = reference.decode(q, bytes.fromhex(operation["report"]))
            return {"window": window, "value": str(value)}, {}
    tally, rejected = reference.tally(q, map(bytes.fromhex, operation["reports"]))
    return {"tally": tally, "rejected": rejected}, {}


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
                play_by_the_reference(file, operation)
        else:
            outcome, steps = play_by_the_reference(file, operation)
            assert outcome == expected, operation
            assert steps == operation.get("steps", {}), operation


def test_that_device_imports_nothing_of_this_package():
    trees = [ast.parse(inspect.getsource(module)) for module in (reference, reference_statistics)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert not any(module.startswith("dame") for module in modules)
    assert {module for module in modules if module.startswith("tests")} == {reference_statistics.__name__}


# --- the replay would notice


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith(("study", "plans"))])
def test_a_changed_outcome_is_noticed(name):
    file = FILES[name]
    for operation in file["operations"]:
        for key in operation["expect"]:
            changed = copy.deepcopy(operation)
            changed["expect"][key] = "00"
            assert replayed(file, changed) != changed["expect"]
