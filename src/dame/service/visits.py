"""One request while it is answered: whom it came from, how much it may send, and how many wrong secrets it had."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Message, Receive, Scope

from dame.service.problems import Problem

STRANGER_BYTES = 2**18
"""The longest body of somebody who has not shown a secret that is right."""
_KEY = "dame.visit"


class Gone(Exception):
    """The client went away before its body was complete: there is nothing to judge, and nobody to tell."""


@dataclass(slots=True)
class Visit:
    """What the layers of the service tell one another about a request."""

    address: str
    blocked: bool
    """Whether its address has shown too many wrong secrets lately."""
    most_bytes: int = STRANGER_BYTES
    """How long its body may be; whoever shows a right secret may send more."""
    wrong: int = 0
    """Secrets that it had wrong."""


def begin_visit(scope: Scope, visit: Visit) -> None:
    """Keeps a visit with its request."""
    scope[_KEY] = visit


def visit_of(scope: Scope) -> Visit:
    """The visit that a request is."""
    visit: Visit = scope[_KEY]
    return visit


def bounded(receive: Receive, visit: Visit) -> Receive:
    """`receive` that refuses a body when it turns out to be longer than the visit may send, or is cut short."""
    size = 0

    async def counting() -> Message:
        nonlocal size
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        size += len(message.get("body", b""))
        if size > visit.most_bytes:
            raise oversized(visit.most_bytes)
        return message

    return counting


async def whole_body(receive: Receive, limit: int) -> bytes:
    """The body of a request, if it is complete and not longer than the limit."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise oversized(limit)
        more = message.get("more_body", False)
    return b"".join(parts) if len(parts) > 1 else parts[0]


def declared_bytes(scope: Scope) -> int:
    """How long a body says that it is; 0 if it does not say."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def oversized(limit: int) -> Problem:
    """The refusal of a body that is too long."""
    return Problem("oversized", f"the body must have at most {limit} bytes")
