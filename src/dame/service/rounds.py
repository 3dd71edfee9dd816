"""The life of a round: waiting, open, closing, closed. Each step is one transaction, and can be taken again.

A round is named by its slot, its place in the plan's list of slots. The step that follows it is that of its machine:
machines of one study go on side by side, each at its own pace. When all have come to their end, the study has a result.

`closing` lasts as long as the reports are counted: nothing is accepted any more, and a server that dies meanwhile
leaves a round that the next one goes on with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, text

from dame.device.questions import Question
from dame.estimates import Estimate
from dame.protocols import ByGroup
from dame.protocols import next as next_step
from dame.service import acts
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.opening import open_round
from dame.service.patience import Patience
from dame.service.problems import Problem
from dame.service.results import study_result
from dame.service.schedule import iso
from dame.service.stored import REPORTS, Group, StoredStudy, stored_groups
from dame.service.studies import Clock, Studies
from dame.service.tallies import (
    counted,
    groups_text,
    reports_at_once,
    stored_by_group,
    stored_question,
    stored_tally,
)
from dame.tally import Tally, merged

_STATE = f"SELECT id, state, opened_at, {REPORTS} AS reports FROM rounds r WHERE study_id = :study AND slot = :slot"
_ONE = "SELECT id FROM rounds WHERE id = :id"
_QUESTION = text(
    "SELECT r.*, b.deadline AS before FROM rounds r"
    " LEFT JOIN rounds b ON b.study_id = r.study_id AND b.target = r.target AND b.round = r.round - 1"
    " WHERE r.study_id = :study AND r.slot = :slot"
)
_BEGIN_CLOSE = text("UPDATE rounds SET state = 'closing', closed_at = :now WHERE id = :id AND state = 'open'")
_SLOTS = (
    "SELECT id, target, round, state, tally, groups, question, purged_at FROM rounds WHERE study_id = :study"
    " ORDER BY slot"
)
_CLOSE = text(
    "UPDATE rounds SET state = 'closed', tally = :tally, groups = :groups, estimate = :estimate WHERE id = :id"
)
_CONCLUDE = text("UPDATE studies SET result = :result WHERE id = :study AND result IS NULL")
_DUE = text(
    "SELECT s.study, r.slot FROM rounds r JOIN studies s ON s.id = r.study_id WHERE r.state = 'closing'"
    " OR (r.state = 'open' AND (r.close_at_count IS NOT NULL OR r.deadline <= :now)"
    f" AND {REPORTS} >= CASE WHEN s.minimum_reports > 1 THEN s.minimum_reports ELSE 1 END"
    f" AND ({REPORTS} >= r.close_at_count OR r.deadline <= :now)) ORDER BY r.id"
)
_UNREAD = text(
    "SELECT s.study, max(r.slot) FROM rounds r JOIN studies s ON s.id = r.study_id WHERE s.result IS NULL"
    " GROUP BY s.study HAVING count(*) = sum(CASE r.state WHEN 'closed' THEN 1 ELSE 0 END)"
)

UNLINKED_AT_ONCE = 20_000
"""Reports that are cut off from whoever sent them in one transaction: no other one waits for long."""


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

    def __init__(
        self,
        database: Database,
        studies: Studies,
        clock: Clock = time.time,
        log: Log | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._database = database
        self._studies = studies
        self._clock = clock
        self._log = log or Log()
        self._patience = patience or Patience()

    def question(self, study: StoredStudy, index: int) -> SignedQuestion:
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

    def close(self, study: StoredStudy, index: int, who: str = acts.SERVICE, anyway: bool = True) -> None:
        """Closes a round and opens the next one of its machine, or keeps what that found.

        Closing a closed round changes nothing. After the last round of all machines, the study has its result. A round
        with fewer reports than the study waits for is closed only if it shall be closed anyway.
        """
        check_round(study, index)
        if self._begin(study, index, who, anyway):
            self._finish(study, index)
        self._conclude(study)

    def _begin(self, study: StoredStudy, index: int, who: str, anyway: bool) -> bool:
        """Whether the reports of the round are to be counted now."""
        with self._database.writing() as connection:
            self._database.bar(connection, study.id)
            query = text(_STATE + self._database.lock())
            row = connection.execute(query, {"study": study.id, "slot": index}).mappings().one()
            if row["state"] == "waiting":
                raise Problem("too-early", f"round {index + 1} is not open yet: close the one before it first")
            if row["state"] == "ended":
                raise Problem("over", f"round {index + 1} was ended with its study")
            if row["state"] == "open" and not anyway:
                _check_enough(study, index, row["reports"])
            # A clock that was set back must not make a round end before it began.
            now = max(self._clock(), row["opened_at"])
            if connection.execute(_BEGIN_CLOSE, {"id": row["id"], "now": now}).rowcount:
                acts.note(connection, study.study, who, "round-closed", now, round=index, reports=row["reports"])
            return bool(row["state"] != "closed")

    def _unlink(self, round_id: int) -> None:
        """Cuts the reports of a closing round off from whoever sent them: a part at a time, others write in between."""
        unlinked = UNLINKED_AT_ONCE
        while unlinked == UNLINKED_AT_ONCE:
            with self._database.writing() as connection:
                # Another server may be closing it too: one after the other, or reports would be there twice.
                connection.execute(text(_ONE + self._database.lock()), {"id": round_id})
                unlinked = self._database.unlink(connection, round_id, UNLINKED_AT_ONCE)

    def _finish(self, study: StoredStudy, index: int) -> None:
        """Counts the reports of a closing round, and takes the next step of its machine."""
        with self._database.reading() as connection:
            rows = self._slots(connection, study)
            if rows[index]["state"] != "closing":
                return
        self._unlink(rows[index]["id"])
        with self._database.reading() as connection:
            by_group = self._count(connection, study, rows[index])
        tally = merged(by_group.values())
        machine = study.plan.machine_of(study.plan.slots[index])
        step = next_step(machine, [*_history_before(rows[index], rows), tally])
        values = {
            "tally": json.dumps(tally.counts()),
            "groups": groups_text(by_group),
            "estimate": json.dumps(step.to_json()) if isinstance(step, Estimate) else None,
        }
        with self._database.writing() as connection:
            row = self._slots(connection, study, self._database.lock())[index]
            if row["state"] != "closing":
                return  # another server was quicker, with the same outcome
            connection.execute(_CLOSE, {"id": row["id"], **values})
            if not isinstance(step, Estimate):
                open_round(connection, self._database.vault, study, step, self._clock())

    def _conclude(self, study: StoredStudy) -> None:
        """Keeps the result of a study whose last round is closed. Whoever does it, it is the same."""
        with self._database.reading() as connection:
            rows = self._slots(connection, study)
        if any(row["state"] != "closed" for row in rows):
            return
        now = self._studies.get(study.study)
        if now.result is None:
            result = json.dumps(study_result(now, rows).to_json())
            with self._database.writing() as connection:
                connection.execute(_CONCLUDE, {"study": study.id, "result": result})

    def _slots(self, connection: Connection, study: StoredStudy, lock: str = "") -> Sequence[RowMapping]:
        return connection.execute(text(_SLOTS + lock), {"study": study.id}).mappings().all()

    def _count(self, connection: Connection, study: StoredStudy, row: RowMapping) -> dict[str, Tally]:
        groups = stored_groups(connection, study.id)
        return counted(self._database, connection, row["id"], stored_question(row["question"]), groups)

    def recount(self, study: StoredStudy, index: int) -> ByGroup | None:
        """The tallies of a round, counted again from the stored reports; None before it was opened."""
        with self._database.reading() as connection:
            row = self._slots(connection, study)[index]
            return None if row["question"] is None else self._count(connection, study, row)

    def tallies(self, study: StoredStudy) -> list[ByGroup]:
        """The tallies of all closed rounds, by group, each with the question that was asked."""
        with self._database.reading() as connection:
            rows = self._slots(connection, study)
        return [stored_by_group(row) for row in rows if row["tally"] is not None]

    def tally(self, study: StoredStudy, index: int) -> ByGroup:
        """The tallies of the groups in a closed round, with the question that was asked."""
        return stored_by_group(self._closed_row(study, index))

    def exported(self, study: StoredStudy, index: int, group: str | None = None) -> tuple[Question, Iterator[bytes]]:
        """The question of a closed round, and its reports in random order: all of them, or those of a group."""
        row = self._closed_row(study, index)
        if row["purged_at"] is not None:
            raise Problem(
                "purged", f"the reports of round {index} were deleted at {iso(row['purged_at'])}: its tally stays"
            )
        question = stored_question(row["question"])
        group_id = None if group is None else self._group(study, group).id
        return question, self._stream(row["id"], reports_at_once(question), group_id)

    def _group(self, study: StoredStudy, name: str) -> Group:
        with self._database.reading() as connection:
            groups = {group.name: group for group in stored_groups(connection, study.id)}
        if name not in groups:
            raise Problem("unknown-group", f"nobody of the group {name!r} was invited to this study")
        return groups[name]

    def _closed_row(self, study: StoredStudy, index: int) -> RowMapping:
        check_round(study, index)
        with self._database.reading() as connection:
            row = self._slots(connection, study)[index]
        if row["state"] != "closed":
            raise Problem("not-finished", f"round {index + 1} is not closed yet")
        return row

    def _stream(self, round_id: int, at_once: int, group_id: int | None) -> Iterator[bytes]:
        with self._database.reading() as connection:
            yield from self._database.shuffled_reports(connection, round_id, at_once, group_id)

    def due(self) -> Sequence[tuple[str, int]]:
        """Rounds that are to be closed now: full, past their deadline, or left half-closed; and last rounds of studies
        whose result nobody has read yet.

        A round with too few reports stays open past its deadline: closing it would end the study with nothing.
        """
        with self._database.reading() as connection:
            found = [*connection.execute(_DUE, {"now": self._clock()}), *connection.execute(_UNREAD)]
        return [(row[0], row[1]) for row in found]

    def close_due(self) -> list[tuple[str, int]]:
        """Closes what is due, and says what that was. What could not be closed is tried again, ever more rarely."""
        return [due for due in self.due() if self._patience.may_try(due) and self._closed(*due)]

    def _closed(self, name: str, index: int) -> bool:
        """Whether a round could be closed. One study's trouble is its own: it is logged, and the others go on."""
        try:
            self.close(self._studies.get(name), index)
        except Exception as error:
            pause = self._patience.failed((name, index))
            self._log.failure("closing-failed", error, study=name, round=index, again_in=pause)
            return False
        self._patience.done((name, index))
        return True


