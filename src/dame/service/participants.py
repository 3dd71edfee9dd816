"""Routes for whoever was invited, and for whoever wants to compare: an invitation and its claim, and the public log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPBearer

from dame.service import auth, models
from dame.service.admission import RATE_LIMITED, Caller, administrator_check, keyed, secret_of
from dame.service.api import KEY, OURS, Name, Services, answering
from dame.service.problems import Problem
from dame.service.public_log import log_document
from dame.service.stored import StoredStudy
from dame.service.tokens import answered, answered_with, claimed
from dame.service.uploads import UNKNOWN_TOKEN
from dame.service.visits import visit_of

Start = Annotated[int, Query(ge=0, lt=2**31)]
T = TypeVar("T")
_TOKEN = Depends(HTTPBearer(auto_error=False, scheme_name="token", description="The token of an invitation."))


def participant_router(services: Services) -> APIRouter:
    """What people who were invited may ask, and everybody who compares."""
    router = APIRouter(prefix="/api/v1")

    @answering(router.get, "/log")
    def log(start: Start = 0) -> models.LogDocument:
        return log_document(services.database, start)

    @answering(router.get, "/studies/{study}/invitation", "unknown-study", "unknown-token", dependencies=[_TOKEN])
    def invitation(study: Name, request: Request) -> models.InvitationStateDocument:
        used = _shown(services, study, request, lambda own, token: answered_with(services.database, own, token))
        return models.InvitationStateDocument(answered=used)

    reasons = ("unknown-study", "unknown-token", "expired")

    @answering(router.put, "/studies/{study}/invitation", *reasons, dependencies=[_TOKEN])
    def claim(study: Name, wanted: models.Claim, request: Request) -> models.ClaimDocument:
        own = auth.digest(wanted.claim)
        return _shown(
            services, study, request, lambda found, token: claimed(services.database, found, token, own, time.time())
        )

    return router


def _shown(services: Services, study: str, request: Request, tell: Callable[[StoredStudy, bytes], T]) -> T:
    """What is told to whoever shows a token. A right one is good from any address; wrong ones are charged."""
    visit, found = visit_of(request.scope), services.studies.get(study)
    try:
        return tell(found, auth.digest(secret_of(request.scope)))
    except Problem as problem:
        if problem is not UNKNOWN_TOKEN:
            raise
        visit.wrong += 1
        raise (RATE_LIMITED if visit.blocked else problem) from None


def reminder_router(services: Services) -> APIRouter:
    """What administrators may ask to remind people: who has answered, never what."""
    asked = keyed(administrator_check(services.studies))
    router = APIRouter(prefix="/api/v1/studies", route_class=asked, dependencies=[KEY])

    @answering(router.post, "/{study}/answered", *OURS)
    def who_answered(study: Name, wanted: models.Asking, caller: Caller) -> models.AnsweredDocument:
        hashes = [bytes.fromhex(token) for token in wanted.tokens]
        return models.AnsweredDocument(answered=answered(services.database, caller.study, hashes))

    return router
