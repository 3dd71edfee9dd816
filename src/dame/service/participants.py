"""Routes for whoever was invited, and for whoever wants to compare: the state of an invitation, and the public log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPBearer

from dame.service import auth, models
from dame.service.admission import RATE_LIMITED, Caller, administrator_check, keyed, secret_of
from dame.service.api import KEY, OURS, Name, Services, answering
from dame.service.problems import Problem
from dame.service.public_log import log_document
from dame.service.tokens import answered, answered_with
from dame.service.visits import visit_of

Start = Annotated[int, Query(ge=0, lt=2**31)]
_TOKEN = Depends(HTTPBearer(auto_error=False, scheme_name="token", description="The token of an invitation."))


def participant_router(services: Services) -> APIRouter:
    """What people who were invited may ask, and everybody who compares."""
    router = APIRouter(prefix="/api/v1")

    @answering(router.get, "/log")
    def log(start: Start = 0) -> models.LogDocument:
        return log_document(services.database, start)

    @answering(router.get, "/studies/{study}/invitation", "unknown-study", "unknown-token", dependencies=[_TOKEN])
    def invitation(study: Name, request: Request) -> models.InvitationStateDocument:
        visit = visit_of(request.scope)
        if visit.blocked:
            raise RATE_LIMITED
        found = services.studies.get(study)
        try:
            used = answered_with(services.database, found, auth.digest(secret_of(request.scope)))
        except Problem:
            visit.wrong += 1
            raise
        return models.InvitationStateDocument(answered=used)

    return router


def reminder_router(services: Services) -> APIRouter:
    """What administrators may ask to remind people: who has answered, never what."""
    asked = keyed(administrator_check(services.studies))
    router = APIRouter(prefix="/api/v1/studies", route_class=asked, dependencies=[KEY])

    @answering(router.post, "/{study}/answered", *OURS)
    def who_answered(study: Name, wanted: models.Asking, caller: Caller) -> models.AnsweredDocument:
        hashes = [bytes.fromhex(token) for token in wanted.tokens]
        return models.AnsweredDocument(answered=answered(services.database, caller.study, hashes))

    return router
