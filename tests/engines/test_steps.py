"""Studies by files: from tallies in any order, of any number of sites, to the next step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dame
from dame.device.questions import Question, question_id
from dame.engines.answers import Asked
from dame.engines.steps import added_notes, step_after, tally_from
from dame.engines.study import play
from dame.errors import InvalidInput, Mismatch
from dame.estimates import Estimate
from tests.engines.questions import plans
from tests.engines.test_answers import many


def documents(protocol: str, sites: int) -> tuple[dame.Plan, list[dict], Estimate]:
    """The tallies of a whole study at several sites, and the estimate."""
    plan, crowd = plans(900)[protocol], many(900)
    parts = [crowd.chosen(np.arange(900) % sites == site) for site in range(sites)]
    listed: list[dict] = []
    step = step_after(plan, listed)
    while not isinstance(step, Estimate):
        listed += [Asked.in_round(plan, step, seed=3).tally(part).to_json() for part in parts]
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
    assert step_after(plan, []) == dame.first(plan)


def test_tallies_that_do_not_belong() -> None:
    plan, listed, _ = documents("paper", 2)
    with pytest.raises(Mismatch, match="2 of the tallies belong to no round"):
        step_after(plan, listed[2:])
    with pytest.raises(InvalidInput, match="names its question"):
        step_after(plan, [{"reports": 1}])


def test_a_changed_tally_asks_other_questions() -> None:
    plan, listed, _ = documents("adaptive", 2)
    changed = {**listed[0], "sums": [0 for _ in listed[0]["sums"]]}
    with pytest.raises(Mismatch, match="missing or different"):
        step_after(plan, [changed, *listed[1:]])


def test_notes() -> None:
    noted = [{"files": 2, "rejected": {"range": 1, "duplicate": 2}}, {"files": 1, "rejected": {"range": 4}}, {}]
    assert added_notes(noted) == {"files": 3, "rejected": {"duplicate": 2, "range": 5}}
    for wrong in ({"files": -1}, {"rejected": {"range": "many"}}, {"rejected": {"odd": 1}}, {"rejected": 3}):
        with pytest.raises(InvalidInput):
            added_notes([wrong])


def test_tally_from() -> None:
    plan, listed, _ = documents("duchi", 1)
    question = dame.first(plan)
    assert tally_from({**listed[0], "files": 1}, question).to_json() == listed[0]
    assert listed[0]["question"] == question_id(question)
    with pytest.raises(InvalidInput):
        tally_from({**listed[0], "strange": 1}, question)
    with pytest.raises(InvalidInput):
        tally_from([], question)
    (played,) = play(plan, _Everybody(), seed=3)
    assert played.tallies[0].to_json() == listed[0]


class _Everybody:
    """The least that an engine must be."""

    def tallies(self, asked: list[Asked]) -> list[dame.Tally]:
        return [one.tally(many(900)) for one in asked]


def test_questions_are_questions() -> None:
    assert isinstance(step_after(plans(900)["adaptive"], []), Question)
