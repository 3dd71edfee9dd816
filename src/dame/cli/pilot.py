"""`dame pilot`: what a study would have found on a table that one already holds."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from dame import checks
from dame.cli import documents, options, output, tables
from dame.device.statistics import Value
from dame.engines.layout import Layout
from dame.engines.pilot import Pilot, run_pilot
from dame.engines.survey import Survey
from dame.errors import InvalidInput
from dame.planning.brief import WEIGHTS
from dame.planning.codec import LEARN
from dame.planning.plans import Plan
from dame.protocols import DEFAULT, PROTOCOLS
from dame.protocols import plan as make_plan
from dame.sizes import Sizes

AUTO = "auto"


_Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option("--bounds", metavar="LO HI", help="Bounds of the values; records are clipped to them."),
]
_Alpha = Annotated[
    str | None, typer.Option("--alpha", metavar="A", help="Privacy budget α of each person, such as 0.5 or 22/35.")
]
_Sizes = Annotated[
    str,
    typer.Option(
        "--sizes",
        metavar="M",
        help=f"Records per person that the plan assumes: **{AUTO}** (from the table)  {options.SIZE_FORMS}.",
    ),
]
_PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="PLAN.JSON", help="Use this plan instead of making one.")
]
_Repetitions = Annotated[
    str, typer.Option("--repetitions", metavar="R", help="Carry out so many studies on the same people.")
]
_Compare = Annotated[
    bool | None, typer.Option(help="Try the other protocols too; that is the default with --repetitions or --plot.")
]
_Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="OUT.PNG", help="Draw truth, intervals and the other protocols.")
]
_StudyName = Annotated[str | None, typer.Option("--study", help="Identity of the study; random when absent.")]


def pilot(
    table: tables.Table,
    user: tables.UserColumns,
    value: tables.ValueColumn,
    bounds: _Bounds = None,
    alpha: _Alpha = None,
    protocol: options.ProtocolName = DEFAULT,
    sizes: _Sizes = AUTO,
    plan: _PlanFile = None,
    between_sd: options.BetweenSd = LEARN,
    weights: options.Weights = WEIGHTS[0],
    repetitions: _Repetitions = "1",
    compare: _Compare = None,
    plot: _Plot = None,
    engine: tables.EngineName = tables.ENGINES[0],
    master: tables.Master = None,
    memory_limit: tables.MemoryLimit = None,
    study: _StudyName = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Try a study on a table of records before anything is deployed, and compare with the true mean.

    Every user of the table answers in one round with her whole budget, exactly as her device would. The table is
    read once.

    Example: `dame pilot "flights/*.parquet" --user tailnum --value delay --bounds -60 120 --alpha 1`
    """
    started = time.perf_counter()
    coins, count = options.seed_number(seed), options.whole_number("repetitions", repetitions, 1, 10**6)
    if plan is not None:
        _refuse_beside_plan(bounds=bounds, alpha=alpha, study=study)
        fixed = documents.read_plan(plan)
        layout, plan_for = _layout(user, value, (fixed.brief.low, fixed.brief.high), fixed.study), lambda _: fixed
    else:
        identity = study or (secrets.token_hex(16) if coins is None else f"seed-{coins}")
        layout = _layout(user, value, _bounds(bounds), identity)
        plan_for = _planner(
            layout, alpha, sizes, {"weights": weights, "between_sd": options.spread(between_sd)}, protocol
        )
    draw = None if plot is None else _artist(plot)
    wanted = compare if compare is not None else (count > 1 or plot is not None)
    chosen = tables.Engine(name=engine, master=master, memory_limit=memory_limit)
    with chosen.open(table, layout) as reduced, output.progress_of("rounds", 1) as progress:
        rivals = _rivals if wanted else (lambda _: [])
        result = run_pilot(reduced, plan_for, coins, count, progress, started, rivals)
    if draw is not None:
        draw(result)
    _note_what_was_left_out(result)
    if as_json:
        output.print_json({"engine": engine, **result.to_json()})
    else:
        _show(result)


def _artist(path: Path) -> Callable[[Pilot], None]:
    """What draws the picture; a wrong name or a missing extra is told before the work is done."""
    # Pictures need an extra that pilots without them do not.
    from dame.experiments.pilot_figure import check_picture_name, draw_pilot

    check_picture_name(path)
    return lambda result: draw_pilot(result, path)


