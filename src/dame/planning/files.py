"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dame.errors import InvalidInput


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A temporary name beside a file, which gets its own name when all went well and is removed when not.

    What a crash leaves behind is a hidden draft; the next run overwrites it.
    """
    if not path.name or path.is_dir():
        raise InvalidInput("out", str(path), "the name of a file")
    draft = path.with_name(f".{path.name}.draft")
    try:
        yield draft
        _to_disk(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    # A name that reaches the disk before its contents would be half a file after a power failure.
    with path.open("rb") as file:
        os.fsync(file.fileno())
