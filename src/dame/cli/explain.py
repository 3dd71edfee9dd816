"""A plan in words and a small picture: what each round does, what it leaves open, and what others would need."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.table import Table

from dame.audit.poisoning import largest_shift
from dame.cli import options, output
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round
from dame.protocols import protocol_named
from dame.studies.needed import POWER
from dame.studies.plans import Plan


def show(plan: Plan, competitors: Mapping[str, float], differences: Mapping[str, float]) -> None:
    """Prints a plan for people."""
    if len(plan.machines) == 1:
        show_machine(plan.only)
    else:
        _show_targets(plan)
    output.people.print(f"note: {central_words(plan)}")
    if plan.group:
        output.people.print(f"note: one result for each {plan.group}, from the reports of its people alone")
    for name, value in differences.items():
        where = f" in {name}" if name else ""
        output.people.print(
            f"note: a difference of {value:g}{where} between two groups of {plan.users // 2:,} people each is found "
            f"with {POWER:.0%} power at the 5 % level"
        )
    if competitors:
        output.people.print("\n[bold]For the same error[/bold]")
    for name, factor in competitors.items():
        output.people.print(f"  {name:8} {_times(factor)}")


def central_words(plan: Plan) -> str:
    """What a reader of the result will learn of a person, and under which assumption."""
    central = plan.central
    each = f" (fewer in a {plan.group}: more)" if plan.group else ""
    return (
        f"whoever reads the result, and sees no single upload, learns less of a person than alpha: central epsilon "
        f"{central.epsilon:.3g} at delta {central.delta:g}, hidden among the {central.reports:,} reports of the "
        f"smallest round{each}, if the others are honest"
    )


def show_machine(plan: MachinePlan) -> None:
    """Prints the plan of a single machine."""
    output.people.print(output.figures(f"Plan: protocol {plan.protocol}", _rows(plan)))
    output.people.print()
    output.people.print(_rounds_table(plan))
    for sentence in protocol_named(plan.protocol).reasons(plan):
        output.people.print(sentence)
    for note in plan.notes:
        output.people.print(f"note: {note}")


def _rows(plan: MachinePlan) -> list[tuple[str, str]]:
    forecast, brief = plan.forecast, plan.brief
    ratio = forecast.predicted_rmse**2 / forecast.limit_mse
    return [
        ("users", f"{plan.users:,}"),
        ("alpha", f"{plan.alpha:.6g} for each user, spent in one report"),
        ("sizes", brief.sizes.label),
        ("mean of", brief.statistic.words),
        ("whose", options.WHOSE_MEAN[brief.weights]),
        ("users' own means", _spread(brief)),
        *((name, f"{value:.6g}") for name, value in plan.details.items()),
        ("predicted RMSE", f"{forecast.predicted_rmse:.4g} {protocol_named(plan.protocol).promised_for(plan)}"),
        ("risk / limit", f"{ratio:.3g} (the information limit is an RMSE of {forecast.limit_mse**0.5:.4g})"),
        ("wrong window", f"chance about {forecast.failure_probability:.2g}"),
        ("RMSE with failures", f"{forecast.predicted_rmse_with_failures:.4g}"),
        ("paper's bounds", f"RMSE between {forecast.lower_bound**0.5:.3g} and {forecast.upper_bound**0.5:.3g}"),
        ("malicious users", f"1 % of them can shift the estimate by {largest_shift(plan):.3g}"),
    ]


def _show_targets(plan: Plan) -> None:
    """Prints what each target gets, and what is expected of it."""
    first = plan.machines[0]
    rows = [
        ("users", f"{plan.users:,}; a public hash gives each one slot, so that nobody answers twice"),
        ("alpha", f"{plan.alpha:.6g} for each user, spent in one report"),
        ("users' own means", _spread(first.brief)),
    ]
    output.people.print(output.figures(f"Plan: {len(plan.targets)} targets, protocol {first.protocol}", rows))
    output.people.print()
    table = Table(title="Targets", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "tells", "people", "rounds", "predicted RMSE", "1 % of attackers shift it by"):
        table.add_column(heading, overflow="fold")
    for planned in plan.targets:
        table.add_row(
            output.bold(planned.target.name),
            planned.target.words,
            f"{planned.users:,}",
            ", ".join(str(len(machine.rounds)) for machine in planned.machines),
            f"{planned.predicted_rmse:.4g}",
            f"{planned.shift(largest_shift):.3g}",
        )
    output.people.print(table)
    for note in dict.fromkeys(note for planned in plan.targets for note in planned.target.assumptions):
        output.people.print(f"note: {note}")
    promises = dict.fromkeys(protocol_named(machine.protocol).promised_for(machine) for machine in plan.machines)
    output.people.print(f"note: errors are predicted {'; '.join(promises)}")


def _spread(brief: Brief) -> str:
    if brief.between_sd is None:
        return "vary; how much is learnt from the first users"
    if not brief.between_sd:
        return "all the same: all records are from one distribution"
    return f"vary with a standard deviation of {brief.between_sd * brief.half_range:.3g}"


def _rounds_table(plan: MachinePlan) -> Table:
    """The rounds, with a bar for the error that each leaves: a factor of ten is as long everywhere."""
    table = Table(title="Rounds", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "users", "question", "error left", ""):
        table.add_column(heading)
    least = min(round_.error_after for round_ in plan.rounds)
    span = max(math.log10(1 / max(least, 1e-300)), 1e-9) + 0.5
    for index, round_ in enumerate(plan.rounds, start=1):
        error = min(max(round_.error_after, 1e-300), 1.0)
        length = (math.log10(error) + span) / span
        table.add_row(
            f"{index} {round_.name}",
            f"{round_.share * plan.users:,.0f} ({round_.share:.0%})",
            describe(round_),
            f"{error * plan.brief.half_range:.3g}",
            output.bar(length, 24),
        )
    return table


def describe(round_: Round) -> str:
    """What a round asks, in a few words."""
    return f"{round_.lens.words}; {round_.channel.words}"


def _times(factor: float) -> str:
    if math.isinf(factor):
        return "cannot reach it with any number of people"
    if factor < 0.995:
        return f"would need {factor:.2f} times as many people: it is better here"
    return f"would need {factor:,.3g} times as many people"
