"""The protocol `adaptive`: its planner, and the strategy that each of its plans stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dame import checks
from dame.device.questions import Question
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.protocols.adaptive import between_users, segments, survey
from dame.protocols.adaptive.one_distribution import OneDistribution
from dame.protocols.adaptive.search import best_design
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.adaptive.stripes import Striped
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.adaptive.votes import PAIR
from dame.protocols.base import Protocol, forecast
from dame.protocols.one_round.design import StripeDesign
from dame.protocols.one_round.planning import FAILURE as STRIPE_FAILURE
from dame.protocols.one_round.planning import STRIPES, best_stripes, notes, striped_round
from dame.tally import Tally
from dame.theory.frontier import frontier_ratio

ROUNDS = 3
MOST_ROUNDS = 6
FAILURE = 0.01
"""A wrong place is weighed against the error; a plan never accepts more than this."""

VOTES, BITS = "bins bits", "windows bits"
_STARTS = (VOTES, BITS)
_SURVEYS = ("size-classes bits", "size-classes choice")
_STRATEGIES: dict[tuple[bool, str], Strategy] = {
    **{(False, start): OneDistribution(TUNING.trust) for start in _STARTS},
    **{(False, start): survey.Surveyed() for start in _SURVEYS},
    (False, STRIPES): Striped(),
    (True, BITS): segments.Segments(),
}
"""By whether users' own means vary, and by the shape of the first round."""


class Adaptive(Protocol):
    """Bits only; a few rounds; risk close to the information limit."""

    name = "adaptive"
    summary = "locate, refine, finish with single bits: close to the information limit (the default)"
    details = frozenset({"frontier_ratio", survey.FAILURE_DETAIL})
    choices = frozenset({"max_rounds", "failure", "survey"})
    shapes = frozenset(
        (*before, *located, *(BITS,) * more)
        for before in ((), *((start,) for start in _SURVEYS))
        for located in ((BITS,), (VOTES,), (BITS, VOTES))
        for more in range(VOTES in located, MOST_ROUNDS + 1 - len(located))
    ) | {(STRIPES,)}
    elected = PAIR

    def check(self, plan: MachinePlan) -> None:
        """Refuses plans of an unknown version, and rounds that no strategy has."""
        Protocol.check(self, plan)
        _strategy(plan)

    def plan(
        self,
        brief: Brief,
        *,
        max_rounds: int = ROUNDS,
        failure: float | None = None,
        survey: float | None = None,
        **choices: Any,
    ) -> MachinePlan:
        """The study with the least predicted worst-case error in at most `max_rounds` rounds.

        With `survey`, so large a share of the users is asked for their sizes first, in a round of its own.
        """
        checks.whole("max_rounds", max_rounds, 1, MOST_ROUNDS)
        accepted = FAILURE if failure is None else checks.positive("failure", failure, 0.1)
        if survey is not None:
            return self._surveyed(brief, max_rounds, accepted, checks.positive("survey", survey, 0.5))
        if brief.users_vary:
            rounds, expected = between_users.plan_rounds(brief, max_rounds)
            return MachinePlan(
                protocol=self.name,
                protocol_version=self.version,
                brief=brief,
                rounds=rounds,
                forecast=forecast(brief, expected.average),
                notes=between_users.notes(brief, expected),
            )
        if (
            max_rounds == 1
            and (striped := best_stripes(brief, STRIPE_FAILURE if failure is None else failure)) is not None
        ):
            return self._striped(brief, striped)
        design = best_design(brief, max_rounds, accepted)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=design.rounds,
            forecast=forecast(brief, design.outcome, design.failure, design.cost),
            details=_details(brief),
        )

    def _striped(self, brief: Brief, design: StripeDesign) -> MachinePlan:
        """A plan of one round on stripes."""
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=(striped_round(brief, design),),
            forecast=forecast(brief, design.risk, design.failure),
            details=_details(brief),
            notes=notes(design),
        )

    def _surveyed(self, brief: Brief, max_rounds: int, failure: float, share: float) -> MachinePlan:
        """A plan that begins with a survey of sizes; the rounds after it stand for what they will be."""
        if brief.users_vary:
            raise InvalidInput("survey", share, "absent under between-user variation: sizes are not used there")
        design = best_design(survey.rest_of(brief, share), max_rounds, failure)
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=(survey.survey_round(brief, share), *survey.scaled(design.rounds, 1 - share)),
            forecast=forecast(brief, design.outcome, design.failure, design.cost),
            details={**_details(brief), survey.FAILURE_DETAIL: failure},
            notes=("the rounds after the survey are designed for the sizes it finds; predicted for those assumed",),
        )

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The next question around what the rounds before say."""
        return _strategy(plan).question(plan, history)

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds say together."""
        return _strategy(plan).estimate(plan, history)

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        return _strategy(plan).reasons(plan)

    def counts_everybody(self, plan: MachinePlan) -> bool:
        """Under between-user variation: segments of the range cover all of it."""
        return plan.brief.users_vary

    def interval_factor(self, plan: MachinePlan) -> float:
        """Above 1 under between-user variation, where an interval must cover for people who are hard to see."""
        return TUNING.varying_interval if plan.brief.users_vary else 1.0

    def promised_for(self, plan: MachinePlan) -> str:
        """For which populations the predicted error is meant, in words."""
        if plan.brief.users_vary:
            return "on average over populations that are plausible"
        return Protocol.promised_for(self, plan)


def _strategy(plan: MachinePlan) -> Strategy:
    key = (plan.brief.users_vary, plan.rounds[0].shape)
    if key not in _STRATEGIES:
        variation = "with" if plan.brief.users_vary else "without"
        raise InvalidInput(
            "rounds", plan.rounds[0].shape, f"rounds that adaptive has {variation} between-user variation"
        )
    return _STRATEGIES[key]


def _details(brief: Brief) -> dict[str, float]:
    """How far from the information limit one bit would stay, if users had one mean, and it were known."""
    return {"frontier_ratio": frontier_ratio(brief.users, brief.alpha, brief.sizes)}
