"""What can go wrong: every error is one sentence that names the field, its value and what is allowed."""

from __future__ import annotations

import unicodedata

_SHOWN = 60


class DameError(Exception):
    """The base of every error that this package raises on purpose."""


class InvalidInput(DameError, ValueError):
    """A value from outside that cannot be used; `field`, `value` and `allowed` say which and why."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        super().__init__(f"{field} must be {allowed}, not {shown(value)}")


class BadRecords(DameError, ValueError):
    """A person's records that cannot be used. Its message never contains a record: records are private."""


class RejectedReport(DameError, ValueError):
    """A report that does not belong to the question, or is not well formed; `reason` is one word to count by."""

    def __init__(self, reason: str, explanation: str) -> None:
        self.reason = reason
        super().__init__(f"report rejected ({reason}): {explanation}")


class Mismatch(DameError, ValueError):
    """Two values that do not belong together, such as tallies of two different questions."""


class AlreadyAnswered(DameError):
    """The ledger of this device holds a report for another question of the same study, or its budget is spent."""


class MissingExtra(DameError, ImportError):
    """A part of the package whose optional dependencies are not installed."""

    def __init__(self, part: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{part} needs the extra '{extra}': pip install 'dame-ldp[{extra}]'")


class ClusterProblem(DameError, RuntimeError):
    """Something that a cluster could not do, in one line of its own words."""


def plain(text: str) -> str:
    """The text with everything that a terminal might obey written as its code: what others send is only ever shown."""
    return "".join(
        one
        if one.isprintable() or one == "\n" or unicodedata.category(one) == "Zs"
        else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


def shown(value: object) -> str:
    """The value as an error message shows it: one line, cut when long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python is willing to print
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
