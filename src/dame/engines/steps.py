"""Studies by files alone: from a plan and the tallies that came in so far to what is to be done next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dame import checks
from dame.device.questions import Question, question_id
from dame.errors import InvalidInput, Mismatch
from dame.estimates import Estimate
from dame.planning.plans import Plan
from dame.protocols import next as next_step
from dame.tally import Tally, merged

MOST_NOTED = 2**50
REASONS = frozenset({"unreadable", "question", "length", "range", "duplicate"})
NOTED = frozenset({"files", "rejected"})
"""What a document may say beyond its tally."""


def tally_from(document: object, question: Question) -> Tally:
    """The tally in a document, which may note how it came about."""
    if isinstance(document, Mapping):
        document = {key: value for key, value in document.items() if key not in NOTED}
    return Tally.from_json(document, question)


def added_notes(documents: Sequence[object]) -> dict[str, object]:
    """What several documents note beyond their tallies, added up."""
    files, rejected = 0, Counter[str]()
    for document in documents:
        noted = document if isinstance(document, Mapping) else {}
        files += checks.whole("files", noted.get("files", 0), 0, MOST_NOTED)
        reasons = checks.keys("rejected", noted.get("rejected", {}), frozenset(), REASONS)
        rejected.update({name: checks.whole(name, count, 0, MOST_NOTED) for name, count in reasons.items()})
    return {"files": files, "rejected": dict(sorted(rejected.items()))}


def step_after(plan: Plan, documents: Sequence[object]) -> Question | Estimate:
    """The next question, or the estimate. Tallies may come in any order; those of one question are added up."""
    waiting: dict[str, list[object]] = {}
    for document in documents:
        waiting.setdefault(_question_named(document), []).append(document)
    tallies: list[Tally] = []
    step = next_step(plan, tallies)
    while not isinstance(step, Estimate) and question_id(step) in waiting:
        question = step
        tallies.append(merged(tally_from(document, question) for document in waiting.pop(question_id(question))))
        step = next_step(plan, tallies)
    if waiting:
        raise Mismatch(
            f"{sum(map(len, waiting.values()))} of the tallies belong to no round of this plan,"
            " or to a round before which a tally is missing or different"
        )
    return step


def _question_named(document: object) -> str:
    named = document.get("question") if isinstance(document, Mapping) else None
    if not isinstance(named, str):
        raise InvalidInput("tally", document, "a JSON object that names its question")
    return named
