"""The audit trail: what administrators did to a study, and what it did by itself, in the transaction that did it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

OPERATOR = "operator"
SERVICE = "service"
"""Who acts where no administrator does: whoever runs the server, and the server itself."""
DELETED = "deleted"

_ADD = text("INSERT INTO acts (study, at, who, act, details) VALUES (:study, :at, :who, :act, :details)")
_LIST = "SELECT at, study, who, act, details FROM acts"
_DELETED = text(f"SELECT count(*) FROM acts WHERE study = :study AND act = '{DELETED}'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who did what to which study, and when (in seconds since 1970)."""

    at: float
    study: str
    who: str
    act: str
    details: Mapping[str, object]


def note(connection: Connection, study: str, who: str, act: str, at: float, **details: object) -> None:
    """Writes an act down: it stays when the study is deleted. Never a secret, and nothing about a single person."""
    values = {"study": study, "at": at, "who": who, "act": act, "details": json.dumps(details)}
    connection.execute(_ADD, values)


def of_study(connection: Connection, study: str) -> list[Act]:
    """What was done to a study, the earliest first."""
    rows = connection.execute(text(f"{_LIST} WHERE study = :study ORDER BY id"), {"study": study})
    return [_act(*row) for row in rows]


def latest(connection: Connection, most: int) -> list[Act]:
    """What was last done to any study, the latest first."""
    return [_act(*row) for row in connection.execute(text(f"{_LIST} ORDER BY id DESC LIMIT :most"), {"most": most})]


def was_deleted(connection: Connection, study: str) -> bool:
    """Whether a study of this name was here, and is no more."""
    return bool(connection.execute(_DELETED, {"study": study}).scalar_one())


def _act(at: float, study: str, who: str, act: str, details: str) -> Act:
    return Act(at=at, study=study, who=who, act=act, details=json.loads(details))
