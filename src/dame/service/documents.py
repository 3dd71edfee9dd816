"""What the service says about a study: to everybody, and to its administrator."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text

from dame.monitoring import vote_histogram, window_ends
from dame.service import models
from dame.service.database import Database
from dame.service.problems import Problem
from dame.service.rounds import SignedQuestion, stored_question, stored_tally
from dame.service.schedule import iso
from dame.service.studies import Study

_STUDIES = text(
    "SELECT study, title, EXISTS (SELECT 1 FROM rounds r WHERE r.study_id = s.id AND r.state <> 'closed')"
    " AS running FROM studies s ORDER BY id"
)
_ROUNDS = text("SELECT * FROM rounds WHERE study_id = :study ORDER BY slot")
_REJECTED = text("SELECT reason, count FROM rejections WHERE study_id = :study ORDER BY reason")
_STATES = {"waiting": "waiting", "open": "open", "closing": "closed", "closed": "closed"}


def listed_document(database: Database) -> models.ListedDocument:
    """Name, title and state of every study, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(_STUDIES).mappings().all()
    listed = [
        models.ListedStudyDocument(
            study=row["study"], title=row["title"], state="running" if row["running"] else "finished"
        )
        for row in rows
    ]
    return models.ListedDocument(studies=listed)


def asked_document(asked: SignedQuestion) -> models.AskedDocument:
    """What a device is told: the question of an open round, with its signature."""
    return models.AskedDocument(
        question=asked.document,
        question_id=asked.question_id,
        plan_id=asked.plan_id,
        signature=asked.signature,
        canonical=asked.canonical,
    )


def public_document(database: Database, study: Study) -> models.PublicStudyDocument:
    """What everybody may know: the plan, the key, and which round is open. No counts."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
    brief = study.plan.brief
    return models.PublicStudyDocument(
        study=study.study,
        title=study.title,
        state=study.state,
        plan=study.document,
        plan_id=study.plan_id,
        plan_canonical=study.plan_text,
        public_key=study.public_key,
        alpha=brief.alpha,
        bounds=[brief.low, brief.high],
        current_round=_current(rows),
        shares=list(study.plan.shares),
        rounds=[models.PublicRoundDocument(**_round(row)) for row in rows],
    )


def status_document(database: Database, study: Study) -> models.StatusDocument:
    """What the administrator sees: counts, histograms, windows, refusals, and the estimate once there is one."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
        rejected: dict[str, int] = {row[0]: row[1] for row in connection.execute(_REJECTED, {"study": study.id})}
    brief = study.plan.brief
    return models.StatusDocument(
        study=study.study,
        title=study.title,
        state=study.state,
        protocol=study.plan.protocol,
        alpha=brief.alpha,
        bounds=[brief.low, brief.high],
        users_planned=brief.users,
        invited=sum(row["invited"] for row in rows),
        current_round=_current(rows),
        rounds=[_round_document(study, row) for row in rows],
        rejected=rejected,
        estimate=_estimate(study),
        shift_by_1_percent=study.shift,
    )


def result_document(study: Study) -> models.ResultDocument:
    """The estimate of a finished study."""
    estimate = _estimate(study)
    if estimate is None:
        raise Problem("not-finished", "the study is still running: there is no estimate yet")
    return estimate


def _estimate(study: Study) -> models.ResultDocument | None:
    return None if study.estimate is None else models.ResultDocument.model_validate(study.estimate)


def _current(rows: Any) -> int | None:
    return next((row["slot"] for row in rows if row["state"] == "open"), None)


def _round(row: RowMapping) -> dict[str, Any]:
    """What everybody may know about a round."""
    return {
        "slot": row["slot"],
        "target": row["target"],
        "round": row["round"],
        "name": row["name"],
        "lens": row["lens"],
        "state": _STATES[row["state"]],
        "deadline": iso(row["deadline"]),
    }


def _round_document(study: Study, row: RowMapping) -> models.RoundStatusDocument:
    return models.RoundStatusDocument(
        **_round(row),
        expected=round(study.plan.shares[row["slot"]] * study.plan.users),
        invited=row["invited"],
        reports=row["reports"],
        opened_at=iso(row["opened_at"]),
        closed_at=iso(row["closed_at"]),
        close_at_count=row["close_at_count"],
        histogram=_histogram(study, row),
        window=_window(study, row),
    )


def _histogram(study: Study, row: RowMapping) -> models.HistogramDocument | None:
    histogram = None if row["tally"] is None else vote_histogram(study.plan, stored_tally(row))
    if histogram is None:
        return None
    return models.HistogramDocument(
        edges=list(histogram.edges),
        shares=list(histogram.shares),
        standard_error=histogram.standard_error,
        chosen=list(histogram.chosen),
    )


def _window(study: Study, row: RowMapping) -> models.WindowDocument | None:
    # By the question, not by the plan: after a survey of sizes a round may vote that was planned to measure.
    ends = None if row["question"] is None else window_ends(study.plan.brief, stored_question(row["question"]))
    return None if ends is None else models.WindowDocument(centre=ends.centre, low=ends.low, high=ends.high)
