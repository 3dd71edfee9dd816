"""What a study comes to, from what its machines found and what its groups said."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping

from dame.estimates import Estimate, Outcome
from dame.planning.machines import MachinePlan
from dame.service.stored import StoredStudy
from dame.service.tallies import stored_by_group, stored_tally
from dame.studies.plans import TargetPlan
from dame.studies.results import Result, TargetResult
from dame.studies.running import result_of_outcomes


def study_result(study: StoredStudy, rows: Sequence[RowMapping]) -> Result:
    """The result of a study, all rounds of which are closed: `rows` are those of its rounds, in the order of slots."""
    return result_of_outcomes(study.plan, [_outcome(study, machine, rows) for machine in study.plan.machines])


def _outcome(study: StoredStudy, machine: MachinePlan, rows: Sequence[RowMapping]) -> Outcome:
    own = sorted((row for row in rows if row["target"] == machine.name), key=lambda row: int(row["round"]))
    return Outcome(
        estimate=Estimate.from_json(study.estimates[machine.name]),
        tallies=tuple(map(stored_tally, own)),
        by_group=tuple(map(stored_by_group, own)),
    )


def target_result(study: StoredStudy, planned: TargetPlan) -> TargetResult | None:
    """What the study tells of one target; None while one of its machines is under way."""
    found = [study.estimates.get(machine.name) for machine in planned.machines]
    known = [Estimate.from_json(one) for one in found if one is not None]
    if len(known) < len(found):
        return None
    return TargetResult(target=planned.target, estimate=planned.target.read(known))
