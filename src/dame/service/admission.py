"""Secrets are looked at before anything else: a route that needs one reads no body, and keeps no memory, for others."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import Scope

from dame.service import auth
from dame.service.problems import Problem
from dame.service.settings import DOCUMENT_BYTES, Settings
from dame.service.stored import Administered
from dame.service.studies import Studies
from dame.service.visits import visit_of

Check = Callable[[Request, str], Administered | None]
"""Refuses a request by its secret; tells on whose behalf it is made, where that is a matter of one study."""
RATE_LIMITED = Problem("rate-limited", "too many wrong secrets came from this address: try again in a few seconds")


def keyed(check: Check) -> type[APIRoute]:
    """Routes that ask for a secret first. Whoever has it may send long documents."""

    class KeyedRoute(APIRoute):
        """Asks for a secret before the body is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            """What answers a request: nothing of it is looked at before its secret is known to be right."""
            answer = super().get_route_handler()

            async def admitted(request: Request) -> Response:
                request.state.administered = await _checked(check, request)
                visit_of(request.scope).most_bytes = DOCUMENT_BYTES
                return await answer(request)

            return admitted

    return KeyedRoute


async def _checked(check: Check, request: Request) -> Administered | None:
    visit = visit_of(request.scope)
    if visit.blocked:
        raise RATE_LIMITED
    secret = secret_of(request.scope)
    try:
        return await run_in_threadpool(check, request, secret)
    except Problem as refusal:
        visit.wrong += refusal.reason == "forbidden" and bool(secret)
        raise


def secret_of(scope: Scope) -> str:
    """The secret that came with a request; empty when there was none."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return auth.bearer(value.decode("latin-1"))
    return ""


def administrator_check(studies: Studies) -> Check:
    """Only for administrators of the study that the path names."""
    return lambda request, secret: studies.administered(request.path_params["study"], secret)


def operator_check(settings: Settings) -> Check:
    """Only for whoever runs the server, where it has an operator key."""

    def check(_request: Request, secret: str) -> None:
        key = settings.operator_key
        if key is not None and not auth.matches(secret, auth.digest(key)):
            raise Problem("forbidden", "this needs the operator key of this server")

    return check


def metrics_check(settings: Settings) -> Check:
    """Only for whoever watches the server: how many have answered is nobody else's business."""

    def check(_request: Request, secret: str) -> None:
        keys = [key for key in (settings.metrics_key, settings.operator_key) if key is not None]
        if not [key for key in keys if auth.matches(secret, auth.digest(key))]:
            raise Problem("forbidden", "metrics need the metrics key of this server (DAME_METRICS_KEY)")

    return check


async def _administered(request: Request) -> Administered:
    found: Administered = request.state.administered
    return found


Caller = Annotated[Administered, Depends(_administered)]
"""The study of a request, and which of its administrators makes it."""
