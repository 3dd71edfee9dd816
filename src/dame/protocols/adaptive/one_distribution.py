"""All records from one distribution: locate, then single bits in narrow windows around an ever better centre.

All rounds are read together, by a posterior over models (see `models`, `posterior`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.estimates import Estimate, estimate_from, saturation
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import moved, windows_around_zero
from dame.protocols.adaptive.hearing import centres_of, heard
from dame.protocols.adaptive.locate import centre_after
from dame.protocols.adaptive.models import plausible
from dame.protocols.adaptive.places import Located, located
from dame.protocols.adaptive.posterior import Posterior
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
        if not history or round_.lens.bins > 1:
            return round_.ask(plan.brief, index)
        windows = narrowed(Windows, round_.lens)
        times = self._spread(plan, history) / plan.rounds[index - 1].error_after
        if times > TUNING.wider:
            windows = _widened(windows, min(times, TUNING.widest))
        return round_.ask(plan.brief, index, moved(windows, self._centre(plan, history)))

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds say together, with a wider interval where θ may be in another place."""
        if _is_one_window(history):
            return centre_after(history[0].question.lens, history[0], plan.brief)
        users = [tally.reports for tally in history]
        found = self._located(plan, history)
        estimate = estimate_from(found.best.measured(TUNING.digits), users, _notes(found.best))
        estimate = replace(estimate, failure_probability=found.doubt)
        if found.doubt > TUNING.doubt:
            return _undecided(estimate, found)
        if _is_saturated(history[-1]) and _holds(history[-1], found.best):
            return self._doubtful(plan, history, estimate)
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
        first = centre_after(history[0].question.lens, history[0], plan.brief)
        ends = (*estimate.interval, *first.interval)
        widest = replace(estimate, interval=(min(ends), max(ends)))
        return replace(widest, failure_probability=1.0, notes=(*estimate.notes, note))

    def _centre(self, plan: MachinePlan, history: Sequence[Tally]) -> float:
        """The best guess of θ after some rounds; a round without reports leaves the guess before it."""
        if not history:
            return 0.0
        if not history[-1].reports:
            return self._centre(plan, history[:-1])
        if _is_one_window(history):
            return centre_after(history[0].question.lens, history[0], plan.brief).value
        return round(self._located(plan, history).best.mean, TUNING.digits)

    def _spread(self, plan: MachinePlan, history: Sequence[Tally]) -> float:
        """How far that guess may be off; as far as was planned, if a single window or no report at all says it."""
        if _is_one_window(history) or not history[-1].reports:
            return plan.rounds[len(history) - 1].error_after
        return self._located(plan, history).best.spread

    def _located(self, plan: MachinePlan, history: Sequence[Tally]) -> Located:
        """What the tallies say together."""
        scale = plan.rounds[len(history) - 1].error_after
        return _located(plan.brief, tuple(history), scale, self.trust)


def _is_one_window(history: Sequence[Tally]) -> bool:
    """Whether there is nothing to weigh: a single round with a single window."""
    return len(history) == 1 and history[0].question.lens.bins == history[0].question.lens.window_count == 1


def _undecided(estimate: Estimate, found: Located) -> Estimate:
    """The estimate with an interval over all places where θ may be."""
    low, high = (round(end, TUNING.digits) for end in found.interval())
    note = f"the vote was not decisive (chance of a wrong window {found.doubt:.2g}): the interval holds other places"
    return replace(estimate, interval=(low, high), notes=(*estimate.notes, note))


_WHY_FIRST = {
    "bins": "Votes locate the mean, because users' means are far sharper than plain bits could locate.",
    "windows": "Plain bits locate the mean: with so few records a user, votes for bins would not be sharper.",
}


@lru_cache(maxsize=32)
def _located(brief: Brief, history: tuple[Tally, ...], scale: float, trust: float) -> Located:
    # Remembered, because a study asks for the centre and then, with the same tallies, for the estimate.
    heard_of = [tally for tally in history if tally.reports]
    told = [heard(tally.question.lens, tally, brief) for tally in heard_of]
    centres = [centre for tally in reversed(history) for centre in centres_of(tally.question.lens)]
    return located(plausible(brief, trust), told, centres, scale)


def _is_saturated(tally: Tally) -> bool:
    """Whether people are so far out in the windows of a round that coins do not explain it."""
    error = 2 * math.sqrt(tally.question.channel.variance(1.0) / tally.reports)
    return saturation(tally) - TUNING.surely * error > TUNING.saturated


def _holds(tally: Tally, place: Posterior) -> bool:
    """Whether the windows of a round are in a place."""
    low, high = place.within
    return any(low <= centre <= high for centre in centres_of(tally.question.lens))


def _notes(found: Posterior) -> list[str]:
    if found.as_assumed < TUNING.unlikely:
        return ["the answers do not fit the sizes that were assumed: they were read for other sizes"]
    return []


def _widened(planned: Windows, times: float) -> Windows:
    """Windows around 0 that are so many times as wide."""
    half_width = round(planned.windows[0].right * times, TUNING.digits)
    dither = max(window.centre for window in planned.windows)
    return windows_around_zero(half_width, cap=planned.cap, dither=dither, fitted=True, between_sd=planned.between_sd)
