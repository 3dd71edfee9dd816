"""Plans as JSON: one flat object whose keys others rely on, read back strictly."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dame import checks
from dame.device.channels import CHANNELS
from dame.device.lenses import LENSES
from dame.errors import InvalidInput
from dame.planning.brief import MOST_USERS, Brief
from dame.planning.plans import Forecast, Plan
from dame.planning.rounds import Round
from dame.sizes import Sizes

VERSION = 1
LEARN = "learn"
"""The standard deviation between users, where it is to be learnt."""
SHIFT = "shift_by_1_percent"
"""A figure that is printed beside a plan and follows from it: read, not believed."""
_FORECAST = frozenset(field.name for field in dataclasses.fields(Forecast))
_BRIEF = frozenset({"study", "target", "alpha", "users", "bounds", "sizes", "weights", "between_sd"})
_REQUIRED = frozenset({"version", "protocol", "protocol_version", "rounds"}) | _BRIEF | _FORECAST
_ROUND = frozenset({"name", "share", "lens", "channel", "error_after"})


def plan_to_json(plan: Plan) -> dict[str, object]:
    """The plan as a JSON object; the protocol's own figures stand beside the common ones."""
    brief = plan.brief
    return {
        "version": VERSION,
        "protocol": plan.protocol,
        "protocol_version": plan.protocol_version,
        "study": brief.study,
        "target": brief.target,
        "alpha": brief.alpha,
        "users": brief.users,
        "bounds": [brief.low, brief.high],
        "sizes": brief.sizes.spec,
        "weights": brief.weights,
        "between_sd": LEARN if brief.between_sd is None else brief.between_sd,
        "rounds": [_round_json(round_, brief.users) for round_ in plan.rounds],
        **dataclasses.asdict(plan.forecast),
        "notes": list(plan.notes),
        **plan.details,
    }


def plan_from_json(document: object, detail_names: frozenset[str]) -> Plan:
    """The plan that a JSON object describes; a protocol's own figures may have the names given."""
    fields = checks.keys("plan", document, _REQUIRED, detail_names | {"notes", SHIFT})
    if type(fields["version"]) is not int or fields["version"] != VERSION:
        raise InvalidInput("plan version", fields["version"], str(VERSION))
    checks.real(SHIFT, fields.get(SHIFT, 0.0), 0.0, 1e300)
    return Plan(
        protocol=checks.text("protocol", fields["protocol"], 32),
        protocol_version=checks.whole("protocol_version", fields["protocol_version"], 1, 10**6),
        brief=_brief(fields),
        rounds=tuple(_round(item) for item in _list("rounds", fields["rounds"])),
        forecast=Forecast(**{name: checks.real(name, fields[name], 0.0, 1e300) for name in _FORECAST}),
        details={name: _number(name, fields[name]) for name in sorted(detail_names & fields.keys())},
        notes=tuple(checks.text("notes", note, 2000) for note in _list("notes", fields.get("notes", []))),
    )


def _brief(fields: Mapping[str, object]) -> Brief:
    ends = _list("bounds", fields["bounds"])
    if len(ends) != 2:
        raise InvalidInput("bounds", ends, "a list of two numbers")
    low, high = checks.bounds(*ends)
    distribution = checks.text("sizes", fields["sizes"], 10**7)
    if distribution.startswith("counts:"):  # a plan comes from outside: reading it must not open a file that it names
        raise InvalidInput("sizes", distribution, "a distribution, not the name of a file")
    spread = fields["between_sd"]
    return Brief(
        users=checks.whole("users", fields["users"], 1, MOST_USERS),
        alpha=checks.alpha(fields["alpha"]),
        sizes=Sizes.parse(distribution),
        low=low,
        high=high,
        weights=checks.text("weights", fields["weights"], 32),
        between_sd=None if spread == LEARN else checks.real("between_sd", spread, 0.0, 1.0),
        target=checks.text("target", fields["target"], 64),
        study=checks.text("study", fields["study"], 128),
    )


def _round_json(round_: Round, users: int) -> dict[str, object]:
    return {
        "name": round_.name,
        "share": round_.share,
        "users": round_.share * users,
        "error_after": round_.error_after,
        "lens": round_.lens.to_json(),
        "channel": round_.channel.to_json(),
    }


def _round(document: object) -> Round:
    fields = checks.keys("round", document, _ROUND, frozenset({"users"}))
    checks.real("users", fields.get("users", 0.0), 0.0, 1e300)
    return Round(
        name=checks.text("name", fields["name"], 32),
        share=checks.positive("share", fields["share"], 1.0),
        lens=LENSES.from_json(fields["lens"]),
        channel=CHANNELS.from_json(fields["channel"]),
        error_after=checks.real("error_after", fields["error_after"], 0.0, 1e6),
    )


def _list(name: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise InvalidInput(name, value, "a list")
    return value


def _number(name: str, value: object) -> float:
    # Whole numbers stay whole: a size or a count of bins is an integer in the plan and in its JSON.
    return value if isinstance(value, int) and not isinstance(value, bool) else checks.real(name, value, -1e300, 1e300)
