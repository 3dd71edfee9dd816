"""`dame ask`: the next question of a study, or its estimate when the rounds are over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dame.cli import documents, options, output
from dame.engines.steps import step_after
from dame.estimates import Estimate


def ask(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.JSON", help="The plan of the study.")],
    tallies: Annotated[
        list[str] | None, typer.Argument(metavar="[TALLY.JSON …]", help="All tallies so far, in any order.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the question or the estimate to a file.")
    ] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """The next question of a study, or the estimate when every round has its tally.

    Several tallies of one question, say of several sites, are added up.

    Example: `dame ask plan.json --out question.json`
    """
    options.seed_number(seed)  # nothing is drawn here
    listed = [documents.read_json(path) for path in documents.files_named(tallies or [])]
    step = step_after(documents.read_plan(plan), listed)
    if out is not None:
        output.write_json(out, step.to_json())
    if as_json or (out is None and not isinstance(step, Estimate)):
        output.print_json(step.to_json())
    elif isinstance(step, Estimate):
        _show(step)
    else:
        output.notes.print(f"round {step.round + 1}: the question is in {out}", markup=False)


def _show(estimate: Estimate) -> None:
    low, high = estimate.interval
    rows = [
        ("estimate", f"{estimate.value:.6g}, standard error {estimate.standard_error:.3g}"),
        (f"{estimate.level:.0%} interval", f"{low:.6g} to {high:.6g}"),
        ("reports", ", ".join(f"{count:,}" for count in estimate.users) + " in the rounds"),
    ]
    output.people.print(output.figures("Estimate", rows))
    for note in estimate.notes:
        output.people.print(f"note: {note}")
