"""Tallies of closed rounds: counted from the stored reports, by public group where there are groups, and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping

from dame.device.questions import Question, question_from_json
from dame.device.reports import report_bytes
from dame.protocols import EVERYBODY, ByGroup
from dame.service.database import Database
from dame.service.stored import Group
from dame.tally import Tally
from dame.vectorised.reports import report_totals

BYTES_AT_ONCE = 2**20
"""Bytes of reports that are counted together."""


def reports_at_once(question: Question) -> int:
    """How many reports are taken out of the store together."""
    return max(BYTES_AT_ONCE // report_bytes(question), 1)


def counted(
    database: Database, connection: Connection, round_id: int, question: Question, groups: Sequence[Group]
) -> dict[str, Tally]:
    """The tally of each group that was invited; that of everybody where people are not told apart."""
    at_once = reports_at_once(question)
    if not groups:
        tally = Tally.zero(question)
        for part in database.reports(connection, round_id, at_once):
            tally = tally.merge(_tally(question, part))
        return {EVERYBODY: tally}
    tallies = {group.id: Tally.zero(question) for group in groups}
    for parts in database.reports_by_group(connection, round_id, at_once):
        for group_id, part in parts.items():
            tallies[group_id] = tallies[group_id].merge(_tally(question, part))
    return {group.name: tallies[group.id] for group in groups}


def _tally(question: Question, reports: bytes) -> Tally:
    rows = np.frombuffer(reports, np.uint8).reshape(-1, report_bytes(question))
    return Tally.of(question, report_totals(question, rows))


@lru_cache(maxsize=1024)
def stored_question(text_: str) -> Question:
    """The question that a round keeps as a text."""
    return question_from_json(json.loads(text_))


def groups_text(tallies: ByGroup) -> str | None:
    """What a round keeps of the tallies of its groups; nothing where people are not told apart."""
    if EVERYBODY in tallies:
        return None
    return json.dumps({group: tally.counts() for group, tally in tallies.items()})


def stored_tally(row: RowMapping) -> Tally:
    """The tally of a closed round: what was counted, and the question that was asked."""
    return _stored(stored_question(row["question"]), json.loads(row["tally"]))


def stored_by_group(row: RowMapping) -> dict[str, Tally]:
    """The tallies of the groups in a closed round; that of everybody where people are not told apart."""
    if row["groups"] is None:
        return {EVERYBODY: stored_tally(row)}
    question = stored_question(row["question"])
    return {group: _stored(question, counts) for group, counts in json.loads(row["groups"]).items()}


def _stored(question: Question, counts: Mapping[str, Any]) -> Tally:
    return Tally.of(question, zip(counts["reports"], counts["sums"], strict=True))
