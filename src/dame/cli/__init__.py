"""The command `dame`: a thin shell over the library."""

from __future__ import annotations

import sys

from dame.errors import MissingExtra


def main() -> None:
    """Runs the command line; without Typer and Rich it says which extra to install."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print(f"dame: {MissingExtra('the command line', 'cli')}", file=sys.stderr)
        sys.exit(1)
    from dame.cli.later import postpone

    postpone()
    from dame.cli.app import run

    sys.exit(run(sys.argv[1:]))
