"""The device's memory: one report for each study, ever, what was spent, and what its person agreed to.

A retry must send the same bytes again, because fresh noise averages away. The ledger therefore stores a report before
anybody sees it, in one transaction with the check that there was none.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from dame import checks
from dame.device.answering import respond, summarise
from dame.device.coins import Coins, SystemCoins
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.errors import AlreadyAnswered, DameError, Mismatch

_SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS answers (
        study TEXT PRIMARY KEY, question TEXT NOT NULL, alpha TEXT NOT NULL, report BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS enrolments (
        study TEXT PRIMARY KEY, participant TEXT NOT NULL, key TEXT NOT NULL, plan_id TEXT NOT NULL, alpha TEXT NOT NULL
    ) STRICT
    """,
    "CREATE TABLE IF NOT EXISTS sent (study TEXT PRIMARY KEY) STRICT",
    "CREATE TABLE IF NOT EXISTS claims (study TEXT PRIMARY KEY, claim TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS logs (service TEXT PRIMARY KEY, size INTEGER NOT NULL, head TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS caps (one INTEGER PRIMARY KEY CHECK (one = 1), cap TEXT NOT NULL) STRICT",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """What a person agreed to when she joined a study: nothing of it may change afterwards.

    `participant` is her public name in the study, `key` the study's public key, `plan_id` the identity of its plan,
    which says what is asked of whom: targets, statistics and bounds.
    """

    study: str
    participant: str
    key: str
    plan_id: str
    alpha: float


_WHAT = {
    "participant": "the token",
    "key": "the study's key",
    "plan_id": "the study's plan",
    "alpha": "alpha",
}
_NO_LONGER_KEPT = ("low", "high")
"""Columns of enrolments in ledgers of the first version: the identity of the plan stands for them."""


