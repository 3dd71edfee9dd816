"""`dame study …`: the administration of a study on the collection service."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dame.cli import documents, options, output, study_keeping
from dame.cli.access import (
    DEFAULT_ACCESS,
    DEFAULT_SERVER,
    AccessFile,
    ServerAddress,
    administration,
    private,
    write_access,
)
from dame.cli.join import told
from dame.cli.study_reminders import reminders
from dame.cli.study_views import result_rows, status_rows
from dame.client.administration import Access, Administration, create_study
from dame.client.http import Server
from dame.errors import DameError, InvalidInput, plain
from dame.studies.plans import MOST_SLOTS

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Create and administer studies on a collection service (`dame serve`).",
)

MOST_INVITED = 10_000_000
GROUP = "group"
"""The column of a file of people that names the group of each."""
ADDED = ("token", "link", "round", "expected")
"""What a file of invitations tells of each person, beside what was known of her before."""


@study.command()
def create(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.JSON", help="The plan, as `dame plan --out` writes it.")],
    server: ServerAddress = DEFAULT_SERVER,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="What participants read.")] = None,
    close_at: Annotated[
        str | None,
        typer.Option(
            "--close-at",
            metavar="N,N,…",
            help="Reports at which each round of each target closes by itself; `-` for none.",
        ),
    ] = None,
    deadlines: Annotated[
        str | None,
        typer.Option(
            "--deadlines",
            metavar="T,T,…",
            help="Times at which each round closes, of all targets together, such as 2031-05-01T12:00.",
        ),
    ] = None,
    min_reports: Annotated[
        str, typer.Option("--min-reports", metavar="N", help="Reports that a round waits for before it is closed.")
    ] = "25",
    keep_reports_days: Annotated[
        float | None,
        typer.Option(
            "--keep-reports-days", metavar="DAYS", help="Reports are deleted so long after their round; tallies stay."
        ),
    ] = None,
    administrator: Annotated[
        str | None, typer.Option("--administrator", metavar="NAME", help="What you are called in the audit trail.")
    ] = None,
    asker: Annotated[str, typer.Option("--asker", metavar="TEXT", help="Who asks, as participants read it.")] = "",
    purpose: Annotated[str, typer.Option("--purpose", metavar="TEXT", help="Why you ask.")] = "",
    contact: Annotated[str, typer.Option("--contact", metavar="TEXT", help="Whom to write to with questions.")] = "",
    consent: Annotated[
        Path | None, typer.Option("--consent", metavar="FILE", help="The text that participants agree to.")
    ] = None,
    operator_key: Annotated[
        str | None, typer.Option("--operator-key", envvar="DAME_OPERATOR_KEY", help="If the server asks for one.")
    ] = None,
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Create a study from a plan; its administrator's key is printed once, and kept in a file for the other commands.

    Example: `dame study create plan.json --title "Screen time"`
    """
    options.seed_number(seed)  # secrets are never drawn from a seed
    documents.read_plan(plan)  # a bad plan is better told here than by the server
    if access.exists():
        raise InvalidInput("access", str(access), "a file that does not exist yet: it holds the key of another study")
    words = "" if consent is None else consent.read_text(encoding="utf-8").strip()
    about = {"asker": asker, "purpose": purpose, "contact": contact, "consent": words}
    with told():
        created = create_study(
            Server(server),
            documents.read_json(plan),
            title=title,
            close_at_count=_counts(close_at),
            deadlines=_listed(deadlines),
            minimum_reports=options.whole_number("min-reports", min_reports, 0),
            keep_reports_days=keep_reports_days,
            administrator=administrator,
            about=about if any(about.values()) else None,
            operator_key=operator_key,
        )
    write_access(access, Access(server=server, study=created["study"], administrator_key=created["administrator_key"]))
    if as_json:
        output.print_json({**created, "access": str(access)})
        return
    for name in ("study", "administrator_key", "public_key"):  # whole, however narrow the terminal is
        output.people.print(f"{name.replace('_', ' ')}: {plain(created[name])}", markup=False, soft_wrap=True)
    output.people.print(
        f"address and key are kept in {access}: keep it safe, nobody can tell the key again", markup=False
    )


