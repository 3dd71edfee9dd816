"""The HTTP interface for everybody and for administrators; uploads have their own, faster way in (`ingest`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, ParamSpec
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from sqlalchemy import text

import dame
from dame.device.questions import question_id
from dame.device.reports import report_bytes
from dame.service import auth, models
from dame.service.database import Database
from dame.service.documents import (
    asked_document,
    listed_document,
    public_document,
    result_document,
    status_document,
    tally_document,
)
from dame.service.logs import Log
from dame.service.metrics import TYPE, Metrics
from dame.service.problems import MEDIA_TYPE, STATUS, Problem
from dame.service.rounds import Rounds
from dame.service.schedule import Schedule, seconds
from dame.service.settings import Settings
from dame.service.shifts import Shifts
from dame.service.stored import StoredStudy
from dame.service.studies import LONGEST_GROUP, Studies
from dame.studies.plans import MOST_SLOTS

P = ParamSpec("P")
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
    shifts: Shifts
    metrics: Metrics
    log: Log


def refusals(*reasons: str) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of some refusals, and of those that any request may meet."""
    listed = {STATUS[reason]: reason for reason in (*reasons, "invalid", "rate-limited", "unavailable")}
    return {
        status: {
            "description": f"Refused, such as: {reason}",
            "content": {MEDIA_TYPE: {"schema": _reference(models.ProblemDocument)}},
        }
        for status, reason in listed.items()
    }


def answering(
    method: Callable[..., Any], path: str, *reasons: str, status: int = 200
) -> Callable[[Callable[P, BaseModel]], Callable[P, Response]]:
    """Makes a function a route. The model that it returns is what is sent, and what is described.

    FastAPI reads the description off the annotation. It would make the text of the answer, too, but in another thread
    and after another look at every field.
    """

    def routed(function: Callable[P, BaseModel]) -> Callable[P, Response]:
        @wraps(function)
        def answer(*given: P.args, **named: P.kwargs) -> Response:
            # What was left unset is not there: figures that stand beside others only where there is a single target.
            body = function(*given, **named).model_dump_json(exclude_unset=True)
            return Response(body, status, media_type="application/json")

        method(path, status_code=status, responses=refusals(*reasons))(answer)
        return answer

    return routed


_key = HTTPBearer(auto_error=False, scheme_name="key", description="The administrator's key of a study.")
Key = Annotated[HTTPAuthorizationCredentials | None, Depends(_key)]
Name = Annotated[str, Path(min_length=1, max_length=128)]
Index = Annotated[int, Path(ge=0, lt=MOST_SLOTS)]
"""The place of a round in the plan's list of slots."""
GroupName = Annotated[str | None, Query(min_length=1, max_length=LONGEST_GROUP)]
"""Whose reports are asked for; everybody's if absent."""


def secret_of(key: HTTPAuthorizationCredentials | None) -> str:
    """The secret that came with a request; empty when there was none."""
    return "" if key is None else key.credentials


def public_router(services: Services) -> APIRouter:
    """What everybody may ask."""
    router = APIRouter()

    @answering(router.get, "/health")
    def health() -> models.HealthDocument:
        with services.database.reading() as connection:
            connection.execute(text("SELECT 1"))
        return models.HealthDocument(status="ok", database=services.database.dialect, version=dame.__version__)

    @router.get("/metrics", response_class=PlainTextResponse, responses=refusals())
    async def metrics() -> Response:
        return Response(services.metrics.text(), media_type=TYPE)

    @answering(router.get, "/api/v1/studies")
    def studies() -> models.ListedDocument:
        return listed_document(services.database)

    @answering(router.get, "/api/v1/studies/{study}", "unknown-study")
    def study(study: Name) -> models.PublicStudyDocument:
        return public_document(services.database, services.studies.get(study))

    @answering(router.get, "/api/v1/studies/{study}/rounds/{slot}/question", "unknown-study", "too-early", "too-late")
    def question(study: Name, slot: Index) -> models.AskedDocument:
        return asked_document(services.rounds.question(services.studies.get(study), slot))

    return router


def administrator_router(services: Services) -> APIRouter:
    """What administrators may do. The key comes in a header that no browser sends by itself: nothing to forge."""
    router = APIRouter(prefix="/api/v1/studies")
    _add_study_routes(router, services)
    _add_round_routes(router, services)
    return router


