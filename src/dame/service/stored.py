"""A study as it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from dame.service.problems import Problem
from dame.studies.codec import plan_from_json
from dame.studies.plans import Plan

REPORTS = "(SELECT CAST(coalesce(sum(c.reports), 0) AS BIGINT) FROM report_counts c WHERE c.round_id = r.id)"
"""The number of reports of a round r, in a query."""
_ESTIMATES = text("SELECT target, estimate FROM rounds WHERE study_id = :study AND estimate IS NOT NULL")
_GROUPS = text("SELECT id, name, invited FROM groups WHERE study_id = :study ORDER BY name")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A study as it is stored: everything but the state of its rounds, which changes."""

    id: int
    study: str
    title: str
    plan: Plan
    plan_text: str
    plan_id: str
    public_key: str
    signing_key: bytes
    about: Mapping[str, str]
    """Who asks, why, whom to write to, and the text that people agree to."""
    shifts: Mapping[str, float] | None
    """How far 1 % of malicious users could move each target, once that is known."""
    estimates: Mapping[str, dict[str, Any]]
    """What each machine found whose rounds are closed."""
    result: dict[str, object] | None
    """What the study tells, once all of them have."""
    minimum_reports: int
    """How many reports a round waits for before it is closed."""
    keep_reports_days: float | None
    ended_at: float | None

    @property
    def document(self) -> dict[str, object]:
        """The plan as JSON."""
        document: dict[str, object] = json.loads(self.plan_text)
        return document

    @property
    def state(self) -> str:
        """`running` until every machine has come to its end, then `finished`; or `ended` before that."""
        return state_of(self.result is not None, self.ended_at is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Administered:
    """A study, and which of its administrators asks."""

    study: StoredStudy
    who: str


@dataclass(frozen=True, slots=True)
class Group:
    """A public group of a study, and how many of its people were invited."""

    id: int
    name: str
    invited: int


def study_row(connection: Connection, name: str) -> RowMapping:
    """The row of the study of that name."""
    # PostgreSQL's texts cannot hold the character 0, and no study is named so.
    query = text("SELECT * FROM studies WHERE study = :study")
    row = None if "\0" in name else connection.execute(query, {"study": name}).mappings().first()
    if row is None:
        raise Problem("unknown-study", "there is no study of this name")
    return row


def stored_study(connection: Connection, name: str) -> StoredStudy:
    """The study of that name."""
    row = study_row(connection, name)
    done = connection.execute(_ESTIMATES, {"study": row["id"]})
    return StoredStudy(
        id=row["id"],
        study=row["study"],
        title=row["title"],
        plan=stored_plan(row["plan"]),
        plan_text=row["plan"],
        plan_id=row["plan_id"],
        public_key=row["public_key"],
        signing_key=bytes(row["signing_key"]),
        about=json.loads(row["about"]),
        shifts=None if row["shifts"] is None else json.loads(row["shifts"]),
        estimates={machine: json.loads(estimate) for machine, estimate in done},
        result=None if row["result"] is None else json.loads(row["result"]),
        minimum_reports=row["minimum_reports"],
        keep_reports_days=row["keep_reports_days"],
        ended_at=row["ended_at"],
    )


def state_of(finished: bool, ended: bool) -> str:
    """The state of a study in one word."""
    return "finished" if finished else "ended" if ended else "running"


def stored_groups(connection: Connection, study_id: int) -> Sequence[Group]:
    """The groups whose people were invited to a study."""
    return [Group(*row) for row in connection.execute(_GROUPS, {"study": study_id})]


@lru_cache(maxsize=128)
def stored_plan(plan_text: str) -> Plan:
    """The plan that a study keeps as a text."""
    return plan_from_json(json.loads(plan_text))
