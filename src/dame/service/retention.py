"""What is kept, and for how long: studies are ended and deleted, invitations withdrawn, reports purged.

Tallies and results stay until the study is deleted, and the audit trail stays after it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, text

from dame.service import acts, auth
from dame.service.database import Database
from dame.service.problems import Problem
from dame.service.stored import StoredStudy
from dame.service.studies import Clock

DAY = 86_400.0
MOST_WITHDRAWN = 10_000
"""Invitations that are withdrawn in one call."""

_ROUNDS = "SELECT id, slot, state, purged_at FROM rounds WHERE study_id = :study ORDER BY slot"
_END_ROUNDS = text(
    "UPDATE rounds SET state = 'ended', closed_at = :now WHERE study_id = :study AND state IN ('waiting', 'open')"
)
_END = text("UPDATE studies SET ended_at = :now WHERE id = :study AND ended_at IS NULL AND result IS NULL")
_WITHDRAW = text("UPDATE participants SET until = :now WHERE id = :id")
_PURGE = text("DELETE FROM reports WHERE round_id = :id")
_PURGED = text("UPDATE rounds SET purged_at = :now WHERE id = :id")
_DUE = text(
    "SELECT DISTINCT s.id, s.study FROM rounds r JOIN studies s ON s.id = r.study_id WHERE r.purged_at IS NULL"
    f" AND r.state IN ('closed', 'ended') AND r.closed_at + {DAY} * s.keep_reports_days <= :now"
)
_OF_ROUNDS = tuple(
    text(f"DELETE FROM {table} WHERE round_id IN (SELECT id FROM rounds WHERE study_id = :study)")
    for table in ("reports", "participants", "report_counts")
)
_OF_STUDY = (
    *(text(f"DELETE FROM {table} WHERE study_id = :study") for table in ("refusal_counts", "groups", "administrators")),
    text("DELETE FROM rounds WHERE study_id = :study"),
    text("DELETE FROM studies WHERE id = :study"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """What became of invitations: withdrawn, answered before, or never given out for this study."""

    withdrawn: int
    answered: int
    unknown: int


class Retention:
    """The end of things, for one database. Every step is one transaction, and is written into the audit trail."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    def end(self, study: StoredStudy, who: str) -> None:
        """Ends a study before its result: nothing is accepted any more, and no further question is asked."""
        now = self._clock()
        with self._database.writing() as connection:
            self._database.bar(connection, study.id)
            if not connection.execute(_END, {"study": study.id, "now": now}).rowcount:
                raise Problem("over", "the study is over: there is nothing to end")
            connection.execute(_END_ROUNDS, {"study": study.id, "now": now})
            acts.note(connection, study.study, who, "ended", now)

    def delete(self, study: StoredStudy, who: str) -> None:
        """Deletes all that is stored of a study that is over, but the audit trail. Its name is not given again."""
        with self._database.writing() as connection:
            self._database.bar(connection, study.id)
            self._rounds(connection, study)
            over = text("SELECT id FROM studies WHERE id = :study AND (ended_at IS NOT NULL OR result IS NOT NULL)")
            if connection.execute(over, {"study": study.id}).first() is None:
                raise Problem("conflict", "the study is running: end it before it is deleted")
            for statement in (*_OF_ROUNDS, *_OF_STUDY):
                connection.execute(statement, {"study": study.id})
            acts.note(connection, study.study, who, acts.DELETED, self._clock())

    def withdraw(self, study: StoredStudy, tokens: Sequence[str], who: str) -> Withdrawn:
        """Withdraws invitations. Whoever has answered has answered: her report stays."""
        now = self._clock()
        with self._database.writing() as connection:
            self._database.bar(connection, study.id)  # an upload under way is counted as answered
            rounds = {row["id"] for row in self._rounds(connection, study)}
            found = self._database.find(connection, [auth.digest(token) for token in dict.fromkeys(tokens)])
            own = [row for row in found if row.round_id in rounds]
            silent = [row for row in own if row.report is None]
            for row in silent:
                connection.execute(_WITHDRAW, {"id": row.participant, "now": now})
            done = Withdrawn(
                withdrawn=len(silent), answered=len(own) - len(silent), unknown=len(dict.fromkeys(tokens)) - len(own)
            )
            acts.note(connection, study.study, who, "withdrawn", now, invitations=done.withdrawn)
        return done

    def purge(self, study: StoredStudy, who: str) -> list[int]:
        """The rounds whose reports were deleted: all that are closed. Their tallies stay."""
        with self._database.writing() as connection:
            return self._purge(connection, study.id, study.study, who)

    def purge_due(self) -> list[tuple[str, list[int]]]:
        """Purges what was to be kept for so many days only, and says what that was."""
        with self._database.reading() as connection:
            due = [(row[0], row[1]) for row in connection.execute(_DUE, {"now": self._clock()})]
        purged = []
        for study_id, name in due:
            with self._database.writing() as connection:
                purged.append((name, self._purge(connection, study_id, name, acts.SERVICE)))
        return purged

    def _purge(self, connection: Connection, study_id: int, name: str, who: str) -> list[int]:
        now = self._clock()
        rows = connection.execute(text(_ROUNDS + self._database.lock()), {"study": study_id}).all()
        over = [row for row in rows if row.state in ("closed", "ended") and row.purged_at is None]
        for row in over:
            connection.execute(_PURGE, {"id": row.id})
            connection.execute(_PURGED, {"id": row.id, "now": now})
        slots = [int(row.slot) for row in over]
        if slots:
            acts.note(connection, name, who, "purged", now, rounds=slots)
        return slots

    def _rounds(self, connection: Connection, study: StoredStudy) -> Sequence[RowMapping]:
        """The rounds of a study, locked: nobody invites to them meanwhile."""
        return connection.execute(text(_ROUNDS + self._database.lock()), {"study": study.id}).mappings().all()
