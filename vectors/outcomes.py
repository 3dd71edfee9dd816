"""The outcome of one operation, as the vectors write it: a value, or the kind of error."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from dame.device.answer import answer_with_coins
from dame.device.assignment import participant_hash, round_borders, round_of
from dame.device.questions import PlaceVote, Question, Vote, canonical, question_from_json, question_id, question_tag
from dame.device.randomisers import DiscreteLaplace, OneBit, grid_point
from dame.device.records import HALF_GRID, grid_mean, summarise
from dame.device.reports import Report, report_bytes
from dame.errors import DameError, InvalidInput, RejectedReport
from dame.estimates import Estimate
from dame.planning.codec import plan_to_json
from dame.protocols import next as next_step
from dame.protocols import plan_from_json
from dame.tally import Tally

Document = dict[str, object]


class RecordedCoins:
    """Words from a script, then from a seed; it remembers those that were used."""

    def __init__(self, seed: int, script: Sequence[int] = ()) -> None:
        self._source = random.Random(seed)
        self._script = list(script)
        self.used: list[int] = []

    def words(self, count: int) -> Sequence[int]:
        """The next words."""
        taken = [self._script.pop(0) if self._script else self._source.getrandbits(64) for _ in range(count)]
        self.used += taken
        return taken

    def hex(self) -> str:
        """The words that were used, as the vectors write them."""
        return "".join(f"{word:016x}" for word in self.used)


def error_of(action: Callable[[], object]) -> Document:
    """How an action fails: the kind of its error, the field of bad input, the reason of a rejection."""
    try:
        action()
    except InvalidInput as error:
        return {"error": {"kind": "InvalidInput", "field": error.field}}
    except RejectedReport as error:
        return {"error": {"kind": "RejectedReport", "reason": error.reason}}
    except DameError as error:
        return {"error": {"kind": type(error).__name__}}
    raise AssertionError("it was meant to fail")


def outcome(action: Callable[[], Document]) -> Document:
    """What an action gives, or how it fails."""
    try:
        return action()
    except DameError:
        return error_of(action)


# --- operations of the device


def question_outcome(document: object) -> Document:
    """The identity of a question."""
    question = question_from_json(document)
    return {
        "canonical": canonical(question.to_json()).decode("ascii"),
        "id": question_id(question),
        "tag": question_tag(question).hex(),
        "report_bytes": report_bytes(question),
    }


def summary_outcome(low: float, high: float, records: Sequence[object]) -> Document:
    """Size and mean of records, and the exact sum on the grid that the mean comes from."""
    person = summarise(records, low, high)
    scale = 2 * HALF_GRID / (high - low)
    points = [math.floor((min(max(float(r), low), high) - low) * scale + 0.5) for r in records]  # type: ignore[arg-type]
    total = sum(points) - HALF_GRID * len(points)
    assert person.mean == grid_mean(total, person.size)
    return {"size": person.size, "total": total, "mean": person.mean}


def answer_operation(
    name: str, question: Question, records: Sequence[object], seed: int, script: Sequence[int] = ()
) -> Document:
    """The operation `answer`, with coins that are just enough, and every step on the way."""
    coins = RecordedCoins(seed, script)
    report = answer_with_coins(question, records, coins)
    return {
        "op": "answer",
        "question": name,
        "records": list(records),
        "coins": coins.hex(),
        "expect": {
            **_steps(question, records, coins.used),
            "value": report.value,
            "report": report.encode(question).hex(),
        },
    }


def _steps(question: Question, records: Sequence[object], words: Sequence[int]) -> Document:
    person = summarise(records, question.low, question.high)
    steps: Document = {"size": person.size, "mean": person.mean, "words": len(words)}
    if isinstance(question, PlaceVote):
        first, part = question.own_bin(person), question.part(person)
        ends = question.code.ends(first, part, question.bins)[:-1]
        return {**steps, "bin": first, "part": part, "ends": [f"{end:016x}" for end in ends]}
    if isinstance(question, Vote):
        return {**steps, "bin": question.own_bin(person), "marks": list(question.marks(person))}
    arm = words[0] >> 64 - question.arm_bits
    position = question.position(person, arm)
    steps |= {"weight": question.weight(person.size), "position": position}
    if isinstance(question.noise, DiscreteLaplace):
        return {**steps, "grid_point": grid_point(position, question.noise.steps)}
    assert isinstance(question.noise, OneBit)
    return {**steps, "arm": arm, "threshold": f"{question.noise.threshold(position):016x}"}


def decode_outcome(question: Question, encoded: bytes) -> Document:
    """The value of an encoded report."""
    return {"value": Report.decode(question, encoded).value}


def round_outcome(study: str, shares: Sequence[float], participant: str) -> Document:
    """The round of a participant, and how it follows."""
    return {
        "hash": f"{participant_hash(study, participant):016x}",
        "borders": [f"{border:016x}" for border in round_borders(shares)],
        "round": round_of(study, shares, participant),
    }


# --- operations of the collector


def tally_outcome(question: Question, reports: Sequence[bytes]) -> Document:
    """The tally of the reports that are accepted, and how many are not, by reason."""
    tally, rejected = Tally.zero(question), dict[str, int]()
    for encoded in reports:
        try:
            tally = tally.add(Report.decode(question, encoded))
        except RejectedReport as error:
            rejected[error.reason] = rejected.get(error.reason, 0) + 1
    return {"tally": tally.to_json(), "rejected": dict(sorted(rejected.items()))}


def merge_outcome(question: Question, documents: Sequence[object]) -> Document:
    """The tally of several tallies."""
    tally = Tally.zero(question)
    for document in documents:
        tally = tally.merge(Tally.from_json(document, question))
    return {"tally": tally.to_json()}


def next_outcome(plan_document: object, tallies: Sequence[object]) -> Document:
    """The next question or the estimate of a plan after some tallies."""
    plan = plan_from_json(plan_document)
    read: list[Tally] = []
    for document in tallies:
        question = next_step(plan, read)
        if isinstance(question, Estimate):
            # One tally too many: let the machine itself refuse it.
            next_step(plan, [*read, read[-1]])
        assert not isinstance(question, Estimate)
        read.append(Tally.from_json(document, question))
    step = next_step(plan, read)
    if isinstance(step, Estimate):
        return {"estimate": step.to_json()}
    return {"question": step.to_json()}


def plan_outcome(document: object) -> Document:
    """A plan read and written again."""
    return {"plan": plan_to_json(plan_from_json(document))}