def check_round(study: StoredStudy, index: int) -> None:
    """Refuses a round that the study does not have: no slot of its plan."""
    if not 0 <= index < len(study.plan.slots):
        raise Problem("unknown-round", f"the study has rounds 1 to {len(study.plan.slots)}")


def _check_enough(study: StoredStudy, index: int, reports: int) -> None:
    least = max(study.minimum_reports, 1)
    if reports < least:
        raise Problem(
            "too-few",
            f"round {index + 1} has {reports} reports, and this study waits for {least}: it may be closed anyway",
        )


def too_early(index: int, opens_after: float | None) -> Problem:
    """The refusal of somebody whose round is still to come, with the time from which to ask again, if it is known."""
    when = iso(opens_after)
    after = f"; that is planned for {when}" if when else ""
    return Problem("too-early", f"round {index + 1} opens when the one before it is closed{after}", opens_after=when)


def too_late(index: int) -> Problem:
    """The refusal of somebody whose round is over."""
    return Problem("too-late", f"round {index + 1} is closed")


def _history_before(row: RowMapping, rows: Sequence[RowMapping]) -> list[Tally]:
    """The tallies of the rounds of the same machine before this one, in order: others run beside it."""
    before = [one for one in rows if one["target"] == row["target"] and one["round"] < row["round"]]
    return [stored_tally(one) for one in sorted(before, key=lambda one: int(one["round"]))]
