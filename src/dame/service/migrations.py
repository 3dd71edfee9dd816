"""The tables of the store, as a list of steps: a database knows how many it has taken, and takes the others in order.

A step is never changed after it was released; a new one is added below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from dame.errors import DameError

Step = Sequence[str]

# A row of `rounds` is a slot: the round of a target. `slot` is its place in the plan's list of slots, which the public
# hash of a participant leads to. `question` is what was asked and signed, `tally` counts the answers to it, whatever a
# later release would ask; `groups` holds the tally of each public group, where the study has them. `target` is the name
# of the machine that asks, and `estimate` stands where closing the round led to one: what that machine found. The
# `result` of a study follows from the estimates of all; `shifts`, what malicious users could do, is worked out later.
#
# Rows of `reports` and `participants` name their round without a foreign key: they are written while the row of the
# round is locked, by the million.
FIRST: Step = (
    """
    CREATE TABLE studies (
        id {serial}, study TEXT NOT NULL UNIQUE, title TEXT NOT NULL, plan TEXT NOT NULL, plan_id TEXT NOT NULL,
        administrator_hash {bytes} NOT NULL, signing_key {bytes} NOT NULL, public_key TEXT NOT NULL,
        created_at {real} NOT NULL, shifts TEXT, result TEXT
    )
    """,
    """
    CREATE TABLE rounds (
        id {serial}, study_id BIGINT NOT NULL REFERENCES studies (id), slot INTEGER NOT NULL,
        target TEXT NOT NULL, round INTEGER NOT NULL, name TEXT NOT NULL, lens TEXT NOT NULL,
        state TEXT NOT NULL, close_at_count BIGINT, deadline {real},
        question TEXT, question_id TEXT, signature TEXT, opened_at {real}, closed_at {real},
        invited BIGINT NOT NULL DEFAULT 0, reports BIGINT NOT NULL DEFAULT 0, tally TEXT, groups TEXT,
        estimate TEXT,
        UNIQUE (study_id, slot), UNIQUE (study_id, target, round)
    )
    """,
    """
    CREATE TABLE groups (
        id {serial}, study_id BIGINT NOT NULL REFERENCES studies (id), name TEXT NOT NULL, invited BIGINT NOT NULL,
        UNIQUE (study_id, name)
    )
    """,
    """
    CREATE TABLE participants (
        id {serial}, round_id BIGINT NOT NULL, token_hash {bytes} NOT NULL UNIQUE, group_id BIGINT
    )
    """,
    """
    CREATE TABLE reports (
        round_id BIGINT NOT NULL, participant_id BIGINT NOT NULL, report {bytes} NOT NULL,
        PRIMARY KEY (round_id, participant_id)
    ) {clustered}
    """,
    """
    CREATE TABLE rejections (
        study_id BIGINT NOT NULL, reason TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (study_id, reason)
    )
    """,
)

MIGRATIONS: Sequence[Step] = (FIRST,)

_WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {"serial": "INTEGER PRIMARY KEY", "bytes": "BLOB", "real": "REAL", "clustered": "WITHOUT ROWID"},
    "postgresql": {
        "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "bytes": "BYTEA",
        "real": "DOUBLE PRECISION",
        "clustered": "",
    },
}
_LOCK = 0xDA3E
"""The number of the lock that keeps two servers from migrating one PostgreSQL database at once."""


def migrate(connection: Connection, steps: Sequence[Step] = MIGRATIONS) -> int:
    """The number of steps that were taken, inside the transaction of the connection: all of them, or none."""
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    connection.execute(text("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"))
    version = schema_version(connection)
    if version > len(steps):
        raise DameError(f"the database has version {version}, this program knows {len(steps)}: use a newer one")
    for step in steps[version:]:
        for statement in step:
            connection.execute(text(statement.format_map(_WORDS[dialect])))
    if version < len(steps):
        connection.execute(text("DELETE FROM schema_version"))
        connection.execute(text("INSERT INTO schema_version VALUES (:version)"), {"version": len(steps)})
    return len(steps) - version


def schema_version(connection: Connection) -> int:
    """How many steps a database has taken."""
    return int(connection.execute(text("SELECT coalesce(max(version), 0) FROM schema_version")).scalar_one())
