"""All records from one distribution: locate, then single bits in narrow windows around an ever better centre.

All rounds are read together, by a posterior over models (see `models`, `posterior`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.estimates import Estimate, estimate_from, saturation, widened
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round, moved, windows_around_zero
from dame.protocols.adaptive.locate import centre_after, middle_of, wrong_window_chance
from dame.protocols.adaptive.models import plausible
from dame.protocols.adaptive.posterior import Posterior, heard, posterior
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.adaptive.tuning import TUNING
from dame.tally import Tally


@dataclass(frozen=True, slots=True)
class OneDistribution(Strategy):
    """Reads with so much trust in the sizes that the plan assumes."""

    trust: float

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The first round as planned; then windows around what was learnt."""
        index = len(history)
        round_ = plan.rounds[index]
        if not history:
            return round_.ask(plan.brief, index)
        return round_.ask(plan.brief, index, moved(_recovering(history, round_), self._centre(plan, history)))

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds say together, with a wider interval where the last window was saturated."""
        if len(history) == 1:
            return self._alone(plan, history[0])
        users = [tally.reports for tally in history]
        found = self._posterior(plan, history)
        estimate = estimate_from(found.measured(TUNING.digits), users, _notes(history, found))
        doubt = wrong_window_chance(history[0].question.lens, history[0], plan.brief.sizes)
        estimate = replace(estimate, failure_probability=doubt)
        if saturation(history[-1]) > TUNING.saturated:
            return self._doubtful(plan, history, estimate)
        if doubt > TUNING.doubt:
            return widened(estimate, doubt, f"the vote was not decisive (chance of a wrong window up to {doubt:.2g})")
        return estimate

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        first, *rest = plan.rounds
        if not rest:
            return ["A single round is best: looking for the centre first would cost more than a narrow window saves."]
        sentences = [_WHY_FIRST[first.lens.kind]]
        if rest[-1].lens.window_count > 1:
            sentences.append(
                "The last round has two windows, which tell how strongly bits react: measured, not assumed."
            )
        return sentences

    def _doubtful(self, plan: MachinePlan, history: Sequence[Tally], estimate: Estimate) -> Estimate:
        """The estimate when the last window does not hold θ: the interval takes in what the first round said."""
        note = "the last round found its window saturated: the mean lies outside it"
        first = self._alone(plan, history[0])
        ends = (*estimate.interval, *first.interval)
        widest = replace(estimate, interval=(min(ends), max(ends)))
        return replace(widest, failure_probability=1.0, notes=(*estimate.notes, note))

    def _centre(self, plan: MachinePlan, history: Sequence[Tally]) -> float:
        """The best guess of θ after some rounds; a round without reports leaves the guess before it."""
        if not history:
            return 0.0
        if not history[-1].reports:
            return self._centre(plan, history[:-1])
        if len(history) > 1:
            return round(self._posterior(plan, history).mean, TUNING.digits)
        return self._alone(plan, history[0]).value

    def _alone(self, plan: MachinePlan, tally: Tally) -> Estimate:
        """What the first round says by itself."""
        lens = tally.question.lens
        if lens.window_count > 1:
            found = self._posterior(plan, [tally])
            return estimate_from(found.measured(TUNING.digits), [tally.reports])
        return centre_after(lens, tally, plan.brief)

    def _posterior(self, plan: MachinePlan, history: Sequence[Tally]) -> Posterior:
        """What the tallies say together."""
        scale = plan.rounds[len(history) - 1].error_after
        return _posterior(plan.brief, tuple(history), scale, self.trust)


_WHY_FIRST = {
    "bins": "Votes locate the mean, because users' means are far sharper than plain bits could locate.",
    "windows": "Plain bits locate the mean: with so few records a user, votes for bins would not be sharper.",
}


@lru_cache(maxsize=32)
def _posterior(brief: Brief, history: tuple[Tally, ...], scale: float, trust: float) -> Posterior:
    # Remembered, because a study asks for the centre and then, with the same tallies, for the estimate.
    centre = middle_of(history[-1].question.lens)
    told = [item for tally in history if tally.reports for item in heard(tally.question.lens, tally, brief)]
    return posterior(plausible(brief, trust), told, centre, scale)


def _notes(history: Sequence[Tally], found: Posterior) -> list[str]:
    notes = []
    if any(_lost(history[:count]) for count in range(3, len(history))):
        notes.append("two rounds found their windows saturated; the next one recovered with a wider window")
    if found.as_assumed < TUNING.unlikely:
        notes.append("the answers do not fit the sizes that were assumed: they were read for other sizes")
    return notes


def _recovering(history: Sequence[Tally], round_: Round) -> Windows:
    """The planned lens, or a much wider one if the two rounds before it were saturated."""
    planned = narrowed(Windows, round_.lens)
    if not _lost(history):
        return planned
    before = narrowed(Windows, history[-1].question.lens)
    half_width = TUNING.recovery * max(before.windows[0].right, 1.0)
    return windows_around_zero(half_width, cap=planned.cap, fitted=True, between_sd=planned.between_sd)


def _lost(history: Sequence[Tally]) -> bool:
    """Whether the last two rounds found their windows saturated: one alone happens, and the next round mends it."""
    measured = history[1:]
    return len(measured) >= 2 and all(tally.reports and saturation(tally) > TUNING.saturated for tally in measured[-2:])
