"""The HTTP interface for everybody and for administrators; uploads have their own, faster way in (`ingest`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, ParamSpec
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel

import dame
from dame.device.questions import question_id
from dame.device.reports import report_bytes
from dame.service import models
from dame.service.admission import Caller, administrator_check, keyed, metrics_check, operator_check
from dame.service.database import Database
from dame.service.description import OCTETS, refusals
from dame.service.documents import (
    asked_document,
    listed_document,
    public_document,
    result_document,
    status_document,
    tally_document,
)
from dame.service.expected_rounds import with_rounds
from dame.service.logs import Log
from dame.service.metrics import TYPE, Metrics
from dame.service.readiness import Readiness
from dame.service.retention import Retention
from dame.service.rounds import Rounds
from dame.service.schedule import Schedule, seconds
from dame.service.settings import Settings
from dame.service.shifts import Shifts
from dame.service.stored import StoredStudy
from dame.service.studies import Safeguards, Studies
from dame.service.study_limits import LONGEST_GROUP
from dame.studies.plans import MOST_SLOTS

P = ParamSpec("P")
OURS = ("unknown-study", "forbidden")
"""How every call for an administrator may be refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that a request may need."""

    settings: Settings
    database: Database
    studies: Studies
    rounds: Rounds
    retention: Retention
    shifts: Shifts
    metrics: Metrics
    log: Log


def answering(
    method: Callable[..., Any], path: str, *reasons: str, status: int = 200, **more: Any
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

        method(path, status_code=status, responses=refusals(*reasons), **more)(answer)
        return answer

    return routed


KEY = Depends(HTTPBearer(auto_error=False, scheme_name="key", description="An administrator's key of a study."))
"""Describes what routes ask for; they have looked at it before (`admission`)."""
Name = Annotated[str, Path(min_length=1, max_length=128)]
Index = Annotated[int, Path(ge=0, lt=MOST_SLOTS)]
"""The place of a round in the plan's list of slots."""
GroupName = Annotated[str | None, Query(min_length=1, max_length=LONGEST_GROUP)]
"""Whose reports are asked for; everybody's if absent."""


def public_router(services: Services) -> APIRouter:
    """What everybody may ask."""
    router = APIRouter()

    readiness = Readiness(services.database)

    @answering(router.get, "/health/live")
    def live() -> models.LiveDocument:
        return models.LiveDocument(status="ok", version=dame.__version__)

    @answering(router.get, "/health/ready")
    def ready() -> models.HealthDocument:
        readiness.check()
        return models.HealthDocument(status="ok", database=services.database.dialect, version=dame.__version__)

    @answering(router.get, "/health")
    def health() -> models.HealthDocument:
        readiness.check()
        return models.HealthDocument(status="ok", database=services.database.dialect, version=dame.__version__)

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


def metrics_router(services: Services) -> APIRouter:
    """What whoever watches the server may ask."""
    router = APIRouter(route_class=keyed(metrics_check(services.settings)), dependencies=[KEY])

    @router.get("/metrics", response_class=PlainTextResponse, responses=refusals("forbidden"))
    async def metrics() -> Response:
        return Response(services.metrics.text(), media_type=TYPE)

    return router


def operator_router(services: Services) -> APIRouter:
    """What whoever runs the server may do."""
    router = APIRouter(route_class=keyed(operator_check(services.settings)), dependencies=[KEY])

    @answering(router.post, "/api/v1/studies", "forbidden", "conflict", status=201)
    def create(wanted: models.NewStudy) -> models.CreatedDocument:
        schedule = Schedule(counts=wanted.close_at_count, deadlines=_deadlines(wanted.deadlines))
        about = None if wanted.about is None else wanted.about.model_dump()
        safeguards = Safeguards(minimum_reports=wanted.minimum_reports, keep_reports_days=wanted.keep_reports_days)
        created = services.studies.create(wanted.plan, wanted.title, schedule, wanted.administrator, safeguards, about)
        services.log.event("study-created", study=created.study.study)
        services.shifts.wake()
        return models.CreatedDocument(
            study=created.study.study,
            administrator_key=created.administrator_key,
            public_key=created.study.public_key,
            plan_id=created.study.plan_id,
        )

    return router


