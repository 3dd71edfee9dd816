"""A pilot in words and tables: what was found beside the truth, by target and by group, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from dame.cli import options, output
from dame.curves import Quantile
from dame.engines.pilot import Pilot
from dame.engines.scores import Score
from dame.estimates import Estimate

LEFT_OUT = {
    "clipped": "records were clipped to the bounds",
    "nulls": "records without a value were left out",
    "not_finite": "records that are no finite number were left out",
    "without_user": "records without a user were left out",
    "without_records": "users have no usable record",
    "several_groups": "users whose records name several groups were left out",
    "without_group": "users without a group were left out",
}


def note_what_was_left_out(result: Pilot) -> None:
    """Says on standard error what did not count, and where the plan was made for others."""
    survey = result.survey
    for name, count in survey.counted().items():
        if count:
            output.notes.print(f"note: {count:,} {LEFT_OUT[name]}")
    for planned in result.plan.targets:
        column = survey.of(planned.machines[0].brief.statistic)
        if planned.target.present == 1 and column.users < survey.users:
            output.notes.print(
                f"note: {survey.users - column.users:,} of {survey.users:,} users have no record of "
                f"{planned.target.column}: their answers pull the estimate to the middle; say so with "
                f"present={column.users / survey.users:.2g}"
            )
    if result.plan.users != survey.users:
        output.notes.print(f"note: the plan was made for {result.plan.users:,} users, the table has {survey.users:,}")


def show(result: Pilot) -> None:
    """Prints a pilot for people."""
    if len(result.plan.targets) == 1:
        _show_alone(result)
    else:
        _show_targets(result)
    for place, each in enumerate(result.results[0].targets):
        _show_people(result, place, each.estimate)
    if result.results[0].groups:
        _show_groups(result)
    if result.rivals:
        output.people.print()
        output.people.print(_protocols(result))


def _title(result: Pilot) -> str:
    return f"Pilot: protocol {result.plan.machines[0].protocol}, alpha {result.plan.alpha:g}"


def _show_alone(result: Pilot) -> None:
    estimate, survey, (planned,) = result.results[0].only, result.survey, result.plan.targets
    low, high = estimate.interval
    rounds = [round_.name for machine in result.plan.machines for round_ in machine.rounds]
    whose = options.WHOSE_MEAN[estimate.weights]
    rows = [
        ("table", f"{survey.records:,} records of {survey.users:,} users"),
        ("tells", planned.target.words),
        ("estimate", f"{estimate.value:.6g}, standard error {estimate.standard_error:.3g}"),
        ("95 % interval", f"{low:.6g} to {high:.6g}"),
        ("truth", f"{result.score(0).truth:.6g} (from the users' means; {whose})"),
        ("rounds", ", ".join(f"{name} {n:,}" for name, n in zip(rounds, estimate.users, strict=True))),
    ]
    if len(result.results) > 1:
        rows.append(("repetitions", f"{len(result.results):,} on the same people, with fresh coins"))
    rows.append(("time", f"{result.seconds:.1f} s"))
    output.people.print(output.figures(_title(result), rows))
    for note in dict.fromkeys((*result.plan.notes, *estimate.notes)):
        output.people.print(f"note: {note}")


def _show_targets(result: Pilot) -> None:
    survey = result.survey
    rows = [
        ("table", f"{survey.records:,} records of {survey.users:,} users, each of whom answered for one target"),
        ("time", f"{result.seconds:.1f} s"),
    ]
    output.people.print(output.figures(_title(result), rows))
    output.people.print()
    found = [
        (each.target.name, sum(each.estimate.users), each.estimate, result.score(place))
        for place, each in enumerate(result.results[0].targets)
    ]
    output.people.print(_table("Targets", "target", found))
    for each in result.results[0].targets:
        for note in each.estimate.notes:
            output.people.print(f"note: {each.target.name}: {note}")


def _show_people(result: Pilot, place: int, estimate: Estimate) -> None:
    """Quantiles beside the truth, and a sketch of the histogram, of a target that tells where people are."""
    target, scores = result.plan.targets[place].target, result.value_scores(place)
    if not scores:
        return
    users = sum(estimate.users)
    output.people.print()
    rows = [(name, users, quantile, score) for name, quantile, score in scores]
    output.people.print(_table(target.words, "below", rows))
    if estimate.distribution is not None:
        output.people.print()
        scale = result.plan.targets[place].machines[0].brief.scale
        output.people.print(output.histogram(estimate.distribution, scale=scale))


def _show_groups(result: Pilot) -> None:
    first = result.results[0]
    for place, planned in enumerate(result.plan.targets):
        name = planned.target.name
        found = [
            (group.group, sum(group.targets[place].estimate.users), group.targets[place].estimate, score)
            for group in first.groups
            for score in [result.group_score(group.group, place)]
        ]
        output.people.print()
        output.people.print(_table(f"{name} by {result.plan.group}", result.plan.group, found))
        differing = [
            (f"{one.group} - {one.than}", sum(one.estimate.users), one.estimate, result.difference_score(number))
            for number, one in enumerate(first.differences)
            if one.target == planned.target
        ]
        heading = "effect" if len(first.groups) == 2 else "difference"
        output.people.print(_table(f"{heading} on {name}" if len(first.groups) == 2 else heading, "", differing))


def _table(title: str, what: str, found: Iterable[tuple[str, int, Estimate | Quantile, Score]]) -> Table:
    """Estimates beside the truth, with repetitions also how they went."""
    listed = list(found)
    repeated = bool(listed) and len(listed[0][3].estimates) > 1
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in (what, "reports", "estimate", "95 % interval", "truth", *(("RMSE", "covered") if repeated else ())):
        table.add_column(heading)
    for name, users, estimate, score in listed:
        low, high = estimate.interval
        more = (f"{score.rmse:.3g}", f"{score.coverage:.0%}") if repeated else ()
        table.add_row(
            output.bold(name),
            f"{users:,}",
            f"{estimate.value:.5g}",
            f"{low:.5g} to {high:.5g}",
            f"{score.truth:.5g}",
            *more,
        )
    return table


def _protocols(result: Pilot) -> Table:
    """The protocols side by side, target by target."""
    table = Table(title="Protocols on this table", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "estimate", "95 % interval", "RMSE", "covered", ""):
        table.add_column(heading)
    pilots: Sequence[Pilot] = (result, *result.rivals)
    for place, planned in enumerate(result.plan.targets):
        worst = max(pilot.score(place).rmse for pilot in pilots) or 1.0
        for pilot in pilots:
            estimate, score = pilot.results[0].targets[place].estimate, pilot.score(place)
            low, high = estimate.interval
            name = pilot.plan.machines[0].protocol
            table.add_row(
                name if len(result.plan.targets) == 1 else f"{planned.target.name} {name}",
                f"{estimate.value:.5g}",
                f"{low:.5g} to {high:.5g}",
                f"{score.rmse:.3g}",
                f"{score.coverage:.0%}",
                output.bar(score.rmse / worst, 24),
            )
    return table
