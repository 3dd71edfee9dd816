"""What the conformance suite plays every protocol with: plans, populations, tallies, and a drive to the estimate."""

from __future__ import annotations

import json
import math
from functools import lru_cache

import pytest
from hypothesis import strategies as st

import dame
from dame.device.questions import Question
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.protocols import PROTOCOLS, plan_mean
from dame.protocols import next as next_step
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
) -> MachinePlan:
    return plan_mean(
        users=users, alpha=alpha, sizes=Sizes.parse(sizes), protocol=name, bounds=bounds, study="conformance"
    )


def population(law: str = LAW, sizes: str = SIZES) -> dame.Population:
    return dame.Population.synthetic(Sizes.parse(sizes), dame.parse_distribution(law))


def tally_of(question: Question, values: list[tuple[int, int, int]]) -> Tally:
    """The tally of reports given as (window, value, how many)."""
    tally = Tally.zero(question)
    for window, value, count in values:
        tally = tally.plus(window, count, [count * entry for entry in question.channel.entries(value)])
    return tally


def likely_tally(question: Question, reports: int) -> Tally:
    """A tally in which everything is half way: in each window half of the values are smallest, half largest."""
    windows = question.lens.window_count
    each, (low, high) = reports // windows, question.channel.values
    values = [(window, value, each // 2) for window in range(windows) for value in (low, high)]
    return tally_of(question, [*values, (0, low, reports - windows * 2 * (each // 2))])


@st.composite
def possible_tallies(draw: st.DrawFn, question: Question) -> Tally:
    """Any tally that reports can have, the silent and the extreme ones included."""
    low, high = question.channel.values
    counts = st.one_of(st.integers(0, 3), st.integers(0, 10**9))
    values = st.one_of(st.sampled_from([low, high]), st.integers(low, high))
    windows = st.integers(0, question.lens.window_count - 1)
    return tally_of(question, draw(st.lists(st.tuples(windows, values, counts), max_size=5)))


def check_estimate(estimate: Estimate, plan: MachinePlan) -> None:
    low, high = plan.brief.low, plan.brief.high
    assert low <= estimate.value <= high
    assert low <= estimate.interval[0] <= estimate.interval[1] <= high
    assert 0 <= estimate.standard_error < math.inf
    assert 0 <= estimate.failure_probability <= 1
    assert len(estimate.users) == len(plan.rounds)
    assert json.loads(json.dumps(estimate.to_json(), allow_nan=False))["estimate"] == estimate.value
    assert all(note.isprintable() for note in estimate.notes)


def drive(plan: MachinePlan, answers) -> tuple[list[Question], Estimate]:
    """Plays a plan with a function from questions to tallies; also checks the budget of each question."""
    tallies: list[Tally] = []
    questions: list[Question] = []
    while not isinstance(step := next_step(plan, tallies), Estimate):
        assert step.epsilon() <= plan.alpha
        assert (step.alpha, step.study, step.round) == (plan.alpha, plan.study, len(tallies))
        questions.append(step)
        tallies.append(answers(step))
    return questions, step
