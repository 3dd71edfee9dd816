"""Study files: what is asked of a study, as people write it down in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.studies.parsing import target_from_json

CHOICES = {"max_rounds": "max_rounds", "failure": "failure", "survey_sizes": "survey"}
"""Names of the planner's choices in a study file, and in a study."""
_PLAIN = frozenset({"users", "alpha", "protocol", "weights", "between_sd", "group", "identity"})
_KEYS = _PLAIN | {"sizes", "target"} | CHOICES.keys()


def read_study(path: Path) -> dict[str, Any]:
    """The fields of a `Study` that a file gives: all but those that it leaves to the command line or to the table."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInput("study file", str(path), f"a TOML file ({problem})") from None
    return study_fields(document)


def study_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Study` that the tables of a study file give."""
    given = dict(checks.keys("study file", document, frozenset({"target"}), _KEYS))
    fields = {name: given[name] for name in _PLAIN & given.keys()}
    if "identity" in fields:
        fields["study"] = fields.pop("identity")
    if "sizes" in given:
        fields["sizes"] = _sizes(given["sizes"])
    choices = {CHOICES[name]: given[name] for name in CHOICES if name in given}
    tables = given["target"] if isinstance(given["target"], list) else [given["target"]]
    targets = [target_from_json(table) for table in tables]
    return {**fields, "targets": targets, **({"choices": choices} if choices else {})}


def _sizes(given: object) -> Sizes | dict[str, Sizes]:
    if isinstance(given, Mapping):
        return {str(column): Sizes.parse(checks.text("sizes", words, 10**6)) for column, words in given.items()}
    return Sizes.parse(checks.text("sizes", given, 10**6))
