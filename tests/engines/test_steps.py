"""Studies by files: from tallies in any order, of any number of sites, to the next step."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

import dame
from dame.device.questions import Question
from dame.device.statistics import Value
from dame.engines.answers import Addressed
from dame.engines.steps import added_notes, step_after, tallies_from, tallies_to_json
from dame.engines.study import carry_out
from dame.errors import InvalidInput, Mismatch
from dame.protocols import EVERYBODY, protocol_named
from dame.studies.results import Result
from tests.engines.other_constants import asked_otherwise
from tests.engines.questions import plans
from tests.engines.test_answers import many

Ask = Callable[[Question], Question]


def as_it_is(question: Question) -> Question:
    """The question of today's constants."""
    return question


def documents(protocol: str, sites: int, ask: Ask = as_it_is) -> tuple[dame.Plan, list[dict], Result]:
    """The tallies of a whole study at several sites, and the result."""
    plan, crowd = plans(900)[protocol], many(900)
    parts = [crowd.chosen(np.arange(900) % sites == site) for site in range(sites)]
    listed: list[dict] = []
    step = step_after(plan, listed)
    while not isinstance(step, Result):
        (question,) = step
        addressed = Addressed.in_slot(plan, ask(question), seed=3)
        listed += [json.loads(json.dumps(addressed.tallies(part)[EVERYBODY].to_json())) for part in parts]
        step = step_after(plan, listed)
    return plan, listed, step


@pytest.mark.parametrize("protocol", ["adaptive", "paper", "duchi"])
def test_sites_and_orders_do_not_matter(protocol: str) -> None:
    plan, alone, estimate = documents(protocol, 1)
    _, listed, same = documents(protocol, 3)
    assert same == estimate
    for order in itertools.islice(itertools.permutations(listed), 0, 200, 37):
        assert step_after(plan, order) == estimate
    noted = [{**document, "files": 2, "rejected": {"duplicate": 1}} for document in alone]
    assert step_after(plan, noted) == estimate


def test_first_question() -> None:
    plan = plans(900)["paper"]
    assert step_after(plan, []) == (dame.first(plan),)


class TestWhatDoesNotBelong:
    """Tallies that no study by this plan could have."""

    def test_a_round_without_the_one_before(self) -> None:
        plan, listed, _ = documents("paper", 2)
        with pytest.raises(Mismatch, match="a tally of round 2 of target 'mean', but none of round 1"):
            step_after(plan, listed[2:])

    def test_two_questions_for_one_slot(self) -> None:
        plan, listed, _ = documents("adaptive", 1)
        _, others, _ = documents("adaptive", 1, asked_otherwise)
        with pytest.raises(Mismatch, match="two different questions were asked in round 1"):
            step_after(plan, [*listed, others[0]])

    def test_a_slot_that_the_plan_has_not(self) -> None:
        plan, listed, _ = documents("paper", 1)
        for change in ({"target": "share"}, {"round": 2}):
            strange = {**listed[1], "question": {**listed[1]["question"], **change}}
            with pytest.raises(Mismatch, match="belongs to no round of this plan"):
                step_after(plan, [*listed, strange])

    @pytest.mark.parametrize("change", [{"study": "other"}, {"alpha": 1.6}, {"statistic": Value(low=-2.0).to_json()}])
    def test_another_header(self, change: dict[str, object]) -> None:
        plan, listed, _ = documents("paper", 1)
        strange = [{**one, "question": {**one["question"], **change}} for one in listed]
        with pytest.raises(Mismatch, match="tally 1 does not belong to round 1 of this plan"):
            step_after(plan, strange)

    def test_questions_of_another_protocol(self) -> None:
        plan, _, _ = documents("paper", 1)
        _, listed, _ = documents("duchi", 1)
        with pytest.raises(Mismatch, match="are not those of paper"):
            step_after(plan, listed)

    def test_documents_that_are_no_tallies(self) -> None:
        plan = plans(900)["paper"]
        for wrong in ({"reports": 1}, [], None, {"question": "an id", "reports": [1], "sums": [[1]]}):
            with pytest.raises(InvalidInput):
                step_after(plan, [wrong])


