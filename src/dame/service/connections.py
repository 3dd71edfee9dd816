"""The connections of a server: how long a request may take to arrive, how long its head may be, and how many there are.

A request that arrives in one piece, as nearly all do, costs nothing here. Whoever owes the rest of one is listed, in
the order in which they began, and is sent away when its time is over, or when its place is needed.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 32 * 1024
SPARE_DESCRIPTORS = 128
"""File descriptors that are left for the database, files and the server itself."""
MOST_CONNECTIONS = 10_000


class Stage(Enum):
    """What a connection owes: the head of a request, its body, or nothing."""

    HEAD = "head"
    BODY = "body"
    NOTHING = "nothing"


def most_connections() -> int:
    """As many connections as the file descriptors of this process allow."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(min(soft - SPARE_DESCRIPTORS, MOST_CONNECTIONS), soft // 2, 1)


class Connections:
    """All connections of one server."""

    def __init__(
        self, most: int, head_seconds: float, body_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = {Stage.HEAD: head_seconds, Stage.BODY: body_seconds}
        self._since: dict[Stage, dict[Any, float]] = {Stage.HEAD: {}, Stage.BODY: {}, Stage.NOTHING: {}}
        self._clock = clock

    def __len__(self) -> int:
        return sum(map(len, self._since.values()))

    def note(self, connection: Any, before: Stage | None, after: Stage | None) -> None:
        """Moves a connection from one stage to another; a new one comes from None, and one that ends goes there."""
        if before is not None:
            self._since[before].pop(connection, None)
        elif len(self) >= self._most:
            self._make_room(connection)
        if after is not None:
            self._since[after][connection] = self._clock()

    def sweep(self) -> None:
        """Closes connections whose time is over."""
        now = self._clock()
        for stage, seconds in self._seconds.items():
            late = [one for one, since in self._since[stage].items() if now - since >= seconds]
            for connection in late:
                self._close(connection, stage)

    def _make_room(self, new: Any) -> None:
        """Closes whoever has waited longest with half a request, then whoever is idle, or else the newcomer."""
        for stage in Stage:
            for connection in self._since[stage]:
                if stage is not Stage.NOTHING or connection.idle:
                    self._close(connection, stage)
                    return
        new.transport.close()

    def _close(self, connection: Any, stage: Stage) -> None:
        self._since[stage].pop(connection, None)
        connection.transport.close()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's quick protocol, with limits for heads, bodies and connections that it does not have by itself.

    It tells what it owes, and closes a connection whose head is too long.
    """

    known: Connections
    """All connections of its server."""
    stage: Stage | None = None
    next_stage = Stage.HEAD
    header_bytes = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        """A newcomer owes a request."""
        super().connection_made(transport)
        self._note(Stage.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever is gone owes nothing."""
        self._note(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Only what a whole piece of data comes to is noted."""
        super().data_received(data)
        if self.next_stage is not self.stage and self.stage is not None:
            self._note(self.next_stage)

    def _note(self, stage: Stage | None) -> None:
        self.known.note(self, self.stage, stage)
        self.stage = stage

    def on_message_begin(self) -> None:
        """A request begins."""
        self.header_bytes = 0
        self.next_stage = Stage.HEAD
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Counts the address."""
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Counts a header."""
        self._count(name + value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The body follows."""
        self.next_stage = Stage.BODY
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is here."""
        self.next_stage = Stage.NOTHING
        super().on_message_complete()

    def _count(self, part: bytes) -> None:
        self.header_bytes += len(part)
        if self.header_bytes > MOST_HEADER_BYTES:
            raise ValueError("headers too long")  # the parser gives up, and the connection is closed with 400


def bounded_protocol(connections: Connections) -> type[BoundedProtocol]:
    """The protocol of a server with these connections."""
    return type("ServedProtocol", (BoundedProtocol,), {"known": connections})
