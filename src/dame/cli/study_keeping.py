"""`dame study …`: the end of a study, what is kept of it, and who administers it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from dame.cli import options, output
from dame.cli.access import (
    DEFAULT_ACCESS,
    DEFAULT_SERVER,
    AccessFile,
    ServerAddress,
    administration,
    read_access,
    write_access,
)
from dame.cli.join import told
from dame.client.administration import Access
from dame.errors import DameError, InvalidInput, MissingExtra

Yes = Annotated[bool, typer.Option("--yes", help="Do it without being asked.")]


def end(access: AccessFile = DEFAULT_ACCESS, yes: Yes = False, as_json: options.AsJson = False) -> None:
    """End a study before its result: nothing is accepted any more, and no further question is asked.

    Example: `dame study end --yes`
    """
    _agreed(yes, "ending a study cannot be undone")
    with told():
        status = administration(access).end()
    _say(as_json, {"study": status["study"], "state": status["state"]}, f"{status['study']} is {status['state']}")


def delete(access: AccessFile = DEFAULT_ACCESS, yes: Yes = False, as_json: options.AsJson = False) -> None:
    """Delete all that the service stores of a study that is over, but the audit trail. Its name is not given again.

    Example: `dame study delete --yes`
    """
    _agreed(yes, "a deleted study cannot be brought back")
    with told():
        deleted = administration(access).delete()["deleted"]
    _say(as_json, {"deleted": deleted}, f"{deleted} is deleted; {access} is of no use any more")


def purge(access: AccessFile = DEFAULT_ACCESS, yes: Yes = False, as_json: options.AsJson = False) -> None:
    """Delete the reports of all closed rounds; their tallies and estimates stay. Export them before, if you want them.

    Example: `dame study purge --yes`
    """
    _agreed(yes, "purged reports cannot be brought back")
    with told():
        rounds = administration(access).purge()["rounds"]
    _say(as_json, {"rounds": rounds}, f"the reports of {len(rounds)} rounds are deleted")


def withdraw(
    file: Annotated[
        Path, typer.Argument(metavar="INVITATIONS.CSV", help="A table with a column `token`, as `invite` writes it.")
    ],
    access: AccessFile = DEFAULT_ACCESS,
    as_json: options.AsJson = False,
) -> None:
    """Withdraw invitations that were not used yet: their tokens are worthless from now on.

    Example: `dame study withdraw invitations.csv`
    """
    tokens = _tokens(file)
    with told():
        done = administration(access).withdraw(tokens)
    words = f"{done['withdrawn']:,} withdrawn, {done['answered']:,} were answered before, {done['unknown']:,} unknown"
    _say(as_json, done, words)


def administrators(
    add: Annotated[str | None, typer.Option("--add", metavar="NAME", help="Gives somebody a key of her own.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the access of the new administrator goes.")
    ] = None,
    remove: Annotated[str | None, typer.Option("--remove", metavar="NAME", help="Takes somebody's key away.")] = None,
    access: AccessFile = DEFAULT_ACCESS,
    as_json: options.AsJson = False,
) -> None:
    """Who administers a study: each has a name and a key of her own.

    Example: `dame study administrators --add ada --out ada-access.json`
    """
    if (add is None) != (out is None):
        raise InvalidInput("out", None if out is None else str(out), "given with --add, and only there")
    if out is not None and out.exists():
        raise InvalidInput("out", str(out), "a file that does not exist yet")
    given = read_access(access)
    with told():
        study = administration(access)
        if add is not None and out is not None:
            key = study.add_administrator(add)["administrator_key"]
            write_access(out, Access(server=given.server, study=given.study, administrator_key=key))
        if remove is not None:
            study.remove_administrator(remove)
        names = study.administrators()["administrators"]
    _say(as_json, {"administrators": names}, ", ".join(names))


def acts(access: AccessFile = DEFAULT_ACCESS, as_json: options.AsJson = False) -> None:
    """The audit trail of a study: what its administrators did, and what it did by itself.

    Example: `dame study acts`
    """
    with told():
        document = administration(access).acts()
    if as_json:
        output.print_json(document)
        return
    rows = [(one["at"], f"{one['who']}: {one['act']}{_details(one['details'])}") for one in document["acts"]]
    output.people.print(output.figures("Audit trail", rows))


def new_key(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="The study whose administrator's key is lost.")],
    administrator: Annotated[
        str, typer.Option("--administrator", metavar="NAME", help="Whose key; somebody new gets one, too.")
    ] = "administrator",
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
        key = Studies(opened).replace_key(name, administrator)
    finally:
        opened.close()
    write_access(access, Access(server=server, study=name, administrator_key=key))
    if as_json:
        output.print_json({"study": name, "administrator_key": key, "access": str(access)})
    else:
        output.people.print(f"the new key is in {access}", markup=False)


def _agreed(yes: bool, why: str) -> None:
    if not yes:
        raise DameError(f"{why}: say --yes if you mean it")


def _tokens(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as opened:
        try:
            reader = csv.DictReader(opened, strict=True)
            tokens = [row["token"] for row in reader if row.get("token")]
        except (csv.Error, UnicodeDecodeError, KeyError):
            tokens = []
    if not tokens:
        raise InvalidInput("file", str(path), "a CSV file with a column 'token'")
    return tokens


def _details(details: dict[str, Any]) -> str:
    words = ", ".join(f"{name} {value}" for name, value in details.items() if value is not None)
    return f" ({words})" if words else ""


def _say(as_json: bool, document: dict[str, Any], words: str) -> None:
    if as_json:
        output.print_json(document)
    else:
        output.people.print(words, markup=False, soft_wrap=True)
