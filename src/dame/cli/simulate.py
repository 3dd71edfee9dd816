"""`dame simulate`: a study, simulated many times on a synthetic population."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from dame import checks
from dame.cli import options, output
from dame.populations.distributions import parse_distribution
from dame.populations.population import Population
from dame.populations.simulation import Simulation
from dame.populations.simulation import simulate as run_simulation
from dame.protocols import DEFAULT
from dame.protocols import plan as make_plan
from dame.sizes import Sizes


def simulate(
    users: options.Users,
    alpha: options.Alpha,
    sizes: options.SizesText,
    data: options.DataText,
    protocol: options.ProtocolName = DEFAULT,
    repetitions: Annotated[
        str, typer.Option("--repetitions", metavar="R", help="How many studies to simulate.")
    ] = "100",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate a study many times and compare its error with the information limit.

    Example: `dame simulate --users 10000 --alpha 0.5 --sizes poisson:50 --data rademacher:0.3 --repetitions 200`
    """
    distribution, count = Sizes.parse(sizes), options.whole_number("repetitions", repetitions, 1, 10**9)
    plan = make_plan(
        users=options.whole_number("users", users),
        alpha=checks.number_from_text("alpha", alpha),
        sizes=distribution,
        protocol=protocol,
    )
    population = Population.synthetic(distribution, parse_distribution(data))
    with output.progress_of("simulating", count) as progress:
        result = run_simulation(plan, population, count, options.seed_number(seed), progress)
    if as_json:
        output.print_json({"protocol": plan.protocol, "users": plan.users, **dataclasses.asdict(result)})
    else:
        _show(protocol, result)


def _show(protocol: str, result: Simulation) -> None:
    rows = [
        ("RMSE", f"{result.rmse:.4g}"),
        ("MSE", f"{result.mse:.4g}, {result.ratio_to_limit:.3g} times the information limit"),
        ("bias", f"{result.bias:.3g} ± {result.bias_se:.2g}"),
        ("true mean", f"{result.theta:g}"),
        ("coverage", f"{result.coverage:.1%} of the 95 % intervals, mean width {result.interval_width:.3g}"),
        ("wrong window", f"in {result.failures} of {result.repetitions} studies"),
        ("time", f"{result.seconds:.2f} s"),
    ]
    output.people.print(output.figures(f"{result.repetitions} studies with protocol {protocol}", rows))
