"""The life of a round: waiting, open, closing, closed. Each step is one transaction, and can be taken again.

A round is named by its slot, its place in the plan's list of slots; the step that follows it is that of its target.

`closing` lasts as long as the reports are counted: nothing is accepted any more, and a server that dies meanwhile
leaves a round that the next one goes on with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sqlalchemy import Connection, RowMapping, text

from dame.device.questions import Question, question_from_json
from dame.device.reports import report_bytes
from dame.estimates import Estimate
from dame.protocols import next as next_step
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.opening import open_round
from dame.service.problems import Problem
from dame.service.schedule import iso
from dame.service.studies import Clock, Studies, Study
from dame.tally import Tally
from dame.vectorised.reports import report_totals

BYTES_AT_ONCE = 2**20
"""Bytes of reports that are counted together."""

_STATE = "SELECT id, state, opened_at FROM rounds WHERE study_id = :study AND slot = :slot"
_QUESTION = text(
    "SELECT r.*, b.deadline AS before FROM rounds r"
    " LEFT JOIN rounds b ON b.study_id = r.study_id AND b.target = r.target AND b.round = r.round - 1"
    " WHERE r.study_id = :study AND r.slot = :slot"
)
_BEGIN_CLOSE = text("UPDATE rounds SET state = 'closing', closed_at = :now WHERE id = :id AND state = 'open'")
_SLOTS = "SELECT id, target, round, state, tally, question FROM rounds WHERE study_id = :study ORDER BY slot"
_CLOSE = text("UPDATE rounds SET state = 'closed', tally = :tally, estimate = :estimate WHERE id = :id")
_DUE = text(
    "SELECT s.study, r.slot FROM rounds r JOIN studies s ON s.id = r.study_id WHERE r.state = 'closing'"
    " OR (r.state = 'open' AND (r.reports >= r.close_at_count OR (r.deadline <= :now AND r.reports > 0))) ORDER BY r.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedQuestion:
    """The question of an open round, with its signature."""

    document: dict[str, object]
    canonical: str
    question_id: str
    plan_id: str
    signature: str


class Rounds:
    """The rounds of all studies of one database."""

    def __init__(self, database: Database, studies: Studies, clock: Clock = time.time, log: Log | None = None) -> None:
        self._database = database
        self._studies = studies
        self._clock = clock
        self._log = log or Log()

    def question(self, study: Study, index: int) -> SignedQuestion:
        """The question of an open round; a Problem says when a round opens, or that it is over."""
        check_round(study, index)
        with self._database.reading() as connection:
            row = connection.execute(_QUESTION, {"study": study.id, "slot": index}).mappings().one()
        if row["state"] == "waiting":
            raise too_early(index, row["before"])
        if row["state"] != "open":
            raise too_late(index)
        return SignedQuestion(
            document=json.loads(row["question"]),
            canonical=row["question"],
            question_id=row["question_id"],
            plan_id=study.plan_id,
            signature=row["signature"],
        )

    def close(self, study: Study, index: int) -> None:
        """Closes a round and opens the next, or keeps the estimate; closing a closed round changes nothing."""
        check_round(study, index)
        if self._begin(study, index):
            self.finish(study, index)

    def _begin(self, study: Study, index: int) -> bool:
        """Whether the reports of the round are to be counted now."""
        with self._database.writing() as connection:
            query = text(_STATE + self._database.lock())
            row = connection.execute(query, {"study": study.id, "slot": index}).mappings().one()
            if row["state"] == "waiting":
                raise Problem("too-early", f"round {index} is not open yet: close the rounds before it first")
            # A clock that was set back must not make a round end before it began.
            now = max(self._clock(), row["opened_at"])
            connection.execute(_BEGIN_CLOSE, {"id": row["id"], "now": now})
            return bool(row["state"] != "closed")

    def finish(self, study: Study, index: int) -> None:
        """Counts the reports of a closing round, and takes the next step of its target's protocol."""
        with self._database.reading() as connection:
            rows = self._slots(connection, study)
            if rows[index]["state"] != "closing":
                return
            tally = self._count(connection, rows[index]["id"], stored_question(rows[index]["question"]))
        step = next_step(study.plan, [*_history_before(rows[index], rows), tally])
        estimate = json.dumps(step.to_json()) if isinstance(step, Estimate) else None
        with self._database.writing() as connection:
            row = self._slots(connection, study, self._database.lock())[index]
            if row["state"] != "closing":
                return  # another server was quicker, with the same outcome
            connection.execute(_CLOSE, {"id": row["id"], "tally": tally_text(tally), "estimate": estimate})
            if not isinstance(step, Estimate):
                open_round(connection, study, step, self._clock())

    def _slots(self, connection: Connection, study: Study, lock: str = "") -> Sequence[RowMapping]:
        return connection.execute(text(_SLOTS + lock), {"study": study.id}).mappings().all()

    def _count(self, connection: Connection, round_id: int, question: Question) -> Tally:
        tally = Tally.zero(question)
        length = report_bytes(question)
        for part in self._database.reports(connection, round_id, max(BYTES_AT_ONCE // length, 1), shuffled=False):
            reports = np.frombuffer(part, np.uint8).reshape(-1, length)
            tally = tally.merge(Tally.of(question, report_totals(question, reports)))
        return tally

    def recount(self, study: Study, index: int) -> Tally | None:
        """The tally of a round, counted again from the stored reports; None before it was opened."""
        with self._database.reading() as connection:
            row = self._slots(connection, study)[index]
            if row["question"] is None:
                return None
            return self._count(connection, row["id"], stored_question(row["question"]))

    def tallies(self, study: Study) -> list[Tally]:
        """The tallies of all closed rounds, each with the question that was asked."""
        with self._database.reading() as connection:
            rows = self._slots(connection, study)
        return [stored_tally(row) for row in rows if row["tally"] is not None]

    def tally(self, study: Study, index: int) -> Tally:
        """The tally of a closed round, with the question that was asked."""
        return stored_tally(self._closed_row(study, index))

    def exported(self, study: Study, index: int) -> tuple[Question, Iterator[bytes]]:
        """The question of a closed round, and its reports in random order."""
        row = self._closed_row(study, index)
        question = stored_question(row["question"])
        return question, self._stream(row["id"], max(BYTES_AT_ONCE // report_bytes(question), 1))

    def _closed_row(self, study: Study, index: int) -> RowMapping:
        check_round(study, index)
        with self._database.reading() as connection:
            row = self._slots(connection, study)[index]
        if row["state"] != "closed":
            raise Problem("not-finished", f"round {index} is not closed yet")
        return row

    def _stream(self, round_id: int, at_once: int) -> Iterator[bytes]:
        with self._database.reading() as connection:
            yield from self._database.reports(connection, round_id, at_once, shuffled=True)

    def due(self) -> Sequence[tuple[str, int]]:
        """Rounds that are to be closed now: full, past their deadline, or left half-closed.

        A round without a single report stays open past its deadline: closing it would end the study with nothing.
        """
        with self._database.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(_DUE, {"now": self._clock()})]

    def close_due(self) -> list[tuple[str, int]]:
        """Closes what is due, and says what that was. What could not be closed is due again at the next call."""
        return [(name, index) for name, index in self.due() if self._closed(name, index)]

    def _closed(self, name: str, index: int) -> bool:
        """Whether a round could be closed. One study's trouble is its own: it is logged, and the others go on."""
        try:
            self.close(self._studies.get(name), index)
        except Exception as error:
            self._log.failure("closing-failed", error, study=name, round=index)
            return False
        return True


def check_round(study: Study, index: int) -> None:
    """Refuses a round that the study does not have: no slot of its plan."""
    if not 0 <= index < len(study.plan.slots):
        raise Problem("unknown-round", f"the study has rounds 0 to {len(study.plan.slots) - 1}")


def too_early(index: int, opens_after: float | None) -> Problem:
    """The refusal of somebody whose round is still to come, with the time from which to ask again, if it is known."""
    when = iso(opens_after)
    after = f"; that is planned for {when}" if when else ""
    return Problem("too-early", f"round {index} opens when the one before it is closed{after}", opens_after=when)


def too_late(index: int) -> Problem:
    """The refusal of somebody whose round is over."""
    return Problem("too-late", f"round {index} is closed")


@lru_cache(maxsize=1024)
def stored_question(text_: str) -> Question:
    """The question that a round keeps as a text."""
    return question_from_json(json.loads(text_))


def tally_text(tally: Tally) -> str:
    """What a round keeps of its tally beside its question."""
    return json.dumps({name: value for name, value in tally.to_json().items() if name != "question"})


def stored_tally(row: RowMapping) -> Tally:
    """The tally of a closed round: what was counted, and the question that was asked."""
    counted = json.loads(row["tally"])
    return Tally.of(stored_question(row["question"]), zip(counted["reports"], counted["sums"], strict=True))


def _history_before(row: RowMapping, rows: Sequence[RowMapping]) -> list[Tally]:
    """The tallies of the rounds of the same target before this one, in order: rounds of other targets run beside it."""
    before = [one for one in rows if one["target"] == row["target"] and one["round"] < row["round"]]
    return [stored_tally(one) for one in sorted(before, key=lambda one: int(one["round"]))]
