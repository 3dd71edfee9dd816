"""The protocols, and the calls that drive the machines of any of them: `planned`, `next`, `drive`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dame.device.questions import Question
from dame.device.statistics import Value
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning import codec
from dame.planning.brief import WEIGHTS, Brief
from dame.planning.codec import LEARN
from dame.planning.machines import MachinePlan
from dame.protocols.base import Protocol
from dame.protocols.driving import EVERYBODY, ByGroup, drive, drive_one, estimate_of_group
from dame.protocols.registry import DEFAULT, PROTOCOLS, protocol_named, register
from dame.sizes import Sizes
from dame.tally import Tally


def plan_mean(
    *,
    users: int,
    alpha: float,
    sizes: Sizes,
    protocol: str = DEFAULT,
    bounds: tuple[float, float] = (-1.0, 1.0),
    weights: str = WEIGHTS[0],
    between_sd: float | str | None = 0.0,
    study: str | None = None,
    **choices: float,
) -> MachinePlan:
    """The plan of a machine for the mean of values within the bounds: `dame.plan` without a study around it."""
    identity: dict[str, Any] = {} if study is None else {"study": study}
    brief = Brief(
        users=users,
        alpha=alpha,
        sizes=sizes,
        statistic=bounded_value(bounds),
        weights=weights,
        between_sd=spread_of(between_sd),
        **identity,
    )
    return planned(brief, protocol, **choices)


def bounded_value(bounds: Any, column: str = "") -> Value:
    """The statistic of a value within two bounds."""
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InvalidInput("bounds", bounds, "two numbers") from None
    return Value(column=column, low=low, high=high)


def spread_of(between_sd: object) -> float | None:
    """The standard deviation between users as a brief has it: None where it is to be learnt."""
    return None if between_sd == LEARN else between_sd  # type: ignore[return-value]  # the brief checks it


def planned(brief: Brief, protocol: str = DEFAULT, **choices: float) -> MachinePlan:
    """The plan that a protocol makes for a brief; choices that it does not have are refused."""
    planner = protocol_named(protocol)
    unknown = choices.keys() - planner.choices
    if unknown:
        raise InvalidInput(
            "choice", min(unknown), f"one that protocol {protocol} has: {sorted(planner.choices) or 'none'}"
        )
    return planner.plan(brief, **choices)


def machine_from_json(document: object, study: str, alpha: float) -> MachinePlan:
    """The plan of a machine that a JSON object describes, if its protocol has such rounds."""
    name = document.get("protocol") if isinstance(document, Mapping) else document
    protocol = protocol_named(str(name))
    machine = codec.machine_from_json(document, protocol.details, study, alpha)
    protocol.check(machine)
    return machine


def next(plan: MachinePlan, history: Sequence[Tally]) -> Question | Estimate:
    """The next question of a machine, or its estimate when every round has its tally.

    Each tally names the question that was asked: what counts is that, and not what would be asked today.
    """
    return protocol_named(plan.protocol).next(plan, history)


__all__ = [
    "DEFAULT",
    "EVERYBODY",
    "LEARN",
    "PROTOCOLS",
    "ByGroup",
    "Protocol",
    "bounded_value",
    "drive",
    "drive_one",
    "estimate_of_group",
    "machine_from_json",
    "next",
    "plan_mean",
    "planned",
    "protocol_named",
    "register",
    "spread_of",
]
