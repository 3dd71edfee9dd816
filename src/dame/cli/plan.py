"""`dame plan`: from what is wanted to a frozen plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dame import checks
from dame.audit.poisoning import largest_shift
from dame.cli import explain, options, output
from dame.errors import InvalidInput
from dame.planning.brief import WEIGHTS
from dame.planning.codec import SHIFT, plan_to_json
from dame.planning.plans import Plan
from dame.protocols import DEFAULT, PROTOCOLS, protocol_named
from dame.protocols import plan as make_plan
from dame.protocols.needed import alpha_needed, times_as_many, users_needed
from dame.sizes import Sizes


def plan(
    sizes: options.SizesText,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="A", help="Privacy budget α of each person, such as 0.5 or 22/35.")
    ] = None,
    users: Annotated[str | None, typer.Option("--users", metavar="N", help="Number of people.")] = None,
    target_error: Annotated[
        str | None,
        typer.Option("--target-error", metavar="E", help="Root mean squared error wanted; find users or alpha for it."),
    ] = None,
    protocol: options.ProtocolName = DEFAULT,
    max_rounds: Annotated[
        str | None, typer.Option("--max-rounds", metavar="R", help="At most so many rounds (adaptive: 1 to 6).")
    ] = None,
    failure: Annotated[
        str | None,
        typer.Option("--failure", metavar="P", help="Chance of a wrong window that is accepted (adaptive: 1e-6)."),
    ] = None,
    survey_sizes: Annotated[
        str | None,
        typer.Option(
            "--survey-sizes",
            metavar="SHARE",
            help="Ask this share of the people for their number of records first, such as 0.1, when M is not known.",
        ),
    ] = None,
    between_sd: options.BetweenSd = "0",
    weights: options.Weights = WEIGHTS[0],
    bounds: options.Bounds = ("-1", "1"),
    compare: Annotated[bool, typer.Option(help="Say how many people other protocols would need.")] = True,
    study: Annotated[str | None, typer.Option("--study", help="Identity of the study; random when absent.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLAN.JSON", help="Write the plan to a file.")] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan a study: how many people, what α, what error to expect.

    Give two of `--users`, `--alpha` and `--target-error`, and learn the third.

    Example: `dame plan --users 100000 --alpha 0.5 --sizes zipf:1.5:10000 --out plan.json`
    """
    wanted = _Wanted(
        sizes=Sizes.parse(sizes),
        bounds=options.bounds_pair(bounds),
        study=_identity(study, seed),
        weights=weights,
        between_sd=options.spread(between_sd),
        choices=_choices(max_rounds, failure, survey_sizes),
    )
    if survey_sizes is not None and "survey" not in protocol_named(protocol).choices:
        raise InvalidInput("survey-sizes", survey_sizes, f"absent with protocol {protocol}, which has no such round")
    result = _solve(wanted, protocol, users, alpha, target_error)
    if out is not None:
        output.write_json(out, _document(result))
    others = _competitors(wanted, result) if compare and not as_json else {}
    if as_json:
        output.print_json(_document(result))
    else:
        explain.show(result, others)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What stays the same while users, α or the protocol are varied."""

    sizes: Sizes
    bounds: tuple[float, float]
    study: str | None
    weights: str
    between_sd: float | str
    choices: dict[str, float]

    def plan(self, protocol: str, users: int, alpha: float) -> Plan:
        known = PROTOCOLS[protocol].choices if protocol in PROTOCOLS else frozenset()
        return make_plan(
            users=users,
            alpha=alpha,
            sizes=self.sizes,
            protocol=protocol,
            bounds=self.bounds,
            study=self.study,
            weights=self.weights,
            between_sd=self.between_sd,
            **{name: value for name, value in self.choices.items() if name in known},
        )

    def by_users(self, protocol: str, alpha: float) -> Callable[[int], Plan]:
        return lambda users: self.plan(protocol, users, alpha)


def _solve(wanted: _Wanted, protocol: str, users: str | None, alpha: str | None, target: str | None) -> Plan:
    """The plan for whichever two of the three are given."""
    if sum(given is None for given in (users, alpha, target)) != 1:
        raise InvalidInput("users, alpha and target-error", (users, alpha, target), "given two of the three")
    if target is None:
        return wanted.plan(protocol, _users(users), checks.number_from_text("alpha", str(alpha)))
    error = checks.positive("target-error", checks.number_from_text("target-error", target), 1e300)
    with output.progress_of("searching", 1):
        if users is None:
            return users_needed(wanted.by_users(protocol, checks.number_from_text("alpha", str(alpha))), error)
        count = _users(users)
        return alpha_needed(lambda budget: wanted.plan(protocol, count, budget), error)


def _users(words: str | None) -> int:
    return options.whole_number("users", str(words))


def _competitors(wanted: _Wanted, plan: Plan) -> dict[str, float]:
    """For each other protocol, how many times as many people it would need for the same error."""
    others = [name for name in PROTOCOLS if name not in (plan.protocol, DEFAULT)]
    return {name: times_as_many(plan, wanted.by_users(name, plan.alpha)) for name in others}


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
    return {**plan_to_json(plan), SHIFT: largest_shift(plan)}


def _identity(study: str | None, seed: str | None) -> str | None:
    """A repeatable run must give a repeatable plan, its identity included."""
    number = options.seed_number(seed)
    return f"seed-{number}" if study is None and number is not None else study
