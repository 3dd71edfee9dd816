"""What the service says about a study: to everybody, and to its administrator."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text

from dame.monitoring import vote_histogram, window_ends
from dame.service.database import Database
from dame.service.problems import Problem
from dame.service.rounds import stored_question, stored_tally
from dame.service.schedule import iso
from dame.service.studies import Study

_ROUNDS = text("SELECT * FROM rounds WHERE study_id = :study ORDER BY slot")
_REJECTED = text("SELECT reason, count FROM rejections WHERE study_id = :study ORDER BY reason")
_STATES = {"waiting": "waiting", "open": "open", "closing": "closed", "closed": "closed"}


def public_document(database: Database, study: Study) -> dict[str, object]:
    """What everybody may know: the plan, the key, and which round is open. No counts."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
    brief = study.plan.brief
    return {
        "study": study.study,
        "title": study.title,
        "state": study.state,
        "plan": study.document,
        "plan_id": study.plan_id,
        "plan_canonical": study.plan_text,
        "public_key": study.public_key,
        "alpha": brief.alpha,
        "bounds": [brief.low, brief.high],
        "current_round": _current(rows),
        "shares": list(study.plan.shares),
        "rounds": [_public_round(row) for row in rows],
    }


def status_document(database: Database, study: Study) -> dict[str, object]:
    """What the administrator sees: counts, histograms, windows, refusals, and the estimate once there is one."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
        rejected: dict[str, int] = {row[0]: row[1] for row in connection.execute(_REJECTED, {"study": study.id})}
    brief = study.plan.brief
    return {
        "study": study.study,
        "title": study.title,
        "state": study.state,
        "protocol": study.plan.protocol,
        "alpha": brief.alpha,
        "bounds": [brief.low, brief.high],
        "users_planned": brief.users,
        "invited": sum(row["invited"] for row in rows),
        "current_round": _current(rows),
        "rounds": [_round_document(study, row) for row in rows],
        "rejected": rejected,
        "estimate": study.estimate,
        "shift_by_1_percent": study.shift,
    }


def result_document(study: Study) -> dict[str, object]:
    """The estimate of a finished study."""
    if study.estimate is None:
        raise Problem("not-finished", "the study is still running: there is no estimate yet")
    return study.estimate


def _current(rows: Any) -> int | None:
    return next((row["slot"] for row in rows if row["state"] == "open"), None)


def _public_round(row: RowMapping) -> dict[str, object]:
    """What everybody may know about a round; `slot` is its place in addresses, `round` that among its target's."""
    return {
        "slot": row["slot"],
        "target": row["target"],
        "round": row["round"],
        "name": row["name"],
        "lens": row["lens"],
        "state": _STATES[row["state"]],
        "deadline": iso(row["deadline"]),
    }


def _round_document(study: Study, row: RowMapping) -> dict[str, object]:
    return {
        **_public_round(row),
        "expected": round(study.plan.shares[row["slot"]] * study.plan.users),
        "invited": row["invited"],
        "reports": row["reports"],
        "opened_at": iso(row["opened_at"]),
        "closed_at": iso(row["closed_at"]),
        "close_at_count": row["close_at_count"],
        "histogram": _histogram(study, row),
        "window": _window(study, row),
    }


def _histogram(study: Study, row: RowMapping) -> dict[str, object] | None:
    histogram = None if row["tally"] is None else vote_histogram(study.plan, stored_tally(row))
    return None if histogram is None else histogram.to_json()


def _window(study: Study, row: RowMapping) -> dict[str, object] | None:
    # By the question, not by the plan: after a survey of sizes a round may vote that was planned to measure.
    window = None if row["question"] is None else window_ends(study.plan.brief, stored_question(row["question"]))
    return None if window is None else window.to_json()
