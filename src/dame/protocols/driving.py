"""The one loop that carries a study out: ask, let the people of the slots answer, tally, and go on to the estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dame.device.questions import Question
from dame.estimates import Estimate, Outcome
from dame.planning.machines import MachinePlan
from dame.protocols.base import Protocol
from dame.protocols.registry import protocol_named
from dame.tally import Tally, merged

EVERYBODY = ""
"""The name of the one group of people who are not told apart."""

ByGroup = Mapping[str, Tally]
"""The tally of each public group."""

Answer = Callable[[Sequence[tuple[int, Question]]], Sequence[ByGroup]]
"""From open questions, each with the number of the run that asks it, to the tallies of each."""


def drive(
    machines: Sequence[MachinePlan],
    answer: Answer,
    repetitions: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> list[tuple[Outcome, ...]]:
    """The outcomes of so many runs: one for each machine. All open questions of all runs are asked together.

    `answer` is given the open questions, and returns the tallies of each; `progress` is told how many waves of
    questions are over.
    """
    runs = [[_Run(machine) for machine in machines] for _ in range(repetitions)]
    waves = 0
    while asking := [(number, run) for number, each in enumerate(runs) for run in each if run.open is not None]:
        told = answer([(number, run.open) for number, run in asking if run.open is not None])
        for (_, run), tallies in zip(asking, told, strict=True):
            run.hear(tallies)
        waves += 1
        progress(waves)
    return [tuple(run.outcome() for run in each) for each in runs]


def drive_one(machine: MachinePlan, answer: Callable[[Question], Tally]) -> Outcome:
    """The outcome of a single run of a single machine, on people who are not told apart."""
    ((outcome,),) = drive([machine], lambda asked: [{EVERYBODY: answer(question)} for _, question in asked])
    return outcome


@dataclass(slots=True)
class _Run:
    """A machine on its way: what was asked and heard, by group and in all, and what is open."""

    machine: MachinePlan
    history: list[Tally] = field(default_factory=list)
    heard: list[ByGroup] = field(default_factory=list)
    open: Question | None = None
    found: Estimate | None = None

    def __post_init__(self) -> None:
        self._step()

    def hear(self, tallies: ByGroup) -> None:
        self.heard.append(tallies)
        self.history.append(merged(tallies.values()))
        self._step()

    def _step(self) -> None:
        step = self._protocol.next(self.machine, self.history)
        self.open, self.found = (step, None) if isinstance(step, Question) else (None, step)

    @property
    def _protocol(self) -> Protocol:
        return protocol_named(self.machine.protocol)

    def outcome(self) -> Outcome:
        assert self.found is not None
        return Outcome(estimate=self.found, tallies=tuple(self.history), by_group=tuple(self.heard))


def estimate_of_group(machine: MachinePlan, heard: Sequence[ByGroup], group: str) -> Estimate:
    """What one public group said: its own tallies of the questions that were asked of all."""
    history = [tallies[group] if group in tallies else _of_nobody(tallies) for tallies in heard]
    users = max(sum(tally.reports for tally in history), 1)  # fewer than the machine was planned for
    found = protocol_named(machine.protocol).next(replace(machine, brief=replace(machine.brief, users=users)), history)
    assert not isinstance(found, Question)
    return found


def _of_nobody(tallies: ByGroup) -> Tally:
    return Tally.zero(next(iter(tallies.values())).question)
