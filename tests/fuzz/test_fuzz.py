"""Fuzzing of every decoder: nothing but typed errors comes out, round trips are identities, rejections change nothing.

The default run is bounded; `pytest -m slow tests/fuzz` looks for much longer.
"""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dame
from dame.audit.budget import covers
from dame.device import slot_of
from dame.device.questions import question_from_json, question_id
from dame.device.reports import Report, report_bytes
from dame.errors import DameError, InvalidInput, Mismatch, RejectedReport
from dame.sizes import Sizes
from dame.studies.codec import plan_from_json, plan_to_json
from dame.tally import Tally
from dame.vectorised.reports import report_totals
from tests.device.strategies import json_values, questions
from tests.fuzz.documents import (
    PLANS,
    answered,
    damaged,
    encoded_reports,
    plan_documents,
    question_documents,
    tally_documents,
    values,
)

SHORT = settings(max_examples=150)
LONG = settings(max_examples=5_000, derandomize=False)


def through_text(document):
    """The document as it comes over a wire: JSON has no tuples, and only texts as keys."""
    return json.loads(json.dumps(document))


def read(decoder, *given):
    """What a decoder makes of its input, or None if it refuses it as it should: a typed error of one line."""
    try:
        return decoder(*given)
    except DameError as error:
        refusal = error
    assert isinstance(refusal, (InvalidInput, Mismatch, RejectedReport))
    assert len(str(refusal).splitlines()) == 1
    assert getattr(refusal, "reason", "length") in ("length", "question", "range")
    return None


# --- what is fuzzed


def fuzz_question(document):
    question = read(question_from_json, document)
    if question is None:
        return
    assert question_from_json(through_text(question.to_json())) == question
    assert question_id(question_from_json(question.to_json())) == question_id(question)
    loss = question.loss()
    left = Fraction(question.alpha) - loss.exponent
    assert left >= 0, "whoever wrote the document, the question is honest"
    assert loss.ratio == 1 or covers(left, loss.ratio), "whoever wrote the document, the question is honest"


def fuzz_plan(document):
    plan = read(plan_from_json, document)
    if plan is None:
        return
    assert plan_from_json(through_text(plan_to_json(plan))) == plan
    questions = read(dame.questions, plan)
    assert questions is None or all(question.alpha == plan.alpha for question in questions)


def fuzz_report(question, encoded):
    report = read(Report.decode, question, encoded)
    assert report is None or report.encode(question) == encoded, "one value has one encoding"


def fuzz_tally(document):
    tally = read(Tally.from_json, document)
    if tally is not None:
        assert Tally.from_json(through_text(tally.to_json())) == tally
        assert tally.merge(Tally.zero(tally.question)) == tally


def fuzz_table(question, rows):
    reports = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)
    expected = one_by_one(question, rows)
    try:
        tally = Tally.of(question, report_totals(question, reports))
    except RejectedReport:
        assert expected is None
        return
    assert tally == expected


def one_by_one(question, rows) -> Tally | None:
    """The tally of all rows, or None if a single one is rejected."""
    tally = Tally.zero(question)
    try:
        for row in rows:
            tally = tally.add(Report.decode(question, row))
    except RejectedReport:
        return None
    return tally


# --- bounded, in every run


@SHORT
@given(question_documents())
def test_questions(document):
    fuzz_question(document)


@SHORT
@given(plan_documents())
def test_plans(document):
    fuzz_plan(document)


@SHORT
@given(encoded_reports())
def test_reports(pair):
    fuzz_report(*pair)


@SHORT
@given(tally_documents())
def test_tallies(document):
    fuzz_tally(document)


@st.composite
def tables(draw):
    question, reports = draw(answered())
    rows = [report.encode(question) for report in reports]
    if draw(st.booleans()):
        size = report_bytes(question)
        rows.append(draw(st.one_of(st.binary(min_size=size, max_size=size), st.just(rows[0][:8] + bytes(size - 8)))))
    return question, rows


@SHORT
@given(tables())
def test_tables_of_reports(pair):
    fuzz_table(*pair)


