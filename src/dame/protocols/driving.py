"""The one loop that carries a study out: ask, let the people of the slot answer, tally, and go on to the estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dame.device.questions import Question
from dame.estimates import Estimate, Outcome
from dame.planning.plans import Plan
from dame.protocols.registry import protocol_named
from dame.tally import Tally

Answer = Callable[[Sequence[Question]], Sequence[Tally]]
"""From the open questions of several runs of a study, one each, to the tally of each."""


def drive(
    plan: Plan, answer: Answer, repetitions: int = 1, progress: Callable[[int], None] = lambda _: None
) -> list[Outcome]:
    """The outcomes of so many runs of one plan, which take every round together.

    `answer` is given the question of each run, and returns the tally of each; `progress` is told how many rounds are
    over.
    """
    protocol = protocol_named(plan.protocol)
    histories: list[list[Tally]] = [[] for _ in range(repetitions)]
    steps = [protocol.next(plan, history) for history in histories]
    while not isinstance(steps[0], Estimate):
        for history, tally in zip(histories, answer(steps), strict=True):  # type: ignore[arg-type]  # all go alike
            history.append(tally)
        progress(len(histories[0]))
        steps = [protocol.next(plan, history) for history in histories]
    return [
        Outcome(estimate=estimate, tallies=tuple(history))  # type: ignore[arg-type]
        for estimate, history in zip(steps, histories, strict=True)
    ]