def _layout(user: list[str], value: str, bounds: tuple[float, float], study: str) -> Layout:
    return Layout(user=tuple(user), statistics=(Value(low=bounds[0], high=bounds[1]),), value=value, study=study)


def _bounds(words: tuple[str, str] | None) -> tuple[float, float]:
    if words is None:
        raise InvalidInput("bounds", words, "given as two numbers, unless a plan is")
    return options.bounds_pair(words)


def _refuse_beside_plan(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(name, value, "absent beside --plan, which has its own")


def _rivals(plan: Plan) -> list[Plan]:
    """The same study by every other protocol."""
    return [protocol.plan(plan.brief) for name, protocol in PROTOCOLS.items() if name != plan.protocol]


def _planner(
    layout: Layout, alpha: str | None, sizes: str, users_means: dict[str, Any], protocol: str
) -> Callable[[Survey], Plan]:
    """The plan for the table's users; what people typed is read before the table is."""
    if alpha is None:
        raise InvalidInput("alpha", alpha, "a number, unless a plan is given")
    budget = checks.alpha(checks.number_from_text("alpha", alpha))
    assumed = None if sizes == AUTO else Sizes.parse(sizes)

    (statistic,) = layout.statistics

    def plan_for(survey: Survey) -> Plan:
        if assumed is None:
            output.notes.print("note: the plan takes sizes from the table, which a real study could not read")
        return make_plan(
            users=survey.users,
            alpha=budget,
            sizes=survey.of(statistic).observed_sizes() if assumed is None else assumed,
            protocol=protocol,
            bounds=statistic.range,
            study=layout.study,
            **users_means,
        )

    return plan_for


def _note_what_was_left_out(result: Pilot) -> None:
    survey = result.survey
    for count, what in (
        (survey.clipped, "records were clipped to the bounds"),
        (survey.nulls, "records without a value were left out"),
        (survey.not_finite, "records that are no finite number were left out"),
        (survey.without_user, "records without a user were left out"),
        (survey.without_records, "users have no usable record"),
    ):
        if count:
            output.notes.print(f"note: {count:,} {what}")
    if result.plan.users != survey.users:
        output.notes.print(f"note: the plan was made for {result.plan.users:,} users, the table has {survey.users:,}")


def _show(result: Pilot) -> None:
    estimate, survey = result.outcomes[0].estimate, result.survey
    low, high = estimate.interval
    rows = [
        ("table", f"{survey.records:,} records of {survey.users:,} users"),
        ("estimate", f"{estimate.value:.6g}, standard error {estimate.standard_error:.3g}"),
        ("95 % interval", f"{low:.6g} to {high:.6g}"),
        ("true mean", f"{result.true_mean:.6g} (of the users' means; {options.WHOSE_MEAN[result.plan.brief.weights]})"),
        (
            "rounds",
            ", ".join(f"{round_.name} {n:,}" for round_, n in zip(result.plan.rounds, estimate.users, strict=True)),
        ),
    ]
    if len(result.outcomes) > 1:
        rows.append(("repetitions", f"{len(result.outcomes):,} on the same people, with fresh coins"))
    rows.append(("time", f"{result.seconds:.1f} s"))
    output.people.print(output.figures(f"Pilot: protocol {result.plan.protocol}, alpha {result.plan.alpha:g}", rows))
    for note in (*result.plan.notes, *estimate.notes):
        output.people.print(f"note: {note}")
    if result.rivals:
        output.people.print()
        output.people.print(_scores(result))


def _scores(result: Pilot) -> Table:
    """The protocols side by side."""
    table = Table(title="Protocols on this table", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "estimate", "95 % interval", "RMSE", "covered", ""):
        table.add_column(heading)
    worst = max(pilot.rmse for pilot in (result, *result.rivals)) or 1.0
    for pilot in (result, *result.rivals):
        estimate = pilot.outcomes[0].estimate
        low, high = estimate.interval
        table.add_row(
            pilot.plan.protocol,
            f"{estimate.value:.5g}",
            f"{low:.5g} to {high:.5g}",
            f"{pilot.rmse:.3g}",
            f"{pilot.coverage:.0%}",
            output.bar(pilot.rmse / worst, 24),
        )
    return table
