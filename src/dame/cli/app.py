"""The list of commands, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

import dame
from dame.errors import ClusterProblem, DameError, MissingExtra, plain

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
_WRONG_PATHS = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)

_COMMANDS = (
    *("demo", "plan", "pilot", "ask", "answer", "tally", "simulate"),
    *("bounds", "audit", "reproduce", "serve", "join", "study"),
)
"""In the order of the help. Each is in a module of its name."""


def _app_with(commands: Iterable[str]) -> typer.Typer:
    """The command line with some of its commands."""
    app = typer.Typer(
        name="dame",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Means of data that never leave people's devices (user-level local differential privacy).\n\n"
        "Start with `dame demo`, then plan your own study: `dame plan --users 10000 --alpha 0.5 --sizes poisson:5`.",
    )
    app.callback()(_root)
    for name in commands:
        command = getattr(import_module(f"dame.cli.{name}"), name)
        # The one command that has commands of its own is an app itself.
        app.add_typer(command) if isinstance(command, typer.Typer) else app.command()(command)
    return app


def _app_for(arguments: list[str]) -> typer.Typer:
    """The command line for these arguments; the modules of other commands are not loaded, which would take a while."""
    return _app_with(arguments[:1] if {*arguments[:1]} & {*_COMMANDS} else _COMMANDS)


def __getattr__(name: str) -> typer.Typer:
    """`app`: the command line with all of its commands."""
    if name != "app":
        raise AttributeError(name)
    return _app_with(_COMMANDS)


# Typer brings its own copy of Click's exceptions in some versions: take the class from where Typer has it.
_UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dame {dame.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    del version


def run(arguments: list[str]) -> int:
    """The exit code of one call: 0 done, 2 wrong usage or input (one line, no traceback), 1 anything else."""
    try:
        outcome = _app_for(arguments)(arguments, prog_name="dame", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # here a full disk is still told
        return outcome if isinstance(outcome, int) else DONE
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return INTERRUPTED
    except (MissingExtra, ClusterProblem) as problem:
        return _complain(str(problem), FAILED)
    except DameError as problem:
        return _complain(str(problem), USAGE)
    except BrokenPipeError:  # the reader, such as `head`, had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as problem:
        return _complain(
            f"{problem.filename or 'file'}: {problem.strerror or problem}",
            USAGE if isinstance(problem, _WRONG_PATHS) else FAILED,
        )
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except _UsageProblem as problem:
        return _usage_problem(problem)


def _usage_problem(problem: Exception) -> int:
    message = getattr(problem, "format_message", lambda: str(problem))()
    if type(problem).__name__ == "NoArgsIsHelpError":
        typer.echo(message)
        return USAGE
    return _complain(" ".join(message.split()), USAGE)


def _complain(sentence: str, code: int) -> int:
    print(f"dame: {plain(sentence)}", file=sys.stderr)
    return code
