"""One round over the whole range: every user reports her mean once, and counts once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from dame.device.channels import Channel
from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.estimates import Estimate, estimate_from, read_window
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round, mean_weight
from dame.protocols.base import Protocol, forecast
from dame.tally import Tally


class WholeRange(Protocol):
    """A single window on [-1, 1] with equal weights; the channel is what its children choose."""

    @abstractmethod
    def channel(self, alpha: float) -> Channel:
        """The channel that spends α."""

    @abstractmethod
    def risk(self, channel: Channel, users: float) -> float:
        """The mean squared error for the hardest distribution: fair records of -1 and 1."""

    def plan(self, brief: Brief, **choices: Any) -> MachinePlan:
        """One round for everybody; the error is predicted for the hardest distribution."""
        channel = self.channel(brief.alpha)
        mse = self.risk(channel, brief.users)
        ask = whole_range_round("measure", 1.0, channel, mse)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=(ask,),
            forecast=forecast(brief, mse),
        )

    def counts_everybody(self, plan: MachinePlan) -> bool:
        """Yes: the whole range is one window."""
        del plan
        return True

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The one question."""
        return plan.rounds[0].ask(plan.brief, 0)

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """The debiased mean of the reports."""
        return read_alone(plan.brief, history[0])


def whole_range_round(name: str, share: float, channel: Channel, squared_error: float = 1.0) -> Round:
    """A round over the whole range in which every user counts once, as if she had a single record."""
    after = min(squared_error**0.5, 1.0)
    return Round(name=name, share=share, lens=Windows.whole_range(), channel=channel, error_after=after)


def bit_risk(channel: Channel, users: float) -> float:
    """The mean squared error of one bit from everybody over the whole range, for fair records of -1 and 1."""
    return 4 * channel.variance(0.5) / users


def read_alone(brief: Brief, tally: Tally) -> Estimate:
    """What a round with a single window says by itself."""
    lens = narrowed(Windows, tally.question.lens)
    return estimate_from(read_window(tally, lens, mean_weight(lens, brief.sizes)), [tally.reports])