@study.command()
def invite(
    count: Annotated[str | None, typer.Argument(metavar="[N]", help="How many people.")] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="NAME", help="Their group (a country, an arm), if the plan has groups."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="PEOPLE.CSV",
            help="One line for each person, with a column `group` if the plan has groups; the others are kept.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.CSV", help="Where tokens and links go; give each person one.")
    ] = Path("invitations.csv"),
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="When the tokens become worthless, such as 2031-05-01T12:00."),
    ] = None,
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Make invitations: a file of single-use tokens and links. The server keeps hashes only.

    Example: `dame study invite 10 --out invitations.csv`
    """
    options.seed_number(seed)  # secrets are never drawn from a seed
    people = _wanted(count, group, file)
    if out.exists():
        raise InvalidInput("out", str(out), "a file that does not exist yet: tokens in it would be lost")
    with told():
        made = _invited(administration(access), people, expires)
    with private(out) as opened:
        writer = csv.DictWriter(opened, [*people[0], *ADDED])
        writer.writeheader()
        writer.writerows(made)
    if as_json:
        output.print_json({"invited": len(made), "out": str(out)})
    else:
        output.people.print(f"{len(made):,} invitations are in {out}", markup=False)


def _wanted(count: str | None, group: str | None, file: Path | None) -> list[dict[str, str]]:
    """Everybody who is to be invited, as a line for each: what is known of her."""
    if (count is None) == (file is None):
        raise InvalidInput("count", count, "given, or --file with a line for each person")
    if file is None:
        number = options.whole_number("count", str(count), 1, MOST_INVITED)
        return [{} if group is None else {GROUP: group}] * number
    if group is not None:
        raise InvalidInput("group", group, f"a column '{GROUP}' of the file")
    return _people(file)


def _people(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as opened:
        try:
            reader = csv.DictReader(opened, strict=True)
            names, rows = list(reader.fieldnames or ()), list(reader)
        except (csv.Error, UnicodeDecodeError):
            raise InvalidInput("file", str(path), "a CSV file with a header line") from None
    taken = set(ADDED) & set(names)
    if taken:
        raise InvalidInput("file", min(taken), "a table without columns of this name: they are added")
    if not 1 <= len(rows) <= MOST_INVITED:
        raise InvalidInput("file", f"{len(rows)} lines", f"a table with 1 to {MOST_INVITED:,} people")
    for place, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise InvalidInput("file", f"line {place} of the table", f"{len(names)} cells, as in the header")
        if row.get(GROUP) == "":
            raise InvalidInput(GROUP, f"nothing in line {place} of the table", "the group of each person")
    return rows


def _invited(
    administration: Administration, people: Sequence[Mapping[str, str]], expires: str | None
) -> list[dict[str, str]]:
    """Everybody with her token and link; people of one group are invited together."""
    groups: dict[str | None, list[int]] = {}
    for place, person in enumerate(people):
        groups.setdefault(person.get(GROUP), []).append(place)
    made: list[dict[str, str]] = [{}] * len(people)
    for group, places in groups.items():
        for place, one in zip(places, administration.invite(len(places), group, expires), strict=True):
            made[place] = {**people[place], **{name: str(one[name]) for name in ADDED}}
    return made


@study.command()
def status(access: AccessFile = DEFAULT_ACCESS, seed: options.Seed = None, as_json: options.AsJson = False) -> None:
    """How far a study is: its targets, the reports of each round, what was refused, and the result once there is one.

    Example: `dame study status`
    """
    options.seed_number(seed)  # nothing is drawn here
    with told():
        document = administration(access).status()
    _show_status(document, as_json)


@study.command("close-round")
def close_round(
    index: Annotated[
        str | None,
        typer.Argument(metavar="[ROUND]", help="Which round, by its number in the status; all open ones if absent."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="Only the open rounds of one target.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also rounds with fewer reports than the study waits for.")
    ] = False,
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Close rounds: their reports are counted, and the next round of each target opens, or its estimate is there.

    Example: `dame study close-round 1`
    """
    options.seed_number(seed)  # nothing is drawn here
    with told():
        study = administration(access)
        status = study.status()
        chosen = _rounds(status, index, target)
        if not yes:
            _check_enough(status, chosen)
        documents_after = [study.close_round(one, anyway=yes) for one in chosen]
    _show_status(documents_after[-1], as_json)


