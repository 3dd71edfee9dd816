"""What the conformance suite plays every protocol with: plans, populations, tallies, and a drive to the estimate."""

from __future__ import annotations

import itertools
import json
import math
from functools import lru_cache

import pytest
from hypothesis import strategies as st

import dame
from dame.device.questions import Question, Vote
from dame.device.randomisers import OneBit
from dame.device.reports import value_range
from dame.estimates import Estimate
from dame.planning.plans import Plan
from dame.protocols import PROTOCOLS
from dame.sizes import Sizes
from dame.tally import Tally

EXTREME_ALPHAS = (1e-6, 32.0)
FEW_USERS = (1, 2, 3)
SIZES = "two-point:3:100:0.5"
LAW = "beta:2:6"
SEED = 11

every_protocol = pytest.mark.parametrize("name", PROTOCOLS)


@lru_cache(maxsize=256)
def plan_of(
    name: str,
    users: int = 1001,
    alpha: float = 22 / 35,
    sizes: str = SIZES,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Plan:
    return dame.plan(
        users=users, alpha=alpha, sizes=Sizes.parse(sizes), protocol=name, bounds=bounds, study="conformance"
    )


def population(law: str = LAW, sizes: str = SIZES) -> dame.Population:
    return dame.Population.synthetic(Sizes.parse(sizes), dame.parse_law(law))


def likely_tally(question: Question, reports: int) -> Tally:
    """A tally in which everything is half way: half of the bits are ones, all noisy points stand in the middle."""
    half = reports // 2
    if isinstance(question, Vote):
        return Tally(question=question, reports=reports, sums=(half,) * question.bins)
    if isinstance(question.noise, OneBit):
        share = reports // question.arms, half // question.arms
        return Tally.of_arms(question, [share] * question.arms)
    middle = question.noise.steps // 2
    return Tally(question=question, reports=reports, sums=(middle * reports, middle * middle * reports))


@st.composite
def possible_tallies(draw: st.DrawFn, question: Question) -> Tally:
    """Any tally that reports can have, the silent and the extreme ones included."""
    reports = draw(st.one_of(st.integers(0, 3), st.integers(0, 10**9)))
    counts = st.one_of(st.integers(0, reports), st.sampled_from([0, reports, reports // 2]))
    if isinstance(question, Vote):
        few = draw(st.lists(counts, min_size=1, max_size=6))
        sums = tuple(few[place % len(few)] for place in range(question.bins))
    elif not isinstance(question.noise, OneBit):
        low, high = value_range(question)
        mean, most = draw(st.integers(low, high)), max(low * low, high * high)
        total = mean * reports
        squares = draw(st.integers(mean * mean * reports, most * reports)) if reports else 0
        sums = (total, squares)
    elif question.arms > 1:
        ends = sorted([0, *(draw(counts) for _ in range(question.arms - 1)), reports])
        users = [after - before for before, after in itertools.pairwise(ends)]
        sums = tuple(entry for count in users for entry in (count, draw(st.integers(0, count))))[1:]
    else:
        sums = (draw(counts),)
    return Tally(question=question, reports=reports, sums=sums)


def check_estimate(estimate: Estimate, plan: Plan) -> None:
    low, high = plan.brief.low, plan.brief.high
    assert low <= estimate.value <= high
    assert low <= estimate.interval[0] <= estimate.interval[1] <= high
    assert 0 <= estimate.standard_error < math.inf
    assert 0 <= estimate.failure_probability <= 1
    assert len(estimate.users) == len(plan.rounds)
    assert json.loads(json.dumps(estimate.to_json(), allow_nan=False))["estimate"] == estimate.value
    assert all(note.isprintable() for note in estimate.notes)


def drive(plan: Plan, answers) -> tuple[list[Question], Estimate]:
    """Plays a plan with a function from questions to tallies; also checks the budget of each question."""
    tallies: list[Tally] = []
    questions: list[Question] = []
    while not isinstance(step := dame.next(plan, tallies), Estimate):
        assert step.epsilon() <= plan.alpha
        assert (step.alpha, step.study, step.round) == (plan.alpha, plan.study, len(tallies))
        questions.append(step)
        tallies.append(answers(step))
    return questions, step
