"""`adaptive`: the default. Locate by votes or plain bits, then a few rounds of single bits around an ever better
centre.

Every user sends bits only, once, with her whole α. See docs/adaptive.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dame import checks
from dame.device.questions import Measure, Question
from dame.errors import InvalidInput
from dame.estimates import Estimate, estimate_from_reading, saturation, widened
from dame.planning.plans import Brief, MeasureRound, PartRound, PlaceRound, Plan, Round, SizeRound, VoteRound
from dame.protocols.adaptive import differing
from dame.protocols.adaptive import survey as sizes_survey
from dame.protocols.adaptive.locate import PAIR, elected_centre
from dame.protocols.adaptive.posterior import Posterior, listen, posterior
from dame.protocols.adaptive.search import best_design
from dame.protocols.adaptive.models import TRUST, plausible
from dame.protocols.base import Protocol, forecast
from dame.protocols.location import wrong_winner_chance
from dame.protocols.whole_range import read_alone
from dame.tally import Tally
from dame.theory.frontier import frontier_ratio

ROUNDS = 3
MOST_ROUNDS = 6
FAILURE = 1e-6
SATURATED = 0.85
"""A mean place so far out in the window says that θ is outside it."""
RECOVERY = 8.0
"""After two saturated rounds the window is that many times as wide, but at least that many standard deviations."""
DOUBT = 0.01
UNLIKELY = 0.05
"""Below this chance that sizes are as assumed, an estimate says that they seem not to be."""
DIGITS = 12
"""Centres are rounded to so many digits, so that every machine asks the very same question."""
_APART: tuple[type[Round], ...] = (PlaceRound, PartRound)


class Adaptive(Protocol):
    """Bits only; a few rounds; risk close to the information limit."""

    name = "adaptive"
    summary = "locate, refine, finish with single bits: close to the information limit (the default)"
    details = frozenset({"frontier_ratio", sizes_survey.FAILURE_DETAIL})
    choices = frozenset({"max_rounds", "failure", "survey"})
    kinds = (
        *(
            (*before, first, *(MeasureRound,) * more)
            for before in ((), (SizeRound,))
            for first in (VoteRound, MeasureRound)
            for more in range(first is VoteRound, MOST_ROUNDS)
        ),
        *((kind,) * count for kind in _APART for count in range(1, MOST_ROUNDS + 1)),
    )

    def knows(self, plan: Plan) -> bool:
        """Whether a plan has the rounds of users who differ, where they do; and else those of one law."""
        apart = any(isinstance(round_, _APART) for round_ in plan.rounds)
        fits = differing.knows(plan.rounds) if plan.brief.users_differ else not apart
        return fits and Protocol.knows(self, plan)

    def plan(
        self,
        brief: Brief,
        *,
        max_rounds: int = ROUNDS,
        failure: float = FAILURE,
        survey: float | None = None,
        **choices: Any,
    ) -> Plan:
        """The study with the least predicted worst-case error in at most `max_rounds` rounds.

        With `survey`, so large a share of the users is asked for their sizes first, in a round of its own.
        """
        checks.whole("max_rounds", max_rounds, 1, MOST_ROUNDS)
        checks.positive("failure", failure, 0.1)
        if survey is not None:
            return self._surveyed(brief, max_rounds, failure, checks.positive("survey", survey, 0.5))
        if brief.users_differ:
            rounds, outlook = differing.plan_rounds(brief, max_rounds)
            promise = forecast(brief, outlook.average)
            notes = differing.notes(brief, outlook)
            return Plan(protocol=self.name, brief=brief, rounds=rounds, forecast=promise, notes=notes)
        design = best_design(brief, max_rounds, failure)
        promise = forecast(brief, design.outcome, design.failure)
        return Plan(protocol=self.name, brief=brief, rounds=design.rounds, forecast=promise, details=_details(brief))

    def _surveyed(self, brief: Brief, max_rounds: int, failure: float, share: float) -> Plan:
        """A plan that begins with a survey of sizes; the rounds after it stand for what they will be."""
        if brief.users_differ:
            raise InvalidInput("survey", share, "absent where users differ: sizes are not used there")
        design = best_design(sizes_survey.rest_of(brief, share), max_rounds, failure)
        return Plan(
            protocol=self.name,
            brief=brief,
            rounds=(sizes_survey.survey_round(brief, share), *sizes_survey.scaled(design.rounds, 1 - share)),
            forecast=forecast(brief, design.outcome, design.failure),
            details={**_details(brief), sizes_survey.FAILURE_DETAIL: failure},
            notes=("the rounds after the survey are designed for the sizes that it finds; foretold for those assumed",),
        )

    def question(self, plan: Plan, tallies: Sequence[Tally]) -> Question:
        """The next question around what the rounds before say."""
        first = plan.rounds[0]
        if isinstance(first, SizeRound):
            if not tallies:
                return first.ask(plan.brief, 0)
            later = _question(sizes_survey.continued(plan, tallies[0]), tallies[1:], sizes_survey.TRUST)
            return replace(later, round=len(tallies))
        if plan.brief.users_differ:
            return differing.question(plan, tallies)
        return _question(plan, tallies, TRUST)

    def estimate(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        """What all rounds say together, with a wider interval where the last window was saturated."""
        if isinstance(plan.rounds[0], SizeRound):
            later = _estimate(sizes_survey.continued(plan, tallies[0]), tallies[1:], sizes_survey.TRUST)
            return replace(later, users=(tallies[0].reports, *later.users))
        if plan.brief.users_differ:
            return differing.estimate(plan, tallies)
        return _estimate(plan, tallies, TRUST)


def _details(brief: Brief) -> dict[str, float]:
    """How far from the information limit one bit would stay, if users had one mean, and it were known."""
    return {"frontier_ratio": frontier_ratio(brief.users, brief.alpha, brief.sizes)}


def _question(plan: Plan, tallies: Sequence[Tally], trust: float) -> Question:
    index = len(tallies)
    round_ = plan.rounds[index]
    if isinstance(round_, VoteRound):
        return round_.ask(plan.brief, index)
    assert isinstance(round_, MeasureRound)
    return _recovering(tallies, round_).ask(plan.brief, index, _centre(plan, tallies, trust))


def _estimate(plan: Plan, tallies: Sequence[Tally], trust: float) -> Estimate:
    if len(tallies) == 1:
        return _alone(plan, tallies[0], trust)
    users = [tally.reports for tally in tallies]
    found = _believed(plan, tallies, trust)
    estimate = estimate_from_reading(found.reading(DIGITS), users, _notes(tallies, found))
    doubt = 0.0
    first = plan.rounds[0]
    if isinstance(first, VoteRound):
        doubt = wrong_winner_chance(tallies[0], first.voters, apart=PAIR + 1, window=PAIR)
        estimate = replace(estimate, failure_probability=doubt)
    if saturation(tallies[-1]) > SATURATED:
        return _doubtful(plan, tallies, estimate, trust)
    if doubt > DOUBT:
        return widened(estimate, doubt, f"the vote was not decisive (chance of a wrong place up to {doubt:.2g})")
    return estimate


def _notes(tallies: Sequence[Tally], found: Posterior) -> list[str]:
    notes = []
    if any(_lost(tallies[:count]) for count in range(3, len(tallies))):
        notes.append("two rounds found their windows saturated; the next one recovered with a wider window")
    if found.as_assumed < UNLIKELY:
        notes.append("the answers do not fit the sizes that were assumed: they were read for other sizes")
    return notes


def _doubtful(plan: Plan, tallies: Sequence[Tally], estimate: Estimate, trust: float) -> Estimate:
    """The estimate when the last window does not hold θ: the interval takes in what the first round said."""
    note = "the last round found its window saturated: the mean lies outside it"
    if isinstance(plan.rounds[0], VoteRound):
        return widened(estimate, 1.0, note)
    first = _alone(plan, tallies[0], trust)
    ends = (*estimate.interval, *first.interval)
    return replace(estimate, interval=(min(ends), max(ends)), failure_probability=1.0, notes=(*estimate.notes, note))


def _believed(plan: Plan, tallies: Sequence[Tally], trust: float) -> Posterior:
    """What the tallies say together, the last of them measured."""
    return _together(plan.brief, plan.rounds[: len(tallies)], tuple(tallies), trust)


@lru_cache(maxsize=32)
def _together(brief: Brief, rounds: tuple[Round, ...], tallies: tuple[Tally, ...], trust: float) -> Posterior:
    # Remembered, because a machine that checks its tallies asks each question of a study more than once.
    question = tallies[-1].question
    assert isinstance(question, Measure)
    heard = [item for pair in zip(tallies, rounds, strict=True) for item in listen(*pair)]
    return posterior(plausible(brief, trust), heard, question.centre, rounds[-1].error_after)


def _centre(plan: Plan, tallies: Sequence[Tally], trust: float) -> float:
    """The best guess of θ after some rounds; a round without reports leaves the guess before it."""
    if not tallies:
        return 0.0
    last, first = tallies[-1], plan.rounds[0]
    if not last.reports:
        return _centre(plan, tallies[:-1], trust)
    if len(tallies) > 1:
        return round(_believed(plan, tallies, trust).mean, DIGITS)
    return elected_centre(last, first) if isinstance(first, VoteRound) else _alone(plan, last, trust).value


def _alone(plan: Plan, tally: Tally, trust: float) -> Estimate:
    """What bits of the first round say by themselves."""
    if len(tally.arms) > 1:
        return estimate_from_reading(_believed(plan, [tally], trust).reading(DIGITS), [tally.reports])
    return read_alone(plan, tally)


def _recovering(before: Sequence[Tally], round_: MeasureRound) -> MeasureRound:
    """The round as planned, or with a much wider window if the two rounds before it were saturated."""
    if not _lost(before):
        return round_
    question = before[-1].question
    assert isinstance(question, Measure)
    return replace(round_, half_width=RECOVERY * max(question.right, 1.0), dither=0.0)


def _lost(tallies: Sequence[Tally]) -> bool:
    """Whether the last two rounds found their windows saturated: one alone happens, and the next round mends it."""
    measured = tallies[1:]
    return len(measured) >= 2 and all(tally.reports and saturation(tally) > SATURATED for tally in measured[-2:])


__all__ = ["FAILURE", "MOST_ROUNDS", "ROUNDS", "Adaptive"]
