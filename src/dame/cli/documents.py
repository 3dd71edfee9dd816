"""Reading plans, questions and tallies from JSON files."""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence
from pathlib import Path

from dame.device.questions import Question, question_from_json
from dame.errors import InvalidInput
from dame.studies.codec import plan_from_json
from dame.studies.plans import Plan


def read_json(path: Path) -> object:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidInput("file", str(path), "a JSON file") from None


def read_plan(path: Path) -> Plan:
    """The plan in a file."""
    return plan_from_json(read_json(path))


def read_question(path: Path) -> Question:
    """The question in a file."""
    return question_from_json(read_json(path))


def files_named(patterns: Sequence[str]) -> list[Path]:
    """The files that names and globs stand for, each once: a file given twice is a mistake that would count twice."""
    paths = [Path(name) for pattern in patterns for name in _expanded(pattern)]
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InvalidInput("files", str(path), "given once each")
        seen.add(path.resolve())
    return paths


def _expanded(pattern: str) -> list[str]:
    if Path(pattern).exists() or not glob.has_magic(pattern):
        return [pattern]
    names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  a pattern may be absolute
    if not names:
        raise InvalidInput("files", pattern, "a pattern that some file matches")
    return names
