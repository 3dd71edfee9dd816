"""Calls of the command line, and what they print."""

from __future__ import annotations

import json
from collections.abc import Callable

COLUMNS = ["--user", "who", "--value", "what"]
Call = Callable[..., tuple[int, str, str]]


def document(call: Call, *words: object) -> dict:
    """The JSON object that a call prints."""
    code, out, err = call(*words, "--json")
    assert code == 0, err
    (line,) = out.splitlines()
    return json.loads(line)


def refusal(call: Call, *words: object) -> str:
    """The one line with which a call is refused."""
    code, out, err = call(*words)
    assert code == 2, (out, err)
    assert out == ""
    notes = [line for line in err.splitlines() if not line.startswith("note:")]
    assert len(notes) == 1
    return notes[0]
