"""Reports on their way into the store: a group of them is judged and written in one transaction.

Nothing is accepted outside such a transaction, and whoever calls learns of it after the commit only.
"""

from __future__ import annotations

import hmac
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, text

from dame.device.questions import TAG_BYTES, Question, Slot
from dame.device.reports import Report, report_bytes
from dame.errors import RejectedReport
from dame.service.bulk import FORGOTTEN, Found
from dame.service.database import Database, Unavailable
from dame.service.logs import Log
from dame.service.problems import COUNTED, Problem
from dame.service.rounds import too_early, too_late
from dame.service.tallies import stored_question
from dame.vectorised.reports import checked_payloads

_STUDIES = "SELECT id, study FROM studies WHERE study IN "
_ROUNDS = "SELECT id, study_id, slot, target, round, state, question, question_id, close_at_count, deadline FROM rounds"
_COUNT = (
    "INSERT INTO report_counts (round_id, shard, reports) VALUES (?, ?, ?)"
    " ON CONFLICT (round_id, shard) DO UPDATE SET reports = report_counts.reports + excluded.reports"
)
_COUNTED = "SELECT sum(reports) FROM report_counts WHERE round_id = ?"
_REFUSED = (
    "INSERT INTO refusal_counts (study_id, reason, shard, refused) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (study_id, reason, shard) DO UPDATE SET refused = refusal_counts.refused + excluded.refused"
)
MOST_RACES = 8
"""How often a group of uploads is judged again, since others were quicker with some of its tokens."""
UNKNOWN_TOKEN = Problem("unknown-token", "this token was not given out for this study")
UNKNOWN_STUDY = Problem("unknown-study", "there is no study of this name")
UNREADABLE = Problem("unavailable", "this server cannot read the study's question: try again later")
EXPIRED = Problem("expired", "this invitation was withdrawn, or its time is over")
CONFLICT = Problem("conflict", "another report was accepted with this token; a token is good for one report")


class _Raced(Exception):
    """Another server stored a report with one of these tokens after they were looked up."""


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
    slot: Slot
    state: str
    question: str | None
    tag: bytes
    close_at_count: int | None
    deadline: float | None


@dataclass(slots=True)
class _Books:
    """What one transaction knows, and what it is going to write."""

    rounds: Mapping[int, _Round]
    found: dict[bytes, Found]
    log: Log
    now: float
    new: dict[int, dict[int, bytes]] = field(default_factory=dict)
    """Reports to be stored: round, participant, bytes."""

    def judge(self, asked: Sequence[tuple[int | None, Upload]]) -> list[Problem | None]:
        """The refusal of each upload to a study, or None; the good ones are entered."""
        verdicts: list[Problem | None] = [None] * len(asked)
        new: dict[int, list[int]] = {}
        tokens: set[bytes] = set()
        again: list[int] = []
        for place, (study_id, upload) in enumerate(asked):
            if upload.token_hash in tokens:
                again.append(place)
                continue
            tokens.add(upload.token_hash)
            verdict = self._first_look(study_id, upload)
            if isinstance(verdict, _Round):
                new.setdefault(verdict.id, []).append(place)
            else:
                verdicts[place] = verdict
        for round_id, places in new.items():
            self._enter(self.rounds[round_id], places, [asked[place][1] for place in places], verdicts)
        for place in again:  # a token that came twice in one group: the second report meets what became of the first
            (verdicts[place],) = self.judge([asked[place]])
        return verdicts

    def _first_look(self, study_id: int | None, upload: Upload) -> Problem | _Round | None:
        """A refusal, or None for a report that is stored already, or the round that a new report belongs to."""
        if study_id is None:
            return UNKNOWN_STUDY
        if upload.refused is not None:
            return upload.refused
        found = self.found.get(upload.token_hash)
        round_ = None if found is None else self.rounds.get(found.round_id)
        if found is None or round_ is None or round_.study_id != study_id:
            return UNKNOWN_TOKEN
        if found.report == FORGOTTEN:
            return None  # her report was counted; which one it was, nobody knows any more
        if found.report is not None:
            return None if hmac.compare_digest(found.report, upload.report) else CONFLICT
        if found.until is not None and found.until <= self.now:
            return EXPIRED
        if round_.state == "waiting":
            return too_early(round_.index, self._deadline_before(round_))
        if round_.state != "open":
            return too_late(round_.index)
        tag = upload.report[:TAG_BYTES]
        if tag != round_.tag and self._answers_another(round_, tag):
            return Problem(
                "wrong-round", f"the report answers another round; this token is for round {round_.index + 1}"
            )
        return round_

    def _enter(
        self, round_: _Round, places: Sequence[int], uploads: Sequence[Upload], verdicts: list[Problem | None]
    ) -> None:
        refusals = self._refusals(round_, uploads)
        for place, upload, refusal in zip(places, uploads, refusals, strict=True):
            verdicts[place] = refusal
            if refusal is None:
                found = self.found[upload.token_hash]
                self.found[upload.token_hash] = found._replace(report=upload.report)
                self.new.setdefault(found.round_id, {})[found.participant] = upload.report

    def _refusals(self, round_: _Round, uploads: Sequence[Upload]) -> Sequence[Problem | None]:
        """The refusal of each upload to a round, or None. A question that cannot be read is its own study's trouble."""
        assert round_.question is not None
        try:
            question = stored_question(round_.question)
        except Exception as error:
            self.log.failure("uploads-failed", error, study=uploads[0].study, round=round_.index)
            return [UNREADABLE] * len(uploads)
        return _malformed(question, [upload.report for upload in uploads])

    def _deadline_before(self, round_: _Round) -> float | None:
        before = round_.study_id, round_.slot._replace(round=round_.slot.round - 1)
        deadlines = (other.deadline for other in self.rounds.values() if (other.study_id, other.slot) == before)
        return next(deadlines, None)

    def _answers_another(self, round_: _Round, tag: bytes) -> bool:
        return any(tag == other.tag != b"" for other in self.rounds.values() if other.study_id == round_.study_id)


