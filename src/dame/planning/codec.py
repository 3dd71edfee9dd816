"""Plans of machines as JSON, read back strictly."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dame import checks
from dame.device.channels import CHANNELS
from dame.device.lenses import LENSES
from dame.device.statistics import STATISTICS
from dame.errors import InvalidInput
from dame.planning.brief import MOST_USERS, SCALES, Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.planning.rounds import Round
from dame.sizes import Sizes

LEARN = "learn"
"""The standard deviation between users, where it is to be learnt."""
_FORECAST = frozenset(field.name for field in dataclasses.fields(Forecast))
_BRIEF = frozenset({"name", "users", "statistic", "sizes", "weights", "between_sd"})
_REQUIRED = frozenset({"protocol", "protocol_version", "rounds", "notes"}) | _BRIEF | _FORECAST
_PEOPLE = frozenset({"levels", "scale"})
_ROUND = frozenset({"name", "share", "lens", "channel", "error_after"})


def machine_to_json(machine: MachinePlan) -> dict[str, object]:
    """The plan of a machine as a JSON object, but for the study and α; the protocol's own figures stand beside."""
    brief = machine.brief
    return {
        "name": brief.target,
        "statistic": brief.statistic.to_json(),
        "users": brief.users,
        "sizes": brief.sizes.spec,
        "weights": brief.weights,
        "between_sd": LEARN if brief.between_sd is None else brief.between_sd,
        **({"levels": list(brief.levels)} if brief.levels else {}),
        **({"scale": brief.scale} if brief.scale != SCALES[0] else {}),
        **method_to_json(machine),
    }


def method_to_json(machine: MachinePlan) -> dict[str, object]:
    """How a machine works, and what is expected of it."""
    return {
        "protocol": machine.protocol,
        "protocol_version": machine.protocol_version,
        "rounds": [_round_json(round_, machine.users) for round_ in machine.rounds],
        **dataclasses.asdict(machine.forecast),
        "notes": list(machine.notes),
        **machine.details,
    }


def machine_from_json(document: object, detail_names: frozenset[str], study: str, alpha: float) -> MachinePlan:
    """The plan that a JSON object describes; a protocol's own figures may have the names given."""
    fields = checks.keys("machine", document, _REQUIRED, detail_names | _PEOPLE)
    return MachinePlan(
        protocol=checks.text("protocol", fields["protocol"], 32),
        protocol_version=checks.whole("protocol_version", fields["protocol_version"], 1, 10**6),
        brief=_brief(fields, study, alpha),
        rounds=tuple(_round(item) for item in checks.items("rounds", fields["rounds"])),
        forecast=Forecast(**{name: checks.real(name, fields[name], 0.0, 1e300) for name in _FORECAST}),
        details={name: _number(name, fields[name]) for name in sorted(detail_names & fields.keys())},
        notes=tuple(checks.text("notes", note, 2000) for note in checks.items("notes", fields["notes"])),
    )


def _brief(fields: Mapping[str, object], study: str, alpha: float) -> Brief:
    distribution = checks.text("sizes", fields["sizes"], 10**7)
    if distribution.startswith("counts:"):  # a plan comes from outside: reading it must not open a file that it names
        raise InvalidInput("sizes", distribution, "a distribution, not the name of a file")
    spread = fields["between_sd"]
    return Brief(
        users=checks.whole("users", fields["users"], 1, MOST_USERS),
        alpha=alpha,
        sizes=Sizes.parse(distribution),
        statistic=STATISTICS.from_json(fields["statistic"]),
        weights=checks.text("weights", fields["weights"], 32),
        between_sd=None if spread == LEARN else checks.real("between_sd", spread, 0.0, 1.0),
        levels=tuple(checks.items("levels", fields.get("levels", []))),  # type: ignore[arg-type]  # the brief checks
        scale=checks.text("scale", fields.get("scale", SCALES[0]), 16),
        target=checks.text("name", fields["name"], 64),
        study=study,
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


def _number(name: str, value: object) -> float:
    # Whole numbers stay whole: a size or a count of bins is an integer in the plan and in its JSON.
    return value if isinstance(value, int) and not isinstance(value, bool) else checks.real(name, value, -1e300, 1e300)
