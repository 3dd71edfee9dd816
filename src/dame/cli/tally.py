"""`dame tally`: the exact tally of report files, or the sum of tallies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dame.cli import documents, options, output, tables
from dame.device.questions import Question
from dame.engines.report_tallies import Counted, tally_files
from dame.engines.steps import added_notes, tallies_from, tallies_to_json
from dame.protocols import ByGroup
from dame.tally import Tally, merged


def tally(
    question: Annotated[Path, typer.Argument(metavar="QUESTION.JSON", help="The question that was answered.")],
    files: Annotated[list[str], typer.Argument(metavar="FILES …", help="Files or globs of reports, or of tallies.")],
    merge: Annotated[bool, typer.Option("--merge", help="The files are tallies: add them up.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Go on without bad reports and files, and say how many there were.")
    ] = False,
    engine: tables.EngineName = tables.ENGINES[0],
    master: tables.Master = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="TALLY.JSON", help="Write the tally to a file.")] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Tally report files: exact sums, every report checked, each report id counted once.

    Duplicate ids, reports of another question, values that no device could send and damaged files are counted and
    refused; `--skip-bad` goes on without them.

    Example: `dame tally question.json "sites/*/reports.parquet" --out tally.json`
    """
    options.seed_number(seed)  # nothing is drawn here
    chosen = tables.Engine(name=engine, master=master, memory_limit=None)
    asked, paths = documents.read_question(question), documents.files_named(files)
    total, notes = _merged(asked, paths) if merge else _counted(asked, paths, chosen, skip_bad)
    document = {**tallies_to_json(total), **notes}
    if out is not None:
        output.write_json(out, document)
    if as_json or out is None:
        output.print_json(document)
    else:
        output.notes.print(f"{sum(tally.reports for tally in total.values()):,} reports tallied in {out}", markup=False)


def _counted(
    question: Question, paths: Sequence[Path], engine: tables.Engine, skip_bad: bool
) -> tuple[ByGroup, dict[str, object]]:
    counted = _count(question, paths, engine)
    if not skip_bad:
        counted.check()
    return counted.by_group(), {"files": len(paths), "rejected": dict(sorted(counted.rejected.items()))}


def _count(question: Question, paths: Sequence[Path], engine: tables.Engine) -> Counted:
    if engine.name == "duckdb":
        return tally_files(question, paths)
    from dame.engines.spark_reports import tally_on_spark
    from dame.engines.spark_sessions import spark_session

    return tally_on_spark(spark_session(engine.master), question, paths)


def _merged(question: Question, paths: Sequence[Path]) -> tuple[ByGroup, dict[str, object]]:
    listed = [documents.read_json(path) for path in paths]
    tallies: dict[str, Tally] = {}
    for one in map(tallies_from, listed):
        for group, tally in one.items():
            tallies[group] = merged([tallies.get(group, Tally.zero(question)), tally])
    return tallies, added_notes(listed)
