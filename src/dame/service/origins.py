"""Who a request says that it is for, and which page it comes from: pages of other origins have no business here.

Browsers send `Origin` with everything that a page of another origin could make them do, and `Host` as the page named
the server. A server without an operator key believes whoever reaches it: it answers to names of this machine only, so
that a name of somebody else's that was pointed at 127.0.0.1 leads nowhere.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import Scope

from dame.service.problems import Problem
from dame.service.settings import Settings, is_loopback

_PORTS = {"http": 80, "https": 443}
Place = tuple[str, int | None]
"""A host and its port; None for that of its scheme."""


class Origins:
    """What a server is called, and whether a request is meant for it."""

    def __init__(self, settings: Settings) -> None:
        self._local_only = settings.operator_key is None
        self._public = None if settings.public_url is None else _place(settings.public_url)

    def check(self, scope: Scope) -> None:
        """Refuses a request for another server, and one that a page of another origin made a browser send."""
        host = origin = site = None
        for name, value in scope["headers"]:
            if name == b"host":
                host = value.decode("latin-1")
            elif name == b"origin":
                origin = value.decode("latin-1")
            elif name == b"sec-fetch-site":
                site = value
        here = None if host is None else _place(f"//{host}")
        self._check_host(here)
        if origin is not None and (here is None or not self._ours(_place(origin), here)):
            raise Problem("wrong-origin", "this request comes from a page of another origin")
        if site == b"cross-site" and scope["method"] not in ("GET", "HEAD"):
            raise Problem("wrong-origin", "this request comes from a page of another site")

    def _check_host(self, here: Place | None) -> None:
        if self._local_only and here is not None and not is_loopback(here[0]):
            raise Problem("wrong-origin", "a server without an operator key answers to names of this machine only")
        if self._public is not None and here is not None and here[0] != self._public[0] and not is_loopback(here[0]):
            raise Problem("wrong-origin", "this server has another name: see its public address")

    def _ours(self, origin: Place, here: Place) -> bool:
        # TLS ends at a proxy, so that the scheme is not known here: a port that is left out is that of the scheme.
        return origin == self._public or (origin[0] == here[0] and (origin[1] == here[1] or here[1] is None))


@lru_cache(maxsize=1024)
def _place(address: str) -> Place:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return "", None
    return (parts.hostname or "").lower(), None if port == _PORTS.get(parts.scheme) else port
