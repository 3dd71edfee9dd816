"""What a posted plan may cost: bounds on its length, its notes, and the laws of sizes that it makes us sum.

A plan is read again whenever it is needed, and is sent to everybody who asks for its study.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from dame.errors import InvalidInput

PLAN_BYTES = 2**18
MOST_NOTES = 32
"""Notes of one machine, each of which has at most 2,000 characters."""
LARGEST_ARGUMENT = 1e4
"""Numbers behind the name of a law of scipy.stats: some of these are summed size by size, for minutes beyond it."""
_SCIPY = "scipy"


def check_cost(document: object) -> None:
    """Refuses a plan that would be costly to read, before anything of it is read."""
    if len(json.dumps(document)) > PLAN_BYTES:
        raise InvalidInput("plan", "a longer one", f"a document of at most {PLAN_BYTES} bytes")
    for name, value in _fields(document):
        if name == "sizes" and isinstance(value, str):
            _check_law(value)
        if name == "notes" and isinstance(value, list) and len(value) > MOST_NOTES:
            raise InvalidInput("notes", f"{len(value)} of them", f"at most {MOST_NOTES} for each machine")


def _fields(document: object) -> Iterator[tuple[str, object]]:
    """All names and values of a JSON document, however deep they are."""
    if isinstance(document, dict):
        yield from document.items()
    for inner in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from _fields(inner)


def _check_law(spec: str) -> None:
    law, *words = spec.split(":")
    if law != _SCIPY:
        return
    try:
        small = all(abs(float(word)) <= LARGEST_ARGUMENT for word in words[1:])
    except ValueError:
        return  # whoever reads it says what is wrong
    if not small:
        allowed = f"a law of scipy.stats with numbers up to {LARGEST_ARGUMENT:g}, or histogram:SIZE=WEIGHT,…"
        raise InvalidInput("sizes", spec, allowed)
