"""A whole study on the people of a table: ask, let those of the round answer, tally, and go on to the estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dame import checks
from dame.engines.answers import Asked
from dame.engines.survey import Survey
from dame.estimates import Estimate, Played
from dame.planning.plans import Plan
from dame.protocols import next as next_step
from dame.tally import Tally

MOST_REPETITIONS = 10**6


class ReducedTable(Protocol):
    """What an engine must offer: a table whose records were reduced to people, wherever these are."""

    def survey(self) -> Survey:
        """What was counted while the records were read."""

    def tallies(self, asked: Sequence[Asked]) -> list[Tally]:
        """The tally of each question, in one pass over the people."""

    def close(self) -> None:
        """Frees what is kept of the table."""


def play(
    plan: Plan,
    table: ReducedTable,
    seed: int | None = None,
    repetitions: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Played]:
    """So many studies of one plan; `progress` is told how many rounds are over.

    The table must have been reduced for the plan's study and bounds. All repetitions take a round together, in one
    pass over the people.
    """
    checks.whole("repetitions", repetitions, 1, MOST_REPETITIONS)
    played: list[list[Tally]] = [[] for _ in range(repetitions)]
    for index in range(len(plan.rounds)):
        asked = [_asked(plan, tallies, seed, repetition) for repetition, tallies in enumerate(played)]
        for tallies, tally in zip(played, table.tallies(asked), strict=True):
            tallies.append(tally)
        progress(index + 1)
    return [Played(estimate=_estimate(plan, tallies), tallies=tuple(tallies)) for tallies in played]


def _asked(plan: Plan, tallies: Sequence[Tally], seed: int | None, repetition: int) -> Asked:
    question = next_step(plan, tallies)
    assert not isinstance(question, Estimate)
    return Asked.in_round(plan, question, seed, repetition)


def _estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    estimate = next_step(plan, tallies)
    assert isinstance(estimate, Estimate)
    return estimate
