"""Answers over HTTP, and the problem that each error becomes."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Send

from dame.errors import DameError
from dame.service.database import Unavailable
from dame.service.models import ProblemDocument
from dame.service.problems import MEDIA_TYPE, Problem


def problem_of(error: Exception) -> Problem:
    """The problem that an error is told as. An error that nobody foresaw tells nothing about itself."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Unavailable):
        return Problem("unavailable", "the database is not available: try again in a few seconds")
    if isinstance(error, DameError):
        return Problem("invalid", str(error))
    if isinstance(error, RecursionError):
        return Problem("invalid", "the document is nested too deeply")
    return Problem("failed", "something went wrong in the server")


def problem_response(problem: Problem) -> Response:
    """A problem as an answer."""
    headers = {"Retry-After": "2"} if problem.reason in ("unavailable", "rate-limited") else None
    document = ProblemDocument(
        type="about:blank",
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=problem.detail,
        reason=problem.reason,
        why=problem.why,
        opens_after=problem.opens_after,
    )
    return Response(encoded(document), problem.status, headers, MEDIA_TYPE)


async def send_problem(send: Send, problem: Problem) -> None:
    """Sends a problem where there is no request object to answer."""
    response = problem_response(problem)
    await send({"type": "http.response.start", "status": problem.status, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": response.body})


async def send_json(send: Send, body: bytes) -> None:
    """Sends a JSON text with status 200."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def encoded(document: BaseModel) -> bytes:
    """A document as a JSON text; what it leaves open is not in it."""
    return document.model_dump_json(exclude_none=True).encode()
