"""Runs the application in uvicorn."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from dame.service.app import create_app
from dame.service.limits import MOST_HEADER_BYTES
from dame.service.settings import Settings

OBJECTS_BEFORE_SEARCH = 50_000
"""Requests that wait for a commit keep their objects alive: searching these for cycles at every 700th is in vain."""

SWITCH_SECONDS = 0.0005
"""The thread that writes waits for the event loop several times in each transaction: not for 5 ms each, as usual."""


def run(
    config: uvicorn.Config, listening: Callable[[str], None], made: Callable[[uvicorn.Server], object] | None = None
) -> None:
    """Serves until it is told to stop (SIGINT or SIGTERM); `listening` is told the address once it answers.

    Whoever runs it in a thread gets hold of the server by `made`.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_SEARCH, 20, 20)
    socket = config.bind_socket()
    host, port = socket.getsockname()[:2]
    server = _Telling(config, listening, f"http://{f'[{host}]' if ':' in host else host}:{port}")
    if made is not None:
        made(server)
    server.run(sockets=[socket])


class _Telling(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listening: Callable[[str], None], address: str) -> None:
        super().__init__(config)
        self._listening = listening
        self._address = address

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begins to answer, and says so."""
        await super().startup(sockets)
        if self.started:
            self._listening(self._address)


def configured(settings: Settings, app: Any = None) -> uvicorn.Config:
    """uvicorn as this service wants it: no logs of its own, bounded headers, addresses of a trusted proxy only."""
    return uvicorn.Config(
        create_app(settings) if app is None else app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        http=_protocol(),
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        proxy_headers=settings.trusted_proxy is not None,
        forwarded_allow_ips=settings.trusted_proxy or "",
        timeout_graceful_shutdown=10,
    )


def _protocol() -> Any:
    """The quick parser where it is installed, with a limit for headers that it does not have by itself."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        return "h11"

    class Bounded(HttpToolsProtocol):
        """Closes a connection whose headers are too long."""

        def on_message_begin(self) -> None:
            self.header_bytes = 0
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._count(url)
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._count(name + value)
            super().on_header(name, value)

        def _count(self, part: bytes) -> None:
            self.header_bytes += len(part)
            if self.header_bytes > MOST_HEADER_BYTES:
                raise ValueError("headers too long")  # the parser gives up, and the connection is closed with 400

    return Bounded
