"""A whole study on the people of a table, through the one loop that all studies go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dame import checks
from dame.device.questions import Question
from dame.engines.answers import Addressed
from dame.engines.survey import Survey
from dame.estimates import Outcome
from dame.protocols import ByGroup, drive
from dame.studies.plans import Plan

MOST_REPETITIONS = 10**6


class ReducedTable(Protocol):
    """What an engine must offer: a table whose records were reduced to people, wherever these are."""

    def survey(self) -> Survey:
        """What was counted while the records were read."""

    def tallies(self, addressed: Sequence[Addressed]) -> Sequence[ByGroup]:
        """The tally of each question in each group, in one pass over the people."""

    def close(self) -> None:
        """Frees what is kept of the table."""


def carry_out(
    plan: Plan,
    table: ReducedTable,
    seed: int | None = None,
    repetitions: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> list[tuple[Outcome, ...]]:
    """What each machine came to in so many studies of one plan; `progress` is told how many waves of rounds are over.

    The table must have been reduced for the plan's study and statistics. All open questions of all repetitions are
    answered together, in one pass over the people.
    """
    checks.whole("repetitions", repetitions, 1, MOST_REPETITIONS)

    def answer(asked: Sequence[tuple[int, Question]]) -> Sequence[ByGroup]:
        return table.tallies([Addressed.in_slot(plan, question, seed, run) for run, question in asked])

    return drive(plan.machines, answer, repetitions, progress)
