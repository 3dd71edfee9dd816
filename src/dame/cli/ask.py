"""`dame ask`: the open questions of a study, or its result when the rounds are over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from dame.cli import documents, options, output
from dame.device.questions import Question
from dame.engines.steps import step_after
from dame.errors import InvalidInput
from dame.studies.results import Result, TargetResult


def ask(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.JSON", help="The plan of the study.")],
    tallies: Annotated[
        list[str] | None, typer.Argument(metavar="[TALLY.JSON …]", help="All tallies so far, in any order.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the question or the result to a file; where several questions are open, to a folder of this "
            "name, one file for each.",
        ),
    ] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """The open questions of a study, or the result when every round has its tally.

    Several tallies of one question, say of several sites, are added up. The targets of a study go on at their own
    pace: give the tallies that there are, and ask again.

    Example: `dame ask plan.json --out question.json`
    """
    options.seed_number(seed)  # nothing is drawn here
    listed = [documents.read_json(path) for path in documents.files_named(tallies or [])]
    study = documents.read_plan(plan)
    step = step_after(study, listed)
    if isinstance(step, Result):
        _give_result(step, out, as_json)
    elif len(study.machines) == 1:
        _give_question(step[0], out, as_json)
    else:
        _give_questions(step, out, as_json)


def _give_result(result: Result, out: Path | None, as_json: bool) -> None:
    if out is not None:
        output.write_json(out, result.to_json())
    if as_json:
        output.print_json(result.to_json())
    else:
        _show(result)


def _give_question(question: Question, out: Path | None, as_json: bool) -> None:
    if out is not None:
        output.write_json(out, question.to_json())
    if as_json or out is None:
        output.print_json(question.to_json())
    else:
        output.notes.print(f"round {question.round + 1}: the question is in {out}", markup=False)


def _give_questions(questions: tuple[Question, ...], out: Path | None, as_json: bool) -> None:
    """Several open questions: a file for each, named by target and round."""
    if out is not None:
        if out.exists() and not out.is_dir():
            raise InvalidInput("out", str(out), "a folder, since several questions are open")
        out.mkdir(parents=True, exist_ok=True)
        for question in questions:
            output.write_json(out / file_name(question), question.to_json())
    if as_json or out is None:
        output.print_json({"questions": [question.to_json() for question in questions]})
    else:
        for question in questions:
            words = f"round {question.round + 1} of {question.target}: the question is in {out / file_name(question)}"
            output.notes.print(words, markup=False)


def file_name(question: Question) -> str:
    """The name of the file of a question: its target, in plain characters, and its round."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', question.target).strip('-.') or 'target'}-{question.round + 1}.json"


def _show(result: Result) -> None:
    if len(result.targets) == 1:
        _show_alone(result.targets[0])
    else:
        output.people.print(_table("Result", [(each.target.name, each) for each in result.targets]))
    for each in result.targets:
        _show_people(each)
    for place, each in enumerate(result.targets):
        if result.groups:
            listed = [(group.group, group.targets[place]) for group in result.groups]
            output.people.print(_table(f"{each.target.name} by group", listed))
    for one in result.differences:
        low, high = one.estimate.interval
        output.people.print(
            f"{one.target.name}: {one.group} - {one.than}: {one.estimate.value:.6g} ({low:.6g} to {high:.6g})",
            markup=False,
        )
    for each in result.targets:
        for note in each.estimate.notes:
            output.people.print(f"note: {note}" if len(result.targets) == 1 else f"note: {each.target.name}: {note}")


def _show_alone(result: TargetResult) -> None:
    estimate = result.estimate
    low, high = estimate.interval
    rows = [
        ("estimate", f"{estimate.value:.6g}, standard error {estimate.standard_error:.3g}"),
        (f"{estimate.level:.0%} interval", f"{low:.6g} to {high:.6g}"),
        ("reports", ", ".join(f"{count:,}" for count in estimate.users) + " in the rounds"),
    ]
    output.people.print(output.figures("Estimate", rows))


def _show_people(result: TargetResult) -> None:
    """The quantiles of a target that tells where people are, and a sketch of their histogram."""
    estimate = result.estimate
    if not estimate.quantiles:
        return
    table = Table(title=result.target.words, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("below", "estimate", f"{estimate.level:.0%} interval"):
        table.add_column(heading)
    for one in estimate.quantiles:
        low, high = one.interval
        table.add_row(output.bold(f"{one.at:.0%}"), f"{one.value:.6g}", f"{low:.6g} to {high:.6g}")
    output.people.print(table)
    if estimate.distribution is not None:
        output.people.print(output.histogram(estimate.distribution))


def _table(title: str, listed: list[tuple[str, TargetResult]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "reports", "estimate", "95 % interval"):
        table.add_column(heading)
    for name, result in listed:
        low, high = result.estimate.interval
        count = f"{sum(result.estimate.users):,}"
        table.add_row(output.bold(name), count, f"{result.estimate.value:.6g}", f"{low:.6g} to {high:.6g}")
    return table
