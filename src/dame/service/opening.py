"""Opening a round: its question is frozen and signed, and from then on never changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from dame.device.questions import Question, canonical, question_id
from dame.service.public_log import add_question
from dame.service.schedule import kept_deadline
from dame.service.signing import signature

if TYPE_CHECKING:
    from dame.service.stored import StoredStudy
    from dame.service.vault import Vault

_OPEN = text(
    "UPDATE rounds SET state = 'open', question = :question, question_id = :question_id, signature = :signature,"
    " opened_at = :now, deadline = :deadline"
    " WHERE study_id = :study AND target = :target AND round = :round AND state = 'waiting'"
)
_DEADLINES = text("SELECT round, deadline FROM rounds WHERE study_id = :study AND target = :target AND round <= :round")


def open_round(connection: Connection, vault: Vault, study: StoredStudy, question: Question, now: float) -> None:
    """Opens the round that a question is for: the next one of its machine."""
    where = {"study": study.id, **question.slot._asdict()}
    deadlines: dict[int, float | None] = {row[0]: row[1] for row in connection.execute(_DEADLINES, where)}
    values = {
        "question": canonical(question.to_json()).decode("ascii"),
        "question_id": question_id(question),
        "signature": signature(vault.open(study.signing_key, study.study), study.plan_id, question),
        "now": now,
        "deadline": kept_deadline(deadlines[question.round], deadlines.get(question.round - 1), now),
    }
    connection.execute(_OPEN, {**where, **values})
    add_question(connection, question, study.plan_id, now)
