"""Plans as JSON: one flat object whose keys others rely on, read back strictly."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dame import checks
from dame.vectorised.crowd import SIZE_CLASSES
from dame.device.questions import PARTS
from dame.device.randomiser_codec import code_from_json, code_json, noise_from_json, noise_json
from dame.errors import InvalidInput
from dame.planning.plans import VERSION, Brief, Forecast, MeasureRound, PartRound, PlaceRound, Plan, Round, SizeRound, VoteRound
from dame.sizes import Sizes

_FORECAST = frozenset(field.name for field in dataclasses.fields(Forecast))
_BRIEF = frozenset({"study", "alpha", "users", "bounds", "sizes", "weights", "between_sd"})
_REQUIRED = frozenset({"version", "protocol", "rounds"}) | _BRIEF | _FORECAST
LEARN = "learn"
"""The spread between users, where it is to be learnt."""
SHIFT = "shift_by_1_percent"
"""A figure that is printed beside a plan and follows from it: read, not believed."""
_ROUND_KINDS: dict[str, type[Round]] = {
    "vote": VoteRound,
    "measure": MeasureRound,
    "place-vote": PlaceRound,
    "part-measure": PartRound,
    "size-vote": SizeRound,
}


def plan_to_json(plan: Plan) -> dict[str, object]:
    """The plan as a JSON object; the protocol's own figures stand beside the common ones."""
    brief = plan.brief
    return {
        "version": VERSION,
        "protocol": plan.protocol,
        "study": brief.study,
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
    users = checks.whole("users", fields["users"], 1, 10**12)
    law = checks.text("sizes", fields["sizes"], 10**7)
    if law.startswith("counts:"):  # a plan comes from outside: reading it must not open a file that it names
        raise InvalidInput("sizes", law, "a law, not the name of a file")
    sizes = Sizes.parse(law)
    study = checks.text("study", fields["study"], 128)
    spread = fields["between_sd"]
    return Brief(
        users=users,
        alpha=checks.alpha(fields["alpha"]),
        sizes=sizes,
        low=low,
        high=high,
        weights=checks.text("weights", fields["weights"], 32),
        between_sd=None if spread == LEARN else checks.real("between_sd", spread, 0.0, 1.0),
        study=study,
    )


def round_kind(round_: Round) -> str:
    """The word for the kind of a round in JSON: that of its question."""
    return next(word for word, kind in _ROUND_KINDS.items() if isinstance(round_, kind))


def _round_json(round_: Round, users: int) -> dict[str, object]:
    kind = round_kind(round_)
    plain = {f.name: getattr(round_, f.name) for f in dataclasses.fields(round_) if f.name not in ("code", "noise")}
    return {"kind": kind, **plain, **_coder(round_), "users": round_.share * users}


def _coder(round_: Round) -> dict[str, object]:
    if isinstance(round_, PlaceRound):  # its code follows from α and the number of places
        return {"places": list(round_.places)}
    if isinstance(round_, PartRound):  # and so does its noise
        return {"borders": list(round_.borders)}
    return {"noise": noise_json(round_.noise)} if isinstance(round_, MeasureRound) else {"code": code_json(round_.code)}


def _round(document: object) -> Round:
    kind = document.get("kind") if isinstance(document, dict) else document
    if not isinstance(kind, str) or kind not in _ROUND_KINDS:
        raise InvalidInput("round kind", kind, "'vote', 'size-vote', 'place-vote', 'measure' or 'part-measure'")
    names = frozenset(field.name for field in dataclasses.fields(_ROUND_KINDS[kind]))
    fields: dict[str, Any] = dict(checks.keys("round", document, names | {"kind"}, frozenset({"users"})))
    name, share = checks.text("round name", fields["name"], 32), checks.positive("share", fields["share"], 1.0)
    if kind == "size-vote":
        bins = checks.whole("bins", fields["bins"], 1, SIZE_CLASSES)
        return SizeRound(name=name, share=share, bins=bins, code=code_from_json(fields["code"]))
    if kind == "place-vote":
        return _place_round(name, share, fields)
    if kind == "part-measure":
        return _part_round(name, share, fields)
    return _vote_round(name, share, fields) if kind == "vote" else _measure_round(name, share, fields)


def _place_round(name: str, share: float, fields: Mapping[str, Any]) -> PlaceRound:
    return PlaceRound(
        name=name,
        share=share,
        places=_inner("places", fields["places"]),
        error_after=checks.real("error_after", fields["error_after"], 0.0, 1e6),
    )


def _part_round(name: str, share: float, fields: Mapping[str, Any]) -> PartRound:
    borders = _inner("borders", fields["borders"])
    if borders and len(borders) - 1 not in PARTS:
        raise InvalidInput("borders", borders, "a list of 3, 5 or 9 numbers, or empty where they follow from answers")
    return PartRound(
        name=name,
        share=share,
        borders=borders,
        error_after=checks.real("error_after", fields["error_after"], 0.0, 1e6),
    )


def _vote_round(name: str, share: float, fields: Mapping[str, Any]) -> VoteRound:
    # The remaining ranges are the question's own: it checks them when it is asked.
    return VoteRound(
        name=name,
        share=share,
        bins=checks.whole("bins", fields["bins"], 1, 2**20),
        width=checks.positive("width", fields["width"], 1e12),
        origin=checks.real("origin", fields["origin"], -1.0, 1.0),
        neighbours=checks.whole("neighbours", fields["neighbours"], 0, 16),
        min_size=checks.whole("min_size", fields["min_size"], 1, 2**62),
        voters=checks.positive("voters", fields["voters"], 1.0),
        error_after=checks.real("error_after", fields["error_after"], 0.0, 1e6),
        code=code_from_json(fields["code"]),
    )


def _measure_round(name: str, share: float, fields: Mapping[str, Any]) -> MeasureRound:
    return MeasureRound(
        name=name,
        share=share,
        half_width=checks.positive("half_width", fields["half_width"], 1e12),
        cap=None if fields["cap"] is None else checks.positive("cap", fields["cap"], 2.0**62),
        fitted=_flag("fitted", fields["fitted"]),
        between_sd=checks.real("between_sd", fields["between_sd"], 0.0, 1.0),
        dither=checks.real("dither", fields["dither"], 0.0, 2.0),
        error_after=checks.real("error_after", fields["error_after"], 0.0, 1e6),
        noise=noise_from_json(fields["noise"]),
    )


def _list(name: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise InvalidInput(name, value, "a list")
    return value


def _inner(name: str, value: object) -> tuple[float, ...]:
    """Numbers on the inner scale; that they rise is checked by the question that they make."""
    return tuple(checks.real(name, number, -1.0, 1.0) for number in _list(name, value))


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(name, value, "true or false")
    return value


def _number(name: str, value: object) -> float:
    # Whole numbers stay whole: a size or a count of bins is an integer in the plan and in its JSON.
    return value if isinstance(value, int) and not isinstance(value, bool) else checks.real(name, value, -1e300, 1e300)
