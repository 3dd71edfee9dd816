"""The outermost layer: limits, security headers, counting, logging, and the last word on errors."""

from __future__ import annotations

import time

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dame.service.answers import problem_of, send_problem
from dame.service.limits import RateLimit
from dame.service.logs import Log
from dame.service.metrics import Metrics
from dame.service.origins import Origins
from dame.service.problems import Problem
from dame.service.settings import Settings
from dame.service.visits import Gone, Visit, begin_visit, bounded

BURST = 4
"""Seconds' worth of requests, and of wrong secrets, that an address may have at once."""
ALWAYS = "/health"
"""Whoever watches the server is never told to come back later."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """Wraps an application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, log: Log) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log
        self._origins = Origins(settings)
        self._requests = RateLimit(settings.rate_limit, BURST * settings.rate_limit)
        self._guesses = RateLimit(settings.refusal_limit, BURST * settings.refusal_limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        address = scope["client"][0] if scope.get("client") else ""
        visit = Visit(address, self._guesses.spent(address))
        begin_visit(scope, visit)
        try:
            self._check(scope, address)
            await self._app(scope, bounded(receive, visit), answer)
        except (Gone, ClientDisconnect):
            return
        except Exception as error:
            if status:  # too late for another answer
                raise
            await self._last_word(error, answer)
        finally:
            if visit.wrong:
                self._guesses.charge(address, visit.wrong)
        self._note(scope, status, time.perf_counter() - begin)

    def _check(self, scope: Scope, address: str) -> None:
        self._origins.check(scope)
        if not scope["path"].startswith(ALWAYS) and not self._requests.take(address):
            raise Problem("rate-limited", "too many requests from this address: try again in a few seconds")

    async def _last_word(self, error: Exception, send: Send) -> None:
        problem = problem_of(error)
        if problem.reason == "failed":
            self._log.failure("failed", error)
        await send_problem(send, problem)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"]
        self._metrics.request(method, status)
        if not (method == "POST" and status == 200):
            # The route, never the path: a mail program that spoils a link would write a token there.
            route = getattr(scope.get("route"), "path", None)
            self._log.event("request", method=method, route=route, status=status, ms=round(1000 * seconds, 1))
