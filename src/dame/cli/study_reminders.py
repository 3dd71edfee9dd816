"""`dame study reminders`: who has not answered yet."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from dame.cli import options, output
from dame.cli.access import DEFAULT_ACCESS, AccessFile, administration, private
from dame.cli.join import told
from dame.errors import InvalidInput


def reminders(
    file: Annotated[
        Path, typer.Argument(metavar="[INVITATIONS.CSV]", help="The file that `dame study invite` wrote.")
    ] = Path("invitations.csv"),
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.CSV", help="Where the lines of those go who have not answered yet.")
    ] = Path("reminders.csv"),
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Who has not answered yet: a file with their lines, to remind them. Nobody is told what the others answered.

    Example: `dame study reminders invitations.csv`
    """
    options.seed_number(seed)  # nothing is drawn here
    if out.exists():
        raise InvalidInput("out", str(out), "a file that does not exist yet")
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    if not rows or "token" not in rows[0]:
        raise InvalidInput("file", str(file), "a table of invitations, with a column 'token'")
    with told():
        answered = administration(access).answered([row["token"] for row in rows])
    silent = [row for row, one in zip(rows, answered, strict=True) if one is False]
    with private(out) as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(silent)
    document = {"invited": len(rows), "answered": answered.count(True), "silent": len(silent), "out": str(out)}
    if as_json:
        output.print_json(document)
    else:
        output.people.print(
            f"{document['answered']:,} of {len(rows):,} have answered; the other {len(silent):,} are in {out}",
            markup=False,
        )
