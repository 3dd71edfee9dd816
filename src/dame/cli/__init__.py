"""The command `dame`: a thin shell over the library."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

from dame.errors import MissingExtra


def main() -> None:
    """Runs the command line; without Typer and Rich it says which extra to install."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print(f"dame: {MissingExtra('the command line', 'cli')}", file=sys.stderr)
        sys.exit(1)
    _settle()
    from dame.cli.app import run

    _leave(run(sys.argv[1:]))


def _settle() -> None:
    """Settings of a process that serves one command."""
    # Matrices are small here: threads that share the work on one would wait for each other most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Most objects are code that stays: to search through them while modules are loaded frees nothing.
    gc.set_threshold(200_000)


def _leave(code: int) -> NoReturn:
    """Ends the process, but does not take apart what the system frees at once: that would take a tenth of a second."""
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):  # what matters was written, or that it was not is told
            stream.flush()
    os._exit(code)
