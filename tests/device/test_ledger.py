"""The ledger: one report for each study, ever, whatever crashes, races or retries."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import sqlite3
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.device import Ledger, Report, Slot, question_id
from dame.device.answering import answer_with_coins
from dame.device.channels import Bits, Laplace
from dame.device.ledger import Enrolment
from dame.device.lenses import Bins, Windows
from dame.device.questions import Question
from dame.device.statistics import Indicator, Present, Square, Statistic, Value
from dame.errors import AlreadyAnswered, BadRecords, DameError, InvalidInput, Mismatch
from tests.device.examples import ask
from tests.device.sources import SeededCoins

VOTE = ask(Bins(bins=64, width=1 / 32), Bits.optimised(1.0, bins=64), 1.0, study="sleep")
BIT = ask(Windows.whole_range(), Bits.single(1.0), 1.0, study="sleep", round=1)
GRID = ask(Windows.whole_range(), Laplace.spending(0.1), 0.1, study="steps", round=1)
RECORDS = [0.123456789, -0.987654321, 0.5551234]
SLOTS = [Slot(target, round_) for target in ("mean", "late") for round_ in (0, 1)]
RACERS = 6
PATIENCE = 60.0
"""Seconds that a child process may take before a test gives up on it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def open_ledger() -> Iterator[Callable[..., Ledger]]:
    """Opens ledgers that are closed after the test."""
    with contextlib.ExitStack() as stack:

        def opened(path: Path, cap: float | None = None) -> Ledger:
            ledger = Ledger(path, cap=cap)
            stack.callback(ledger.close)
            return ledger

        yield opened


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


CHILD = """
import json, os, signal, sys
from dame.device import Ledger, question_from_json
ledger = Ledger(sys.argv[1])
question = question_from_json(json.loads(sys.argv[2]))
"""


# --- one answer


def test_a_second_answer_is_the_stored_first_one(open_ledger, path):
    ledger = open_ledger(path)
    first = ledger.answer(VOTE, RECORDS)
    assert Report.decode(VOTE, first).question == question_id(VOTE)
    assert ledger.answer(VOTE, RECORDS) == first
    assert ledger.answer(VOTE, [1.0, 1.0, 1.0, 1.0]) == first, (
        "other records, same report: fresh noise would average away"
    )
    assert ledger.answer(VOTE, []) == first, "a retry does not need the records"


def test_the_answer_survives_closing_the_file(open_ledger, path):
    ledger = open_ledger(path)
    first = ledger.answer(GRID, RECORDS)
    ledger.close()
    assert open_ledger(path).answer(GRID, RECORDS) == first


def test_another_question_of_the_same_study_is_refused(open_ledger, path):
    ledger = open_ledger(path)
    first = ledger.answer(VOTE, RECORDS)
    narrower = dataclasses.replace(VOTE, lens=dataclasses.replace(VOTE.lens, min_size=2))
    for other in (BIT, narrower, dataclasses.replace(VOTE, round=1), dataclasses.replace(VOTE, target="other")):
        with pytest.raises(AlreadyAnswered, match="another question"):
            ledger.answer(other, RECORDS)
    assert ledger.answer(VOTE, RECORDS) == first
    assert ledger.spent() == 1


def about(target: str, statistic: Statistic) -> Question:
    return dataclasses.replace(BIT, target=target, round=0, statistic=statistic)


TARGETS = [
    about("minutes", Value(column="minutes", high=60)),
    about("minutes/square", Square(column="minutes", high=60)),
    about("late", Indicator(column="minutes", relation="above", than="15")),
    about("minutes/present", Present(column="minutes")),
    about("other", Value(column="minutes", high=60)),
    about("minutes", Value(column="hours", high=60)),
]
"""Questions of one study: each has another target, or is about another column."""


@pytest.mark.parametrize("first", TARGETS, ids=lambda question: question.target)
@pytest.mark.parametrize("records", [[{"minutes": 7, "hours": 3.5}], [{}], []], ids=["records", "lacking", "none"])
def test_one_report_a_study_whatever_the_target(open_ledger, path, first, records):
    ledger = open_ledger(path)
    report = ledger.answer(first, records)
    for other in TARGETS:
        if other is not first:
            with pytest.raises(AlreadyAnswered, match="another question of study 'sleep'"):
                open_ledger(path).answer(other, records)
    assert ledger.report("sleep") == ledger.answer(first, [{"minutes": 59}]) == report
    assert ledger.spent() == 1
    assert Report.decode(first, report).question == question_id(first)


