"""Statements for many rows at once, in each database's own words.

SQLite runs beside the event loop in one process, and every row that goes from or to it hands the interpreter's lock
over twice. So it gets all rows in one value, and gives all rows back in one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import Connection

HASH_BYTES = 32

Found = tuple[bytes, int, int, bytes | None]
"""A token's hash, its participant, the participant's round, and her report if she has sent one."""


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

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> None:
        """Stores reports of one round, all of one length."""

    def add_participants(
        self, connection: Connection, round_id: int, hashes: Sequence[bytes], group_id: int | None
    ) -> None:
        """Stores participants of a round and a group."""


class SqliteStatements:
    """SQLite: rows are cut out of one value, at the places that a JSON list counts."""

    lock = ""
    mark = "?"

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""
        return connection.connection.cursor()

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        query = (
            "SELECT group_concat(hex(p.token_hash) || ' ' || p.id || ' ' || p.round_id || ' ' || hex(r.report), ';'),"
            " group_concat(CASE WHEN r.report IS NULL THEN"
            " hex(p.token_hash) || ' ' || p.id || ' ' || p.round_id || ' ' END, ';')"
            " FROM json_each(?) e CROSS JOIN participants p ON p.token_hash = substr(?, 1 + 32 * e.key, 32)"
            " LEFT JOIN reports r ON r.round_id = p.round_id AND r.participant_id = p.id"
        )
        places = json.dumps([0] * len(hashes))
        ((answered, silent),) = rows_of(connection, query, (places, b"".join(hashes)))
        rows = [row.split(" ") for text in (answered, silent) if text for row in text.split(";")]
        return [
            (bytes.fromhex(token_hash), int(participant), int(round_id), bytes.fromhex(report) if report else None)
            for token_hash, participant, round_id, report in rows
        ]

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> None:
        """Stores reports of one round, all of one length."""
        query = (
            "INSERT INTO reports (round_id, participant_id, report)"
            " SELECT ?, value, substr(?, 1 + ? * key, ?) FROM json_each(?)"
        )
        length = len(rows) // len(participants)
        run(connection, query, (round_id, rows, length, length, json.dumps(participants)))

    def add_participants(
        self, connection: Connection, round_id: int, hashes: Sequence[bytes], group_id: int | None
    ) -> None:
        """Stores participants of a round and a group."""
        query = (
            "INSERT INTO participants (round_id, group_id, token_hash)"
            " SELECT ?, ?, substr(?, 1 + 32 * key, 32) FROM json_each(?)"
        )
        run(connection, query, (round_id, group_id, b"".join(hashes), json.dumps([0] * len(hashes))))


class PostgresStatements:
    """PostgreSQL: rows are arrays."""

    lock = " FOR UPDATE"
    mark = "%s"

    def cursor(self, connection: Connection) -> Any:
        """A cursor that brings many rows in parts, as bytes."""
        return connection.connection.driver_connection.cursor(name="reports", binary=True)  # type: ignore[union-attr]

    def find(self, connection: Connection, hashes: Sequence[bytes]) -> list[Found]:
        """Those of the tokens that were given out, with the reports that came with them."""
        query = (
            "SELECT p.token_hash, p.id, p.round_id, r.report FROM participants p"
            " LEFT JOIN reports r ON r.round_id = p.round_id AND r.participant_id = p.id"
            " WHERE p.token_hash = ANY(%b)"
        )
        return rows_of(connection, query, (list(hashes),))

    def add_reports(self, connection: Connection, round_id: int, participants: Sequence[int], rows: bytes) -> None:
        """Stores reports of one round, all of one length."""
        query = (
            "INSERT INTO reports (round_id, participant_id, report)"
            " SELECT %s, given.id, substring(%b FROM (1 + %s * (given.place - 1))::int FOR %s)"
            " FROM unnest(%b::bigint[]) WITH ORDINALITY AS given (id, place)"
        )
        length = len(rows) // len(participants)
        run(connection, query, (round_id, rows, length, length, list(participants)))

    def add_participants(
        self, connection: Connection, round_id: int, hashes: Sequence[bytes], group_id: int | None
    ) -> None:
        """Stores participants of a round and a group."""
        query = "INSERT INTO participants (round_id, group_id, token_hash) SELECT %s, %s::bigint, unnest(%b::bytea[])"
        run(connection, query, (round_id, group_id, list(hashes)))
