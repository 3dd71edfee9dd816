"""The protocols, and the calls that drive any of them: `plan`, `first`, `next`, `drive`."""

from __future__ import annotations

from collections.abc import Sequence

from dame.device.questions import Question
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning import codec
from dame.planning.brief import WEIGHTS, Brief
from dame.planning.plans import Plan
from dame.protocols.base import Protocol
from dame.protocols.driving import drive
from dame.protocols.registry import DEFAULT, PROTOCOLS, protocol_named, register
from dame.sizes import Sizes
from dame.tally import Tally


def plan(
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
) -> Plan:
    """A plan for a study with so many users, each with budget α and sizes as in M, of values within the bounds.

    `between_sd` is the standard deviation of users' own means, as a fraction of the half-range: 0 if all records are
    from one distribution, "learn" if the study shall find out. `weights` says whose mean is wanted: "equal" (each user
    counts once) or "precision" (by the square root of the effective size).

    `study` is the identity that keeps a device from answering twice; a random one is drawn when none is given.
    Further choices go to the planner: `adaptive` takes `max_rounds` (1 to 6), `failure` (the chance of a wrong
    location that it may accept) and `survey` (the share of the users that is first asked for sizes, such as 0.1, when
    M is but a guess).
    """
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InvalidInput("bounds", bounds, "two numbers") from None
    identity = {} if study is None else {"study": study}
    spread = None if between_sd == codec.LEARN else between_sd
    brief = Brief(
        users=users,
        alpha=alpha,
        sizes=sizes,
        low=low,
        high=high,
        weights=weights,
        between_sd=spread,  # type: ignore[arg-type]  # the brief checks it
        **identity,
    )
    planner = protocol_named(protocol)
    unknown = choices.keys() - planner.choices
    if unknown:
        raise InvalidInput(
            "choice", min(unknown), f"one that protocol {protocol} has: {sorted(planner.choices) or 'none'}"
        )
    return planner.plan(brief, **choices)


def plan_from_json(document: object) -> Plan:
    """The plan that a JSON object describes."""
    name = document.get("protocol") if isinstance(document, dict) else document
    protocol = protocol_named(str(name))
    plan = codec.plan_from_json(document, protocol.details)
    protocol.check(plan)
    return plan


def first(plan: Plan) -> Question:
    """The question of the first round."""
    return protocol_named(plan.protocol).question(plan, ())


def next(plan: Plan, history: Sequence[Tally]) -> Question | Estimate:
    """The next question, or the estimate when every round has its tally.

    Each tally names the question that was asked: what counts is that, and not what would be asked today.
    """
    return protocol_named(plan.protocol).next(plan, history)


__all__ = [
    "DEFAULT",
    "PROTOCOLS",
    "Protocol",
    "drive",
    "first",
    "next",
    "plan",
    "plan_from_json",
    "protocol_named",
    "register",
]
