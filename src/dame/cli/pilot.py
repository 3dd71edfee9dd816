"""`dame pilot`: what a study would have found on a table that one already holds."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dame.cli import asked, documents, options, output, tables
from dame.cli.pilot_words import note_what_was_left_out, show
from dame.device.statistics import Statistic
from dame.engines.layout import MOST_DRAWS, Layout
from dame.engines.pilot import Pilot, run_pilot
from dame.engines.survey import Survey
from dame.errors import InvalidInput
from dame.planning.codec import LEARN
from dame.protocols import PROTOCOLS
from dame.sizes import Sizes
from dame.studies.parsing import named
from dame.studies.plans import Plan
from dame.studies.study import Study, by_protocol
from dame.studies.targets import Target

AUTO = "auto"

_Sizes = Annotated[
    str,
    typer.Option(
        "--sizes",
        metavar="M",
        help=f"Records per person that the plan assumes: **{AUTO}** (from the table)  {options.SIZE_FORMS}.",
    ),
]
_Value = Annotated[str | None, typer.Option("--value", metavar="COL", help="Column with the values, with --bounds.")]
_PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="PLAN.JSON", help="Use this plan instead of making one.")
]
_StudyFile = Annotated[
    Path | None,
    typer.Option("--study", metavar="STUDY.TOML", help="A study file; options take the place of its lines."),
]
_Repetitions = Annotated[
    str, typer.Option("--repetitions", metavar="R", help="Carry out so many studies on the same people.")
]
_Compare = Annotated[
    bool | None,
    typer.Option(help="Try the other protocols too; that is the default for one target with --repetitions or --plot."),
]
_Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="OUT.PNG", help="Draw truth and intervals, a panel for each target.")
]


def pilot(
    table: tables.Table,
    user: tables.UserColumns,
    value: _Value = None,
    bounds: asked.Bounds = None,
    target: asked.Targets = None,
    study: _StudyFile = None,
    alpha: asked.Alpha = None,
    group: asked.Group = None,
    protocol: Annotated[str | None, options.PROTOCOL] = None,
    sizes: _Sizes = AUTO,
    plan: _PlanFile = None,
    between_sd: Annotated[str | None, options.BETWEEN_SD] = None,
    weights: Annotated[str | None, options.WEIGHTS_OPTION] = None,
    repetitions: _Repetitions = "1",
    compare: _Compare = None,
    plot: _Plot = None,
    engine: tables.EngineName = tables.ENGINES[0],
    master: tables.Master = None,
    memory_limit: tables.MemoryLimit = None,
    identity: asked.Identity = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Try a study on a table of records before anything is deployed, and compare with the truth.

    Every user of the table answers in one round with her whole budget, exactly as her device would. The table is
    read once, whatever the number of targets.

    Example: `dame pilot "flights/*.parquet" --user tailnum --value delay --bounds -60 120 --alpha 1`

    Several numbers, by group: `dame pilot flights.parquet --user tailnum --alpha 1 --group carrier
    --target mean:delay:-60:120 --target share:delay:above:15`
    """
    started = time.perf_counter()
    coins, count = options.seed_number(seed), options.whole_number("repetitions", repetitions, 1, 10**6)
    given = {"weights": weights, "between_sd": asked.spread_given(between_sd), "protocol": protocol, "group": group}
    if plan is not None:
        _refuse_beside_plan(bounds=bounds, target=target or None, alpha=alpha, identity=identity, **given)
        fixed = documents.read_plan(plan)
        layout, plan_for = _layout_of_plan(fixed, user, value), lambda _: fixed
    else:
        name = identity or (secrets.token_hex(16) if coins is None else f"seed-{coins}")
        fields = asked.study_fields(study, targets=target, bounds=bounds, alpha=asked.alpha_number(alpha), **given)
        layout, plan_for = _planner({"study": name, "between_sd": LEARN, **fields}, user, value, sizes)
    draw = None if plot is None else _artist(plot)
    chosen = tables.Engine(name=engine, master=master, memory_limit=memory_limit)
    layout = replace(layout, draws=min(count, MOST_DRAWS))
    with chosen.open(table, layout) as reduced, output.progress_of("rounds", 1) as progress:
        rivals = _rivals(compare, count > 1 or plot is not None)
        result = run_pilot(reduced, plan_for, coins, count, progress, started, rivals)
    if draw is not None:
        draw(result)
    note_what_was_left_out(result)
    if as_json:
        output.print_json({"engine": engine, **result.to_json()})
    else:
        show(result)


def _artist(path: Path) -> Callable[[Pilot], None]:
    """What draws the picture; a wrong name or a missing extra is told before the work is done."""
    # Pictures need an extra that pilots without them do not.
    from dame.experiments.pilot_figure import check_picture_name, draw_pilot

    check_picture_name(path)
    return lambda result: draw_pilot(result, path)


def _refuse_beside_plan(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(name.replace("_", "-"), value, "absent beside --plan, which has its own")


def _layout_of_plan(plan: Plan, user: list[str], value: str | None) -> Layout:
    statistics = [machine.brief.statistic for machine in plan.machines]
    _check_value(any(not statistic.column for statistic in statistics), value)
    return Layout(
        user=tuple(user),
        statistics=tuple(dict.fromkeys(statistics)),
        study=plan.study,
        value=value or "",
        group=plan.group or None,
        keep_absent=any(planned.target.present < 1 for planned in plan.targets),
        distributions=_told(planned.target for planned in plan.targets),
    )


def _told(targets: Iterable[Target]) -> frozenset[Statistic]:
    """The statistics whose distribution some target tells."""
    return frozenset(statistic for target in targets for statistic in target.distributions)


def _check_value(wanted: bool, value: str | None) -> None:
    if wanted and not value:
        raise InvalidInput("value", value, "a column, since the plan names none")


def _planner(
    fields: dict[str, Any], user: list[str], value: str | None, sizes: str
) -> tuple[Layout, Callable[[Survey], Plan]]:
    """Which columns are read, and the plan for the table's users; what people typed is read before the table is."""
    asked.require(fields, "targets", "alpha")
    targets = named(fields["targets"])
    _check_value(any(not target.column for target in targets), value)
    measured = dict.fromkeys(measure.statistic for target in targets for measure in target.measures)
    layout = Layout(
        user=tuple(user),
        statistics=tuple(measured),
        study=fields["study"],
        value=value or "",
        group=fields.get("group"),
        keep_absent=any(target.present < 1 for target in targets),
        distributions=_told(targets),
    )
    assumed = fields.pop("sizes", None) if sizes == AUTO else Sizes.parse(sizes)

    def plan_for(survey: Survey) -> Plan:
        if assumed is None:
            output.notes.print("note: the plan takes sizes from the table, which a real study could not read")
        observed = {target.column: _observed(survey, target.measures[0].statistic) for target in targets}
        return Study(**{**fields, "users": survey.users, "sizes": observed if assumed is None else assumed}).plan()

    return layout, plan_for


def _observed(survey: Survey, statistic: Any) -> Sizes:
    return survey.of(statistic).observed_sizes()


def _rivals(wanted: bool | None, by_default: bool) -> Callable[[Plan], list[Plan]]:
    """The same study by every other protocol that can carry it out."""

    def rivals(plan: Plan) -> list[Plan]:
        if not (by_default and len(plan.targets) == 1 and not plan.group if wanted is None else wanted):
            return []
        return [by_protocol(plan, name) for name in PROTOCOLS if name != plan.machines[0].protocol]

    return rivals
