"""Room on disk for what does not fit into memory: a folder that goes with its process, or with the next one."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PREFIX = "dame-spill-"
LOCK = "in-use"
SECONDS_TO_LOCK = 60.0
"""A younger folder may belong to a process that is about to lock it."""


@contextmanager
def spill_folder() -> Iterator[str]:
    """A folder for temporary files. What processes that were killed left behind is removed: it may be private."""
    _remove_orphans(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, (Path(folder) / LOCK).open("w") as lock:
        with suppress(OSError):  # a disk without locks: its folders are never taken for orphans
            _take(lock)
        yield folder


def _remove_orphans(parent: Path) -> None:
    for path in parent.glob(f"{PREFIX}*/{LOCK}"):
        # Folders of other people cannot be opened, and those in use cannot be locked.
        with suppress(OSError), path.open("r+") as lock:
            if time.time() - path.stat().st_mtime > SECONDS_TO_LOCK and _take(lock):
                shutil.rmtree(path.parent, ignore_errors=True)


def _take(lock: IO[str]) -> bool:
    """Whether the lock is ours now; the system gives it back when this process ends, whatever ends it."""
    try:
        import fcntl
    except ImportError:  # not on Windows: nothing is taken for an orphan there
        return False
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
