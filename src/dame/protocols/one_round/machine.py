"""The protocol `one-round`: its planner, and how each of its plans is asked and read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dame import checks
from dame.device.channels import Bits
from dame.device.questions import Question
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.protocols.adaptive import between_users, segments
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.adaptive.stripes import Striped
from dame.protocols.adaptive.tuning import TUNING as SEGMENTS
from dame.protocols.base import Protocol, forecast
from dame.protocols.one_round.planning import FAILURE, STRIPES, best_stripes, notes, striped_round
from dame.protocols.whole_range import bit_risk, whole_range_round
from dame.tally import Tally

BITS = "windows bits"


class OneRound(Protocol):
    """Everybody is asked the same thing, once: stripes; plain bits or segments where these are better."""

    name = "one-round"
    summary = "everybody is asked once: bits on wide and on narrow stripes, far better than plain bits for many records"
    costly = True
    choices = frozenset({"failure"})
    shapes = frozenset({(STRIPES,), (BITS,)})

    def check(self, plan: MachinePlan) -> None:
        """Refuses plans of an unknown version, and rounds that no strategy has."""
        Protocol.check(self, plan)
        _strategy(plan)

    def plan(self, brief: Brief, *, failure: float = FAILURE, **choices: Any) -> MachinePlan:
        """The one round with the least predicted worst-case error."""
        checks.positive("failure", failure, 0.1)
        if brief.users_vary:
            return self._varying(brief)
        design = best_stripes(brief, failure)
        if design is None:
            return self._plain(brief)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=(striped_round(brief, design),),
            forecast=forecast(brief, design.risk, design.failure),
            notes=notes(design),
        )

    def _plain(self, brief: Brief) -> MachinePlan:
        channel = Bits.single(brief.alpha)
        risk = bit_risk(channel, brief.users)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=(whole_range_round("measure", 1.0, channel, risk),),
            forecast=forecast(brief, risk),
            notes=("one round: plain bits, since stripes would not be better for such sizes",),
        )

    def _varying(self, brief: Brief) -> MachinePlan:
        rounds, expected = between_users.plan_rounds(brief, 1)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=rounds,
            forecast=forecast(brief, expected.average),
            notes=between_users.notes(brief, expected),
        )

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The one question."""
        return plan.rounds[0].ask(plan.brief, 0)

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What the reports say."""
        return _strategy(plan).estimate(plan, history)

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        if plan.rounds[0].shape == STRIPES or plan.brief.users_vary:
            return _strategy(plan).reasons(plan)
        return ["Plain bits over the whole range: users have too few records for stripes to be better."]

    def counts_everybody(self, plan: MachinePlan) -> bool:
        """Unless it is stripes that are asked about: these find where most people are."""
        return plan.rounds[0].shape != STRIPES

    def interval_factor(self, plan: MachinePlan) -> float:
        """Above 1 under between-user variation, where an interval must cover for people who are hard to see."""
        return SEGMENTS.varying_interval if plan.brief.users_vary else 1.0

    def promised_for(self, plan: MachinePlan) -> str:
        """For which populations the predicted error is meant, in words."""
        if plan.brief.users_vary:
            return "on average over populations that are plausible"
        if plan.rounds[0].shape == STRIPES:
            return "for the worst distribution, when the stripe is right"
        return Protocol.promised_for(self, plan)


_STRATEGIES: dict[tuple[bool, str], Strategy] = {
    (False, STRIPES): Striped(),
    (False, BITS): segments.Segments(),
    (True, BITS): segments.Segments(),
}
"""By whether users' own means vary, and by the shape of the round; a single window is plain bits."""


def _strategy(plan: MachinePlan) -> Strategy:
    key = (plan.brief.users_vary, plan.rounds[0].shape)
    if key not in _STRATEGIES:
        raise InvalidInput("rounds", plan.rounds[0].shape, "windows under between-user variation")
    return _STRATEGIES[key]
