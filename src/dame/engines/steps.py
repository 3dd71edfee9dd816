"""Studies by files alone: from a plan and the tallies that came in so far to what is to be done next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dame import checks
from dame.device.questions import Question
from dame.errors import InvalidInput
from dame.protocols import EVERYBODY, ByGroup
from dame.studies.plans import Plan
from dame.studies.results import Result
from dame.studies.running import questions, result
from dame.tally import Tally, merged

MOST_NOTED = 2**50
REASONS = frozenset({"unreadable", "question", "length", "range", "duplicate"})
NOTED = frozenset({"files", "rejected", "groups"})
"""What a document may say beyond its tally."""


def tallies_to_json(tallies: ByGroup) -> dict[str, object]:
    """Tallies by group as one document: that of everybody, and beside it, where there are groups, what each counts."""
    document = merged(tallies.values()).to_json()
    if set(tallies) != {EVERYBODY}:
        document["groups"] = {group: tally.counts() for group, tally in sorted(tallies.items())}
    return document


def tallies_from(document: object) -> ByGroup:
    """The tallies in a document, which may note how they came about."""
    fields = document if isinstance(document, Mapping) else {}
    total = Tally.from_json({key: value for key, value in fields.items() if key not in NOTED} if fields else document)
    if "groups" not in fields:
        return {EVERYBODY: total}
    groups = fields["groups"]
    if not isinstance(groups, Mapping) or not groups:
        raise InvalidInput("groups", groups, "an object with a tally for each group")
    question = fields["question"]
    each = {
        checks.text("group", name, 128): Tally.from_json({"question": question, **_counts(part)})
        for name, part in groups.items()
    }
    if merged(each.values()) != total:
        raise InvalidInput("groups", sorted(each), "tallies that add up to that of everybody")
    return each


def _counts(part: object) -> Mapping[str, object]:
    return checks.keys("tally of a group", part, frozenset({"reports", "sums"}), frozenset())


def added_notes(documents: Sequence[object]) -> dict[str, object]:
    """What several documents note beyond their tallies, added up."""
    files, rejected = 0, Counter[str]()
    for document in documents:
        noted = document if isinstance(document, Mapping) else {}
        files += checks.whole("files", noted.get("files", 0), 0, MOST_NOTED)
        reasons = checks.keys("rejected", noted.get("rejected", {}), frozenset(), REASONS)
        rejected.update({name: checks.whole(name, count, 0, MOST_NOTED) for name, count in reasons.items()})
    return {"files": files, "rejected": dict(sorted(rejected.items()))}


def step_after(plan: Plan, documents: Iterable[object]) -> tuple[Question, ...] | Result:
    """The open questions, or the result. Tallies may come in any order; those of one question are added up.

    What was asked stands in the tallies: no earlier question is worked out again, so that another release of this
    software, with other constants, goes on from where the one before stopped.
    """
    heard = list(map(tallies_from, documents))
    return questions(plan, heard) or result(plan, heard)