@SHORT
@given(st.one_of(st.text(max_size=40), st.from_regex(r"[a-z-]{1,10}(:[0-9.e+-]{0,6}){0,4}", fullmatch=True)))
def test_texts_of_sizes(text):
    if text.startswith("counts:"):
        return
    sizes = read(Sizes.parse, text)
    assert sizes is None or Sizes.parse(sizes.spec) == sizes


@SHORT
@given(
    st.text(max_size=20), st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6), st.text(st.characters(), max_size=20)
)
def test_names_of_participants(study, shares, participant):
    index = read(slot_of, study, shares, participant)
    assert index is None or 0 <= index < len(shares)


# --- longer, by marker


@pytest.mark.slow
@LONG
@given(question_documents())
def test_questions_for_long(document):
    fuzz_question(document)


@pytest.mark.slow
@LONG
@given(plan_documents())
def test_plans_for_long(document):
    fuzz_plan(document)


@pytest.mark.slow
@LONG
@given(encoded_reports())
def test_reports_for_long(pair):
    fuzz_report(*pair)


@pytest.mark.slow
@LONG
@given(tally_documents())
def test_tallies_for_long(document):
    fuzz_tally(document)


@pytest.mark.slow
@LONG
@given(tables())
def test_tables_of_reports_for_long(pair):
    fuzz_table(*pair)


# --- laws


@given(questions())
def test_questions_survive_json(question):
    assert question_from_json(through_text(question.to_json())) == question


@pytest.mark.parametrize("document", PLANS, ids=lambda document: str(document["study"]))
def test_plans_survive_json(document):
    assert through_text(plan_to_json(plan_from_json(document))) == document


@given(answered())
def test_reports_survive_their_bytes(pair):
    question, reports = pair
    for report in reports:
        assert Report.decode(question, report.encode(question)) == report


@given(answered(), st.one_of(st.integers(), values))
def test_a_rejected_report_never_changes_a_tally(pair, value):
    question, reports = pair
    tally = Tally.zero(question)
    for report in reports:
        tally = tally.add(report)
    before = tally.to_json()
    strangers = [
        Report(question="0" * 64, value=reports[0].value),
        Report(question=reports[0].question, value=value),
        Report(question=reports[0].question, window=value, value=reports[0].value),
    ]
    for stranger in strangers:
        try:
            after = tally.add(stranger)
        except RejectedReport:
            assert tally.to_json() == before
        else:
            assert after.reports == tally.reports + 1
            assert tally.to_json() == before


@given(st.data())
def test_damaged_tallies_never_lead_a_study_on_in_silence(data):
    """A tally that was damaged is refused, or is a possible tally: then the study goes on without a crash."""
    plan = plan_from_json(data.draw(st.sampled_from(PLANS)))
    question = dame.questions(plan)[0]
    reports = [3] * question.lens.window_count
    document = data.draw(damaged(Tally.zero(question).to_json() | {"reports": reports}))
    tally = read(Tally.from_json, document)
    # The tally brings its question along, which may be damaged, too: of this study and slot it is, or it is refused.
    questions = None if tally is None else read(dame.questions, plan, [tally])
    assert questions is None or all(question.alpha == plan.alpha for question in questions)


@given(json_values)
def test_any_json_is_no_question(document):
    with pytest.raises(InvalidInput):
        question_from_json(document)


# --- what fuzzing found: kept as plain tests


def test_half_a_character_is_no_name():
    with pytest.raises(InvalidInput, match="participant"):
        slot_of("study", [0.5, 0.5], "\ud800")


def test_a_plan_names_no_file(tmp_path):
    """A plan comes from outside: reading it must not open a file that it names, nor show what is in it."""
    counts = tmp_path / "counts.csv"
    counts.write_text("3\n5\n")
    assert Sizes.parse(f"counts:{counts}").smallest == 3
    for text in (f"counts:{counts}", "counts:/nonexistent"):
        with pytest.raises(InvalidInput, match="not the name of a file"):
            plan_from_json(_with_sizes(PLANS[0], text))


def _with_sizes(document, text):
    spoilt = json.loads(json.dumps(document))
    spoilt["targets"][0]["machines"][0]["sizes"] = text
    return spoilt
