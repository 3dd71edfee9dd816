"""The other way round: how many people, or what α, the errors take that are wanted of the targets of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist

from dame import checks
from dame.errors import InvalidInput
from dame.estimates import LEVEL
from dame.protocols import protocol_named
from dame.protocols.needed import alpha_needed, users_needed
from dame.studies.plans import Plan, TargetPlan
from dame.studies.study import Study
from dame.studies.targets import Target

POWER = 0.8
"""The chance with which a difference that exists is found, when people are counted for it."""


def plan_with_users_for(study: Study, errors: Mapping[str, float]) -> Plan:
    """The plan in which every target has so many people that its error is at most the one given for it."""
    wanted = by_target(study, errors)
    users = [_target_with_error(study, target, wanted[target.name]).users for target in study.targets]
    return replace(study, users=sum(users)).plan_for(users)


def _target_with_error(study: Study, target: Target, error: float) -> TargetPlan:
    fewest = len(target.measures)
    return users_needed(lambda count: study.plan_target(target, count), lambda plan: plan.counted_rmse, error, fewest)


def plan_with_alpha_for(study: Study, errors: Mapping[str, float]) -> Plan:
    """The plan with the least α with which the error of every target is at most the one given for it."""
    wanted = by_target(study, errors)
    largest = max(wanted.values())

    def worst(plan: Plan) -> float:
        # As if the target with the largest error were the one that is missed.
        return max(planned.counted_rmse / wanted[planned.target.name] for planned in plan.targets) * largest

    return alpha_needed(lambda alpha: replace(study, alpha=alpha).plan(), worst, largest)


def error_for_difference(difference: float) -> float:
    """The error of each arm with which a difference between two is found: with 80 % power at the 5 % level."""
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) + NormalDist().inv_cdf(POWER)
    return checks.positive("difference", difference, 1e300) / (reach * math.sqrt(2))


def interval_factor(planned: TargetPlan) -> float:
    """How much wider the intervals of a target are than those of a normal estimate with its predicted error."""
    return max(protocol_named(machine.protocol).interval_factor(machine) for machine in planned.machines)


def plan_for_difference(study: Study, differences: Mapping[str, float]) -> Plan:
    """The plan with so many people that these differences between two equal arms are found.

    Each arm has half the people, and must know its own value that well.
    """
    factors = {planned.target.name: interval_factor(planned) for planned in study.plan().targets}
    wanted = by_target(study, differences)
    errors = {name: error_for_difference(value) / factors[name] for name, value in wanted.items()}
    users = [2 * planned.users for planned in plan_with_users_for(study, errors).targets]
    return replace(study, users=sum(users)).plan_for(users)


def by_target(study: Study, given: Mapping[str, float]) -> dict[str, float]:
    """A number for each target, given by its name, or by its column where only one target is about that.

    A number under the empty name is for the only target, or for all of them.
    """
    left = dict(given)
    found = {target.name: _taken(study, target, left) for target in study.targets}
    if left and set(left) != {""}:
        names = ", ".join(target.name for target in study.targets)
        raise InvalidInput("target", min(left), f"one of {names}")
    missing = [name for name, value in found.items() if value is None and "" not in left]
    if missing:
        raise InvalidInput("targets", missing[0], "each given a number, as in NAME=NUMBER")
    return {name: left[""] if value is None else value for name, value in found.items()}


def _taken(study: Study, target: Target, left: dict[str, float]) -> float | None:
    if target.name in left:
        return left.pop(target.name)
    alone = sum(other.column == target.column for other in study.targets) == 1
    return left.pop(target.column) if alone and target.column and target.column in left else None


def times_as_many(planned: TargetPlan, study: Study) -> float:
    """How many times as many people another study needs for the same error of its target; inf if too many."""
    try:
        return _target_with_error(study, planned.target, planned.counted_rmse).users / planned.users
    except InvalidInput:
        return math.inf
