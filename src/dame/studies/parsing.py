"""Targets as people write them down: texts, tables of study files and JSON; and the names that they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dame import checks
from dame.errors import InvalidInput
from dame.studies.people import Quantiles, WholeDistribution
from dame.studies.targets import LONGEST, Mean, Sd, Share, Target

TARGETS: dict[str, type[Target]] = {target.kind: target for target in (Mean, Share, Sd, Quantiles, WholeDistribution)}
"""The kinds of targets by their names."""
_OPTIONS = {"name": str, "weight": float, "present": float, "scale": str}


def target_from_text(text: str) -> Target:
    """A target as people type it, such as `mean:minutes:0:120`; `:name=…`, `:weight=…` and `:present=…` may follow."""
    kind, *words = text.split(":")
    options: dict[str, Any] = {}
    while words and words[-1].partition("=")[0] in _OPTIONS and "=" in words[-1]:
        name, _, value = words.pop().partition("=")
        options[name] = value if _OPTIONS[name] is str else checks.number_from_text(name, value)
    return _class_of(kind, text).from_words(words, **options)


def target_from_json(document: object) -> Target:
    """The target that a JSON object or the table of a study file describes."""
    if not isinstance(document, Mapping):
        raise InvalidInput("target", document, "a JSON object")
    given = dict(document)
    return _class_of(given.pop("kind", None), document).from_json(given)


def _class_of(kind: object, given: object) -> type[Target]:
    if not isinstance(kind, str) or kind not in TARGETS:
        raise InvalidInput("target", given, f"one whose kind is {', '.join(TARGETS)}, such as mean:minutes:0:120")
    return TARGETS[kind]


def named(targets: Iterable[Target]) -> tuple[Target, ...]:
    """The targets, each with a name: its column's, where no other target is about that; two of one name are refused."""
    given = tuple(targets)
    if not given:
        raise InvalidInput("targets", [], "at least one, such as mean:minutes:0:120")
    columns = Counter(target.column for target in given)
    each = tuple(target if target.name else _with_name(target, columns[target.column] == 1) for target in given)
    twice = [name for name, count in Counter(target.name for target in each).items() if count > 1]
    if twice:
        raise InvalidInput("targets", twice[0], "targets of different names: add :name=…")
    return each


def _with_name(target: Target, alone: bool) -> Target:
    name = target.column if alone else target.own_name()
    return replace(target, name=(name.replace("/", "-") or target.kind)[:LONGEST])
