"""What a strategy is: one way to ask and to read, which a plan of `adaptive` stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from dame.device.questions import Question
from dame.estimates import Estimate
from dame.planning.machines import MachinePlan
from dame.tally import Tally


class Strategy(ABC):
    """Asks and reads on the inner scale, given the questions that were asked and their tallies."""

    @abstractmethod
    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """What to ask after these answers."""

    @abstractmethod
    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds together say of the mean."""

    @abstractmethod
    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
