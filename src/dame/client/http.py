"""Requests to the collection service, by the standard library: bounded, not redirected, tried again with patience."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dame.errors import DameError, InvalidInput

TIMEOUT = 30.0
MOST_BYTES = 2**28
ATTEMPTS = 8
PATIENCE = 30.0
"""The longest pause between two attempts, in seconds."""
_AGAIN = frozenset({429, 500, 502, 503, 504})


class Unreachable(DameError):
    """The server did not answer, or not in a way that can be understood."""


class Refused(DameError):
    """The server said no: the reason in one word, and everything else that it said."""

    def __init__(self, status: int, problem: Mapping[str, object]) -> None:
        self.status = status
        self.reason = str(problem.get("reason", "unknown"))
        self.problem = dict(problem)
        super().__init__(f"the server refused ({self.reason}): {problem.get('detail', f'status {status}')}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The body and the headers of a good answer."""

    body: bytes
    headers: Mapping[str, str]

    def document(self) -> dict[str, Any]:
        """The body as a JSON object."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise Unreachable("the server's answer is not a JSON object: is this the address of a dame service?")
        return document


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A token must not follow a redirect to wherever."""


class Server:
    """A collection service at some address."""

    def __init__(self, base: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self.base = checked_base(base)
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get(self, *path: str, secret: str | None = None, query: Mapping[str, str] | None = None) -> Answer:
        """The answer to a GET."""
        return self._patiently("GET", path, None, secret, "application/json", query=query)

    def post_json(self, *path: str, document: object = None, secret: str | None = None, attempts: int = 1) -> Answer:
        """The answer to a POST of a JSON document."""
        body = json.dumps(document).encode()
        return self._patiently("POST", path, body, secret, "application/json", attempts)

    def put_json(self, *path: str, document: object, secret: str) -> Answer:
        """The answer to a PUT of a JSON document, which means the same however often it is sent."""
        return self._patiently("PUT", path, json.dumps(document).encode(), secret, "application/json")

    def post_bytes(self, *path: str, body: bytes, secret: str) -> Answer:
        """The answer to a POST of bytes, which are the same at every attempt."""
        return self._patiently("POST", path, body, secret, "application/octet-stream")

    def _patiently(
        self,
        method: str,
        path: tuple[str, ...],
        body: bytes | None,
        secret: str | None,
        kind: str,
        attempts: int = ATTEMPTS,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        address = "/".join([self.base, "api/v1", *(urllib.parse.quote(part, safe="") for part in path)])
        address += f"?{urllib.parse.urlencode(query)}" if query else ""
        headers = {"Content-Type": kind, **({} if secret is None else {"Authorization": f"Bearer {secret}"})}
        for attempt in range(1, attempts + 1):
            try:
                return self._once(urllib.request.Request(address, body, headers, method=method))
            except (Refused, Unreachable) as problem:
                if attempt == attempts or (isinstance(problem, Refused) and problem.status not in _AGAIN):
                    raise
                # Everybody who was turned away at the same moment comes back at another one.
                self._sleep(min(0.5 * 2**attempt, PATIENCE) * random.SystemRandom().uniform(0.5, 1.0))
        raise AssertionError("attempts must be positive")

    def _once(self, request: urllib.request.Request) -> Answer:
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return Answer(
                    body=_bounded(answer), headers={name.lower(): value for name, value in answer.headers.items()}
                )
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, http.client.HTTPException) as problem:
            reason = getattr(problem, "reason", None) or problem
            raise Unreachable(f"the server {self.base} does not answer: {reason}") from None


def checked_base(base: str) -> str:
    """The address of a service, without a slash at its end."""
    parts = urllib.parse.urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidInput("server", base, "an address such as https://study.example.org")
    return base.rstrip("/")


def _bounded(answer: Any) -> bytes:
    body: bytes = answer.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise Unreachable(f"the server's answer is longer than {MOST_BYTES} bytes")
    return body


def _refusal(error: urllib.error.HTTPError) -> DameError:
    with error:
        if 300 <= error.code < 400:
            return Unreachable(f"the server sends elsewhere, to {error.headers.get('Location')}: use that address")
        try:
            problem = json.loads(error.read(2**16))
        except (ValueError, RecursionError, OSError, http.client.HTTPException):
            problem = None
    return Refused(error.code, problem if isinstance(problem, dict) else {})
