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
# Rows of `reports` and `participants` name their round without a foreign key: they are written by the million, while
# nobody can close the round.
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

# Counters are sharded: a row that every upload changes is a row that every upload waits for.
SECOND: Step = (
    """
    CREATE TABLE report_counts (
        round_id BIGINT NOT NULL, shard INTEGER NOT NULL, reports BIGINT NOT NULL, PRIMARY KEY (round_id, shard)
    )
    """,
    "INSERT INTO report_counts (round_id, shard, reports) SELECT id, 0, reports FROM rounds WHERE reports > 0",
    "ALTER TABLE rounds DROP COLUMN reports",
    """
    CREATE TABLE refusal_counts (
        study_id BIGINT NOT NULL, reason TEXT NOT NULL, shard INTEGER NOT NULL, refused BIGINT NOT NULL,
        PRIMARY KEY (study_id, reason, shard)
    )
    """,
    "INSERT INTO refusal_counts (study_id, reason, shard, refused) SELECT study_id, reason, 0, count FROM rejections",
    "DROP TABLE rejections",
    """
    CREATE TABLE administrators (
        id {serial}, study_id BIGINT NOT NULL REFERENCES studies (id), name TEXT NOT NULL, key_hash {bytes} NOT NULL,
        created_at {real} NOT NULL, UNIQUE (study_id, name)
    )
    """,
    "INSERT INTO administrators (study_id, name, key_hash, created_at)"
    " SELECT id, 'administrator', administrator_hash, created_at FROM studies",
    "ALTER TABLE studies DROP COLUMN administrator_hash",
    """
    CREATE TABLE acts (
        id {serial}, study TEXT NOT NULL, at {real} NOT NULL, who TEXT NOT NULL, act TEXT NOT NULL,
        details TEXT NOT NULL
    )
    """,
    "CREATE INDEX acts_by_study ON acts (study)",
    # Studies of before had no minimum; whoever began one goes on as she began.
    "ALTER TABLE studies ADD COLUMN minimum_reports BIGINT NOT NULL DEFAULT 1",
    "ALTER TABLE studies ADD COLUMN keep_reports_days {real}",
    "ALTER TABLE studies ADD COLUMN ended_at {real}",
    "ALTER TABLE rounds ADD COLUMN purged_at {real}",
    "ALTER TABLE participants ADD COLUMN until {real}",
)

# What everybody may compare: plans, questions and pages, each entry with the hash of the one before it. After a round
# is closed, a report names its group and nobody, and a participant only whether she has answered.
THIRD: Step = (
    "CREATE TABLE public_log (place BIGINT PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL UNIQUE)",
    "ALTER TABLE studies ADD COLUMN about TEXT NOT NULL DEFAULT '{{}}'",
    "ALTER TABLE participants ADD COLUMN answered INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE reports ADD COLUMN group_id BIGINT",
)

# A token gives the right to draw to one device: the hash of a random value that only this device keeps.
FOURTH: Step = ("ALTER TABLE participants ADD COLUMN claim {bytes}",)

MIGRATIONS: Sequence[Step] = (FIRST, SECOND, THIRD, FOURTH)

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