class Ledger:
    """The answers that this device has given, in a SQLite file; safe with several processes and after a crash."""

    def __init__(self, path: str | os.PathLike[str], cap: float | None = None) -> None:
        self._cap = None if cap is None else _cap(cap)
        try:
            self._store = _opened(path)
        except sqlite3.Error as problem:
            raise DameError(f"the ledger {os.fspath(path)!r} cannot be opened: {problem}") from None

    def answer(self, question: Question, records: Iterable[object]) -> bytes:
        """The encoded report to a question: the stored one if it was answered before, else a new one, stored first."""
        coins = SystemCoins()
        return self._answer(question, lambda: summarise(question, records, coins), coins)

    def answer_for(self, question: Question, person: Summary) -> bytes:
        """The same for a person whose records were read before: it takes as long whatever they were."""
        return self._answer(question, lambda: person, SystemCoins())

    def _answer(self, question: Question, person: Callable[[], Summary], coins: Coins) -> bytes:
        with self._transaction():
            stored = self._stored(question)
            if stored is not None:
                return stored
            self._afford(question)
            report = respond(question, person(), coins).encode(question)
            row = (question.study, question_id(question), question.alpha.hex(), report)
            self._store.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", row)
            return report

    def report(self, study: str) -> bytes | None:
        """The report that was made for a study, if there is one."""
        row = self._store.execute("SELECT report FROM answers WHERE study = ?", (study,)).fetchone()
        return None if row is None else bytes(row[0])

    def mark_sent(self, study: str) -> None:
        """Notes that the report for a study has arrived."""
        with self._transaction():
            self._store.execute("INSERT OR IGNORE INTO sent VALUES (?)", (study,))

    def is_sent(self, study: str) -> bool:
        """Whether the report for a study has arrived."""
        return self._store.execute("SELECT 1 FROM sent WHERE study = ?", (study,)).fetchone() is not None

    # --- what was agreed to

    def enrol(self, enrolment: Enrolment) -> None:
        """Pins what a person agrees to; the same again changes nothing, anything else is a Mismatch."""
        with self._transaction():
            self.check_enrolment(enrolment)
            texts = (enrolment.study, enrolment.participant, enrolment.key, enrolment.plan_id)
            row = (*texts, enrolment.alpha.hex())  # as an exact text
            self._store.execute("INSERT OR IGNORE INTO enrolments VALUES (?, ?, ?, ?, ?)", row)

    def enrolment(self, study: str) -> Enrolment | None:
        """What was agreed to in a study."""
        row = self._store.execute("SELECT * FROM enrolments WHERE study = ?", (study,)).fetchone()
        if row is None:
            return None
        study, participant, key, plan_id, alpha = row
        return Enrolment(study=study, participant=participant, key=key, plan_id=plan_id, alpha=float.fromhex(alpha))

    def check_enrolment(self, enrolment: Enrolment) -> None:
        """Refuses what differs from what was agreed to before."""
        agreed = self.enrolment(enrolment.study)
        for name, what in _WHAT.items():
            if agreed is not None and getattr(agreed, name) != getattr(enrolment, name):
                raise Mismatch(f"{what} of study {enrolment.study!r} is not the one that this device agreed to")

    def claim(self, study: str) -> str:
        """A random value by which a service knows this device when it asks for the right to draw; always the same."""
        with self._transaction():
            self._store.execute("INSERT OR IGNORE INTO claims VALUES (?, ?)", (study, secrets.token_hex(32)))
            (claim,) = self._store.execute("SELECT claim FROM claims WHERE study = ?", (study,)).fetchone()
        return str(claim)

    # --- what services have shown

    def log_seen(self, service: str) -> tuple[int, str]:
        """How many entries the public log of a service had when it was last seen, and the hash of the last one."""
        row = self._store.execute("SELECT size, head FROM logs WHERE service = ?", (service,)).fetchone()
        return (0, "") if row is None else (row[0], row[1])

    def keep_log(self, service: str, size: int, head: str) -> None:
        """Remembers what the public log of a service was."""
        with self._transaction():
            self._store.execute("INSERT OR REPLACE INTO logs VALUES (?, ?, ?)", (service, size, head))

    # --- what was spent

    def spent(self) -> Fraction:
        """The sum of α over all studies answered so far, exactly."""
        rows = self._store.execute("SELECT alpha FROM answers")
        return sum((Fraction(float.fromhex(alpha)) for (alpha,) in rows), Fraction(0))

    def cap(self) -> float | None:
        """The most that may ever be spent: the smaller one of what this person set and of this session's."""
        row = self._store.execute("SELECT cap FROM caps").fetchone()
        caps = [cap for cap in (self._cap, None if row is None else Fraction(row[0])) if cap is not None]
        return float(min(caps)) if caps else None

    def set_cap(self, cap: float) -> None:
        """Sets the most that may ever be spent, for good: until it is set again."""
        with self._transaction():
            self._store.execute("INSERT OR REPLACE INTO caps VALUES (1, ?)", (str(_cap(cap)),))

    def close(self) -> None:
        """Closes the file."""
        self._store.close()

    def _stored(self, question: Question) -> bytes | None:
        row = self._store.execute("SELECT question, report FROM answers WHERE study = ?", (question.study,)).fetchone()
        if row is None:
            return None
        if row[0] != question_id(question):
            raise AlreadyAnswered(f"this device has answered another question of study {question.study!r}")
        return bytes(row[1])

    def _afford(self, question: Question) -> None:
        cap = self.cap()
        if cap is not None and self.spent() + Fraction(question.alpha) > Fraction(cap):
            raise AlreadyAnswered(
                f"alpha {question.alpha:g} would exceed this device's cap of {cap:g}: {float(self.spent()):g} is spent"
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._store.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._store.execute("ROLLBACK")
            raise
        self._store.execute("COMMIT")


def _cap(cap: float) -> Fraction:
    return Fraction(checks.positive("cap", cap, 1e6))


def _opened(path: str | os.PathLike[str]) -> sqlite3.Connection:
    store = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        store.execute("PRAGMA synchronous = FULL")
        for statement in _SCHEMA:
            store.execute(statement)
        _forget_columns(store)
    except sqlite3.Error:
        store.close()
        raise
    return store


def _forget_columns(store: sqlite3.Connection) -> None:
    found = [name for name in _NO_LONGER_KEPT if name in _columns(store)]
    if found:
        store.execute("BEGIN IMMEDIATE")  # another process may be doing the same
        for name in found:
            if name in _columns(store):
                store.execute(f"ALTER TABLE enrolments DROP COLUMN {name}")
        store.execute("COMMIT")


def _columns(store: sqlite3.Connection) -> set[str]:
    return {row[1] for row in store.execute("PRAGMA table_info(enrolments)")}
