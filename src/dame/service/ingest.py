"""The two ways in for reports, as plain ASGI: one report with its token, or a gateway's batch of them."""

from __future__ import annotations

import msgspec
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dame.service import auth
from dame.service.answers import encoded, problem_of, send_json, send_problem
from dame.service.group_commit import GroupCommit
from dame.service.limits import whole_body
from dame.service.models import AcceptedDocument, VerdictsDocument
from dame.service.problems import Problem
from dame.service.settings import BATCH_BYTES, REPORT_BYTES
from dame.service.uploads import UNKNOWN_STUDY, Upload

MOST_IN_BATCH = 1000
_ACCEPTED = encoded(AcceptedDocument(accepted=True))


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    report: str


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[_Entry]


_decode = msgspec.json.Decoder(_Batch).decode


class SingleUpload:
    """POST …/reports: the bytes of one report."""

    def __init__(self, commits: GroupCommit) -> None:
        self._commits = commits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        try:
            upload = await _upload(scope, receive)
            (refusal,) = await self._commits.submit([upload])
        except Exception as error:
            refusal = problem_of(error)
            if refusal.reason == "failed":
                raise
        if refusal is None:
            await send_json(send, _ACCEPTED)
        else:
            await send_problem(send, refusal)


class BatchUpload:
    """POST …/reports/batch: many reports, each with its own token."""

    def __init__(self, commits: GroupCommit) -> None:
        self._commits = commits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        try:
            entries = _entries(await whole_body(receive, BATCH_BYTES))
            study = scope["path_params"]["study"]
            verdicts = await self._commits.submit([_from_entry(study, entry) for entry in entries]) if entries else ()
            if UNKNOWN_STUDY in verdicts:
                raise UNKNOWN_STUDY
        except Exception as error:
            refusal = problem_of(error)
            if refusal.reason == "failed":
                raise
            await send_problem(send, refusal)
            return
        results = ["accepted" if refusal is None else refusal.reason for refusal in verdicts]
        await send_json(send, encoded(VerdictsDocument(results=results)))


def routes(commits: GroupCommit) -> list[Route]:
    """The routes of both."""
    base = "/api/v1/studies/{study}/reports"
    return [
        Route(base, SingleUpload(commits), methods=["POST"]),
        Route(f"{base}/batch", BatchUpload(commits), methods=["POST"]),
    ]


async def _upload(scope: Scope, receive: Receive) -> Upload:
    study = scope["path_params"]["study"]
    token_hash = auth.digest("")
    for name, value in scope["headers"]:
        if name == b"authorization":
            token_hash = auth.digest(auth.bearer(value.decode("latin-1")))
    try:
        return Upload(study, token_hash, await whole_body(receive, REPORT_BYTES))
    except Problem as too_long:
        return Upload(study, token_hash, b"", too_long)


def _entries(body: bytes) -> list[_Entry]:
    try:
        entries = _decode(body).reports
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Problem("invalid", f"the body must be a batch of reports: {problem}") from None
    if len(entries) > MOST_IN_BATCH:
        raise Problem("oversized", f"a batch must have at most {MOST_IN_BATCH} reports")
    return entries


def _from_entry(study: str, entry: _Entry) -> Upload:
    token_hash = auth.digest(entry.token)
    try:
        return Upload(study, token_hash, bytes.fromhex(entry.report))
    except ValueError:
        refusal = Problem("malformed", "a report must be hexadecimal digits", why="length")
        return Upload(study, token_hash, b"", refusal)
