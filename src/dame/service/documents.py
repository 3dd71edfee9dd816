"""What the service says about a study: to everybody, and to its administrator."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text

from dame.device.questions import Slot
from dame.engines.steps import tallies_to_json
from dame.monitoring import vote_histogram, window_ends
from dame.planning.machines import MachinePlan
from dame.protocols import ByGroup
from dame.service import models
from dame.service.database import Database
from dame.service.problems import Problem
from dame.service.results import target_result
from dame.service.rounds import SignedQuestion
from dame.service.schedule import iso
from dame.service.stored import REPORTS, Group, StoredStudy, state_of, stored_groups
from dame.service.tallies import stored_question, stored_tally
from dame.studies.plans import TargetPlan

_STUDIES = text("SELECT study, title, result IS NOT NULL AS finished, ended_at FROM studies ORDER BY id")
_ROUNDS = text(f"SELECT r.*, {REPORTS} AS reports FROM rounds r WHERE r.study_id = :study ORDER BY r.slot")
_REJECTED = text(
    "SELECT reason, CAST(sum(refused) AS BIGINT) FROM refusal_counts WHERE study_id = :study"
    " GROUP BY reason ORDER BY reason"
)
_STATES = {"waiting": "waiting", "open": "open", "closing": "closed", "closed": "closed", "ended": "ended"}


def listed_document(database: Database) -> models.ListedDocument:
    """Name, title and state of every study, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(_STUDIES).mappings().all()
    listed = [
        models.ListedStudyDocument(
            study=row["study"], title=row["title"], state=state_of(bool(row["finished"]), row["ended_at"] is not None)
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


def public_document(database: Database, study: StoredStudy) -> models.PublicStudyDocument:
    """What everybody may know: the plan, the key, and which rounds are open. No counts."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
    return models.PublicStudyDocument(
        study=study.study,
        title=study.title,
        state=study.state,
        plan=study.document,
        plan_id=study.plan_id,
        plan_canonical=study.plan_text,
        public_key=study.public_key,
        about=models.AboutDocument(**{"asker": "", "purpose": "", "contact": "", "consent": "", **study.about}),
        alpha=study.plan.alpha,
        group=study.plan.group,
        minimum_reports=study.minimum_reports,
        open_rounds=_open(rows),
        shares=list(study.plan.shares),
        rounds=[models.PublicRoundDocument(**_round(row)) for row in rows],
    )


def status_document(database: Database, study: StoredStudy) -> models.StatusDocument:
    """What the administrator sees: counts, histograms, windows, refusals, and what was found so far."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
        rejected: dict[str, int] = {row[0]: row[1] for row in connection.execute(_REJECTED, {"study": study.id})}
        groups = stored_groups(connection, study.id)
    return models.StatusDocument(
        study=study.study,
        title=study.title,
        state=study.state,
        alpha=study.plan.alpha,
        users_planned=study.plan.users,
        invited=sum(row["invited"] for row in rows),
        group=study.plan.group,
        minimum_reports=study.minimum_reports,
        keep_reports_days=study.keep_reports_days,
        open_rounds=_open(rows),
        targets=[_target_document(study, planned, rows) for planned in study.plan.targets],
        groups=_group_documents(groups, rows),
        rounds=[_round_document(study, row) for row in rows],
        rejected=rejected,
        result=_result(study),
    )


def result_document(study: StoredStudy) -> models.ResultDocument:
    """What a finished study tells."""
    result = _result(study)
    if result is None:
        raise Problem("not-finished", "the study is still running: there is no result yet")
    return result


def tally_document(tallies: ByGroup) -> models.TallyDocument:
    """The tally of a closed round, and those of its groups."""
    return models.TallyDocument.model_validate(tallies_to_json(tallies))


def _result(study: StoredStudy) -> models.ResultDocument | None:
    return None if study.result is None else models.ResultDocument.model_validate(study.result)


def _open(rows: Sequence[RowMapping]) -> list[int]:
    return [row["slot"] for row in rows if row["state"] == "open"]


def _target_document(
    study: StoredStudy, planned: TargetPlan, rows: Sequence[RowMapping]
) -> models.TargetStatusDocument:
    target, found = planned.target, target_result(study, planned)
    machines = [_machine_document(study, machine) for machine in planned.machines]
    own = [rows[slot] for machine in machines for slot in machine.rounds]
    return models.TargetStatusDocument(
        name=target.name,
        kind=target.kind,
        words=target.words,
        counted=target.counted,
        scale=planned.machines[0].brief.scale,
        range=list(target.range),
        users_planned=planned.users,
        invited=sum(row["invited"] for row in own),
        reports=sum(row["reports"] for row in own),
        predicted_rmse=planned.predicted_rmse,
        machines=machines,
        shift_by_1_percent=None if study.shifts is None else study.shifts[target.name],
        estimate=None if found is None else models.EstimateDocument.model_validate(found.to_json()),
    )


def _machine_document(study: StoredStudy, machine: MachinePlan) -> models.MachineDocument:
    return models.MachineDocument(
        name=machine.name,
        words=machine.brief.statistic.words,
        protocol=machine.protocol,
        users_planned=machine.users,
        range=list(machine.brief.statistic.range),
        rounds=[study.plan.slots.index(slot) for slot in machine.slots],
    )


def _group_documents(groups: Sequence[Group], rows: Sequence[RowMapping]) -> list[models.GroupStatusDocument]:
    counted: Counter[str] = Counter()
    for row in rows:
        for name, counts in json.loads(row["groups"] or "{}").items():
            counted[name] += sum(counts["reports"])
    return [
        models.GroupStatusDocument(group=group.name, invited=group.invited, counted=counted[group.name])
        for group in groups
    ]


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


def _round_document(study: StoredStudy, row: RowMapping) -> models.RoundStatusDocument:
    return models.RoundStatusDocument(
        **_round(row),
        expected=round(study.plan.shares[row["slot"]] * study.plan.users),
        invited=row["invited"],
        reports=row["reports"],
        opened_at=iso(row["opened_at"]),
        closed_at=iso(row["closed_at"]),
        close_at_count=row["close_at_count"],
        purged_at=iso(row["purged_at"]),
        histogram=_histogram(study, row),
        window=_window(study, row),
    )


def _histogram(study: StoredStudy, row: RowMapping) -> models.HistogramDocument | None:
    histogram = None if row["tally"] is None else vote_histogram(_machine(study, row), stored_tally(row))
    if histogram is None:
        return None
    return models.HistogramDocument(
        edges=list(histogram.edges),
        shares=list(histogram.shares),
        standard_error=histogram.standard_error,
        chosen=list(histogram.chosen),
    )


def _window(study: StoredStudy, row: RowMapping) -> models.WindowDocument | None:
    # By the question, not by the plan: after a survey of sizes a round may vote that was planned to measure.
    if row["question"] is None:
        return None
    ends = window_ends(_machine(study, row).brief, stored_question(row["question"]))
    return None if ends is None else models.WindowDocument(centre=ends.centre, low=ends.low, high=ends.high)


def _machine(study: StoredStudy, row: RowMapping) -> MachinePlan:
    return study.plan.machine_of(Slot(row["target"], row["round"]))