def administrator_router(services: Services) -> APIRouter:
    """What administrators may do. The key comes in a header that no browser sends by itself: nothing to forge."""
    asked = keyed(administrator_check(services.studies))
    router = APIRouter(prefix="/api/v1/studies", route_class=asked, dependencies=[KEY])
    _add_study_routes(router, services)
    _add_round_routes(router, services)
    return router


def _add_study_routes(router: APIRouter, services: Services) -> None:
    @answering(router.post, "/{study}/invitations", *OURS, "over")
    def invite(study: Name, wanted: models.Invite, caller: Caller, request: Request) -> models.InvitationsDocument:
        found = caller.study
        until = None if wanted.expires is None else seconds(wanted.expires)
        tokens = services.studies.invite(found, wanted.count, wanted.group, caller.who, until)
        services.log.event("invited", study=found.study, count=len(tokens))
        base = (services.settings.public_url or str(request.base_url)).rstrip("/")
        address = partial(link, base, found, group=wanted.group)
        listed = with_rounds(services.database, found, [(token, address(token)) for token in tokens])
        return models.InvitationsDocument(
            study=found.study, key=found.public_key, group=wanted.group, invitations=list(listed)
        )

    @answering(router.get, "/{study}/status", *OURS)
    def status(study: Name, caller: Caller) -> models.StatusDocument:
        return status_document(services.database, caller.study)

    @answering(router.get, "/{study}/result", *OURS, "not-finished")
    def result(study: Name, caller: Caller) -> models.ResultDocument:
        return result_document(caller.study)


def _add_round_routes(router: APIRouter, services: Services) -> None:
    @answering(router.post, "/{study}/rounds/{slot}/close", *OURS, "too-few", "over")
    def close(study: Name, slot: Index, caller: Caller, wanted: models.Closing | None = None) -> models.StatusDocument:
        found = caller.study
        services.rounds.close(found, slot, caller.who, anyway=wanted is not None and wanted.anyway)
        services.log.event("round-closed", study=found.study, round=slot)
        return status_document(services.database, services.studies.get(found.study))

    @answering(router.get, "/{study}/rounds/{slot}/tally", *OURS, "not-finished")
    def tally(study: Name, slot: Index, caller: Caller) -> models.TallyDocument:
        return tally_document(services.rounds.tally(caller.study, slot))

    @router.get(
        "/{study}/rounds/{slot}/reports",
        response_class=StreamingResponse,
        responses={
            200: {"description": "The reports, one after the other, in random order", "content": {OCTETS: {}}},
            **refusals(*OURS, "not-finished", "purged"),
        },
    )
    def reports(study: Name, slot: Index, caller: Caller, group: GroupName = None) -> Response:
        question, parts = services.rounds.exported(caller.study, slot, group)
        headers = {"X-Dame-Question": question_id(question), "X-Dame-Report-Bytes": str(report_bytes(question))}
        return StreamingResponse(parts, media_type=OCTETS, headers=headers)


def link(base: str, study: StoredStudy, token: str, group: str | None = None) -> str:
    """The address that a participant opens. All that is private stands behind #, which browsers do not send.

    It says which plan she is invited to, and with which α: her device refuses anything else. Her group is in it, so
    that her device can tell her without asking anybody.
    """
    whose = "" if group is None else f"&group={quote(group, safe='')}"
    said = f"study={quote(study.study, safe='')}&token={token}&key={study.public_key}"
    return f"{base}/join#{said}&plan={study.plan_id}&alpha={study.plan.alpha!r}{whose}"


def _deadlines(moments: Sequence[str | None] | None) -> list[float | None] | None:
    return None if moments is None else [None if moment is None else seconds(moment) for moment in moments]
