"""Statements for many rows at once, in each database's own words.

SQLite runs beside the event loop in one process, and every row that goes from or to it hands the interpreter's lock
over twice. So it gets all rows in one value, and gives all rows back in one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection

HASH_BYTES = 32
_STUDIES = 0xDA3E
"""The first number of PostgreSQL's advisory locks on studies; the second is that of the study."""


class Found(NamedTuple):
    """A token that was given out: its participant, her round, until when it is good, and her report if there is one.

    After the round is closed nobody knows which report is hers: then it is `FORGOTTEN`.
    """

    token_hash: bytes
    participant: int
    round_id: int
    until: float | None
    report: bytes | None


FORGOTTEN = b""


def run(connection: Connection, query: str, values: Sequence[object] = ()) -> Any:
    """The cursor of the database's own driver after a statement: a fifth of the time that SQLAlchemy's way takes."""
    cursor = connection.connection.cursor()
    cursor.execute(query, values)
    return cursor


def rows_of(connection: Connection, query: str, values: Sequence[object] = ()) -> list[Any]:
    """All rows that a statement finds."""
    return list(run(connection, query, values).fetchall())


class BulkStatements(Protocol):
    """What each database says in its own words."""

    lock: str
    mark: str
    """What stands for a value in a statement."""
    shards: int
    """How many rows a counter is spread over."""

    def admit(self, connection: Connection, study_ids: Sequence[int]) -> None:
        """Keeps the rounds of some studies as they are until the transaction ends; many may do so at once."""

    def bar(self, connection: Connection, study_id: int) -> None:
        """Waits for all who keep the rounds of a study as they are, and lets nobody else until the transaction ends."""

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> int:
        """How many reports were stored, of one round and of one length: not those whose participant has one."""

    def add_participants(
        self,
        connection: Connection,
        round_id: int,
        hashes: Sequence[bytes],
        group_id: int | None,
        until: float | None,
    ) -> None:
        """Stores participants of a round and a group, whose tokens are good until some time."""

    def unlinked(self) -> str:
        """A random negative number, a new one for each row: what stands for a participant whose report is unlinked."""


class SqliteStatements:
    """SQLite: rows are cut out of one value, at the places that a JSON list counts."""

    lock = ""
    mark = "?"
    shards = 1  # there is one writer at a time

    def admit(self, connection: Connection, study_ids: Sequence[int]) -> None:
        """Nothing to do: there is one writer at a time."""

    def bar(self, connection: Connection, study_id: int) -> None:
        """Nothing to do: there is one writer at a time."""

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""
        return connection.connection.cursor()

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        query = (
            "SELECT group_concat(hex(p.token_hash) || ' ' || p.id || ' ' || p.round_id || ' ' || coalesce(p.until, '')"
            " || ' ' || CASE WHEN r.report IS NOT NULL THEN hex(r.report) WHEN p.answered THEN '-' ELSE '' END, ';')"
            " FROM json_each(?) e CROSS JOIN participants p ON p.token_hash = substr(?, 1 + 32 * e.key, 32)"
            " LEFT JOIN reports r ON r.round_id = p.round_id AND r.participant_id = p.id"
        )
        places = json.dumps([0] * len(hashes))
        ((text,),) = rows_of(connection, query, (places, b"".join(hashes)))
        rows = [row.split(" ") for row in text.split(";")] if text else []
        return [
            Found(
                bytes.fromhex(token_hash),
                int(participant),
                int(round_id),
                float(until) if until else None,
                _report(report),
            )
            for token_hash, participant, round_id, until, report in rows
        ]

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> int:
        """How many reports were stored, of one round and of one length: not those whose participant has one."""
        query = (
            "INSERT OR IGNORE INTO reports (round_id, participant_id, report)"
            " SELECT ?, value, substr(?, 1 + ? * key, ?) FROM json_each(?)"
        )
        length = len(rows) // len(participants)
        return int(run(connection, query, (round_id, rows, length, length, json.dumps(participants))).rowcount)

    def add_participants(
        self,
        connection: Connection,
        round_id: int,
        hashes: Sequence[bytes],
        group_id: int | None,
        until: float | None,
    ) -> None:
        """Stores participants of a round and a group, whose tokens are good until some time."""
        query = (
            "INSERT INTO participants (round_id, group_id, until, token_hash)"
            " SELECT ?, ?, ?, substr(?, 1 + 32 * key, 32) FROM json_each(?)"
        )
        run(connection, query, (round_id, group_id, until, b"".join(hashes), json.dumps([0] * len(hashes))))

    def unlinked(self) -> str:
        """A random negative number, a new one for each row."""
        return "-1 - (random() & 4611686018427387903)"


class PostgresStatements:
    """PostgreSQL: rows are arrays."""

    lock = " FOR UPDATE"
    mark = "%s"
    shards = 32

    def admit(self, connection: Connection, study_ids: Sequence[int]) -> None:
        """Keeps the rounds of some studies as they are until the transaction ends; many may do so at once.

        A lock of the row would be written to the disk, and whoever closes the round could wait for ever: newcomers
        join those who share a row. Advisory locks are given out in the order in which they were asked for.
        """
        query = "SELECT pg_advisory_xact_lock_shared(%s, id) FROM unnest(%s::int[]) AS given (id)"
        run(connection, query, (_STUDIES, sorted(map(_int4, study_ids))))

    def bar(self, connection: Connection, study_id: int) -> None:
        """Waits for all who keep the rounds of a study as they are, and lets nobody else until the transaction ends."""
        run(connection, "SELECT pg_advisory_xact_lock(%s, %s)", (_STUDIES, _int4(study_id)))

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""
        return connection.connection.driver_connection.cursor(name="reports", binary=True)  # type: ignore[union-attr]

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        query = (
            "SELECT p.token_hash, p.id, p.round_id, p.until,"
            " coalesce(r.report, CASE p.answered WHEN 1 THEN ''::bytea END) FROM participants p"
            " LEFT JOIN reports r ON r.round_id = p.round_id AND r.participant_id = p.id"
            " WHERE p.token_hash = ANY(%b)"
        )
        return [Found(*row) for row in rows_of(connection, query, (list(hashes),))]

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> int:
        """How many reports were stored, of one round and of one length: not those whose participant has one."""
        query = (
            "INSERT INTO reports (round_id, participant_id, report)"
            " SELECT %s, given.id, substring(%b FROM (1 + %s * (given.place - 1))::int FOR %s)"
            " FROM unnest(%b::bigint[]) WITH ORDINALITY AS given (id, place) ON CONFLICT DO NOTHING"
        )
        length = len(rows) // len(participants)
        return int(run(connection, query, (round_id, rows, length, length, list(participants))).rowcount)

    def add_participants(
        self,
        connection: Connection,
        round_id: int,
        hashes: Sequence[bytes],
        group_id: int | None,
        until: float | None,
    ) -> None:
        """Stores participants of a round and a group, whose tokens are good until some time."""
        query = (
            "INSERT INTO participants (round_id, group_id, until, token_hash)"
            " SELECT %s, %s::bigint, %s::float8, unnest(%b::bytea[])"
        )
        run(connection, query, (round_id, group_id, until, list(hashes)))

    def unlinked(self) -> str:
        """A random negative number, a new one for each row."""
        return "-1 - ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 15))::bit(60)::bigint"


def _report(text: str) -> bytes | None:
    return FORGOTTEN if text == "-" else bytes.fromhex(text) if text else None


def _int4(study_id: int) -> int:
    return study_id % 2**31