class Uploads:
    """Accepts reports into one database."""

    def __init__(self, database: Database, log: Log | None = None, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._log = log or Log()
        self._study_ids: dict[str, int] = {}

    def accept(self, uploads: Sequence[Upload]) -> Judged:
        """Judges uploads one after the other, and stores the good ones: durably, before this returns."""
        for _ in range(MOST_RACES):
            with suppress(_Raced):
                return self._accepted(uploads)
        raise Unavailable("other servers are busy with the same tokens")

    def _accepted(self, uploads: Sequence[Upload]) -> Judged:
        with self._database.writing() as connection:
            ids = self._ids(connection, {upload.study for upload in uploads})
            self._database.admit(connection, list(ids.values()))
            rounds = self._rounds(connection, ids.values())
            found = self._database.find(connection, [upload.token_hash for upload in uploads]) if ids else []
            books = _Books(
                rounds=rounds, found={row.token_hash: row for row in found}, log=self._log, now=self._clock()
            )
            here = {round_.study_id for round_ in rounds.values()}  # a study that was deleted has no rounds
            ids = {name: study_id for name, study_id in ids.items() if study_id in here}
            refusals = books.judge([(ids.get(upload.study), upload) for upload in uploads])
            self._store(connection, books.new)
            full = [self._count(connection, rounds[round_id], len(new)) for round_id, new in sorted(books.new.items())]
            if any(refusals):
                self._note_refusals(connection, ids, uploads, refusals)
        return Judged(refusals, any(full))

    def _store(self, connection: Connection, new: Mapping[int, Mapping[int, bytes]]) -> None:
        """Stores new reports, in an order that all servers keep: none waits for another that waits for it."""
        for round_id, reports in sorted(new.items()):
            ordered = sorted(reports.items())
            rows = b"".join(report for _, report in ordered)
            participants = [participant for participant, _ in ordered]
            if self._database.add_reports(connection, round_id, participants, rows) < len(ordered):
                raise _Raced

    def _count(self, connection: Connection, round_: _Round, more: int) -> bool:
        """Whether a round is full, after so many more reports."""
        self._database.run(connection, _COUNT, (round_.id, self._database.shard(), more))
        if round_.close_at_count is None:
            return False
        ((reports,),) = self._database.run(connection, _COUNTED, (round_.id,))
        return bool(reports >= round_.close_at_count)

    def _note_refusals(
        self,
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
        shard = self._database.shard()
        for (study_id, reason), more in sorted(counted.items()):
            self._database.run(connection, _REFUSED, (study_id, reason, shard, more))

    def _ids(self, connection: Connection, names: Iterable[str]) -> dict[str, int]:
        """The ids of the studies that exist. They are remembered: a name is never given to another study."""
        unknown = [name for name in names if name not in self._study_ids and "\0" not in name]
        if unknown:
            marks = ", ".join(f":n{place}" for place in range(len(unknown)))
            rows = connection.execute(
                text(f"{_STUDIES}({marks})"), {f"n{place}": name for place, name in enumerate(unknown)}
            )
            self._study_ids.update({row.study: row.id for row in rows})
        return {name: self._study_ids[name] for name in names if name in self._study_ids}

    def _rounds(self, connection: Connection, study_ids: Iterable[int]) -> dict[int, _Round]:
        """The rounds of some studies, none of which is closed before these reports are in."""
        listed = ", ".join(str(int(study_id)) for study_id in study_ids)
        if not listed:
            return {}
        query = f"{_ROUNDS} WHERE study_id IN ({listed}) ORDER BY id"
        return {row[0]: _round(*row) for row in self._database.run(connection, query)}


def _round(
    id_: int,
    study_id: int,
    index: int,
    target: str,
    round_: int,
    state: str,
    question: str | None,
    question_id: str | None,
    close_at_count: int | None,
    deadline: float | None,
) -> _Round:
    return _Round(
        id=id_,
        study_id=study_id,
        index=index,
        slot=Slot(target, round_),
        state=state,
        question=question,
        tag=bytes.fromhex(question_id or "")[:TAG_BYTES],
        close_at_count=close_at_count,
        deadline=deadline,
    )


def _malformed(question: Question, reports: Sequence[bytes]) -> list[Problem | None]:
    """The refusal of each report that no device could have sent."""
    length = report_bytes(question)
    # Looking at all of them together finds out quickly that all are good.
    if all(len(report) == length for report in reports):
        with suppress(RejectedReport):
            checked_payloads(question, np.frombuffer(b"".join(reports), np.uint8).reshape(-1, length))
            return [None] * len(reports)
    return [_refusal(question, report) for report in reports]


def _refusal(question: Question, report: bytes) -> Problem | None:
    try:
        Report.decode(question, report)
    except RejectedReport as refusal:
        return Problem("malformed", str(refusal), why=refusal.reason)
    return None
