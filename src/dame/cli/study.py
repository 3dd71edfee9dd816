"""`dame study …`: the administration of a study on the collection service."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dame import checks
from dame.cli import documents, options, output
from dame.cli.join import told
from dame.cli.study_views import result_rows, status_rows
from dame.client.administration import Access, Administration, create_study
from dame.client.http import Server
from dame.errors import DameError, InvalidInput, MissingExtra
from dame.studies.plans import MOST_SLOTS

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Create and administer studies on a collection service (`dame serve`).",
)

DEFAULT_SERVER = "http://127.0.0.1:8000"
ServerAddress = Annotated[
    str, typer.Option("--server", envvar="DAME_SERVER", metavar="URL", help="The address of the service.")
]
AccessFile = Annotated[
    Path,
    typer.Option("--access", envvar="DAME_ACCESS", metavar="FILE", help="The file that `dame study create` wrote."),
]
DEFAULT_ACCESS = Path("study-access.json")
MOST_INVITED = 10_000_000
GROUP = "group"
"""The column of a file of people that names the group of each."""


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
    with told():
        created = create_study(
            Server(server),
            documents.read_json(plan),
            title=title,
            close_at_count=_counts(close_at),
            deadlines=_listed(deadlines),
            operator_key=operator_key,
        )
    _write_access(access, Access(server=server, study=created["study"], administrator_key=created["administrator_key"]))
    if as_json:
        output.print_json({**created, "access": str(access)})
        return
    for name in ("study", "administrator_key", "public_key"):  # whole, however narrow the terminal is
        output.people.print(f"{name.replace('_', ' ')}: {created[name]}", markup=False, soft_wrap=True)
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
        made = _invited(_administration(access), people)
    with _private(out) as opened:
        writer = csv.DictWriter(opened, [*people[0], "token", "link"])
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
    taken = {"token", "link"} & set(names)
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


def _invited(administration: Administration, people: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Everybody with her token and link; people of one group are invited together."""
    groups: dict[str | None, list[int]] = {}
    for place, person in enumerate(people):
        groups.setdefault(person.get(GROUP), []).append(place)
    made: list[dict[str, str]] = [{}] * len(people)
    for group, places in groups.items():
        for place, one in zip(places, administration.invite(len(places), group), strict=True):
            made[place] = {**people[place], "token": one["token"], "link": one["link"]}
    return made


@study.command()
def status(access: AccessFile = DEFAULT_ACCESS, seed: options.Seed = None, as_json: options.AsJson = False) -> None:
    """How far a study is: its targets, the reports of each round, what was refused, and the result once there is one.

    Example: `dame study status`
    """
    options.seed_number(seed)  # nothing is drawn here
    with told():
        document = _administration(access).status()
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
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Close rounds: their reports are counted, and the next round of each target opens, or its estimate is there.

    Example: `dame study close-round 0`
    """
    options.seed_number(seed)  # nothing is drawn here
    with told():
        administration = _administration(access)
        documents_after = [administration.close_round(one) for one in _rounds(administration, index, target)]
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
        found = _administration(access).result()
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
        files = export_study(_administration(access), out)
    if as_json:
        output.print_json({"out": str(out), "files": files})
    else:
        output.people.print(f"{len(files)} files are in {out}: {', '.join(files)}", markup=False, soft_wrap=True)


@study.command("new-key")
def new_key(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="The study whose administrator's key is lost.")],
    server: ServerAddress = DEFAULT_SERVER,
    database: Annotated[
        str, typer.Option("--database", envvar="DAME_DATABASE", metavar="WHERE", help="The database of the service.")
    ] = "dame.sqlite",
    access: AccessFile = DEFAULT_ACCESS,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Give a study a new administrator's key, on the machine of the service; the old key is worthless from then on.

    Example: `dame study new-key screen-time --database dame.sqlite`
    """
    options.seed_number(seed)  # secrets are never drawn from a seed
    try:
        from dame.service.database import Database
        from dame.service.studies import Studies
    except ImportError:
        raise MissingExtra("the collection service", "service") from None
    if access.exists():
        raise InvalidInput("access", str(access), "a file that does not exist yet")
    if "://" not in database and not Path(database).exists():
        raise InvalidInput("database", database, "the database of a service")
    opened = Database(database)
    try:
        key = Studies(opened).replace_key(name)
    finally:
        opened.close()
    _write_access(access, Access(server=server, study=name, administrator_key=key))
    if as_json:
        output.print_json({"study": name, "administrator_key": key, "access": str(access)})
    else:
        output.people.print(f"the new key is in {access}", markup=False)


def _administration(path: Path) -> Administration:
    fields = checks.keys(
        "access", documents.read_json(path), frozenset({"server", "study", "administrator_key"}), frozenset()
    )
    server, name, key = (checks.text(field, fields[field], 1000) for field in ("server", "study", "administrator_key"))
    return Administration(Access(server=server, study=name, administrator_key=key))


def _write_access(path: Path, access: Access) -> None:
    with _private(path) as file:
        file.write(json.dumps(access.to_json(), indent=1) + "\n")


def _private(path: Path) -> Any:
    """A new file that only its owner may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", newline="", encoding="utf-8")


def _listed(words: str | None) -> list[str | None] | None:
    return None if words is None else [None if word.strip() in ("", "-") else word.strip() for word in words.split(",")]


def _counts(words: str | None) -> Sequence[int | None] | None:
    listed = _listed(words)
    return (
        None
        if listed is None
        else [None if word is None else options.whole_number("close-at", word) for word in listed]
    )


def _rounds(administration: Administration, words: str | None, target: str | None) -> list[int]:
    """The rounds that are meant: one by its number, or all open ones, of one target if it is named."""
    if words is not None:
        if target is not None:
            raise InvalidInput("target", target, "absent where a round is named")
        return [options.whole_number("round", words, 0, MOST_SLOTS - 1)]
    status = administration.status()
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
