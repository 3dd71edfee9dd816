"""`dame reproduce`: every figure and table of the paper, computed again, with a report of what agrees and what not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dame.cli import options, output

if TYPE_CHECKING:
    from dame.experiments import Reproduction

NAMES = (
    "figure-1-top figure-1-bottom figure-2 figure-2-published power-law table-1 table-2 adaptive minority one-round all"
)
"""Written out, so that the help does not need matplotlib; a test compares it with the registry."""


def reproduce(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Directory for NAME.csv, NAME.png, NAME.svg and report.md.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of: " + NAMES + ".")] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and studies: a check in seconds, not a result.")
    ] = False,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Reproduce a figure or a table of the paper, or all of them, and say what agrees with it.

    Example: `dame reproduce figure-2 --out results`
    """
    from dame import experiments

    chosen, number = experiments.chosen(name), options.seed_number(seed)
    number = experiments.SEED if number is None else number
    with output.progress_of("reproducing", experiments.steps(chosen, quick)) as progress:
        made = experiments.reproduce(chosen, out, seed=number, quick=quick, progress=progress)
    if as_json:
        output.print_json({"out": str(out), "seed": number, "quick": quick, **_document(made)})
    else:
        _show(made)


def _document(made: Reproduction) -> dict[str, object]:
    return {
        "experiments": [
            {
                "name": result.experiment.name,
                "rows": len(result.table.rows),
                "files": [str(path) for path in result.files],
                "seconds": result.seconds,
            }
            for result in made.results
        ],
        "report": str(made.report),
        "seconds": made.seconds,
    }


def _show(made: Reproduction) -> None:
    rows = [
        (result.experiment.name, f"{result.experiment.title}, {len(result.table.rows)} rows, {result.seconds:.0f} s")
        for result in made.results
    ]
    output.people.print(output.figures(f"Reproduced in {made.seconds:.0f} s", rows))
    output.people.print(f"report: {made.report}", soft_wrap=True, markup=False)
