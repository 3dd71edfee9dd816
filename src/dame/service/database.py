"""The database behind the service: SQLite in WAL mode or PostgreSQL, with the same transactions and statements.

A commit returns when the data are on the disk (`synchronous = FULL`; PostgreSQL's default).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, exc, make_url
from sqlalchemy.engine import URL, Engine

from dame.errors import DameError, InvalidInput, MissingExtra
from dame.service.bulk import BulkStatements, Found, PostgresStatements, SqliteStatements, run
from dame.service.migrations import MIGRATIONS, Step, migrate

LOCK_SECONDS = 5.0
"""How long a transaction waits for another one before the service says that it is unavailable."""

_GONE: tuple[type[Exception], ...] = (exc.OperationalError, exc.InterfaceError, exc.InternalError, exc.TimeoutError)


class Unavailable(DameError):
    """The database did not answer, or could not write: what was asked for may be tried again."""


class Database:
    """Transactions on one database; the tables are brought up to date when it is opened."""

    def __init__(self, address: str, steps: Sequence[Step] = MIGRATIONS) -> None:
        self.url = database_url(address)
        sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite(self.url) if sqlite else _postgresql(self.url)
        self._bulk: BulkStatements = SqliteStatements() if sqlite else PostgresStatements()
        try:
            with self.writing() as connection:
                migrate(connection, steps)
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

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        return self._bulk.find(connection, hashes)

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> None:
        """Stores reports of one round, all of one length: the participants, and the reports one after the other."""
        self._bulk.add_reports(connection, round_id, participants, rows)

    def add_participants(
        self, connection: Connection, round_id: int, hashes: Sequence[bytes], group_id: int | None = None
    ) -> None:
        """Stores participants of a round, and of a group if they have one, by the hashes of their tokens."""
        self._bulk.add_participants(connection, round_id, hashes, group_id)

    def reports(self, connection: Connection, round_id: int, at_once: int) -> Iterator[bytes]:
        """The reports of a round one after the other, so many at once."""
        for rows in self._parts(connection, f"SELECT report FROM reports WHERE round_id = {int(round_id)}", at_once):
            yield b"".join([row[0] for row in rows])

    def reports_by_group(self, connection: Connection, round_id: int, at_once: int) -> Iterator[dict[int, bytes]]:
        """The same, so many at once, by the groups of their participants."""
        query = (
            "SELECT p.group_id, r.report FROM reports r JOIN participants p ON p.id = r.participant_id"
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
        whose = "" if group_id is None else " JOIN participants p ON p.id = r.participant_id"
        members = "" if group_id is None else f" AND p.group_id = {int(group_id)}"
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
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS}, pool_size=8, max_overflow=16)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where this module says so
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -65536"):
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
