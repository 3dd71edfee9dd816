"""The administrators of a study: each has a name and a key of her own, so that one can go and the others stay."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from sqlalchemy import Connection, exc, text

from dame import checks
from dame.service import auth
from dame.service.problems import Problem

FIRST_NAME = "administrator"
"""What whoever creates a study is called until she says something else."""
LONGEST_NAME = 64
MOST_ADMINISTRATORS = 100

_KEYS = text("SELECT name, key_hash FROM administrators WHERE study_id = :study ORDER BY id")
_ADD = text("INSERT INTO administrators (study_id, name, key_hash, created_at) VALUES (:study, :name, :key_hash, :now)")
_REPLACE = text("UPDATE administrators SET key_hash = :key_hash WHERE study_id = :study AND name = :name")
_REMOVE = text("DELETE FROM administrators WHERE study_id = :study AND name = :name")


def names(connection: Connection, study_id: int) -> list[str]:
    """The administrators of a study, the first one first."""
    return [row.name for row in connection.execute(_KEYS, {"study": study_id})]


def holder(connection: Connection, study_id: int, key: str) -> str:
    """The name of whoever has this key, in a time that does not depend on whose it is."""
    given, found = auth.digest(key), ""
    for name, key_hash in connection.execute(_KEYS, {"study": study_id}):
        if hmac.compare_digest(given, bytes(key_hash)):
            found = name
    if not found:
        raise Problem("forbidden", "this needs an administrator's key of the study")
    return found


def add(connection: Connection, study_id: int, name: str, now: float) -> str:
    """The key of a new administrator, which is told once."""
    checks.text("name", name, LONGEST_NAME)
    if len(names(connection, study_id)) >= MOST_ADMINISTRATORS:
        raise Problem("conflict", f"a study has at most {MOST_ADMINISTRATORS} administrators")
    key = auth.new_key()
    values = {"study": study_id, "name": name, "key_hash": auth.digest(key), "now": now}
    try:
        connection.execute(_ADD, values)
    except exc.IntegrityError:
        raise Problem("conflict", f"there is an administrator named {name!r} already") from None
    return key


def replace(connection: Connection, study_id: int, name: str, now: float) -> str:
    """A new key for an administrator; her old one is worthless from now on. She may be new, too."""
    key = auth.new_key()
    values = {"study": study_id, "name": name, "key_hash": auth.digest(key)}
    if not connection.execute(_REPLACE, values).rowcount:
        return add(connection, study_id, name, now)
    return key


def remove(connection: Connection, study_id: int, name: str) -> None:
    """Takes away the key of an administrator. Somebody has to stay."""
    known: Sequence[str] = names(connection, study_id)
    if name not in known:
        raise Problem("unknown-administrator", "the study has no administrator of this name")
    if len(known) == 1:
        raise Problem("conflict", "the last administrator of a study cannot be removed")
    connection.execute(_REMOVE, {"study": study_id, "name": name})
