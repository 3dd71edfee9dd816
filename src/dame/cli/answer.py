"""`dame answer`: an edge site randomises the answer of each of its users."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from dame.cli import asked, documents, options, output, tables
from dame.device.questions import Question, question_id
from dame.engines.answers import Addressed
from dame.engines.layout import Layout

DEFAULT_OUT = Path("reports.parquet")


def answer(
    question: Annotated[Path, typer.Argument(metavar="QUESTION.JSON", help="The question of this round.")],
    table: tables.Table,
    user: tables.UserColumns,
    value: tables.ValueColumn = "",
    group: asked.Group = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.JSON", help="Only those users answer whose round in this plan it is."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the reports go.")] = DEFAULT_OUT,
    memory_limit: tables.MemoryLimit = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Answer a question for every user of a site's table: one randomised report each, and nothing else, in a file.

    The reports stand in random order and carry a random id, no user. With `--plan` each user answers in one round of
    the study only, which is what α is meant for; without it, everybody in the table answers now.

    Example: `dame answer question.json records.parquet --user id --value hours --plan plan.json`
    """
    from dame.engines.duckdb_tables import memory_bytes, reduce_table
    from dame.engines.report_files import write_reports

    started = time.perf_counter()
    addressed = _addressed(documents.read_question(question), plan, options.seed_number(seed))
    limit = None if memory_limit is None else memory_bytes(memory_limit)
    with output.progress_of("reading records, %", 100) as progress:
        reduced = reduce_table(
            table, _layout(addressed.question, user, value, group), memory_limit=limit, progress=progress
        )
    written = write_reports(out, addressed, reduced.people)
    survey = reduced.survey().of(addressed.question.statistic)
    document = {
        "out": str(out),
        "question": question_id(addressed.question),
        "reports": written,
        "users": survey.users,
        "records": survey.records,
        **survey.left_out(),
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        output.print_json(document)
    else:
        output.people.print(f"{written:,} of {survey.users:,} users answered; their reports are in {out}", markup=False)


def _addressed(question: Question, plan: Path | None, seed: int | None) -> Addressed:
    if seed is not None:
        output.notes.print("note: reports with a seed protect nobody; they are for tests and pilots")
    if plan is not None:
        return Addressed.in_slot(documents.read_plan(plan), question, seed)
    output.notes.print("note: without --plan every user of the table answers this question")
    return Addressed(question=question, seed=seed)


def _layout(question: Question, user: list[str], value: str, group: str | None) -> Layout:
    """Everybody answers, whether or not she has records that count: that must not show."""
    return Layout(
        user=tuple(user),
        statistics=(question.statistic,),
        value=value,
        study=question.study,
        group=group,
        keep_absent=True,
    )
