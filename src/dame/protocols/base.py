"""What a protocol is: a planner and a pure state machine. Every shell drives any protocol."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dame.device.questions import Question
from dame.errors import InvalidInput, Mismatch
from dame.estimates import Estimate, in_units, know_nothing
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.planning.rounds import shape
from dame.tally import Tally
from dame.theory import PAPER, limit, lower_bound, upper_bound


class Protocol(ABC):
    """A planner (`plan`) and a state machine (`question`, `estimate`) that works on the inner scale [-1, 1].

    A study outlives its software: `question` and `estimate` are given the questions that were really asked, with their
    tallies, and read these, whatever they would ask today.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[int] = 1
    """What plans of today name as their `protocol_version`."""

    versions: ClassVar[frozenset[int]] = frozenset({1})
    """The versions whose studies this release can finish."""

    details: ClassVar[frozenset[str]] = frozenset()
    """Names of the protocol's own figures in a plan."""

    choices: ClassVar[frozenset[str]] = frozenset()
    """Names of what the planner can be told beyond the brief."""

    shapes: ClassVar[frozenset[tuple[str, ...]]]
    """The shapes (lens and channel) that the rounds of a study may have, one after the other."""

    costly: ClassVar[bool] = False
    """Whether a plan takes a noticeable time: then others are not compared with it unless asked for."""

    elected: ClassVar[int] = 1
    """How many neighbouring bins a vote elects together."""

    def check(self, plan: MachinePlan) -> None:
        """Refuses a plan, wherever it comes from, of an unknown version or with rounds that this protocol has not."""
        if plan.protocol_version not in self.versions:
            known = ", ".join(map(str, sorted(self.versions)))
            raise InvalidInput(
                "protocol_version", plan.protocol_version, f"one that this release knows of {self.name}: {known}"
            )
        if tuple(round_.shape for round_ in plan.rounds) not in self.shapes:
            raise InvalidInput("rounds", [round_.shape for round_ in plan.rounds], f"rounds of protocol {self.name}")

    @abstractmethod
    def plan(self, brief: Brief, **choices: Any) -> MachinePlan:
        """The study that answers a brief."""

    @abstractmethod
    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The question of round len(history), given the tallies of all rounds before it."""

    @abstractmethod
    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """The estimate on the inner scale, when every round has at least one report."""

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose these rounds, in sentences for people; none where there was no choice."""
        del plan
        return []

    def promised_for(self, plan: MachinePlan) -> str:
        """For which populations the predicted error is meant, in words."""
        del plan
        return "for the worst distribution, when the window is right"

    def counts_everybody(self, plan: MachinePlan) -> bool:
        """Whether the mean of all people is measured, whoever they are, instead of where most of them are."""
        del plan
        return False

    def known_shift(self, plan: MachinePlan, share: float) -> float | None:
        """The largest shift by a share of malicious users, in units of the predicted error, where it is known."""
        del plan, share
        return None

    def interval_factor(self, plan: MachinePlan) -> float:
        """How much wider intervals are than those of a normal estimate with the predicted error: for power."""
        del plan
        return 1.0

    def next(self, plan: MachinePlan, history: Sequence[Tally]) -> Question | Estimate:
        """The next question, or the estimate in the study's units when the rounds are over."""
        self._check_history(plan, history)
        if len(history) < len(plan.rounds):
            return self.question(plan, history)
        estimate = replace(self._final(plan, history), weights=plan.brief.weights)
        return in_units(estimate, plan.brief.low, plan.brief.high)

    def _final(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        users = [tally.reports for tally in history]
        if not all(users):
            silent = plan.rounds[users.index(0)].name
            return self.nothing(plan, users, f"no reports in round '{silent}': nothing was learnt")
        return self.estimate(plan, history)

    def nothing(self, plan: MachinePlan, users: Sequence[int], note: str) -> Estimate:
        """The estimate when nothing was learnt."""
        del plan
        return know_nothing(users, note)

    def _check_history(self, plan: MachinePlan, history: Sequence[Tally]) -> None:
        """Refuses tallies of another study, and of rounds in another order than the plan's."""
        if len(history) > len(plan.rounds):
            raise Mismatch(f"the plan has {len(plan.rounds)} rounds, not {len(history)}")
        for index, tally in enumerate(history):
            asked = tally.question
            ours = (plan.study, plan.slots[index], plan.alpha, plan.brief.statistic)
            if (asked.study, asked.slot, asked.alpha, asked.statistic) != ours:
                raise Mismatch(f"tally {index + 1} does not belong to round {index + 1} of this plan")
        shapes = tuple(shape(tally.question.lens, tally.question.channel) for tally in history)
        if not any(known[: len(shapes)] == shapes for known in self.shapes):
            raise Mismatch(f"the questions of these tallies ({', '.join(shapes)}) are not those of {self.name}")


def forecast(
    brief: Brief, inner_mse: float, failure_probability: float = 0.0, inner_failure_mse: float = 4.0
) -> Forecast:
    """The forecast in the study's units, from a predicted mean squared error on the inner scale.

    That of a failure is of the whole range, unless something better is known.
    """
    squared_unit = brief.half_range**2
    n_alpha2 = brief.users * brief.alpha**2
    rmse = min(inner_mse, 1.0) ** 0.5 * brief.half_range
    # θ and its estimate both lie in [-1, 1], so an estimate that ignores everything has an error of at most 1.
    return Forecast(
        predicted_rmse=rmse,
        predicted_rmse_with_failures=math.hypot(
            rmse, math.sqrt(failure_probability * inner_failure_mse) * brief.half_range
        ),
        failure_probability=failure_probability,
        limit_mse=limit(brief.users, brief.alpha, brief.sizes) * squared_unit,
        lower_bound=lower_bound(brief.sizes, n_alpha2, PAPER)[0] * squared_unit,
        upper_bound=upper_bound(brief.sizes, n_alpha2, PAPER) * squared_unit,
    )
