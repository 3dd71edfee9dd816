"""`dame plan`: from what is wanted to a frozen plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dame import checks
from dame.audit.poisoning import largest_shift
from dame.cli import asked, explain, options, output
from dame.errors import InvalidInput
from dame.planning.codec import LEARN
from dame.protocols import DEFAULT, PROTOCOLS, protocol_named
from dame.studies.codec import CENTRAL, SHIFT, plan_to_json
from dame.studies.needed import (
    plan_for_difference,
    plan_with_alpha_for,
    plan_with_users_for,
    times_as_many,
)
from dame.studies.plans import Plan
from dame.studies.study import Study

_ANY_USERS, _ANY_ALPHA = 10**6, 1.0
"""What stands in a study while the number of people, or α, is looked for."""


def plan(
    study_file: Annotated[
        Path | None, typer.Argument(metavar="[STUDY.TOML]", help="A study file; options take the place of its lines.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="M", help=f"Records per person: {options.SIZE_FORMS}.")
    ] = None,
    alpha: asked.Alpha = None,
    users: Annotated[str | None, typer.Option("--users", metavar="N", help="Number of people.")] = None,
    target: asked.Targets = None,
    bounds: asked.Bounds = None,
    target_error: Annotated[
        list[str] | None,
        typer.Option(
            "--target-error",
            metavar="E",
            help="Root mean squared error wanted; find users or alpha for it. With several targets NAME=E for each.",
        ),
    ] = None,
    difference: Annotated[
        list[str] | None,
        typer.Option(
            "--difference",
            metavar="D",
            help="Find the number of people with which a difference of D between two equal groups is found "
            "(80 % power, 5 % level). With several targets NAME=D for each.",
        ),
    ] = None,
    group: asked.Group = None,
    protocol: Annotated[str | None, options.PROTOCOL] = None,
    max_rounds: Annotated[
        str | None, typer.Option("--max-rounds", metavar="R", help="At most so many rounds (adaptive: 1 to 6).")
    ] = None,
    failure: Annotated[
        str | None,
        typer.Option("--failure", metavar="P", help="Most chance of a wrong window that is accepted (0.01)."),
    ] = None,
    survey_sizes: Annotated[
        str | None,
        typer.Option(
            "--survey-sizes",
            metavar="SHARE",
            help="Ask this share of the people for their number of records first, such as 0.1, when M is not known.",
        ),
    ] = None,
    between_sd: Annotated[str | None, options.BETWEEN_SD] = None,
    weights: Annotated[str | None, options.WEIGHTS_OPTION] = None,
    compare: Annotated[bool, typer.Option(help="Say how many people other protocols would need.")] = True,
    identity: asked.Identity = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLAN.JSON", help="Write the plan to a file.")] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan a study: how many people, what α, what error to expect.

    Give two of `--users`, `--alpha` and `--target-error`, and learn the third; `--difference` takes the place of an
    error where two groups are compared.

    Example: `dame plan --users 100000 --alpha 0.5 --sizes zipf:1.5:10000 --out plan.json`

    Several numbers: `dame plan --users 40000 --alpha 1 --sizes poisson:30 --target mean:minutes:0:120
    --target share:late:above:0`
    """
    fields = asked.study_fields(
        study_file,
        targets=target,
        bounds=bounds,
        alpha=asked.alpha_number(alpha),
        users=asked.users_number(users),
        sizes=asked.sizes_of(sizes),
        protocol=protocol,
        weights=weights,
        between_sd=asked.spread_given(between_sd),
        group=group,
        study=_identity(identity, seed),
        choices=_choices(max_rounds, failure, survey_sizes) or None,
    )
    errors = asked.numbers_by_name("target-error", target_error)
    differences = asked.numbers_by_name("difference", difference)
    fields = _completed(fields, survey_sizes)
    result = _solve(fields, errors, differences)
    if out is not None:
        output.write_json(out, _document(result))
    if as_json:
        output.print_json(_document(result))
    else:
        explain.show(result, _competitors(fields, result) if compare else {}, differences)


def _completed(fields: dict[str, Any], survey_sizes: str | None) -> dict[str, Any]:
    """The fields, with a single mean on the scale from -1 to 1 where no target was given."""
    asked.require(fields, "sizes")
    protocol = fields.get("protocol", DEFAULT)
    if survey_sizes is not None and "survey" not in protocol_named(protocol).choices:
        raise InvalidInput("survey-sizes", survey_sizes, f"absent with protocol {protocol}, which has no such round")
    if "targets" not in fields:
        fields = asked.study_fields(None, targets=None, bounds=("-1", "1"), **fields)
    named = any(target.column for target in fields["targets"])
    return {"between_sd": LEARN if named else 0.0, **fields}


def _solve(fields: dict[str, Any], errors: dict[str, float], differences: dict[str, float]) -> Plan:
    """The plan for whichever two of users, α and errors are given."""
    wanted = bool(errors) + bool(differences)
    if ("users" in fields) + ("alpha" in fields) + wanted != 2 or wanted > 1:
        given = (fields.get("users"), fields.get("alpha"), errors or differences or None)
        raise InvalidInput("users, alpha and target-error", given, "given two of the three")
    study = Study(**{"users": _ANY_USERS, "alpha": _ANY_ALPHA, **fields})
    if not wanted:
        return study.plan()
    with output.progress_of("searching", 1):
        if differences and "users" in fields:
            raise InvalidInput("difference", differences, "given with --alpha: it finds the number of people")
        if differences:
            return plan_for_difference(replace(study, group=study.group or "arm"), differences)
        return plan_with_users_for(study, errors) if "users" not in fields else plan_with_alpha_for(study, errors)


def _competitors(fields: dict[str, Any], plan: Plan) -> dict[str, float]:
    """For each other protocol that plans quickly, how many times as many people the same error of a mean takes."""
    if len(plan.machines) > 1:
        return {}
    (planned,), machine = plan.targets, plan.only
    found = {}
    for name, protocol in PROTOCOLS.items():
        if name in (machine.protocol, DEFAULT) or protocol.costly:
            continue
        choices = {key: value for key, value in fields.get("choices", {}).items() if key in protocol.choices}
        other = {**fields, "users": plan.users, "alpha": plan.alpha, "protocol": name, "choices": choices}
        found[name] = times_as_many(planned, Study(**other))
    return found


def _choices(max_rounds: str | None, failure: str | None, survey: str | None) -> dict[str, float]:
    choices: dict[str, float] = {}
    if max_rounds is not None:
        choices["max_rounds"] = options.whole_number("max-rounds", max_rounds, 1, 6)
    if failure is not None:
        choices["failure"] = checks.positive("failure", checks.number_from_text("failure", failure), 0.1)
    if survey is not None:
        choices["survey"] = checks.positive("survey-sizes", checks.number_from_text("survey-sizes", survey), 0.5)
    return choices


def _document(plan: Plan) -> dict[str, object]:
    document: dict[str, Any] = plan_to_json(plan)
    document |= dict(zip(CENTRAL, (plan.central.epsilon, plan.central.delta), strict=True))
    for place, planned in enumerate(plan.targets):
        document["targets"][place][SHIFT] = planned.shift(largest_shift)
    return {**document, SHIFT: document["targets"][0][SHIFT]} if len(plan.targets) == 1 else document


def _identity(identity: str | None, seed: str | None) -> str | None:
    """A repeatable run must give a repeatable plan, its identity included."""
    number = options.seed_number(seed)
    return f"seed-{number}" if identity is None and number is not None else identity