def _add_study_routes(router: APIRouter, services: Services) -> None:
    @answering(router.post, "", "forbidden", "conflict", status=201)
    def create(wanted: models.NewStudy, key: Key) -> models.CreatedDocument:
        _check_operator(services.settings, key)
        schedule = Schedule(counts=wanted.close_at_count, deadlines=_deadlines(wanted.deadlines))
        created = services.studies.create(wanted.plan, wanted.title, schedule)
        services.log.event("study-created", study=created.study.study)
        services.shifts.wake()
        return models.CreatedDocument(
            study=created.study.study,
            administrator_key=created.administrator_key,
            public_key=created.study.public_key,
            plan_id=created.study.plan_id,
        )

    @answering(router.post, "/{study}/invitations", *OURS)
    def invite(study: Name, wanted: models.Invite, key: Key, request: Request) -> models.InvitationsDocument:
        found = services.studies.administered(study, secret_of(key))
        tokens = services.studies.invite(found, wanted.count, wanted.group)
        services.log.event("invited", study=found.study, count=len(tokens))
        base = (services.settings.public_url or str(request.base_url)).rstrip("/")
        address = partial(link, base, found, group=wanted.group)
        listed = [models.InvitationDocument(token=token, link=address(token)) for token in tokens]
        return models.InvitationsDocument(
            study=found.study, key=found.public_key, group=wanted.group, invitations=listed
        )

    @answering(router.get, "/{study}/status", *OURS)
    def status(study: Name, key: Key) -> models.StatusDocument:
        return status_document(services.database, services.studies.administered(study, secret_of(key)))

    @answering(router.get, "/{study}/result", *OURS, "not-finished")
    def result(study: Name, key: Key) -> models.ResultDocument:
        return result_document(services.studies.administered(study, secret_of(key)))


def _add_round_routes(router: APIRouter, services: Services) -> None:
    @answering(router.post, "/{study}/rounds/{slot}/close", *OURS, "too-early")
    def close(study: Name, slot: Index, key: Key) -> models.StatusDocument:
        found = services.studies.administered(study, secret_of(key))
        services.rounds.close(found, slot)
        services.log.event("round-closed", study=found.study, round=slot)
        return status_document(services.database, services.studies.get(found.study))

    @answering(router.get, "/{study}/rounds/{slot}/tally", *OURS, "not-finished")
    def tally(study: Name, slot: Index, key: Key) -> models.TallyDocument:
        found = services.studies.administered(study, secret_of(key))
        return tally_document(services.rounds.tally(found, slot))

    @router.get(
        "/{study}/rounds/{slot}/reports",
        response_class=StreamingResponse,
        responses={
            200: {"description": "The reports, one after the other, in random order", "content": {OCTETS: {}}},
            **refusals(*OURS, "not-finished"),
        },
    )
    def reports(study: Name, slot: Index, key: Key, group: GroupName = None) -> Response:
        found = services.studies.administered(study, secret_of(key))
        question, parts = services.rounds.exported(found, slot, group)
        headers = {"X-Dame-Question": question_id(question), "X-Dame-Report-Bytes": str(report_bytes(question))}
        return StreamingResponse(parts, media_type=OCTETS, headers=headers)


def link(base: str, study: StoredStudy, token: str, group: str | None = None) -> str:
    """The address that a participant opens. All that is private stands behind #, which browsers do not send.

    Her group is in it, so that her device can tell her without asking anybody.
    """
    whose = "" if group is None else f"&group={quote(group, safe='')}"
    return f"{base}/join#study={quote(study.study, safe='')}&token={token}&key={study.public_key}{whose}"


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
            "200": _json(models.AcceptedDocument),
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
    batch = {
        "summary": "Upload many reports, each with its own token",
        "operationId": "upload_batch",
        "parameters": [study],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _json(models.VerdictsDocument),
            **{str(status): answer for status, answer in refusals("unknown-study", "oversized").items()},
        },
    }
    base = "/api/v1/studies/{study}/reports"
    return {base: {"post": single}, f"{base}/batch": {"post": batch}}


def upload_schemas() -> Mapping[str, Any]:
    """The OpenAPI description of answers that no function of a route returns: to uploads, and refusals."""
    told = (models.AcceptedDocument, models.VerdictsDocument, models.ProblemDocument)
    return {model.__name__: model.model_json_schema() for model in told}


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"description": "Accepted", "content": {"application/json": {"schema": _reference(model)}}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