def test_a_refusal_does_not_tell_whether_there_are_records(open_ledger, path):
    ledger = open_ledger(path)
    ledger.answer(TARGETS[0], [])
    sentences = set()
    for records in ([], [{"minutes": 7.0}], [{"minutes": "bad"}]):
        with pytest.raises(AlreadyAnswered) as refused:
            ledger.answer(TARGETS[2], records)
        sentences.add(str(refused.value))
    assert len(sentences) == 1


def test_the_report_has_the_law_of_the_device(open_ledger, path):
    stored = open_ledger(path)._answer(VOTE, lambda: VOTE.statistic.summarise(RECORDS), SeededCoins(3))
    assert stored == answer_with_coins(VOTE, RECORDS, SeededCoins(3)).encode(VOTE)


def test_bad_records_leave_no_trace(open_ledger, path):
    ledger = open_ledger(path)
    with pytest.raises(BadRecords):
        ledger.answer(VOTE, [math.nan])
    assert ledger.spent() == 0
    assert ledger.answer(VOTE, RECORDS) == ledger.answer(VOTE, RECORDS)


# --- budget


def test_what_was_spent_adds_up_exactly(open_ledger, path):
    ledger = open_ledger(path)
    studies = [dataclasses.replace(GRID, study=f"study {number}") for number in range(10)]
    for question in studies:
        ledger.answer(question, RECORDS)
        ledger.answer(question, RECORDS)
    assert ledger.spent() == 10 * Fraction(0.1)


def test_a_cap_stops_new_studies_but_not_retries(open_ledger, path):
    ledger = open_ledger(path, cap=1.05)
    first = ledger.answer(VOTE, RECORDS)
    with pytest.raises(AlreadyAnswered, match="cap"):
        ledger.answer(GRID, RECORDS)
    assert ledger.answer(VOTE, RECORDS) == first
    assert ledger.spent() == 1
    assert open_ledger(path, cap=1.2).answer(GRID, RECORDS)


def test_a_cap_is_compared_exactly(open_ledger, path):
    third = dataclasses.replace(GRID, study="third")
    ledger = open_ledger(path, cap=0.2)
    ledger.answer(GRID, RECORDS)
    ledger.answer(third, RECORDS)  # 0.1 + 0.1 is exactly the float 0.2
    with pytest.raises(AlreadyAnswered):
        ledger.answer(dataclasses.replace(GRID, study="fourth", alpha=1e-6, channel=Laplace.spending(1e-6)), RECORDS)


@pytest.mark.parametrize("cap", [0, -1, math.nan, math.inf, "1", True, 1e7])
def test_a_cap_out_of_range_is_refused(open_ledger, path, cap):
    with pytest.raises(InvalidInput):
        open_ledger(path, cap=cap)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(SLOTS), st.booleans()), max_size=12))
