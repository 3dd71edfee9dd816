"""Scripts of whole studies: people answer, reports are tallied, tallies lead on, up to the estimate."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dame.audit.cases import outcomes
from dame.device.questions import Measure, Question
from dame.device.randomisers import DiscreteLaplace, OneBit, UnaryCode
from dame.device.reports import value_range
from dame.estimates import Estimate
from dame.planning.codec import plan_to_json
from dame.planning.plans import Brief, Forecast, MeasureRound, Plan, VoteRound
from dame.protocols import next as next_step
from dame.sizes import Sizes
from dame.tally import Tally
from vectors.outcomes import (
    Document,
    answer_operation,
    merge_outcome,
    next_outcome,
    outcome,
    plan_outcome,
    tally_outcome,
)

PEOPLE = 24
"""People in each round."""
FORECAST = Forecast(
    predicted_rmse=0.125, predicted_rmse_with_failures=0.25, failure_probability=0.0625, limit_mse=0.001,
    lower_bound=1e-7, upper_bound=4.0,
)  # fmt: skip


def plans() -> dict[str, Plan]:
    """A plan of each protocol, fixed by hand: the arithmetic of planners is no part of the vectors."""
    brief = Brief(users=48, alpha=1.0, sizes=Sizes.parse("uniform:1:6"), low=0.0, high=8.0, study="vectors-study")
    strong = Brief(users=72, alpha=3.0, sizes=Sizes.parse("two-point:2:9:0.5"), study="vectors-adaptive")
    vote = VoteRound(
        name="locate", share=0.5, bins=7, width=0.3, neighbours=1, min_size=2, voters=5 / 6,
        code=UnaryCode.symmetric(1.0, marks=3),
    )  # fmt: skip
    window = MeasureRound(name="measure", share=0.5, half_width=1.4, cap=2.0, noise=DiscreteLaplace.spending(1.0))
    details = {"m_tilde": 2, "tau": 0.15, "bins": 7, "phi": 0.75}
    whole = MeasureRound(name="measure", share=1.0, half_width=1.0, cap=1.0, noise=DiscreteLaplace.spending(1.0))
    bit = MeasureRound(name="measure", share=1.0, half_width=1.0, cap=1.0, noise=OneBit.spending(1.0))
    return {
        "paper": Plan(
            protocol="paper", brief=brief, rounds=(vote, window), forecast=FORECAST, details=details, notes=("a note",)
        ),
        "kent": Plan(protocol="kent", brief=brief, rounds=(vote, window), forecast=FORECAST, details=details),
        "duchi": Plan(protocol="duchi", brief=brief, rounds=(whole,), forecast=FORECAST),
        "one-bit": Plan(protocol="one-bit", brief=brief, rounds=(bit,), forecast=FORECAST),
        "adaptive": Plan(
            protocol="adaptive", brief=strong, rounds=_adaptive_rounds(), forecast=FORECAST,
            details={"frontier_ratio": 2.5},
        ),
    }  # fmt: skip


def _adaptive_rounds() -> tuple[VoteRound | MeasureRound, ...]:
    bits = OneBit.spending(3.0)
    return (
        VoteRound(
            name="locate", share=0.25, bins=6, width=0.35, neighbours=0, min_size=9, voters=0.5,
            code=UnaryCode.optimised(3.0),
        ),
        MeasureRound(
            name="refine", share=0.25, half_width=2.5, cap=None, fitted=True, error_after=0.1, noise=bits,
        ),
        MeasureRound(
            name="finish", share=0.5, half_width=1.5, cap=9.0, fitted=True, dither=0.2, error_after=0.05, noise=bits,
        ),
    )  # fmt: skip


def study_document(name: str, plan: Plan) -> Document:
    """The script of one study, from its plan to its estimate."""
    document = plan_to_json(plan)
    operations: list[Document] = [{"op": "plan", "document": document, "expect": plan_outcome(document)}]
    questions: dict[str, object] = {}
    tallies: list[Tally] = []
    while not isinstance(step := next_step(plan, tallies), Estimate):
        label = f"round-{len(tallies) + 1}"
        questions[label] = step.to_json()
        operations.append(_next(name, document, tallies))
        answers = _answers(label, step, 100 * len(tallies))
        reports = [str(answer["expect"]["report"]) for answer in answers]  # type: ignore[index]
        operations += [*answers, _tally(label, step, reports), _merge(label, step, reports)]
        tallies.append(Tally.from_json(tally_outcome(step, list(map(bytes.fromhex, reports)))["tally"], step))
    operations += [_next(name, document, tallies), *_extreme_steps(name, plan), *_bad_steps(name, document, tallies)]
    return {"questions": questions, "plans": {name: document}, "operations": operations}


def _answers(label: str, question: Question, first_seed: int) -> list[Document]:
    source = random.Random(first_seed)
    answers = []
    for seed in range(first_seed, first_seed + PEOPLE):
        size = source.choice((1, 2, 9))
        middle = question.low + 0.6 * (question.high - question.low)
        reach = 0.3 * (question.high - question.low)
        records = [round(middle + reach * (2 * source.random() - 1), 3) for _ in range(size)]
        answers.append(answer_operation(label, question, records, seed))
    return answers


def _tally(label: str, question: Question, reports: Sequence[str]) -> Document:
    mixed = [*reports, reports[0][:-2], "00" * 8 + reports[0][16:]]
    expect = tally_outcome(question, list(map(bytes.fromhex, mixed)))
    return {"op": "tally", "question": label, "reports": mixed, "expect": expect}


def _merge(label: str, question: Question, reports: Sequence[str]) -> Document:
    halves = [reports[: PEOPLE // 2], reports[PEOPLE // 2 :], []]
    parts = [tally_outcome(question, list(map(bytes.fromhex, half)))["tally"] for half in halves]
    return {"op": "merge", "question": label, "tallies": parts, "expect": merge_outcome(question, parts)}


def _next(name: str, plan: Document, tallies: Sequence[Tally]) -> Document:
    documents = [tally.to_json() for tally in tallies]
    return _next_of(name, plan, documents)


def _next_of(name: str, plan: Document, documents: Sequence[object]) -> Document:
    expect = outcome(lambda: next_outcome(plan, documents))
    return {"op": "next", "plan": name, "tallies": list(documents), "expect": expect}


def _extreme_steps(name: str, plan: Plan) -> list[Document]:
    """Studies in which every round goes to an extreme: nobody answers, or all reports lie at one end."""
    steps = []
    for choice in range(4):
        tallies: list[Tally] = []
        while not isinstance(question := next_step(plan, tallies), Estimate):
            extremes = _extreme_tallies(question)
            tallies.append(extremes[choice % len(extremes)])
            steps.append(_next(name, plan_to_json(plan), tallies))
    return steps


def _extreme_tallies(question: Question) -> list[Tally]:
    if not isinstance(question, Measure) or isinstance(question.noise, OneBit):
        return [tally for _, tally in outcomes(question)]
    ends = [Tally(question=question, reports=5, sums=(5 * end, 5 * end * end)) for end in value_range(question)]
    return [Tally.zero(question), *ends]


def _bad_steps(name: str, plan: Document, tallies: Sequence[Tally]) -> list[Document]:
    """Tallies that do not belong, cannot be, or are too many; and plans that cannot be read."""
    good = [tally.to_json() for tally in tallies]
    first = good[0]
    swapped = [first | {"question": "0" * 64}]
    impossible = [first | {"sums": [10**9] * len(tallies[0].sums)}]
    short = [first | {"sums": []}]
    wrong = [swapped, impossible, short, [first | {"reports": -1}], [{}], [[]], [*good, good[-1]]]
    broken = [
        plan | {"alpha": 64.0}, plan | {"rounds": []}, plan | {"protocol": "guess"}, plan | {"version": 2},
        plan | {"sizes": "nonsense:1"}, plan | {"extra": 1}, plan | {"bounds": [1.0, 0.0]}, {},
    ]  # fmt: skip
    return [
        *(_next_of(name, plan, documents) for documents in wrong),
        *({"op": "plan", "document": one, "expect": outcome(lambda d=one: plan_outcome(d))} for one in broken),
    ]
