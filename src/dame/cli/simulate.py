"""`dame simulate`: a study, simulated many times on a synthetic population."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from dame.cli import asked, documents, options, output
from dame.errors import InvalidInput
from dame.planning.codec import LEARN
from dame.populations.distributions import RecordDistribution, parse_distribution
from dame.populations.simulation import Simulation
from dame.populations.studies import simulate_targets
from dame.studies.plans import Plan
from dame.studies.study import Study


def simulate(
    plan: Annotated[
        Path | None, typer.Argument(metavar="[PLAN.JSON]", help="A plan; else the options of `dame plan`.")
    ] = None,
    users: Annotated[str | None, typer.Option("--users", metavar="N", help="Number of people.")] = None,
    alpha: asked.Alpha = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="M", help=f"Records per person: {options.SIZE_FORMS}.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="D",
            help=f"Distribution of the records on [-1, 1]: {options.DATA_FORMS}. With several columns COLUMN=D for "
            "each; values within bounds are stretched to [-1, 1].",
        ),
    ] = None,
    target: asked.Targets = None,
    protocol: Annotated[str | None, options.PROTOCOL] = None,
    between_sd: Annotated[str | None, options.BETWEEN_SD] = None,
    repetitions: Annotated[
        str, typer.Option("--repetitions", metavar="R", help="How many studies to simulate.")
    ] = "100",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate a study many times and compare its error with the information limit.

    Example: `dame simulate --users 10000 --alpha 0.5 --sizes poisson:50 --data rademacher:0.3 --repetitions 200`

    The very plan that is to be deployed: `dame simulate plan.json --data minutes=beta:2:6 --data late=rademacher:-0.5`
    """
    count, coins = options.whole_number("repetitions", repetitions, 1, 10**9), options.seed_number(seed)
    given: dict[str, Any] = {
        "users": asked.users_number(users),
        "alpha": asked.alpha_number(alpha),
        "sizes": asked.sizes_of(sizes),
        "protocol": protocol,
        "between_sd": asked.spread_given(between_sd),
    }
    study = _plan(plan, target, given)
    distributions = _distributions(study, data or [])
    with output.progress_of("simulating", count) as progress:
        found = simulate_targets(study, distributions, count, coins, progress)
    if as_json:
        output.print_json(_document(study, found))
    elif len(found) == 1:
        _show(study.machines[0].protocol, *found.values())
    else:
        output.people.print(_table(study, found))


def _plan(path: Path | None, targets: Sequence[str] | None, given: dict[str, Any]) -> Plan:
    if path is not None:
        for name, value in {**given, "target": targets or None}.items():
            if value is not None:
                raise InvalidInput(name.replace("_", "-"), value, "absent beside a plan, which has its own")
        return documents.read_plan(path)
    bounds = None if targets else ("-1", "1")
    fields = asked.study_fields(None, targets=targets, bounds=bounds, **given)
    asked.require(fields, "users", "alpha", "sizes")
    return Study(**{"between_sd": LEARN if targets else 0.0, **fields}).plan()


def _distributions(plan: Plan, words: Sequence[str]) -> dict[str, RecordDistribution]:
    """The distribution of each column's records."""
    columns = {planned.target.column for planned in plan.targets}
    found: dict[str, RecordDistribution] = {}
    for text in words:
        column, _, distribution = text.rpartition("=")
        for name in columns if not column else {column}:
            if name not in columns:
                raise InvalidInput("data", text, f"given for a column of the study: {', '.join(sorted(columns))}")
            found[name] = parse_distribution(distribution)
    if not found:
        raise InvalidInput("data", None, f"a distribution of the records, such as {options.DATA_FORMS.split()[0]}")
    return found


def _document(plan: Plan, found: dict[str, Simulation]) -> dict[str, object]:
    each = [
        {
            "name": planned.target.name,
            "kind": planned.target.kind,
            "users": planned.users,
            "predicted_rmse": planned.predicted_rmse,
            **{name: value for name, value in _figures(found[planned.target.name]).items() if name != "seconds"},
        }
        for planned in plan.targets
    ]
    alone = _figures(next(iter(found.values()))) if len(found) == 1 else {}
    return {"protocol": plan.machines[0].protocol, "users": plan.users, **alone, "targets": each}


def _figures(simulation: Simulation) -> dict[str, object]:
    return dataclasses.asdict(simulation)


def _show(protocol: str, result: Simulation) -> None:
    rows = [
        ("RMSE", f"{result.rmse:.4g}"),
        ("MSE", f"{result.mse:.4g}, {result.ratio_to_limit:.3g} times the information limit"),
        ("bias", f"{result.bias:.3g} ± {result.bias_se:.2g}"),
        ("truth", f"{result.theta:g}"),
        ("coverage", f"{result.coverage:.1%} of the 95 % intervals, mean width {result.interval_width:.3g}"),
        ("wrong window", f"in {result.failures} of {result.repetitions} studies"),
        ("time", f"{result.seconds:.2f} s"),
    ]
    output.people.print(output.figures(f"{result.repetitions} studies with protocol {protocol}", rows))


def _table(plan: Plan, found: dict[str, Simulation]) -> Table:
    repetitions = next(iter(found.values())).repetitions
    title = f"{repetitions} studies of {plan.users:,} people, alpha {plan.alpha:g}"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "people", "truth", "RMSE", "predicted", "bias", "covered", "mean width"):
        table.add_column(heading)
    for planned in plan.targets:
        one = found[planned.target.name]
        table.add_row(
            output.bold(planned.target.name),
            f"{planned.users:,}",
            f"{one.theta:.5g}",
            f"{one.rmse:.3g}",
            f"{planned.predicted_rmse:.3g}",
            f"{one.bias:.2g} ± {one.bias_se:.1g}",
            f"{one.coverage:.0%}",
            f"{one.interval_width:.3g}",
        )
    return table
