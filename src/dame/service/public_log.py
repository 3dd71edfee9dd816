"""The public log: plans, questions and pages, in the order in which they came, each with the hash of the one before.

Entries are added in the transaction that makes what they tell of, and are never changed or removed. They hold hashes
and names, no counts and nothing of a person.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from dame.client.public_log import START, entry_hash
from dame.device.questions import Question, canonical, question_id
from dame.service import models
from dame.service.database import Database
from dame.service.schedule import iso

AT_ONCE = 1000
"""Entries that are told in one answer."""
PLAN, QUESTION, PAGES = "plan", "question", "pages"
_LOCK = text("SELECT pg_advisory_xact_lock(:lock)")
_LOCK_NUMBER = 0xDA3E106
"""The lock that makes entries of several servers follow one another; it is always the last one that is asked for."""
_LAST = text("SELECT place, hash FROM public_log ORDER BY place DESC LIMIT 1")
_ADD = text("INSERT INTO public_log (place, entry, hash) VALUES (:place, :entry, :hash)")
_SOME = text("SELECT entry FROM public_log WHERE place >= :start ORDER BY place LIMIT :most")
_PAGES = text('SELECT entry FROM public_log WHERE entry LIKE \'%"kind":"pages"%\' ORDER BY place DESC LIMIT 1')

_PLANS = text('SELECT entry FROM public_log WHERE entry LIKE \'%"kind":"plan"%\'')
_STUDIES = text("SELECT id, study, title, plan, plan_id, public_key, about FROM studies ORDER BY id")
_ASKED = text(
    "SELECT target, round, question_id FROM rounds WHERE study_id = :study AND question IS NOT NULL ORDER BY slot"
)


def add_entry(connection: Connection, kind: str, now: float, **facts: object) -> None:
    """Adds an entry at the end, inside the transaction of the connection."""
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK, {"lock": _LOCK_NUMBER})
    last = connection.execute(_LAST).first()
    place, previous = (0, START) if last is None else (last.place + 1, last.hash)
    entry = {"place": place, "time": iso(now), "kind": kind, "previous": previous, **facts}
    stored = canonical(entry).decode("ascii")
    connection.execute(_ADD, {"place": place, "entry": stored, "hash": entry_hash(entry)})


def add_plan(connection: Connection, row: dict[str, Any], alpha: float, now: float) -> None:
    """Tells of a new study: its plan, its key, and what people are told about it."""
    about = hashlib.sha256(row["about"].encode()).hexdigest()
    told = {name: row[name] for name in ("study", "title", "plan_id", "public_key")}
    add_entry(connection, PLAN, now, **told, alpha=alpha, about=about)


def add_question(connection: Connection, question: Question, plan_id: str, now: float) -> None:
    """Tells of a question that is asked from now on."""
    slot = {"study": question.study, "target": question.target, "round": question.round}
    add_entry(connection, QUESTION, now, **slot, plan_id=plan_id, question_id=question_id(question))


def add_pages(database: Database, folder: Path, version: str, now: float) -> bool:
    """Whether the pages were told of anew: when a server starts that serves others than the last entry tells."""
    files = integrity(folder)
    with database.writing() as connection:
        told = connection.execute(_PAGES).scalar()
        if told is not None and json.loads(told)["files"] == files:
            return False
        add_entry(connection, PAGES, now, version=version, files=files)
    return True


def add_untold(database: Database, now: float) -> int:
    """How many studies were told of only now: those of releases that had no log, with what they ask already."""
    with database.writing() as connection:
        told = {json.loads(entry)["study"] for entry in connection.execute(_PLANS).scalars()}
        untold = [dict(row) for row in connection.execute(_STUDIES).mappings() if row["study"] not in told]
        for row in untold:
            add_plan(connection, row, json.loads(row["plan"])["alpha"], now)
            for asked in connection.execute(_ASKED, {"study": row["id"]}).mappings().all():
                add_entry(connection, QUESTION, now, study=row["study"], plan_id=row["plan_id"], **asked)
    return len(untold)


def integrity(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of the pages, by its path."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def log_document(database: Database, start: int) -> models.LogDocument:
    """A part of the log from some place on, how long the log is, and the hash of its last entry."""
    with database.reading() as connection:
        last = connection.execute(_LAST).first()
        rows: Sequence[str] = connection.execute(_SOME, {"start": start, "most": AT_ONCE}).scalars().all()
    return models.LogDocument(
        size=0 if last is None else last.place + 1,
        head=START if last is None else last.hash,
        entries=[json.loads(row) for row in rows],
    )