def test_any_list_of_calls_gives_each_study_one_report_at_most(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("ledger") / "file"
    ledger = Ledger(path, cap=2.5)
    given_out: dict[str, tuple[Slot, bytes]] = {}
    for study, slot, reopen in calls:
        if reopen:
            ledger.close()
            ledger = Ledger(path, cap=2.5)
        question = dataclasses.replace(VOTE, study=study, target=slot.target, round=slot.round)
        try:
            report = ledger.answer(question, RECORDS)
        except AlreadyAnswered:
            assert (study in given_out and given_out[study][0] != slot) or len(given_out) == 2
        else:
            assert given_out.setdefault(study, (slot, report)) == (slot, report)
    assert ledger.spent() == len(given_out)
    ledger.close()


# --- crashes and races


@pytest.mark.parametrize("statement", ["INSERT", "COMMIT"])
def test_a_crash_before_the_commit_leaves_nothing(open_ledger, path, statement):
    code = (
        CHILD
        + """
def die(sql):
    if sql.startswith(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
ledger._store.set_trace_callback(die)
ledger.answer(question, [0.5])
print("survived")
"""
    )
    child = python(code, path, json.dumps(VOTE.to_json()), statement)
    out, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == -9
    assert not out
    ledger = open_ledger(path)
    assert ledger.spent() == 0
    assert ledger.answer(VOTE, RECORDS) == ledger.answer(VOTE, RECORDS)
    assert ledger.spent() == 1


def test_a_crash_after_the_commit_keeps_the_report(open_ledger, path):
    code = (
        CHILD
        + """
report = ledger.answer(question, [0.5])
sys.stdout.write(report.hex())
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    child = python(code, path, json.dumps(VOTE.to_json()))
    out, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == -9
    assert open_ledger(path).answer(VOTE, RECORDS).hex() == out


def test_processes_that_race_get_the_same_report(open_ledger, path):
    open_ledger(path).close()
    code = (
        CHILD
        + """
print("ready", flush=True)
sys.stdin.readline()
print(ledger.answer(question, [float(os.getpid() % 2)]).hex())
"""
    )
    children = [python(code, path, json.dumps(VOTE.to_json())) for _ in range(RACERS)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = {child.communicate(timeout=PATIENCE)[0].strip() for child in children}
    assert answers == {open_ledger(path).answer(VOTE, RECORDS).hex()}


def test_processes_that_race_to_create_the_file_do_not_fail(path):
    code = CHILD + "print(ledger.answer(question, [0.5]).hex())"
    children = [python(code, path, json.dumps(VOTE.to_json())) for _ in range(RACERS)]
    outcomes = [child.communicate(timeout=PATIENCE) for child in children]
    assert [error for _, error in outcomes] == [""] * RACERS
    assert len({out for out, _ in outcomes}) == 1


# --- what was agreed to

AGREED = Enrolment(study="s", participant="p", key="k", plan_id="i", alpha=0.30000000000000004)


def test_an_enrolment_comes_back_as_it_was(open_ledger, path):
    ledger = open_ledger(path)
    assert ledger.enrolment("s") is None
    ledger.enrol(AGREED)
    ledger.enrol(AGREED)
    assert ledger.enrolment("s") == AGREED
    for name, value in {"key": "other", "alpha": 0.3, "plan_id": "j", "participant": "q"}.items():
        with pytest.raises(Mismatch):
            ledger.enrol(dataclasses.replace(AGREED, **{name: value}))
    assert open_ledger(path).enrolment("s") == AGREED


OLDER = """
CREATE TABLE answers (study TEXT PRIMARY KEY, question TEXT NOT NULL, alpha TEXT NOT NULL, report BLOB NOT NULL) STRICT;
CREATE TABLE enrolments (
    study TEXT PRIMARY KEY, participant TEXT NOT NULL, key TEXT NOT NULL, plan_id TEXT NOT NULL,
    alpha TEXT NOT NULL, low TEXT NOT NULL, high TEXT NOT NULL
) STRICT;
INSERT INTO answers VALUES ('old', 'some question', '0x1.0000000000000p+0', x'0102');
INSERT INTO enrolments VALUES ('s', 'p', 'k', 'i', '0x1.3333333333334p-2', '0x0.0p+0', '0x1.8p+4');
"""
"""A ledger of the first version, which pinned bounds beside the plan."""


def test_a_ledger_of_the_first_version_is_read_and_written(open_ledger, path):
    with contextlib.closing(sqlite3.connect(path)) as store:
        store.executescript(OLDER)
    one, other = open_ledger(path), open_ledger(path)
    assert one.enrolment("s") == other.enrolment("s") == AGREED
    assert one.report("old") == b"\x01\x02"
    one.enrol(dataclasses.replace(AGREED, study="t"))
    with pytest.raises(Mismatch, match="plan"):
        other.enrol(dataclasses.replace(AGREED, plan_id="j"))
    with pytest.raises(AlreadyAnswered, match="another question"):
        other.answer(dataclasses.replace(BIT, study="old"), RECORDS)


def test_processes_that_race_to_open_a_ledger_of_the_first_version_do_not_fail(path):
    with contextlib.closing(sqlite3.connect(path)) as store:
        store.executescript(OLDER)
    code = CHILD + "print(ledger.enrolment('s').alpha)"
    children = [python(code, path, json.dumps(VOTE.to_json())) for _ in range(RACERS)]
    assert [child.communicate(timeout=PATIENCE) for child in children] == [(f"{AGREED.alpha}\n", "")] * RACERS


# --- what is stored


@pytest.mark.parametrize("question", [VOTE, GRID])
def test_nothing_that_is_stored_contains_a_record(open_ledger, path, question):
    ledger = open_ledger(path)
    ledger.answer(question, RECORDS)
    files = [file.read_bytes() for file in path.parent.iterdir()]
    mean = sum(RECORDS) / len(RECORDS)
    for value in (*RECORDS, mean):
        for form in (
            struct.pack(">d", value),
            struct.pack("<d", value),
            repr(value).encode(),
            repr(value)[:8].encode(),
        ):
            assert all(form not in content for content in files)
    with contextlib.closing(sqlite3.connect(path)) as store:
        columns = [row[1] for row in store.execute("PRAGMA table_info(answers)")]
    assert columns == ["study", "question", "alpha", "report"]


# --- files that cannot be used


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path):
    for wrong in (tmp_path, tmp_path / "missing" / "ledger"):
        with pytest.raises(DameError, match="cannot be opened"):
            Ledger(wrong)


def test_a_file_that_is_no_ledger_is_one_sentence(tmp_path):
    (tmp_path / "text").write_text("not a database, but long enough to be looked at by SQLite" * 10)
    with pytest.raises(DameError, match="cannot be opened"):
        Ledger(tmp_path / "text")
