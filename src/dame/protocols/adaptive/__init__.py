"""`adaptive`: the default. Locate by votes or plain bits, then a few rounds of single bits around an ever better
centre.

Every user sends bits only, once, with her whole α. See docs/adaptive.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dame import checks
from dame.device.questions import Measure, Question
from dame.errors import InvalidInput
from dame.estimate import Estimate, Reading, estimate_from_reading, read_measure, saturation, widened
from dame.plans import Brief, MeasureRound, Plan, SizeRound, VoteRound
from dame.protocols.adaptive import differing
from dame.protocols.adaptive import survey as sizes_survey
from dame.protocols.adaptive.locate import PAIR, elected_centre
from dame.protocols.adaptive.search import best_design
from dame.protocols.base import Protocol, forecast
from dame.protocols.location import wrong_winner_chance
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


class Adaptive(Protocol):
    """Bits only; a few rounds; risk close to the information limit."""

    name = "adaptive"
    summary = "locate, refine, finish with single bits: close to the information limit (the default)"
    details = frozenset({"frontier_ratio", sizes_survey.FAILURE_DETAIL})
    choices = frozenset({"max_rounds", "failure", "survey"})
    kinds = tuple(
        (*before, first, *(MeasureRound,) * more)
        for before in ((), (SizeRound,))
        for first in (VoteRound, MeasureRound)
        for more in range(first is VoteRound, MOST_ROUNDS)
    )

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
        details = {"frontier_ratio": frontier_ratio(brief.users, brief.alpha, brief.sizes)}
        if survey is not None:
            return self._surveyed(brief, max_rounds, failure, checks.positive("survey", survey, 0.5), details)
        if brief.users_differ:
            rounds, outlook = differing.plan_rounds(brief, max_rounds)
            promise = forecast(brief, outlook.average)
            notes = differing.notes(brief, outlook)
            return Plan(protocol=self.name, brief=brief, rounds=rounds, forecast=promise, details=details, notes=notes)
        design = best_design(brief, max_rounds, failure)
        promise = forecast(brief, design.after.worst, design.failure)
        return Plan(protocol=self.name, brief=brief, rounds=design.rounds, forecast=promise, details=details)

    def _surveyed(self, brief: Brief, max_rounds: int, failure: float, share: float, details: dict[str, float]) -> Plan:
        """A plan that begins with a survey of sizes; the rounds after it stand for what they will be."""
        if brief.users_differ:
            raise InvalidInput("survey", share, "absent where users differ: sizes are not used there")
        design = best_design(sizes_survey.rest_of(brief, share), max_rounds, failure)
        return Plan(
            protocol=self.name,
            brief=brief,
            rounds=(sizes_survey.survey_round(brief, share), *sizes_survey.scaled(design.rounds, 1 - share)),
            forecast=forecast(brief, design.after.worst, design.failure),
            details={**details, sizes_survey.FAILURE_DETAIL: failure},
            notes=("the rounds after the survey are designed for the sizes that it finds; foretold for those assumed",),
        )

    def question(self, plan: Plan, tallies: Sequence[Tally]) -> Question:
        """The next question around what the rounds before say."""
        first = plan.rounds[0]
        if isinstance(first, SizeRound):
            if not tallies:
                return first.ask(plan.brief, 0)
            later = self.question(sizes_survey.continued(plan, tallies[0]), tallies[1:])
            return replace(later, round=len(tallies))
        if plan.brief.users_differ:
            return differing.question(plan, tallies)
        index = len(tallies)
        round_ = plan.rounds[index]
        if isinstance(round_, VoteRound):
            return round_.ask(plan.brief, index)
        assert isinstance(round_, MeasureRound)
        if not tallies:
            return round_.ask(plan.brief, 0, centre=0.0)
        return _recovering(plan, tallies, round_).ask(plan.brief, index, _centre(plan, tallies))

    def estimate(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        """The reading of the last round, with a wider interval where its window was saturated."""
        if isinstance(plan.rounds[0], SizeRound):
            later = self.estimate(sizes_survey.continued(plan, tallies[0]), tallies[1:])
            return replace(later, users=(tallies[0].reports, *later.users))
        if plan.brief.users_differ:
            return differing.estimate(plan, tallies)
        users = [tally.reports for tally in tallies]
        estimate = estimate_from_reading(_reading(plan, tallies), users)
        if any(_lost(tallies[:count]) for count in range(3, len(tallies))):
            note = "two rounds found their windows saturated; the next one recovered with a wider window"
            estimate = replace(estimate, notes=(note,))
        doubt = 0.0
        first = plan.rounds[0]
        if isinstance(first, VoteRound):
            doubt = wrong_winner_chance(tallies[0], first.voters, apart=PAIR + 1, window=PAIR)
            estimate = replace(estimate, failure_probability=doubt)
        if len(tallies) > 1 and saturation(tallies[-1]) > SATURATED:
            return self._doubtful(plan, tallies, estimate)
        if doubt > DOUBT:
            return widened(estimate, doubt, f"the vote was not decisive (chance of a wrong place up to {doubt:.2g})")
        return estimate

    def _doubtful(self, plan: Plan, tallies: Sequence[Tally], estimate: Estimate) -> Estimate:
        """The estimate when the last window does not hold θ: the interval takes in what the first round said."""
        note = "the last round found its window saturated: the mean lies outside it"
        if isinstance(plan.rounds[0], VoteRound):
            return widened(estimate, 1.0, note)
        first = estimate_from_reading(_reading(plan, tallies[:1]), estimate.users)
        ends = (*estimate.interval, *first.interval)
        return replace(estimate, interval=(min(ends), max(ends)), failure_probability=1.0, notes=(note,))


def _reading(plan: Plan, tallies: Sequence[Tally]) -> Reading:
    """What the last of the tallies says, in the light of those before it."""
    round_ = plan.rounds[len(tallies) - 1]
    assert isinstance(round_, MeasureRound)
    question = tallies[-1].question
    assert isinstance(question, Measure)
    return read_measure(tallies[-1], _recovering(plan, tallies[:-1], round_).gain(plan.brief, question))


def _centre(plan: Plan, tallies: Sequence[Tally]) -> float:
    """The best guess of θ after some rounds; a round without reports leaves the guess before it."""
    if not tallies:
        return 0.0
    last, round_ = tallies[-1], plan.rounds[len(tallies) - 1]
    if not last.reports:
        return _centre(plan, tallies[:-1])
    if isinstance(round_, VoteRound):
        return elected_centre(last, round_)
    return min(max(_reading(plan, tallies).value, -1.0), 1.0)


def _recovering(plan: Plan, before: Sequence[Tally], round_: MeasureRound) -> MeasureRound:
    """The round as planned, or with a much wider window if the two rounds before it were saturated."""
    if not _lost(before):
        return round_
    question = before[-1].question
    assert isinstance(question, Measure)
    half_width = RECOVERY * max(question.right, 1.0)
    return replace(round_, half_width=half_width, dither=0.0, slope_low=1.0, slope_high=1.0)


def _lost(tallies: Sequence[Tally]) -> bool:
    """Whether the last two rounds found their windows saturated: one alone happens, and the next round mends it."""
    measured = tallies[1:]
    return len(measured) >= 2 and all(tally.reports and saturation(tally) > SATURATED for tally in measured[-2:])


__all__ = ["FAILURE", "MOST_ROUNDS", "ROUNDS", "Adaptive"]
