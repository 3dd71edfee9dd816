"""`dame plan`: from what is wanted to a frozen plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dame import checks
from dame.audit.poisoning import largest_shift
from dame.cli import options, output
from dame.errors import InvalidInput
from dame.plan_codec import SHIFT, plan_to_json
from dame.plans import Plan, Round, VoteRound
from dame.protocols import DEFAULT
from dame.protocols import plan as make_plan
from dame.protocols.needed import users_needed
from dame.sizes import Sizes


def plan(
    alpha: options.Alpha,
    sizes: options.SizesText,
    users: Annotated[str | None, typer.Option("--users", metavar="N", help="Number of people.")] = None,
    target_error: Annotated[
        str | None,
        typer.Option("--target-error", metavar="E", help="Find the number of people for this root mean squared error."),
    ] = None,
    protocol: options.ProtocolName = DEFAULT,
    bounds: options.Bounds = ("-1", "1"),
    study: Annotated[str | None, typer.Option("--study", help="Identity of the study; random when absent.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLAN.JSON", help="Write the plan to a file.")] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan a study: how many people, what α, what error to expect.

    Give `--users` to learn the error, or `--target-error` to learn how many people it takes.

    Example: `dame plan --users 100000 --alpha 0.5 --sizes zipf:1.5:10000 --out plan.json`
    """
    wanted = _planner(alpha, sizes, protocol, bounds, _identity(study, seed))
    if (users is None) == (target_error is None):
        raise InvalidInput("users and target-error", (users, target_error), "given one or the other")
    if target_error is not None:
        result = users_needed(wanted, checks.number_from_text("target-error", target_error))
    else:
        result = wanted(options.whole_number("users", str(users)))
    if out is not None:
        output.write_json(out, _document(result))
    if as_json:
        output.print_json(_document(result))
    else:
        show(result)


def _document(plan: Plan) -> dict[str, object]:
    return {**plan_to_json(plan), SHIFT: largest_shift(plan)}


def _planner(
    alpha: str, sizes: str, protocol: str, bounds: tuple[str, str], study: str | None
) -> Callable[[int], Plan]:
    budget, law, ends = checks.number_from_text("alpha", alpha), Sizes.parse(sizes), options.bounds_pair(bounds)

    def make(count: int) -> Plan:
        return make_plan(users=count, alpha=budget, sizes=law, protocol=protocol, bounds=ends, study=study)

    return make


def _identity(study: str | None, seed: str | None) -> str | None:
    """A repeatable run must give a repeatable plan, its identity included."""
    number = options.seed_number(seed)
    return f"seed-{number}" if study is None and number is not None else study


def show(plan: Plan) -> None:
    """Prints a plan for people."""
    forecast, brief = plan.forecast, plan.brief
    rows = [
        ("users", f"{plan.users:,}"),
        ("alpha", f"{plan.alpha:g} for each user, spent in one report"),
        ("sizes", brief.sizes.label),
        ("values", f"from {brief.low:g} to {brief.high:g}"),
        *((name, f"{value:.6g}") for name, value in plan.details.items()),
        ("predicted RMSE", f"{forecast.predicted_rmse:.4g} when the location is right"),
        ("wrong location", f"chance at most {forecast.failure_probability:.2g}"),
        ("RMSE with failures", f"{forecast.predicted_rmse_with_failures:.4g}"),
        ("information limit", f"RMSE {forecast.limit_mse**0.5:.4g}"),
        ("paper's bounds", f"RMSE between {forecast.lower_bound**0.5:.3g} and {forecast.upper_bound**0.5:.3g}"),
        ("malicious users", f"1 % of them can shift the estimate by {largest_shift(plan):.3g}"),
    ]
    output.people.print(output.figures(f"Plan: protocol {plan.protocol}", rows))
    for index, round_ in enumerate(plan.rounds):
        output.people.print(f"[bold]round {index + 1}[/bold]  {describe(round_, plan.users)}")
    for note in plan.notes:
        output.people.print(f"note: {note}")


def describe(round_: Round, users: int) -> str:
    """One line about a round."""
    people = f"{round_.share:.0%} of the users (about {round_.share * users:,.0f})"
    if isinstance(round_, VoteRound):
        who = "everybody" if round_.min_size <= 1 else f"those with at least {round_.min_size:,} records"
        return f"{round_.name}: {people} vote among {round_.bins:,} bins of width {round_.width:.3g}; {who} mark a bin"
    kind = type(round_.noise).__name__
    weights = "equal weights" if round_.cap == 1 else f"weights up to sqrt({round_.cap or float('inf'):g})"
    return (
        f"{round_.name}: {people} report a place in a window of half-width {round_.half_width:.3g}, {weights}, {kind}"
    )
