"""The HTTP interface for everybody and for administrators; uploads have their own, faster way in (`ingest`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import text

import dame
from dame.device.questions import MOST_ROUNDS, question_id
from dame.device.reports import report_bytes
from dame.service import auth, models
from dame.service.database import Database
from dame.service.documents import public_document, result_document, status_document
from dame.service.logs import Log
from dame.service.metrics import TYPE, Metrics
from dame.service.problems import MEDIA_TYPE, STATUS, Problem
from dame.service.rounds import Rounds
from dame.service.schedule import Schedule, seconds
from dame.service.settings import Settings
from dame.service.studies import Studies, Study

OCTETS = "application/octet-stream"
OURS = ("unknown-study", "forbidden")
"""How every call for an administrator may be refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that a request may need."""

    settings: Settings
    database: Database
    studies: Studies
    rounds: Rounds
    metrics: Metrics
    log: Log


def refusals(*reasons: str) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of some refusals, and of those that any request may meet."""
    listed = {STATUS[reason]: reason for reason in (*reasons, "invalid", "rate-limited", "unavailable")}
    return {
        status: {
            "description": f"Refused, such as: {reason}",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status, reason in listed.items()
    }


def good_answer(model: type, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of a good answer."""
    return {status: {"model": model}}


_key = HTTPBearer(auto_error=False, scheme_name="key", description="The administrator's key of a study.")
Key = Annotated[HTTPAuthorizationCredentials | None, Depends(_key)]
Name = Annotated[str, Path(min_length=1, max_length=128)]
Index = Annotated[int, Path(ge=0, lt=MOST_ROUNDS)]
"""The place of a round in the plan's list of slots."""


def secret_of(key: HTTPAuthorizationCredentials | None) -> str:
    """The secret that came with a request; empty when there was none."""
    return "" if key is None else key.credentials


def public_router(services: Services) -> APIRouter:
    """What everybody may ask."""
    router = APIRouter()

    @router.get("/health", responses={**good_answer(models.Health), **refusals()})
    def health() -> Response:
        with services.database.reading() as connection:
            connection.execute(text("SELECT 1"))
        return JSONResponse({"status": "ok", "database": services.database.dialect, "version": dame.__version__})

    @router.get("/metrics", response_class=PlainTextResponse, responses=refusals())
    async def metrics() -> Response:
        return Response(services.metrics.text(), media_type=TYPE)

    @router.get("/api/v1/studies", responses={**good_answer(models.Listed), **refusals()})
    def studies() -> Response:
        return JSONResponse({"studies": services.studies.listed()})

    @router.get("/api/v1/studies/{study}", responses={**good_answer(models.PublicStudy), **refusals("unknown-study")})
    def study(study: Name) -> Response:
        return JSONResponse(public_document(services.database, services.studies.get(study)))

    @router.get(
        "/api/v1/studies/{study}/rounds/{slot}/question",
        responses={**good_answer(models.AskedQuestion), **refusals("unknown-study", "too-early", "too-late")},
    )
    def question(study: Name, slot: Index) -> Response:
        return JSONResponse(services.rounds.question(services.studies.get(study), slot).to_json())

    return router


def administrator_router(services: Services) -> APIRouter:
    """What administrators may do. The key comes in a header that no browser sends by itself: nothing to forge."""
    router = APIRouter(prefix="/api/v1/studies")
    _add_study_routes(router, services)
    _add_round_routes(router, services)
    return router


def _add_study_routes(router: APIRouter, services: Services) -> None:
    @router.post(
        "", status_code=201, responses={**good_answer(models.Created, 201), **refusals("forbidden", "conflict")}
    )
    def create(wanted: models.NewStudy, key: Key) -> Response:
        _check_operator(services.settings, key)
        schedule = Schedule(counts=wanted.close_at_count, deadlines=_deadlines(wanted.deadlines))
        created = services.studies.create(wanted.plan, wanted.title, schedule)
        services.log.event("study-created", study=created.study.study)
        document = {
            "study": created.study.study,
            "administrator_key": created.administrator_key,
            "public_key": created.study.public_key,
            "plan_id": created.study.plan_id,
        }
        return JSONResponse(document, 201)

    @router.post("/{study}/invitations", responses={**good_answer(models.Invitations), **refusals(*OURS)})
    def invite(study: Name, wanted: models.Invite, key: Key, request: Request) -> Response:
        found = services.studies.administered(study, secret_of(key))
        tokens = services.studies.invite(found, wanted.count)
        services.log.event("invited", study=found.study, count=len(tokens))
        base = (services.settings.public_url or str(request.base_url)).rstrip("/")
        listed = [{"token": token, "link": link(base, found, token)} for token in tokens]
        return JSONResponse({"study": found.study, "key": found.public_key, "invitations": listed})

    @router.get("/{study}/status", responses={**good_answer(models.Status), **refusals(*OURS)})
    def status(study: Name, key: Key) -> Response:
        return JSONResponse(status_document(services.database, services.studies.administered(study, secret_of(key))))

    @router.get("/{study}/result", responses={**good_answer(models.Result), **refusals(*OURS, "not-finished")})
    def result(study: Name, key: Key) -> Response:
        return JSONResponse(result_document(services.studies.administered(study, secret_of(key))))


def _add_round_routes(router: APIRouter, services: Services) -> None:
    @router.post(
        "/{study}/rounds/{slot}/close", responses={**good_answer(models.Status), **refusals(*OURS, "too-early")}
    )
    def close(study: Name, slot: Index, key: Key) -> Response:
        found = services.studies.administered(study, secret_of(key))
        services.rounds.close(found, slot)
        services.log.event("round-closed", study=found.study, round=slot)
        return JSONResponse(status_document(services.database, services.studies.get(found.study)))

    @router.get(
        "/{study}/rounds/{slot}/tally",
        responses={**good_answer(models.TallyDocument), **refusals(*OURS, "not-finished")},
    )
    def tally(study: Name, slot: Index, key: Key) -> Response:
        found = services.studies.administered(study, secret_of(key))
        return JSONResponse(services.rounds.tally(found, slot).to_json())

    @router.get(
        "/{study}/rounds/{slot}/reports",
        response_class=StreamingResponse,
        responses={
            200: {"description": "The reports, one after the other, in random order", "content": {OCTETS: {}}},
            **refusals(*OURS, "not-finished"),
        },
    )
    def reports(study: Name, slot: Index, key: Key) -> Response:
        found = services.studies.administered(study, secret_of(key))
        question, parts = services.rounds.exported(found, slot)
        headers = {"X-Dame-Question": question_id(question), "X-Dame-Report-Bytes": str(report_bytes(question))}
        return StreamingResponse(parts, media_type=OCTETS, headers=headers)


def link(base: str, study: Study, token: str) -> str:
    """The address that a participant opens. All that is private stands behind #, which browsers do not send."""
    return f"{base}/join#study={quote(study.study, safe='')}&token={token}&key={study.public_key}"


def _check_operator(settings: Settings, key: HTTPAuthorizationCredentials | None) -> None:
    if settings.operator_key is not None and not auth.matches(secret_of(key), auth.digest(settings.operator_key)):
        raise Problem("forbidden", "creating a study needs the operator key of this server")


def _deadlines(moments: Sequence[str | None] | None) -> list[float | None] | None:
    return None if moments is None else [None if moment is None else seconds(moment) for moment in moments]


def upload_paths() -> Mapping[str, Any]:
    """The OpenAPI description of the ways in for reports."""
    study = {
        "name": "study",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    }
    reasons = refusals("unknown-token", "unknown-study", "conflict", "too-late", "oversized", "malformed")
    single = {
        "summary": "Upload a report",
        "operationId": "upload",
        "security": [{"token": []}],
        "parameters": [study],
        "requestBody": {"required": True, "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}},
        "responses": {
            "200": _json({"type": "object", "required": ["accepted"], "properties": {"accepted": {"const": True}}}),
            **{str(status): answer for status, answer in reasons.items()},
        },
    }
    entry = {
        "type": "object",
        "required": ["token", "report"],
        "properties": {"token": {"type": "string"}, "report": {"type": "string"}},
        "additionalProperties": False,
    }
    listed = {"type": "array", "maxItems": 1000, "items": entry}
    body = {"type": "object", "required": ["reports"], "properties": {"reports": listed}, "additionalProperties": False}
    results = {"type": "array", "items": {"type": "string"}}
    batch = {
        "summary": "Upload many reports, each with its own token",
        "operationId": "upload_batch",
        "parameters": [study],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _json({"type": "object", "required": ["results"], "properties": {"results": results}}),
            **{str(status): answer for status, answer in refusals("unknown-study", "oversized").items()},
        },
    }
    base = "/api/v1/studies/{study}/reports"
    return {base: {"post": single}, f"{base}/batch": {"post": batch}}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": "Accepted", "content": {"application/json": {"schema": schema}}}
