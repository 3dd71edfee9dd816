"""The database behind the service: SQLite in WAL mode or PostgreSQL, with the same transactions and statements.

A commit returns when the data are on the disk (`synchronous = FULL`; PostgreSQL's default).
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, exc, make_url
from sqlalchemy.engine import URL, Engine

from dame.errors import DameError, InvalidInput, MissingExtra
from dame.service.bulk import BulkStatements, Found, PostgresStatements, SqliteStatements, run
from dame.service.migrations import MIGRATIONS, Step, migrate
from dame.service.vault import Vault

LOCK_SECONDS = 5.0
"""How long a transaction waits for another one before the service says that it is unavailable."""

_GONE: tuple[type[Exception], ...] = (exc.OperationalError, exc.InterfaceError, exc.InternalError, exc.TimeoutError)

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",  # what is purged is overwritten
    "cache_size = -65536",
)


class Unavailable(DameError):
    """The database did not answer, or could not write: what was asked for may be tried again."""


class Database:
    """Transactions on one database; the tables are brought up to date when it is opened."""

    def __init__(self, address: str, steps: Sequence[Step] = MIGRATIONS, vault: Vault | None = None) -> None:
        self.url = database_url(address)
        self.vault = vault or Vault()
        sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite(self.url) if sqlite else _postgresql(self.url)
        self._bulk: BulkStatements = SqliteStatements() if sqlite else PostgresStatements()
        try:
            with self.writing() as connection:
                migrate(connection, steps)
            if sqlite:
                _make_private(Path(str(self.url.database)))
        except exc.DatabaseError as problem:
            self.close()
            if getattr(problem.orig, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise InvalidInput(
                    "database", address, "a database of this service, or the name of a new file"
                ) from None
            raise
        except BaseException:
            self.close()
            raise

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with _translated(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: committed to the disk at its end, or nothing of it."""
        with _translated(), self.engine.connect().execution_options(dame_writes=True) as connection, connection.begin():
            try:
                yield connection
            except driver_errors() as problem:  # of a statement that went past SQLAlchemy
                if self.engine.dialect.is_disconnect(problem, connection.connection, None):  # type: ignore[arg-type]
                    connection.invalidate(problem)
                raise

    def close(self) -> None:
        """Closes all connections."""
        self.engine.dispose()

    # --- what is done for thousands of people at once is said in each database's own words

    def lock(self) -> str:
        """What a SELECT ends with whose rows nobody else may change: SQLite has one writer at a time anyway."""
        return self._bulk.lock

    def run(self, connection: Connection, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a statement whose values are marked by ?, in the quickest way."""
        cursor = run(connection, query.replace("?", self._bulk.mark), values)
        return list(cursor.fetchall()) if cursor.description else []

    def admit(self, connection: Connection, study_ids: Sequence[int]) -> None:
        """Keeps the rounds of some studies as they are until the transaction ends; uploads do not wait for uploads.

        What the transaction reads of them has to be read after this.
        """
        self._bulk.admit(connection, study_ids)

    def bar(self, connection: Connection, study_id: int) -> None:
        """Waits for the uploads to a study that are under way, and lets none begin until the transaction ends."""
        self._bulk.bar(connection, study_id)

    def shard(self) -> int:
        """One of the rows that a counter is spread over, by chance: two transactions rarely wait for the same one."""
        return random.randrange(self._bulk.shards)

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        return self._bulk.find(connection, hashes)

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> int:
        """How many reports of one round were stored: not those of participants who have one.

        All have one length; `rows` has them one after the other.
        """
        return self._bulk.add_reports(connection, round_id, participants, rows)

    def add_participants(
        self,
        connection: Connection,
        round_id: int,
        hashes: Sequence[bytes],
        group_id: int | None = None,
        until: float | None = None,
    ) -> None:
        """Stores participants of a round, and of a group if they have one, by the hashes of their tokens.

        Tokens are good until some time, or for ever.
        """
        self._bulk.add_participants(connection, round_id, hashes, group_id, until)

    def unlink(self, connection: Connection, round_id: int, at_once: int) -> int:
        """How many reports of a round were cut off from whoever sent them, at most so many: none when all are.

        A participant keeps that she has answered, and a report its group. Rows get new keys, which follow no order.
        """
        linked = f"round_id = {int(round_id)} AND participant_id > 0"
        some = f"SELECT participant_id FROM reports WHERE {linked} ORDER BY participant_id LIMIT {int(at_once)}"
        last = run(connection, f"SELECT max(participant_id) FROM ({some}) AS first_ones").fetchone()[0]
        if last is None:
            return 0
        linked += f" AND participant_id <= {int(last)}"
        run(
            connection,
            "INSERT INTO reports (round_id, participant_id, report, group_id)"
            f" SELECT r.round_id, {self._bulk.unlinked()}, r.report, p.group_id"
            f" FROM reports r JOIN participants p ON p.id = r.participant_id"
            f" WHERE r.{linked.replace('AND ', 'AND r.')} ORDER BY random()",
        )
        answered = f"SELECT participant_id FROM reports WHERE {linked}"
        run(connection, f"UPDATE participants SET answered = 1, claim = NULL WHERE id IN ({answered})")
        return int(run(connection, f"DELETE FROM reports WHERE {linked}").rowcount)

    def reports(self, connection: Connection, round_id: int, at_once: int) -> Iterator[bytes]:
        """The reports of a round one after the other, so many at once."""
        for rows in self._parts(connection, f"SELECT report FROM reports WHERE round_id = {int(round_id)}", at_once):
            yield b"".join([row[0] for row in rows])

    def reports_by_group(self, connection: Connection, round_id: int, at_once: int) -> Iterator[dict[int, bytes]]:
        """The same, so many at once, by the groups of their participants."""
        query = (
            "SELECT coalesce(r.group_id, p.group_id), r.report FROM reports r"
            " LEFT JOIN participants p ON p.id = r.participant_id"
            f" WHERE r.round_id = {int(round_id)}"
        )
        for rows in self._parts(connection, query, at_once):
            parts: dict[int, list[bytes]] = {}
            for group, report in rows:
                parts.setdefault(group, []).append(report)
            yield {group: b"".join(reports) for group, reports in parts.items()}

    def shuffled_reports(
        self, connection: Connection, round_id: int, at_once: int, group_id: int | None
    ) -> Iterator[bytes]:
        """The reports of a round, or of one group in it, in an order that tells nothing."""
        whose = "" if group_id is None else " LEFT JOIN participants p ON p.id = r.participant_id"
        members = "" if group_id is None else f" AND coalesce(r.group_id, p.group_id) = {int(group_id)}"
        query = f"SELECT r.report FROM reports r{whose} WHERE r.round_id = {int(round_id)}{members} ORDER BY random()"
        for rows in self._parts(connection, query, at_once):
            yield b"".join([row[0] for row in rows])

    def _parts(self, connection: Connection, query: str, at_once: int) -> Iterator[list[Any]]:
        cursor = self._bulk.cursor(connection)
        cursor.execute(query)
        while rows := cursor.fetchmany(at_once):
            yield rows
        cursor.close()


def database_url(address: str) -> URL:
    """The address as SQLAlchemy wants it: a file name, sqlite:///FILE or postgresql://…"""
    if "://" not in address:
        return URL.create("sqlite+pysqlite", database=os.fspath(Path(address)))
    try:
        url = make_url(address)
    except exc.ArgumentError:
        raise InvalidInput("database", address, "a file name, or postgresql://user@host/name") from None
    kind = url.drivername.partition("+")[0]
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise InvalidInput("database", kind, "a file name, or postgresql://user@host/name")
    return url.set(drivername="sqlite+pysqlite" if kind == "sqlite" else "postgresql+psycopg")


def _sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise InvalidInput("database", str(url), "a file: the memory is not durable")
    try:
        # A new file is private from its first moment; SQLite gives what it writes beside it the same mode. One that is
        # there is left alone: closing it would give up the locks of this process on it.
        os.close(os.open(url.database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass
    except OSError as problem:
        raise InvalidInput("database", url.database, f"a file that can be written ({problem.strerror})") from None
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS}, pool_size=8, max_overflow=16)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where this module says so
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer that began as a reader could not wait for another writer.
        writes = connection.get_execution_options().get("dame_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra("PostgreSQL", "service") from None
    wait = f"-c lock_timeout={int(LOCK_SECONDS * 1000)} -c synchronous_commit=on"
    return create_engine(
        url,
        pool_size=8,
        max_overflow=16,
        connect_args={"options": wait, "connect_timeout": int(LOCK_SECONDS)},
    )


def _make_private(path: Path) -> None:
    """Takes a database, which holds signing keys, away from everybody but its owner."""
    for file in (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))):
        with suppress(FileNotFoundError, PermissionError):
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _GONE + driver_errors() as problem:
        reason = str(getattr(problem, "orig", problem)).partition("\n")[0]
        raise Unavailable(f"the database is not available: {reason}") from problem


def driver_errors() -> tuple[type[Exception], ...]:
    """What the drivers say when the database is gone, or cannot write."""
    try:
        import psycopg
    except ImportError:
        return (sqlite3.OperationalError,)
    return sqlite3.OperationalError, psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError
