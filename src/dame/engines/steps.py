"""Studies by files alone: from a plan and the tallies that came in so far to what is to be done next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dame import checks
from dame.device.questions import Question, Slot
from dame.errors import Mismatch
from dame.estimates import Estimate
from dame.planning.plans import Plan
from dame.protocols import next as next_step
from dame.tally import Tally

MOST_NOTED = 2**50
REASONS = frozenset({"unreadable", "question", "length", "range", "duplicate"})
NOTED = frozenset({"files", "rejected"})
"""What a document may say beyond its tally."""


def tally_from(document: object) -> Tally:
    """The tally in a document, which may note how it came about."""
    if isinstance(document, Mapping):
        document = {key: value for key, value in document.items() if key not in NOTED}
    return Tally.from_json(document)


def added_notes(documents: Sequence[object]) -> dict[str, object]:
    """What several documents note beyond their tallies, added up."""
    files, rejected = 0, Counter[str]()
    for document in documents:
        noted = document if isinstance(document, Mapping) else {}
        files += checks.whole("files", noted.get("files", 0), 0, MOST_NOTED)
        reasons = checks.keys("rejected", noted.get("rejected", {}), frozenset(), REASONS)
        rejected.update({name: checks.whole(name, count, 0, MOST_NOTED) for name, count in reasons.items()})
    return {"files": files, "rejected": dict(sorted(rejected.items()))}


def step_after(plan: Plan, documents: Iterable[object]) -> Question | Estimate:
    """The next question, or the estimate. Tallies may come in any order; those of one question are added up.

    What was asked stands in the tallies: no earlier question is worked out again, so that another release of this
    software, with other constants, goes on from where the one before stopped.
    """
    by_slot: dict[Slot, Tally] = {}
    for tally in map(tally_from, documents):
        slot = tally.question.slot
        by_slot[slot] = _joined(by_slot.get(slot, Tally.zero(tally.question)), tally)
    _check_slots(plan, by_slot)
    return next_step(plan, [by_slot[slot] for slot in plan.slots if slot in by_slot])


def _joined(before: Tally, more: Tally) -> Tally:
    if before.question != more.question:
        raise Mismatch(f"two different questions were asked in {_named(more.question.slot)}: tallies of both are given")
    return before.merge(more)


def _check_slots(plan: Plan, by_slot: Mapping[Slot, Tally]) -> None:
    """Refuses tallies of slots that the plan has not, and of rounds before which one has no tally."""
    for slot in by_slot:
        if slot not in plan.slots:
            raise Mismatch(f"a tally belongs to no round of this plan, but to {_named(slot)}")
        before = Slot(slot.target, slot.round - 1)
        if slot.round and before not in by_slot:
            raise Mismatch(f"there is a tally of {_named(slot)}, but none of {_named(before)}")


def _named(slot: Slot) -> str:
    return f"round {slot.round + 1} of target '{slot.target}'"
