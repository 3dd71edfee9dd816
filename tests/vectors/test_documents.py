"""Documents of whole studies that earlier releases wrote: this one reads them, goes on from them and finishes them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache, singledispatch

import pytest

from dame.device.channels import Bits
from dame.device.lenses import Bins, Lens, SizeClasses, Window, Windows
from dame.device.questions import Question, question_from_json
from dame.device.reports import Report
from dame.device.stripes import Stripes
from dame.errors import InvalidInput, Mismatch
from dame.estimates import Estimate
from dame.protocols import PROTOCOLS
from dame.studies.codec import plan_from_json, plan_to_json
from dame.studies.plans import Plan
from dame.studies.results import Result
from dame.studies.running import next as next_step
from dame.studies.running import questions, result
from dame.tally import Tally
from vectors.kept import FOLDER, SEVERAL, documents, reports_on, tally_of

NAMES = sorted(path.name for path in FOLDER.iterdir() if path.name != SEVERAL)
CLOSE = 1e-9


@cache
def stored(name: str) -> dict:
    """The documents of a study by their names."""
    return {path.stem: json.loads(path.read_text(encoding="ascii")) for path in sorted((FOLDER / name).glob("*.json"))}


def numbered(name: str, what: str) -> list:
    """The documents of all rounds, first round first."""
    titles = [title for title in stored(name) if title.startswith(f"{what}-")]
    return [stored(name)[title] for title in sorted(titles, key=lambda title: int(title.split("-")[1]))]


def plan_of(name: str) -> Plan:
    return plan_from_json(stored(name)["plan"])


def history_of(name: str) -> list[Tally]:
    return [Tally.from_json(document) for document in numbered(name, "tally")]


# --- reading


def test_there_is_a_study_of_every_version_of_every_protocol():
    kept = {(plan_of(name).only.protocol, plan_of(name).only.protocol_version) for name in NAMES}
    assert kept == {(name, version) for name, protocol in PROTOCOLS.items() for version in protocol.versions}


def test_adaptive_has_a_study_for_each_way_to_ask():
    asked = [[question["lens"] for question in numbered(name, "question")] for name in NAMES if "adaptive" in name]
    begins = {(lenses[0]["kind"], len(lenses[0].get("windows", [0]))) for lenses in asked}
    assert begins == {("bins", 1), ("windows", 1), ("size-classes", 1), ("windows", 8)}


@pytest.mark.parametrize("name", NAMES)
def test_plans_and_questions_are_read_and_written_again(name):
    assert plan_to_json(plan_of(name)) == stored(name)["plan"]
    questions = numbered(name, "question")
    assert [question_from_json(document).to_json() for document in questions] == questions
    assert len(questions) == len(plan_of(name).slots)


@pytest.mark.parametrize("name", NAMES)
def test_reports_are_decoded_and_have_the_tallies_that_are_kept(name):
    rounds = zip(*(numbered(name, what) for what in ("question", "reports", "tally")), strict=True)
    for asked, reports, tally in rounds:
        question = question_from_json(asked)
        decoded = [Report.decode(question, bytes.fromhex(text)) for text in reports]
        assert tally_of(question, decoded) == Tally.from_json(tally)
        assert Tally.from_json(tally).to_json() == tally
        assert tally["question"] == asked


def test_a_plan_of_a_version_that_is_not_known_is_refused_in_one_sentence():
    document = json.loads(json.dumps(stored("paper-1")["plan"]))
    document["targets"][0]["machines"][0]["protocol_version"] = 99
    sentence = r"^protocol_version must be one that this release knows of paper: 1, not 99$"
    with pytest.raises(InvalidInput, match=sentence):
        plan_from_json(document)


# --- going on


@pytest.mark.parametrize("name", NAMES)
def test_after_each_round_there_is_a_next_step(name):
    plan, history = plan_of(name), history_of(name)
    for done in range(len(history)):
        step = next_step(plan, history[:done])
        assert isinstance(step, Question)
        assert (step.study, step.slot, step.alpha) == (plan.study, plan.slots[done], plan.alpha)


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_is_the_one_that_is_kept(name):
    """Another version may read the same answers better: then it says here by how much."""
    result, kept = next_step(plan_of(name), history_of(name)), stored(name)["result"]
    assert isinstance(result, Result)
    found = result.to_json()
    assert found.keys() >= kept.keys()  # later versions may tell more
    for key in ("estimate", "standard_error", "interval"):
        assert found[key] == pytest.approx(kept[key], rel=CLOSE, abs=CLOSE)
    assert found["users"] == kept["users"]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_finished_from_any_round(name):
    plan, history = plan_of(name), history_of(name)
    kept = stored(name)["result"]
    for done in range(len(history)):
        estimate = finished(plan, history[:done])
        assert estimate.users == tuple(kept["reports"])
        # The other rounds have other coins at most.
        assert abs(estimate.value - kept["estimate"]) < 6 * math.hypot(estimate.standard_error, kept["standard_error"])


def finished(plan: Plan, history: list[Tally]) -> Estimate:
    """The estimate after the rounds that are left, asked as this release asks them."""
    while not isinstance(step := next_step(plan, history), Result):
        history = [*history, tally_of(step, reports_on(plan, step))]
    return step.only


# --- questions that this release would not ask


@singledispatch
def with_other_constants(lens: Lens, asked: Question) -> Question:
    """The question that another release might have asked."""
    raise NotImplementedError


@with_other_constants.register
def _bins(lens: Bins, asked: Question) -> Question:
    bins = lens.bins + 2
    finer = replace(lens, bins=bins, width=lens.width * lens.bins / bins)
    channel = Bits.symmetric(asked.alpha, bins, marks=2 * lens.neighbours + 1)
    return replace(asked, lens=finer, channel=channel)


@with_other_constants.register
def _classes(lens: SizeClasses, asked: Question) -> Question:
    classes = lens.classes - 2
    return replace(asked, lens=SizeClasses(classes=classes), channel=Bits.optimised(asked.alpha, classes))


@with_other_constants.register
def _windows(lens: Windows, asked: Question) -> Question:
    scaled = [Window(*(end * 0.98 for end in window)) for window in lens.windows]
    return replace(asked, lens=replace(lens, windows=tuple(scaled)))


@with_other_constants.register
def _stripes(lens: Stripes, asked: Question) -> Question:
    scaled = [level._replace(wavelength=level.wavelength * 1.02) for level in lens.levels]
    return replace(asked, lens=Stripes(levels=tuple(scaled)))


@pytest.mark.parametrize("name", NAMES)
def test_a_study_whose_questions_had_other_constants_is_finished(name):
    plan, kept = plan_of(name), stored(name)["result"]
    for asked_by_others in range(1, len(plan.slots) + 1):
        history: list[Tally] = []
        while len(history) < asked_by_others:
            ours = next_step(plan, history)
            assert isinstance(ours, Question)
            other = with_other_constants(ours.lens, ours)
            assert other.lens != ours.lens
            history.append(tally_of(other, reports_on(plan, other)))
        estimate = finished(plan, history)
        assert estimate.users == tuple(kept["reports"])
        assert abs(estimate.value - kept["estimate"]) < 6 * math.hypot(estimate.standard_error, kept["standard_error"])


@pytest.mark.parametrize("name", NAMES)
def test_questions_of_another_study_are_not_taken_for_those_of_the_plan(name):
    plan, first = plan_of(name), history_of(name)[0].question
    others = {"tally 1 does not belong": {"study": "another"}, "no round of this plan": {"target": "another"}}
    for says, change in others.items():
        other = replace(first, **change)
        with pytest.raises(Mismatch, match=says):
            next_step(plan, [Tally.zero(other)])


# --- several targets


def test_a_study_of_several_targets_is_read_and_its_result_is_the_one_that_is_kept():
    plan, history, kept = plan_of(SEVERAL), history_of(SEVERAL), stored(SEVERAL)["result"]
    assert plan_to_json(plan) == stored(SEVERAL)["plan"]
    assert {planned.target.kind for planned in plan.targets} == {"mean", "share", "sd"}
    found = result(plan, history).to_json()
    for ours, theirs in zip(found["targets"], kept["targets"], strict=True):
        assert (ours["name"], ours["kind"], ours["users"]) == (theirs["name"], theirs["kind"], theirs["users"])
        for key in ("estimate", "standard_error", "interval"):
            assert ours[key] == pytest.approx(theirs[key], rel=CLOSE, abs=CLOSE)


def test_a_study_of_several_targets_goes_on_from_any_tallies():
    plan, history = plan_of(SEVERAL), history_of(SEVERAL)
    for done in range(0, len(history), 3):
        some = history[:done]
        while open_ := questions(plan, some):
            some = [*some, *(tally_of(question, reports_on(plan, question)) for question in open_)]
        for ours, theirs in zip(result(plan, some).targets, stored(SEVERAL)["result"]["targets"], strict=True):
            error = math.hypot(ours.estimate.standard_error, theirs["standard_error"])
            assert abs(ours.estimate.value - theirs["estimate"]) < 6 * error


# --- the script that wrote them


def test_the_script_writes_documents_of_this_kind():
    """What it would write today, for a plan that is kept: the same documents, whatever they say."""
    name = "duchi-1"
    assert documents(plan_of(name)).keys() == stored(name).keys()
