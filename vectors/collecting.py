"""The operations of a collector, with their outcomes: tallies of reports, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence

from dame.device.questions import Question
from dame.device.reports import Report
from dame.errors import RejectedReport
from dame.studies.codec import plan_from_json, plan_to_json
from dame.studies.running import next as next_step
from dame.tally import Tally, merged
from vectors.outcomes import Document, outcome


def tally_outcome(question: Question, reports: Sequence[bytes]) -> Document:
    """The tally of the reports that are accepted, and how many are not, by reason."""
    tally, rejected = Tally.zero(question), dict[str, int]()
    for encoded in reports:
        try:
            tally = tally.add(Report.decode(question, encoded))
        except RejectedReport as error:
            rejected[error.reason] = rejected.get(error.reason, 0) + 1
    return {"tally": tally.to_json(), "rejected": dict(sorted(rejected.items()))}


def tally_operation(name: str, question: Question, reports: Sequence[bytes]) -> Document:
    """The operation `tally`."""
    encoded = [report.hex() for report in reports]
    return {"op": "tally", "question": name, "reports": encoded, "expect": tally_outcome(question, reports)}


def merge_outcome(documents: Sequence[object]) -> Document:
    """The tally of several tallies."""
    return {"tally": merged(map(Tally.from_json, documents)).to_json()}


def merge_operation(documents: Sequence[object]) -> Document:
    """The operation `merge`."""
    return {"op": "merge", "tallies": list(documents), "expect": outcome(lambda: merge_outcome(documents))}


def plan_operation(document: object) -> Document:
    """The operation `plan`: a plan read and written again."""
    return {
        "op": "plan",
        "document": document,
        "expect": outcome(lambda: {"plan": plan_to_json(plan_from_json(document))}),
    }


def next_outcome(plan: object, tallies: Sequence[object]) -> Document:
    """The next question or the estimate of a plan after some tallies."""
    step = next_step(plan_from_json(plan), [Tally.from_json(document) for document in tallies])
    return {"question": step.to_json()} if isinstance(step, Question) else {"estimate": step.only.to_json()}


def next_operation(name: str, plan: object, tallies: Sequence[object]) -> Document:
    """The operation `next`."""
    expect = outcome(lambda: next_outcome(plan, tallies))
    return {"op": "next", "plan": name, "tallies": list(tallies), "expect": expect}
