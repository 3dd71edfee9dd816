"""One call of the command line, inside this process, with its exit code and both outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dame.cli import output
from dame.cli.app import run


@dataclass(frozen=True)
class Call:
    """What a call of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict:
        """The one JSON object on standard output."""
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        return json.loads(lines[0], parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.fixture
def dame_call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Call]:
    """Calls the command with the words of a line, or with words given one by one."""
    monkeypatch.setattr(output.people, "_width", 200)

    def call(line: str, *more: str) -> Call:
        capsys.readouterr()
        code = run([*line.split(), *more])
        captured = capsys.readouterr()
        return Call(code, captured.out, captured.err)

    return call
