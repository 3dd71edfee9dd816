"""What a protocol is: a planner and a pure state machine. Every shell drives any protocol."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dame.device.questions import Question
from dame.errors import Mismatch
from dame.estimates import Estimate, in_units, know_nothing
from dame.planning.plans import Brief, Forecast, Plan, Round
from dame.tally import Tally
from dame.theory import PAPER, limit, lower_bound, upper_bound


class Protocol(ABC):
    """A planner (`plan`) and a state machine (`question`, `estimate`) that works on the inner scale [-1, 1]."""

    name: ClassVar[str]
    summary: ClassVar[str]
    details: ClassVar[frozenset[str]] = frozenset()
    """Names of the protocol's own figures in a plan."""

    choices: ClassVar[frozenset[str]] = frozenset()
    """Names of what the planner can be told beyond the brief."""

    kinds: ClassVar[tuple[tuple[type[Round], ...], ...]]
    """The kinds of rounds that a plan of this protocol may have, one after the other."""

    def knows(self, plan: Plan) -> bool:
        """Whether a plan, wherever it comes from, has rounds that this protocol can run."""
        return tuple(map(type, plan.rounds)) in self.kinds

    @abstractmethod
    def plan(self, brief: Brief, **choices: Any) -> Plan:
        """The study that answers a brief."""

    @abstractmethod
    def question(self, plan: Plan, tallies: Sequence[Tally]) -> Question:
        """The question of round len(tallies), given the tallies of all rounds before it."""

    @abstractmethod
    def estimate(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        """The estimate on the inner scale, when every round has at least one report."""

    def next(self, plan: Plan, tallies: Sequence[Tally]) -> Question | Estimate:
        """The next question, or the estimate in the study's units when the rounds are over."""
        self._check(plan, tallies)
        if len(tallies) < len(plan.rounds):
            return self.question(plan, tallies)
        estimate = replace(self._final(plan, tallies), weights=plan.brief.weights)
        return in_units(estimate, plan.brief.low, plan.brief.high)

    def _final(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        users = [tally.reports for tally in tallies]
        if not all(users):
            silent = plan.rounds[users.index(0)].name
            return know_nothing(users, f"no reports in round '{silent}': nothing was learnt")
        return self.estimate(plan, tallies)

    def _check(self, plan: Plan, tallies: Sequence[Tally]) -> None:
        """Every tally must belong to the very question that this machine asks in its round."""
        if len(tallies) > len(plan.rounds):
            raise Mismatch(f"the plan has {len(plan.rounds)} rounds, not {len(tallies)}")
        for index, tally in enumerate(tallies):
            if tally.question != self.question(plan, tallies[:index]):
                raise Mismatch(f"tally {index + 1} does not belong to round {index + 1} of this plan")


def forecast(brief: Brief, inner_mse: float, failure_probability: float = 0.0) -> Forecast:
    """The forecast in the study's units, from a predicted mean squared error on the inner scale."""
    squared_unit = brief.half_range**2
    n_alpha2 = brief.users * brief.alpha**2
    rmse = min(inner_mse, 1.0) ** 0.5 * brief.half_range
    # θ and its estimate both lie in [-1, 1], so an estimate that ignores everything has an error of at most 1.
    return Forecast(
        predicted_rmse=rmse,
        predicted_rmse_with_failures=math.hypot(rmse, math.sqrt(failure_probability) * 2 * brief.half_range),
        failure_probability=failure_probability,
        limit_mse=limit(brief.users, brief.alpha, brief.sizes) * squared_unit,
        lower_bound=lower_bound(brief.sizes, n_alpha2, PAPER)[0] * squared_unit,
        upper_bound=upper_bound(brief.sizes, n_alpha2, PAPER) * squared_unit,
    )
