"""A study that is under way: from the tallies that came in so far to the open questions, or the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dame.device.questions import Question, Slot
from dame.errors import Mismatch
from dame.estimates import Estimate, Outcome
from dame.protocols import EVERYBODY, ByGroup, estimate_of_group, protocol_named
from dame.protocols import next as next_of
from dame.studies.plans import Plan
from dame.studies.results import Result, result_of
from dame.tally import Tally, merged

Heard = Iterable[Tally | ByGroup]
"""Tallies of people who are not told apart, or of each of their groups."""


def first(plan: Plan) -> Question:
    """The first question of a study with one machine."""
    return protocol_named(plan.only.protocol).question(plan.only, ())


def next(plan: Plan, tallies: Heard) -> Question | Result:
    """The next question of a study with one machine, or its result when every round has its tally."""
    heard, machine = list(tallies), plan.only
    step = _steps(plan, _histories(plan, heard))[machine.name]
    return step if isinstance(step, Question) else result(plan, heard)


def questions(plan: Plan, tallies: Heard = ()) -> tuple[Question, ...]:
    """The open questions of a study, one for each machine that has not come to its end; none when it is over.

    Tallies may come in any order; those of one question are added up. Each names the question that was asked: what
    counts is that, and not what would be asked today.
    """
    steps = _steps(plan, _histories(plan, tallies)).values()
    return tuple(step for step in steps if isinstance(step, Question))


def result(plan: Plan, tallies: Heard) -> Result:
    """The result of a study, every round of which has its tally."""
    histories = _histories(plan, tallies)
    found = _steps(plan, histories)
    open_ = [step.slot for step in found.values() if isinstance(step, Question)]
    if open_:
        raise Mismatch(f"the study is not over: there is no tally of {_named(open_[0])}")
    by_group, smallest = _by_group(plan, histories), _smallest(histories)
    return result_of(plan, found, by_group, smallest)  # type: ignore[arg-type]  # no question is open


def result_of_outcomes(plan: Plan, outcomes: Sequence[Outcome]) -> Result:
    """The result from what each machine came to."""
    pairs = list(zip(plan.machines, outcomes, strict=True))
    heard = {machine.name: outcome.by_group for machine, outcome in pairs}
    found = {machine.name: outcome.estimate for machine, outcome in pairs}
    return result_of(plan, found, _by_group(plan, heard), _smallest(heard))


def _smallest(heard: Mapping[str, Sequence[ByGroup]]) -> int:
    """The number of reports in the smallest tally that is not empty; 0 where all are."""
    counts = [tally.reports for each in heard.values() for tallies in each for tally in tallies.values()]
    return min((count for count in counts if count), default=0)


def _by_group(plan: Plan, heard: Mapping[str, Sequence[ByGroup]]) -> dict[str, dict[str, Estimate]]:
    """What each machine found of each group that anybody belongs to."""
    groups = {group for each in heard.values() for tallies in each for group in tallies if group != EVERYBODY}
    return {
        group: {machine.name: estimate_of_group(machine, heard[machine.name], group) for machine in plan.machines}
        for group in groups
    }


def _steps(plan: Plan, histories: Mapping[str, Sequence[ByGroup]]) -> dict[str, Question | Estimate]:
    return {
        machine.name: next_of(machine, [merged(tallies.values()) for tallies in histories[machine.name]])
        for machine in plan.machines
    }


def _histories(plan: Plan, tallies: Heard) -> dict[str, list[ByGroup]]:
    """What each machine heard, round by round; tallies of no round of the plan, and rounds left out, are refused."""
    by_slot: dict[Slot, dict[str, Tally]] = {}
    for one in tallies:
        for group, tally in ({EVERYBODY: one} if isinstance(one, Tally) else one).items():
            groups = by_slot.setdefault(tally.question.slot, {})
            groups[group] = _joined(groups, group, tally)
    for slot in by_slot:
        plan.machine_of(slot)
        before = slot._replace(round=slot.round - 1)
        if slot.round and before not in by_slot:
            raise Mismatch(f"there is a tally of {_named(slot)}, but none of {_named(before)}")
    return {machine.name: [by_slot[slot] for slot in machine.slots if slot in by_slot] for machine in plan.machines}


def _joined(groups: Mapping[str, Tally], group: str, more: Tally) -> Tally:
    if any(before.question != more.question for before in groups.values()):
        raise Mismatch(f"two different questions were asked in {_named(more.question.slot)}: tallies of both are given")
    return groups[group].merge(more) if group in groups else more


def _named(slot: Slot) -> str:
    return f"round {slot.round + 1} of target '{slot.target}'"
