"""Plans of studies as JSON, read back strictly.

Beside its targets, a plan shows figures that follow from them and that others rely on: those of the one machine, where
it has a single one. A document in which such a figure does not follow from the rest is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from dame import checks
from dame.device.questions import canonical
from dame.errors import InvalidInput, shown
from dame.planning.codec import machine_to_json, method_to_json
from dame.protocols import machine_from_json
from dame.studies.parsing import target_from_json
from dame.studies.plans import Plan, TargetPlan

VERSION = 1
SHIFT = "shift_by_1_percent"
"""A figure that is printed beside a plan, and beside each of its targets, and follows from it: read, not believed."""
CENTRAL = ("central_epsilon", "central_delta")
"""What a reader of the result learns of a person (`dame.theory.shuffling`): printed beside a plan, not believed."""
_REQUIRED = frozenset({"version", "study", "alpha", "group", "targets"})
_SHOWN = frozenset({"users", "predicted_rmse", "failure_probability", SHIFT})
"""What stands beside a target and follows from its machines."""


def plan_to_json(plan: Plan) -> dict[str, object]:
    """The plan as a JSON object."""
    return {
        "version": VERSION,
        "study": plan.study,
        "alpha": plan.alpha,
        "users": plan.users,
        "group": plan.group,
        **(method_to_json(plan.only) if len(plan.machines) == 1 else {}),
        "targets": [_target_to_json(target) for target in plan.targets],
    }


def plan_from_json(document: object) -> Plan:
    """The plan that a JSON object describes."""
    fields = _fields(document)
    study, alpha = checks.text("study", fields["study"], 128), checks.alpha(fields["alpha"])
    plan = Plan(
        targets=tuple(_target_from_json(item, study, alpha) for item in checks.items("targets", fields["targets"])),
        group="" if fields["group"] == "" else checks.text("group", fields["group"], 64),
    )
    _check_shown("plan", fields, plan_to_json(plan))
    return plan


def _fields(document: object) -> Mapping[str, object]:
    if not isinstance(document, Mapping) or not document.keys() >= _REQUIRED:
        return checks.keys("plan", document, _REQUIRED, frozenset())
    if type(document["version"]) is not int or document["version"] != VERSION:
        raise InvalidInput("plan version", document["version"], str(VERSION))
    return document


def _target_to_json(planned: TargetPlan) -> dict[str, object]:
    return {
        **planned.target.to_json(),
        "users": planned.users,
        "predicted_rmse": planned.predicted_rmse,
        "failure_probability": planned.failure_probability,
        "machines": [machine_to_json(machine) for machine in planned.machines],
    }


def _target_from_json(document: object, study: str, alpha: float) -> TargetPlan:
    if not isinstance(document, Mapping) or "machines" not in document:
        raise InvalidInput("target", document, "an object with the key 'machines'")
    own = {name: value for name, value in document.items() if name not in _SHOWN and name != "machines"}
    planned = TargetPlan(
        target=target_from_json(own),
        machines=tuple(
            machine_from_json(item, study, alpha) for item in checks.items("machines", document["machines"])
        ),
    )
    _check_shown("target", document, _target_to_json(planned))
    return planned


def _check_shown(what: str, given: Mapping[str, object], follows: Mapping[str, object]) -> None:
    """Refuses keys that nothing has, and figures that do not follow from the rest."""
    for name, value in given.items():
        if name in (SHIFT, *CENTRAL):
            checks.real(name, value, 0.0, 1e300)
        elif name not in follows:
            raise InvalidInput(what, name, "an object without unknown keys")
        elif name not in ("targets", "machines") and not _same(value, json.loads(canonical(follows[name]))):
            raise InvalidInput(f"{name} of the {what}", value, f"{shown(follows[name])}, as follows from the rest")


def _same(one: object, other: object) -> bool:
    # Square roots of other machines may differ in the last digit.
    numbers = isinstance(one, float) and isinstance(other, float)
    return math.isclose(one, other, rel_tol=1e-9) if numbers else one == other  # type: ignore[arg-type]
