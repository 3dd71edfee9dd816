"""One round over the whole range: every user reports her mean once, and counts once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dame.device.questions import Measure, Question
from dame.device.randomisers import DiscreteLaplace, OneBit
from dame.estimates import Estimate, estimate_from_reading, read_measure
from dame.planning.plans import Brief, MeasureRound, Plan
from dame.protocols.base import Protocol, forecast
from dame.tally import Tally


class WholeRange(Protocol):
    """A single `Measure` on [-1, 1] with equal weights; the noise is what its children choose."""

    kinds = ((MeasureRound,),)

    def noise(self, alpha: float) -> OneBit | DiscreteLaplace:
        """The randomiser that spends α."""
        raise NotImplementedError

    def plan(self, brief: Brief, **choices: Any) -> Plan:
        """One round for everybody; the error is predicted for the hardest law, fair records of -1 and 1."""
        noise = self.noise(brief.alpha)
        mse = risk_alone(noise, brief.users)
        ask = MeasureRound.everybody_alike("measure", 1.0, noise, mse)
        return Plan(protocol=self.name, brief=brief, rounds=(ask,), forecast=forecast(brief, mse))

    def question(self, plan: Plan, tallies: Sequence[Tally]) -> Question:
        """The one question."""
        (only,) = plan.rounds
        assert isinstance(only, MeasureRound)
        return only.ask(plan.brief, 0, centre=0.0)

    def estimate(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        """The debiased mean of the reports."""
        (tally,) = tallies
        return read_alone(plan, tally)


def risk_alone(noise: OneBit | DiscreteLaplace, users: float) -> float:
    """The mean squared error of one round over the whole range, for the hardest law: fair records of -1 and 1."""
    return (4 * noise.variance(0.5) + (isinstance(noise, DiscreteLaplace) and 1.0)) / users


def read_alone(plan: Plan, tally: Tally) -> Estimate:
    """What a first round over the whole range says by itself."""
    first = plan.rounds[0]
    assert isinstance(first, MeasureRound)
    assert isinstance(tally.question, Measure)
    reading = read_measure(tally, first.gain(plan.brief, tally.question))
    return estimate_from_reading(reading, [tally.reports])