@study.command()
def result(
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the result to a file.")] = None,
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """What a finished study tells: an estimate for each target, for each group, and the differences between groups.

    Example: `dame study result --json`
    """
    options.seed_number(seed)  # nothing is drawn here
    with told():
        found = administration(access).result()
    if out is not None:
        output.write_json(out, found)
    if as_json:
        output.print_json(found)
    else:
        output.people.print(output.figures("Result", result_rows(found)))


@study.command()
def export(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder.")] = Path("export"),
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Take the plan and the reports of all closed rounds home: files that `dame tally` and `dame ask` read.

    Each round is tallied here, too: its reports must answer the question that was asked, and add up to what the server
    counted.

    Example: `dame study export --out export`
    """
    options.seed_number(seed)  # nothing is drawn here
    from dame.service.export import export_study

    if out.exists():
        raise InvalidInput("out", str(out), "a folder that does not exist yet")
    with told():
        files = export_study(administration(access), out)
    if as_json:
        output.print_json({"out": str(out), "files": files})
    else:
        output.people.print(f"{len(files)} files are in {out}: {', '.join(files)}", markup=False, soft_wrap=True)


study.command()(reminders)
study.command()(study_keeping.end)
study.command()(study_keeping.delete)
study.command()(study_keeping.purge)
study.command()(study_keeping.withdraw)
study.command()(study_keeping.administrators)
study.command()(study_keeping.acts)
study.command("new-key")(study_keeping.new_key)


def _listed(words: str | None) -> list[str | None] | None:
    return None if words is None else [None if word.strip() in ("", "-") else word.strip() for word in words.split(",")]


def _counts(words: str | None) -> Sequence[int | None] | None:
    listed = _listed(words)
    return (
        None
        if listed is None
        else [None if word is None else options.whole_number("close-at", word) for word in listed]
    )


def _check_enough(status: Mapping[str, Any], rounds: Sequence[int]) -> None:
    """Refuses, before any of them is closed, rounds that have fewer reports than the study waits for."""
    least = max(status["minimum_reports"], 1)
    for one in status["rounds"]:
        if one["slot"] in rounds and one["state"] == "open" and one["reports"] < least:
            counts = f"round {one['slot']} has {one['reports']} reports, and this study waits for {least}"
            raise DameError(f"{counts}: --yes closes it anyway, and what it tells is as wide as it is")


def _rounds(status: Mapping[str, Any], words: str | None, target: str | None) -> list[int]:
    """The rounds that are meant: one by its number, or all open ones, of one target if it is named."""
    if words is not None:
        if target is not None:
            raise InvalidInput("target", target, "absent where a round is named")
        return [options.whole_number("round", words, 1, MOST_SLOTS) - 1]
    open_ = set(status["open_rounds"])
    if target is not None:
        named = {one["name"]: one for one in status["targets"]}
        if target not in named:
            raise InvalidInput("target", target, f"one of {', '.join(named)}")
        open_ &= {slot for machine in named[target]["machines"] for slot in machine["rounds"]}
    if not open_:
        raise DameError(f"no round is open{'' if target is None else f' of target {target}'}: nothing to close")
    return sorted(open_)


def _show_status(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.print_json(document)
    else:
        output.people.print(output.figures(document["title"], status_rows(document)))
