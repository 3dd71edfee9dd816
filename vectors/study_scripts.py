"""Scripts of whole studies: people answer, reports are tallied, tallies lead on, up to the estimate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from dame.studies.codec import plan_to_json
from dame.studies.plans import Plan
from dame.studies.running import next as next_step
from dame.tally import Tally
from vectors.collecting import merge_operation, next_operation, plan_operation, tally_operation, tally_outcome
from vectors.outcomes import Document, answer_operation
from vectors.spoilt import lacking

PEOPLE = 24
"""People in each round."""
EXTREMES = 5
"""Reports in each window, where everybody says the same."""


def study_document(name: str, plan: Plan) -> Document:
    """The script of one study, from its plan to its estimate."""
    document = plan_to_json(plan)
    questions: dict[str, object] = {}
    operations: list[Document] = []
    tallies: list[Tally] = []
    while isinstance(step := next_step(plan, tallies), Question):
        label = f"round-{len(tallies) + 1}"
        questions[label] = step.to_json()
        operations.append(_next(name, document, tallies))
        answers = _answers(label, step, 100 * len(tallies))
        reports = [bytes.fromhex(str(answer["expect"]["report"])) for answer in answers]  # type: ignore[index]
        operations += [*answers, *_collected(label, step, reports)]
        tallies.append(_tally(step, reports))
    operations += [
        _next(name, document, tallies),
        *_extreme_steps(name, plan),
        *_wrong_steps(name, document, tallies),
    ]
    return {"questions": questions, "plans": {name: document}, "operations": operations}


def _answers(label: str, question: Question, first_seed: int) -> list[Document]:
    source = random.Random(first_seed)
    value = narrowed(Value, question.statistic)
    middle, reach = value.low + 0.6 * (value.high - value.low), 0.3 * (value.high - value.low)
    answers = []
    for seed in range(first_seed, first_seed + PEOPLE):
        size = source.choice((1, 2, 9))
        records = [round(middle + reach * (2 * source.random() - 1), 3) for _ in range(size)]
        answers.append(answer_operation(label, question, records, seed))
    return answers


def _collected(label: str, question: Question, reports: Sequence[bytes]) -> list[Document]:
    """The tally of the reports and two that are refused; and the same reports, tallied in three places."""
    halves = [reports[: PEOPLE // 2], reports[PEOPLE // 2 :], []]
    return [
        tally_operation(label, question, [*reports, reports[0][:-1], bytes(8) + reports[0][8:]]),
        merge_operation([_tally(question, half).to_json() for half in halves]),
    ]


def _tally(question: Question, reports: Sequence[bytes]) -> Tally:
    return Tally.from_json(tally_outcome(question, reports)["tally"])


def _next(name: str, plan: Document, tallies: Sequence[Tally]) -> Document:
    return next_operation(name, plan, [tally.to_json() for tally in tallies])


# --- what can happen


def _extreme_steps(name: str, plan: Plan) -> list[Document]:
    """Studies in which every round goes to an extreme: nobody answers, or all say the same."""
    steps = []
    for choice in range(4):
        tallies: list[Tally] = []
        while isinstance(question := next_step(plan, tallies), Question):
            tallies.append(extreme_tallies(question)[choice])
            if len(tallies) < len(plan.only.rounds):
                steps.append(_next(name, plan_to_json(plan), tallies))
        steps.append(_next(name, plan_to_json(plan), tallies))
    return steps


def extreme_tallies(question: Question) -> list[Tally]:
    """Nobody answers; or everybody says the smallest value, the largest, or one in the middle."""
    low, high = question.channel.values
    entries = [question.channel.entries(value) for value in (low, high, (low + high + 1) // 2)]
    all_alike = [[(EXTREMES, [EXTREMES * entry for entry in each])] * question.lens.window_count for each in entries]
    return [Tally.zero(question), *(Tally.of(question, windows) for windows in all_alike)]


# --- what must be refused


def _wrong_steps(name: str, plan: Document, tallies: Sequence[Tally]) -> list[Document]:
    """Tallies of other studies, in another order, that cannot be, or are too many."""
    good = [tally.to_json() for tally in tallies]
    first, asked = good[0], tallies[0].question
    others = [
        replace(asked, study="another"), replace(asked, target="another"), replace(asked, round=asked.round + 1),
        replace(asked, alpha=asked.alpha * 2), replace(asked, statistic=Value(low=0.0, high=7.0)),
    ]  # fmt: skip
    wrong: list[list[object]] = [
        *([first | {"question": other.to_json()}] for other in others),
        [first | {"question": "0" * 64}], [first | {"sums": [[10**9]] * len(tallies[0].windows)}],
        [first | {"reports": []}], [{}], [[]], [*good, good[-1]],
    ]  # fmt: skip
    if len(good) > 1:
        wrong += [good[1:], [good[0], good[0]]]
    return [next_operation(name, plan, documents) for documents in wrong]


def plan_script(plans: Sequence[Plan]) -> list[Document]:
    """Plans that are read and written again, and plans that must be refused."""
    documents = [plan_to_json(plan) for plan in plans]
    # One round more than a protocol has, and of a kind that `adaptive` has not.
    last = _machine_of(documents[0])["rounds"][-1]
    longer = [_with(document, {"rounds": [*_machine_of(document)["rounds"], last]}) for document in documents]
    wrong = [*_wrong_plans(documents[0]), *longer]
    return [plan_operation(document) for document in (*documents, *wrong, {}, [], "paper", None)]


def _machine_of(plan: Document) -> dict[str, Any]:
    """The only machine of a plan."""
    return plan["targets"][0]["machines"][0]  # type: ignore[index, no-any-return]


def _with(plan: Document, change: Document) -> Document:
    """The document of a plan with other fields in its machine, and in what is shown of that beside."""
    return _with_machine(
        plan | {key: value for key, value in change.items() if key in plan}, _machine_of(plan) | change
    )


def _with_machine(plan: Document, machine: Document) -> Document:
    target = plan["targets"][0]  # type: ignore[index]
    return plan | {"targets": [target | {"machines": [machine]}]}


def _wrong_plans(plan: Document) -> list[Document]:
    header: list[Document] = [
        {"alpha": 64.0}, {"version": 2}, {"extra": 1}, {"users": 0}, {"users": 49}, {"study": ""}, {"group": 7},
        {"targets": []}, {"targets": None}, {"targets": [{}]}, {"protocol": "kent"}, {"predicted_rmse": 0.5},
    ]  # fmt: skip
    changes: list[Document] = [
        {"protocol": "guess"}, {"protocol": None}, {"protocol_version": 2}, {"protocol_version": 0},
        {"protocol_version": "1"}, {"sizes": "nonsense:1"}, {"sizes": "counts:/etc/hosts"}, {"extra": 1},
        {"rounds": []}, {"rounds": [{}]}, {"rounds": None}, {"users": 0}, {"name": ""}, {"name": "other"},
        {"statistic": Value(low=0.0, high=7.0).to_json()}, {"statistic": None}, {"between_sd": "much"},
        {"weights": "none"}, {"frontier_ratio": 2.5},
    ]  # fmt: skip
    target = plan["targets"][0]  # type: ignore[index]
    targets: list[Document] = [
        {"kind": "mode"}, {"bounds": [1.0, 0.0]}, {"bounds": [0.0, 7.0]}, {"column": "other"}, {"name": "a/b"},
        {"machines": []}, {"machines": [*target["machines"], *target["machines"]]}, {"weight": 0.0}, {"present": 0.5},
    ]  # fmt: skip
    rounds = _machine_of(plan)["rounds"]
    spoilt: list[Document] = [{"share": 0.0}, {"lens": {"kind": "stripe"}}, {"channel": None}, {"half_width": 1.0}]
    first = [{"rounds": [rounds[0] | change, *rounds[1:]]} for change in spoilt]
    return [
        *(plan | change for change in header),
        *(_with(plan, change) for change in (*changes, *first)),
        *(plan | {"targets": [target | change]} for change in targets),
        *lacking(plan)[:5],
        *(_with_machine(plan, machine) for machine in lacking(_machine_of(plan))),
    ]
