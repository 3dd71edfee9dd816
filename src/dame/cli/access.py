"""Where a study is, and the key of its administrator: the file that `dame study create` writes and the others read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, TextIO

import typer

from dame import checks
from dame.cli import documents
from dame.client.administration import Access, Administration

DEFAULT_SERVER = "http://127.0.0.1:8000"
ServerAddress = Annotated[
    str, typer.Option("--server", envvar="DAME_SERVER", metavar="URL", help="The address of the service.")
]
AccessFile = Annotated[
    Path,
    typer.Option("--access", envvar="DAME_ACCESS", metavar="FILE", help="The file that `dame study create` wrote."),
]
DEFAULT_ACCESS = Path("study-access.json")


def read_access(path: Path) -> Access:
    """What the file of an administrator says."""
    fields = checks.keys(
        "access", documents.read_json(path), frozenset({"server", "study", "administrator_key"}), frozenset()
    )
    server, name, key = (checks.text(field, fields[field], 1000) for field in ("server", "study", "administrator_key"))
    return Access(server=server, study=name, administrator_key=key)


def administration(path: Path) -> Administration:
    """The study that the file of an administrator is for."""
    return Administration(read_access(path))


def write_access(path: Path, access: Access) -> None:
    """Writes the file of an administrator, for its owner only."""
    with private(path) as file:
        file.write(json.dumps(access.to_json(), indent=1) + "\n")


def private(path: Path) -> TextIO:
    """A new file that only its owner may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", newline="", encoding="utf-8")
