"""The HTTP interface for what is kept and who administers it: the end of studies, invitations, reports, keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query

from dame.service import acts, models
from dame.service.admission import Caller, administrator_check, keyed, operator_check
from dame.service.api import KEY, OURS, Name, Services, answering
from dame.service.documents import status_document
from dame.service.problems import Problem
from dame.service.retention_models import (
    ActDocument,
    ActsDocument,
    AdministratorKeyDocument,
    AdministratorsDocument,
    DeletedDocument,
    Deletion,
    NewAdministrator,
    PurgedDocument,
    Withdrawal,
    WithdrawnDocument,
)
from dame.service.schedule import iso

MOST_ACTS = 1000


def retention_router(services: Services) -> APIRouter:
    """What administrators may do, beside running a study."""
    asked = keyed(administrator_check(services.studies))
    router = APIRouter(prefix="/api/v1/studies/{study}", route_class=asked, dependencies=[KEY])
    _add_endings(router, services)
    _add_administrators(router, services)
    return router


def _add_endings(router: APIRouter, services: Services) -> None:
    @answering(router.post, "/end", *OURS, "over")
    def end(study: Name, caller: Caller) -> models.StatusDocument:
        services.retention.end(caller.study, caller.who)
        services.log.event("study-ended", study=caller.study.study)
        return status_document(services.database, services.studies.get(caller.study.study))

    @answering(router.post, "/delete", *OURS, "conflict")
    def delete(study: Name, wanted: Deletion, caller: Caller) -> DeletedDocument:
        if wanted.study != caller.study.study:
            raise Problem("invalid", "the body must name the study that shall be deleted")
        services.retention.delete(caller.study, caller.who)
        services.log.event("study-deleted", study=caller.study.study)
        return DeletedDocument(deleted=caller.study.study)

    @answering(router.post, "/purge", *OURS)
    def purge(study: Name, caller: Caller) -> PurgedDocument:
        rounds = services.retention.purge(caller.study, caller.who)
        services.log.event("reports-purged", study=caller.study.study, rounds=rounds)
        return PurgedDocument(rounds=rounds)

    @answering(router.post, "/withdraw", *OURS)
    def withdraw(study: Name, wanted: Withdrawal, caller: Caller) -> WithdrawnDocument:
        done = services.retention.withdraw(caller.study, wanted.tokens, caller.who)
        services.log.event("withdrawn", study=caller.study.study, count=done.withdrawn)
        return WithdrawnDocument(withdrawn=done.withdrawn, answered=done.answered, unknown=done.unknown)


def _add_administrators(router: APIRouter, services: Services) -> None:
    @answering(router.get, "/administrators", *OURS)
    def administrators(study: Name, caller: Caller) -> AdministratorsDocument:
        return AdministratorsDocument(administrators=services.studies.administrator_names(caller.study))

    @answering(router.post, "/administrators", *OURS, "conflict", status=201)
    def add(study: Name, wanted: NewAdministrator, caller: Caller) -> AdministratorKeyDocument:
        key = services.studies.add_administrator(caller.study, wanted.name, caller.who)
        services.log.event("administrator-added", study=caller.study.study)
        return AdministratorKeyDocument(name=wanted.name, administrator_key=key)

    @answering(router.post, "/administrators/remove", *OURS, "unknown-administrator", "conflict")
    def remove(study: Name, wanted: NewAdministrator, caller: Caller) -> AdministratorsDocument:
        services.studies.remove_administrator(caller.study, wanted.name, caller.who)
        services.log.event("administrator-removed", study=caller.study.study)
        return AdministratorsDocument(administrators=services.studies.administrator_names(caller.study))

    @answering(router.get, "/acts", *OURS)
    def trail(study: Name, caller: Caller) -> ActsDocument:
        return _acts_document(services.studies.trail(caller.study))


def operator_acts_router(services: Services) -> APIRouter:
    """The audit trail of all studies, deleted ones too, for whoever runs the server."""
    router = APIRouter(route_class=keyed(operator_check(services.settings)), dependencies=[KEY])

    @answering(router.get, "/api/v1/acts", "forbidden")
    def latest(most: Annotated[int, Query(ge=1, le=MOST_ACTS)] = 100) -> ActsDocument:
        with services.database.reading() as connection:
            return _acts_document(acts.latest(connection, most))

    return router


def _acts_document(found: Sequence[acts.Act]) -> ActsDocument:
    listed = [
        ActDocument(at=str(iso(one.at)), study=one.study, who=one.who, act=one.act, details=dict(one.details))
        for one in found
    ]
    return ActsDocument(acts=listed)
