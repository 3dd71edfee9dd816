"""A whole study on the people of a table, through the one loop that all studies go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Protocol

from dame import checks
from dame.device.questions import Question
from dame.engines.answers import Addressed
from dame.engines.survey import Survey
from dame.estimates import Outcome
from dame.planning.plans import Plan
from dame.protocols import drive
from dame.tally import Tally

MOST_REPETITIONS = 10**6


class ReducedTable(Protocol):
    """What an engine must offer: a table whose records were reduced to people, wherever these are."""

    def survey(self) -> Survey:
        """What was counted while the records were read."""

    def tallies(self, addressed: Sequence[Addressed]) -> list[dict[str, Tally]]:
        """For each question the tally of each group, in one pass over the people."""

    def close(self) -> None:
        """Frees what is kept of the table."""


def carry_out(
    plan: Plan,
    table: ReducedTable,
    seed: int | None = None,
    repetitions: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Outcome]:
    """The outcomes of so many studies of one plan; `progress` is told how many rounds are over.

    The table must have been reduced for the plan's study and bounds. All repetitions take a round together, in one
    pass over the people.
    """
    checks.whole("repetitions", repetitions, 1, MOST_REPETITIONS)

    def answer(questions: Sequence[Question]) -> list[Tally]:
        numbered = enumerate(questions)
        asked = [Addressed.in_slot(plan, question, seed, repetition) for repetition, question in numbered]
        return [reduce(Tally.merge, groups.values()) for groups in table.tallies(asked)]

    return drive(plan, answer, repetitions, progress)
