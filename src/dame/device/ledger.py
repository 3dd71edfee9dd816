"""The device's memory: one report for each study, ever, and what was spent.

A retry must send the same bytes again, because fresh noise averages away. The ledger therefore stores a report before
anybody sees it, in one transaction with the check that there was none.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from dame import checks
from dame.device.answer import answer_with_coins
from dame.device.coins import Coins, SystemCoins
from dame.device.questions import Question, question_id
from dame.errors import AlreadyAnswered, DameError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    study TEXT PRIMARY KEY, question TEXT NOT NULL, alpha TEXT NOT NULL, report BLOB NOT NULL
) STRICT
"""


class Ledger:
    """The answers that this device has given, in a SQLite file; safe with several processes and after a crash."""

    def __init__(self, path: str | os.PathLike[str], cap: float | None = None) -> None:
        self._cap = None if cap is None else Fraction(checks.positive("cap", cap, 1e6))
        try:
            self._store = _opened(path)
        except sqlite3.Error as problem:
            raise DameError(f"the ledger {os.fspath(path)!r} cannot be opened: {problem}") from None

    def answer(self, question: Question, samples: Iterable[object]) -> bytes:
        """The encoded report to a question: the stored one if it was answered before, else a new one, stored first."""
        return self._answer(question, samples, SystemCoins())

    def _answer(self, question: Question, samples: Iterable[object], coins: Coins) -> bytes:
        with self._transaction():
            stored = self._stored(question)
            if stored is not None:
                return stored
            self._afford(question)
            report = answer_with_coins(question, samples, coins).encode(question)
            row = (question.study, question_id(question), question.alpha.hex(), report)
            self._store.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", row)
            return report

    def spent(self) -> Fraction:
        """The sum of α over all studies answered so far, exactly."""
        rows = self._store.execute("SELECT alpha FROM answers")
        return sum((Fraction(float.fromhex(alpha)) for (alpha,) in rows), Fraction(0))

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
        if self._cap is not None and self.spent() + Fraction(question.alpha) > self._cap:
            raise AlreadyAnswered(
                f"alpha {question.alpha:g} would exceed this device's cap of {float(self._cap):g}: "
                f"{float(self.spent()):g} is spent"
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


def _opened(path: str | os.PathLike[str]) -> sqlite3.Connection:
    store = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        store.execute("PRAGMA synchronous = FULL")
        store.execute(_SCHEMA)
    except sqlite3.Error:
        store.close()
        raise
    return store
