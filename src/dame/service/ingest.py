"""The two ways in for reports, as plain ASGI: one report with its token, or a gateway's batch of them."""

from __future__ import annotations

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dame.service import auth
from dame.service.admission import RATE_LIMITED, secret_of
from dame.service.answers import encoded, problem_of, send_json, send_problem
from dame.service.group_commit import GroupCommit
from dame.service.models import AcceptedDocument, VerdictsDocument
from dame.service.problems import Problem
from dame.service.settings import BATCH_BYTES, REPORT_BYTES
from dame.service.studies import Studies
from dame.service.uploads import UNKNOWN_STUDY, UNKNOWN_TOKEN, Upload
from dame.service.visits import STRANGER_BYTES, Gone, declared_bytes, visit_of, whole_body

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
        """Answers a request. A right token is good from any address, whatever else came from there."""
        visit, token = visit_of(scope), secret_of(scope)
        try:
            upload = await _upload(scope, token, receive)
            (refusal,) = await self._commits.submit([upload])
            if refusal is UNKNOWN_TOKEN and token:
                visit.wrong += 1
                refusal = RATE_LIMITED if visit.blocked else refusal
        except Gone:
            raise
        except Exception as error:
            refusal = problem_of(error)
            if refusal.reason == "failed":
                raise
        if refusal is None:
            await send_json(send, _ACCEPTED)
        else:
            await send_problem(send, refusal)


class BatchUpload:
    """POST …/reports/batch: many reports, each with its own token. A long batch shows one of them in its header."""

    def __init__(self, commits: GroupCommit, studies: Studies) -> None:
        self._commits = commits
        self._studies = studies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        visit, study = visit_of(scope), scope["path_params"]["study"]
        try:
            if visit.blocked:
                raise RATE_LIMITED
            if declared_bytes(scope) > STRANGER_BYTES:
                await self._admit(scope, study)
            entries = _entries(await whole_body(receive, BATCH_BYTES))
            verdicts = await self._commits.submit([_from_entry(study, entry) for entry in entries]) if entries else ()
            if UNKNOWN_STUDY in verdicts:
                raise UNKNOWN_STUDY
        except Gone:
            raise
        except Exception as error:
            refusal = problem_of(error)
            if refusal.reason == "failed":
                raise
            await send_problem(send, refusal)
            return
        visit.wrong += sum(refusal is UNKNOWN_TOKEN for refusal in verdicts)
        results = ["accepted" if refusal is None else refusal.reason for refusal in verdicts]
        await send_json(send, encoded(VerdictsDocument(results=results)))

    async def _admit(self, scope: Scope, study: str) -> None:
        """Lets a long batch in, if its header shows a token of this study."""
        visit, token = visit_of(scope), secret_of(scope)
        if not token:
            raise Problem("oversized", f"a batch of more than {STRANGER_BYTES} bytes shows one of its tokens first")
        if not await run_in_threadpool(self._studies.knows_token, study, token):
            visit.wrong += 1
            raise UNKNOWN_TOKEN
        visit.most_bytes = BATCH_BYTES


def routes(commits: GroupCommit, studies: Studies) -> list[Route]:
    """The routes of both."""
    base = "/api/v1/studies/{study}/reports"
    return [
        Route(base, SingleUpload(commits), methods=["POST"]),
        Route(f"{base}/batch", BatchUpload(commits, studies), methods=["POST"]),
    ]


async def _upload(scope: Scope, token: str, receive: Receive) -> Upload:
    study, token_hash = scope["path_params"]["study"], auth.digest(token)
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
