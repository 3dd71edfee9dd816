"""Reports on their way into the store: a group of them is judged and written in one transaction.

Nothing is accepted outside such a transaction, and whoever calls learns of it after the commit only.
"""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import Connection, text

from dame.device.questions import TAG_BYTES, Question, question_from_json
from dame.device.reports import Report
from dame.errors import RejectedReport
from dame.service.database import Database, Found
from dame.service.problems import COUNTED, Problem
from dame.service.rounds import too_early, too_late

_STUDIES = "SELECT id, study FROM studies WHERE study IN "
_ROUNDS = "SELECT id, study_id, round, state, question, question_id, reports, close_at_count, deadline FROM rounds"
_COUNT = "UPDATE rounds SET reports = reports + :more WHERE id = :id"
_REJECT = (
    "INSERT INTO rejections (study_id, reason, count) VALUES (:study, :reason, :more)"
    " ON CONFLICT (study_id, reason) DO UPDATE SET count = rejections.count + excluded.count"
)
UNKNOWN_TOKEN = Problem("unknown-token", "this token was not given out for this study")
UNKNOWN_STUDY = Problem("unknown-study", "there is no study of this name")
CONFLICT = Problem("conflict", "another report was accepted with this token; a token is good for one report")


@dataclass(frozen=True, slots=True)
class Upload:
    """A report as it came: for which study, with the hash of which token; or one that was refused unread."""

    study: str
    token_hash: bytes
    report: bytes
    refused: Problem | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of each upload (None: accepted), and whether some round may have to be closed now."""

    refusals: Sequence[Problem | None]
    full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    id: int
    study_id: int
    index: int
    state: str
    question: Question | None
    tag: bytes
    reports: int
    close_at_count: int | None
    deadline: float | None


@dataclass(slots=True)
class _Books:
    """What one transaction knows, and what it is going to write."""

    rounds: Mapping[int, _Round]
    found: dict[bytes, Found]
    rows: list[tuple[int, int, bytes]] = field(default_factory=list)

    def judge(self, study_id: int, upload: Upload) -> Problem | None:
        """The refusal of an upload, or None; a good one is entered, and the next one sees it."""
        found = self.found.get(upload.token_hash)
        round_ = None if found is None else self.rounds.get(found[2])
        if found is None or round_ is None or round_.study_id != study_id:
            return UNKNOWN_TOKEN
        _, participant, round_id, stored = found
        if stored is not None:
            return None if hmac.compare_digest(stored, upload.report) else CONFLICT
        refusal = self._refusal(round_, upload.report)
        if refusal is None:
            self.found[upload.token_hash] = (upload.token_hash, participant, round_id, upload.report)
            self.rows.append((round_id, participant, upload.report))
        return refusal

    def _refusal(self, round_: _Round, report: bytes) -> Problem | None:
        if round_.state == "waiting":
            before = (other for other in self.rounds.values() if other.study_id == round_.study_id)
            return too_early(round_.index, {o.index: o.deadline for o in before}.get(round_.index - 1))
        if round_.state != "open":
            return too_late(round_.index)
        assert round_.question is not None
        if report[:TAG_BYTES] != round_.tag and self._answers_another(round_, report[:TAG_BYTES]):
            return Problem("wrong-round", f"the report answers another round; this token is for round {round_.index}")
        return _malformed(round_.question, report)

    def _answers_another(self, round_: _Round, tag: bytes) -> bool:
        return any(tag == other.tag != b"" for other in self.rounds.values() if other.study_id == round_.study_id)


class Uploads:
    """Accepts reports into one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._study_ids: dict[str, int] = {}

    def accept(self, uploads: Sequence[Upload]) -> Judged:
        """Judges uploads one after the other, and stores the good ones: durably, before this returns."""
        with self._database.writing() as connection:
            ids = self._ids(connection, {upload.study for upload in uploads})
            rounds = self._rounds(connection, ids.values())
            found = self._database.find(connection, [upload.token_hash for upload in uploads]) if ids else []
            books = _Books(rounds=rounds, found={row[0]: row for row in found})
            refusals = [self._judge(books, ids, upload) for upload in uploads]
            self._database.add_reports(connection, books.rows)
            more = Counter(round_id for round_id, _, _ in books.rows)
            for round_id, count in more.items():
                connection.execute(text(_COUNT), {"id": round_id, "more": count})
            _note_refusals(connection, ids, uploads, refusals)
        return Judged(refusals, any(_is_full(rounds[round_id], count) for round_id, count in more.items()))

    def _judge(self, books: _Books, ids: Mapping[str, int], upload: Upload) -> Problem | None:
        study_id = ids.get(upload.study)
        if study_id is None:
            return UNKNOWN_STUDY
        return upload.refused or books.judge(study_id, upload)

    def _ids(self, connection: Connection, names: Iterable[str]) -> dict[str, int]:
        """The ids of the studies that exist. They are remembered: a study is never taken away."""
        unknown = [name for name in names if name not in self._study_ids and "\0" not in name]
        if unknown:
            marks = ", ".join(f":n{place}" for place in range(len(unknown)))
            rows = connection.execute(
                text(f"{_STUDIES}({marks})"), {f"n{place}": name for place, name in enumerate(unknown)}
            )
            self._study_ids.update({row.study: row.id for row in rows})
        return {name: self._study_ids[name] for name in names if name in self._study_ids}

    def _rounds(self, connection: Connection, study_ids: Iterable[int]) -> dict[int, _Round]:
        """The rounds of some studies; their rows stay locked, so that none is closed before these reports are in."""
        listed = ", ".join(str(int(study_id)) for study_id in study_ids)
        if not listed:
            return {}
        query = f"{_ROUNDS} WHERE study_id IN ({listed}) ORDER BY id{self._database.lock()}"
        return {row[0]: _round(*row) for row in connection.exec_driver_sql(query)}


def _round(
    id_: int,
    study_id: int,
    index: int,
    state: str,
    question: str | None,
    question_id: str | None,
    reports: int,
    close_at_count: int | None,
    deadline: float | None,
) -> _Round:
    return _Round(
        id=id_,
        study_id=study_id,
        index=index,
        state=state,
        question=None if question is None else _question(question),
        tag=bytes.fromhex(question_id or "")[:TAG_BYTES],
        reports=reports,
        close_at_count=close_at_count,
        deadline=deadline,
    )


@lru_cache(maxsize=1024)
def _question(stored: str) -> Question:
    return question_from_json(json.loads(stored))


def _malformed(question: Question, report: bytes) -> Problem | None:
    try:
        Report.decode(question, report)
    except RejectedReport as refusal:
        return Problem("malformed", str(refusal), why=refusal.reason)
    return None


def _is_full(round_: _Round, more: int) -> bool:
    return round_.close_at_count is not None and round_.reports + more >= round_.close_at_count


def _note_refusals(
    connection: Connection,
    ids: Mapping[str, int],
    uploads: Sequence[Upload],
    refusals: Sequence[Problem | None],
) -> None:
    pairs = zip(uploads, refusals, strict=True)
    counted = Counter(
        (ids[upload.study], refusal.reason)
        for upload, refusal in pairs
        if refusal is not None and refusal.reason in COUNTED and upload.study in ids
    )
    for (study_id, reason), more in sorted(counted.items()):
        connection.execute(text(_REJECT), {"study": study_id, "reason": reason, "more": more})
