"""Runs the application in uvicorn."""

from __future__ import annotations

import errno
import gc
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from dame.errors import InvalidInput
from dame.service.app import create_app
from dame.service.connections import Connections, bounded_protocol, most_connections
from dame.service.settings import Settings

OBJECTS_BEFORE_SEARCH = 50_000
"""Requests that wait for a commit keep their objects alive: searching these for cycles at every 700th is in vain."""

SWITCH_SECONDS = 0.0005
"""The thread that writes waits for the event loop several times in each transaction: not for 5 ms each, as usual."""

TICKS = 5
"""uvicorn looks at its clock ten times a second; late connections are looked for at every fifth of these."""


class BoundedConfig(uvicorn.Config):
    """uvicorn's settings, and the connections that a server with them has."""

    def __init__(self, app: Any, settings: Settings) -> None:
        most = settings.max_connections or most_connections()
        self.bounded = Connections(most, settings.header_timeout, settings.body_timeout)
        super().__init__(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            http=bounded_protocol(self.bounded),
            ws="none",
            proxy_headers=settings.trusted_proxy is not None,
            forwarded_allow_ips=settings.trusted_proxy or "",
            timeout_graceful_shutdown=10,
        )


def listen(settings: Settings) -> socket.socket:
    """A socket on which nobody else listens."""
    host, port = settings.host, settings.port
    opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as problem:
        opened.close()
        if problem.errno == errno.EADDRINUSE:
            raise InvalidInput("port", port, f"one on which nobody listens yet at {host}") from None
        if problem.errno == errno.EACCES:
            raise InvalidInput("port", port, "one on which this user may listen") from None
        raise InvalidInput("host", host, f"an address of this machine ({problem.strerror or problem})") from None
    return opened


def run(
    config: BoundedConfig,
    opened: socket.socket,
    listening: Callable[[str], None],
    made: Callable[[uvicorn.Server], object] | None = None,
) -> None:
    """Serves until it is told to stop (SIGINT or SIGTERM); `listening` is told the address once it answers.

    Whoever runs it in a thread gets hold of the server by `made`.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_SEARCH, 20, 20)
    host, port = opened.getsockname()[:2]
    server = _Telling(config, listening, f"http://{f'[{host}]' if ':' in host else host}:{port}")
    if made is not None:
        made(server)
    server.run(sockets=[opened])


class _Telling(uvicorn.Server):
    def __init__(self, config: BoundedConfig, listening: Callable[[str], None], address: str) -> None:
        super().__init__(config)
        self._connections = config.bounded
        self._listening = listening
        self._address = address

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begins to answer, and says so."""
        await super().startup(sockets)
        if self.started:
            self._listening(self._address)

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop; late connections are closed meanwhile."""
        if counter % TICKS == 0:
            self._connections.sweep()
        return await super().on_tick(counter)


def configured(settings: Settings, app: Any = None) -> BoundedConfig:
    """uvicorn as this service wants it: no logs of its own, bounded requests, addresses of a trusted proxy only."""
    return BoundedConfig(create_app(settings) if app is None else app, settings)
