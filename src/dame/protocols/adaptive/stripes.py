"""A study of one round on stripes, for `adaptive` where it may have a single round, and for `one-round`."""

from __future__ import annotations

from collections.abc import Sequence

from dame.device.questions import Question
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.one_round.planning import reasons
from dame.protocols.one_round.reading import read_stripes
from dame.tally import Tally


class Striped(Strategy):
    """One question; its bits tell the stripe, and the place in it."""

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The one question."""
        return plan.rounds[0].ask(plan.brief, 0)

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What the bits of all levels say together."""
        return read_stripes(plan.brief, history[0])

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        return reasons(plan)
