"""The operations of a device, with their outcomes as the vectors write them: a value, or the kind of error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dame.device.answering import answer_with_coins
from dame.device.assignment import participant_hash, slot_borders, slot_of
from dame.device.questions import Question, canonical, question_from_json, question_id, question_tag
from dame.device.records import HALF_GRID, grid_mean
from dame.device.reports import Report, report_bytes
from dame.device.statistics import STATISTICS
from dame.errors import DameError, InvalidInput, RejectedReport
from vectors.coins import RecordedCoins

Document = dict[str, object]


def outcome(action: Callable[[], Document]) -> Document:
    """What an action gives; or the kind of its error, the field of bad input, the reason of a rejection."""
    try:
        return action()
    except InvalidInput as error:
        return {"error": {"kind": "InvalidInput", "field": error.field}}
    except RejectedReport as error:
        return {"error": {"kind": "RejectedReport", "reason": error.reason}}
    except DameError as error:
        return {"error": {"kind": type(error).__name__}}


# --- questions


def question_outcome(document: object) -> Document:
    """The identity of a question, and the size of its reports."""
    question = question_from_json(document)
    return {
        "id": question_id(question),
        "tag": question_tag(question).hex(),
        "bits": question.report_bits,
        "bytes": report_bytes(question),
    }


def question_operation(document: object) -> Document:
    """The operation `question`; with the text that the identity is taken from, if the document is good."""
    expect = outcome(lambda: question_outcome(document))
    operation: Document = {"op": "question", "document": document, "expect": expect}
    if "error" in expect:
        return operation
    return {**operation, "steps": {"canonical": canonical(question_from_json(document).to_json()).decode("ascii")}}


# --- records


def summary_outcome(statistic: object, records: Sequence[object], word: int = 0) -> Document:
    """Size and mean of records."""
    person = STATISTICS.from_json(statistic).summarise(records, word)
    return {"size": person.size, "mean": person.mean}


def summary_operation(statistic: object, records: Sequence[object], word: int | None = None) -> Document:
    """The operation `summarise`; with the exact sum on the grid that the mean comes from, if the records are good.

    Statistics that draw have the word that they draw with.
    """
    expect = outcome(lambda: summary_outcome(statistic, records, word or 0))
    drawn: Document = {} if word is None else {"word": f"{word:016x}"}
    operation: Document = {
        "op": "summarise", "statistic": statistic, "records": list(records), **drawn, "expect": expect
    }  # fmt: skip
    if "error" in expect:
        return operation
    read, size = STATISTICS.from_json(statistic), int(str(expect["size"]))
    # A mean of one record is its grid value over HALF_GRID, exactly; a record that does not count adds nothing.
    parts = [records] if size == 1 else [[record] for record in records]
    total = sum(int(read.summarise(part, word or 0).mean * HALF_GRID) for part in parts)
    assert expect["mean"] == grid_mean(total, size)
    return {**operation, "steps": {"total": total}}


# --- answers


def answer_operation(
    name: str, question: Question, records: Sequence[object], seed: int, script: Sequence[int] = ()
) -> Document:
    """The operation `answer`, with coins that are just enough, and what the lens shows of the person."""
    coins = RecordedCoins(seed, script)
    report = answer_with_coins(question, records, coins)
    person = question.statistic.summarise(records, coins.used[0])
    reading = question.lens.reading(person, report.window)
    return {
        "op": "answer",
        "question": name,
        "records": list(records),
        "coins": coins.hex(),
        "expect": {"report": report.encode(question).hex(), **_said(report)},
        "steps": {"size": person.size, "mean": person.mean, "reading": list(reading)},
    }


def decode_outcome(question: Question, encoded: bytes) -> Document:
    """The window and the value of an encoded report."""
    return _said(Report.decode(question, encoded))


def _said(report: Report) -> Document:
    # The value as text: it may be longer than a JSON number can be.
    return {"window": report.window, "value": str(report.value)}


# --- slots


def slot_outcome(study: str, shares: Sequence[float], participant: str) -> Document:
    """The place of a participant's slot."""
    return {"slot": slot_of(study, shares, participant)}


def slot_operation(study: str, shares: Sequence[float], participant: str) -> Document:
    """The operation `slot`; with the hash and the borders that it follows from, if there is one."""
    expect = outcome(lambda: slot_outcome(study, shares, participant))
    operation: Document = {"op": "slot", "study": study, "shares": list(shares), "participant": participant}
    if "error" in expect:
        return {**operation, "expect": expect}
    borders = [f"{border:016x}" for border in slot_borders(tuple(shares))]
    steps = {"hash": f"{participant_hash(study, participant):016x}", "borders": borders}
    return {**operation, "expect": expect, "steps": steps}