class TestOtherConstants:
    """What was asked is the question, whatever today's constants would ask."""

    @pytest.mark.parametrize("protocol", ["adaptive", "paper", "duchi", "one-bit"])
    @pytest.mark.parametrize("rounds", [1, 2, 9])
    def test_a_study_that_began_under_others_finishes(self, protocol: str, rounds: int) -> None:
        """Its first rounds ran under other constants; today's go on from there, and find the mean."""
        plan, listed, estimate = documents(protocol, 2, _first(rounds))
        asked = [tallies_from(document)[EVERYBODY].question for document in listed[::2]]
        assert [question.round for question in asked] == list(range(len(plan.slots)))
        assert asked[0] != dame.first(plan)
        _, _, undisturbed = documents(protocol, 1)
        (low, high), found = undisturbed.only.interval, estimate.only
        assert abs(found.value - undisturbed.only.value) < high - low
        assert found.interval[0] <= many(900).of(Value())[1].mean() <= found.interval[1]

    def test_no_earlier_question_is_worked_out_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plan, listed, estimate = documents("adaptive", 1)
        seen: list[int] = []
        protocol = protocol_named("adaptive")
        ask = type(protocol).question
        monkeypatch.setattr(
            type(protocol), "question", lambda self, *given: seen.append(len(given[1])) or ask(self, *given)
        )
        assert step_after(plan, listed) == estimate
        assert seen == []
        step_after(plan, listed[:-1])
        assert seen == [len(listed) - 1]

    def test_a_changed_tally_asks_other_questions(self) -> None:
        plan, listed, _ = documents("adaptive", 1)
        none = {**listed[0], "sums": [[0] * len(sums) for sums in listed[0]["sums"]]}
        assert step_after(plan, listed[:1]) != step_after(plan, [none])


def _first(rounds: int) -> Ask:
    return lambda question: asked_otherwise(question) if question.round < rounds else question


def test_notes() -> None:
    noted = [{"files": 2, "rejected": {"range": 1, "duplicate": 2}}, {"files": 1, "rejected": {"range": 4}}, {}]
    assert added_notes(noted) == {"files": 3, "rejected": {"duplicate": 2, "range": 5}}
    for wrong in ({"files": -1}, {"rejected": {"range": "many"}}, {"rejected": {"odd": 1}}, {"rejected": 3}):
        with pytest.raises(InvalidInput):
            added_notes([wrong])


def test_tallies_from() -> None:
    plan, listed, _ = documents("duchi", 1)
    assert tallies_from({**listed[0], "files": 1})[EVERYBODY].to_json() == listed[0]
    assert listed[0]["question"] == dame.first(plan).to_json()
    for wrong in ({**listed[0], "strange": 1}, []):
        with pytest.raises(InvalidInput):
            tallies_from(wrong)
    ((outcome,),) = carry_out(plan, _Everybody(), seed=3)
    assert outcome.tallies[0].to_json() == listed[0]


def test_tallies_by_group() -> None:
    question = dame.first(plans(900)["duchi"])
    by_site = {"a": Addressed(question=question, seed=1), "b": Addressed(question=question, seed=2)}
    tallies = {name: addressed.tallies(many(50))[EVERYBODY] for name, addressed in by_site.items()}
    document = json.loads(json.dumps(tallies_to_json(tallies)))
    assert tallies_from(document) == tallies
    assert document["reports"] == [100]
    part = document["groups"]["a"]
    for groups in ({}, [], {"a": part}, {"a": part, "b": None}, {"a": part, "b": {**part, "more": 1}}, {"": part}):
        with pytest.raises(InvalidInput):
            tallies_from({**document, "groups": groups})


class _Everybody:
    """The least that an engine must be."""

    def tallies(self, addressed: Sequence[Addressed]) -> list[dict[str, dame.Tally]]:
        return [one.tallies(many(900)) for one in addressed]


def test_a_question_for_another_slot_is_another_question() -> None:
    plan = plans(900)["paper"]
    question = dame.first(plan)
    assert Addressed.in_slot(plan, question) != Addressed.in_slot(plan, replace(question, round=1))
