"""The application: services, routes, and what runs beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import dame
from dame.errors import DameError
from dame.service import api, description
from dame.service.answers import problem_of, problem_response
from dame.service.database import Database
from dame.service.group_commit import GroupCommit
from dame.service.guard import Guard
from dame.service.ingest import routes
from dame.service.logs import Log
from dame.service.metrics import Metrics
from dame.service.pages import folder, page_routes
from dame.service.participants import participant_router, reminder_router
from dame.service.problems import Problem
from dame.service.public_log import add_pages, add_untold
from dame.service.retention import Retention
from dame.service.retention_api import operator_acts_router, retention_router
from dame.service.rounds import Rounds
from dame.service.settings import Settings
from dame.service.shifts import Shifts
from dame.service.studies import Clock, Studies
from dame.service.telemetry import Telemetry
from dame.service.uploads import Uploads
from dame.service.vault import Vault

TICK_SECONDS = 1.0
"""How often the clock is compared with deadlines."""
_OTHER = {404: "unknown-page", 405: "wrong-method", 413: "oversized"}


def create_app(settings: Settings, log: Log | None = None, clock: Clock = time.time) -> FastAPI:
    """The whole service on one database, which is opened and brought up to date here."""
    log, metrics = log or Log(), Metrics()
    database = Database(settings.database, vault=Vault.of_text(settings.storage_key))
    studies = Studies(database, clock)
    sealed = _seal_keys(database, studies)
    add_pages(database, folder(), dame.__version__, clock())
    add_untold(database, clock())
    rounds = Rounds(database, studies, clock, log)
    retention = Retention(database, clock)
    shifts = Shifts(database, log)
    services = api.Services(
        settings=settings,
        database=database,
        studies=studies,
        rounds=rounds,
        retention=retention,
        shifts=shifts,
        metrics=metrics,
        log=log,
    )
    ticker = Ticker(rounds, retention, log)
    commits = GroupCommit(Uploads(database, log, clock).accept, metrics, ticker.wake)
    telemetry = None if settings.otlp_endpoint is None else Telemetry(metrics, settings.otlp_endpoint)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        log.event("started", database=database.dialect, version=dame.__version__, keys_sealed=sealed)
        ticking = asyncio.create_task(ticker.run())
        shifts.start()
        try:
            yield
        finally:
            shifts.stop()
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking
            commits.close()
            if telemetry is not None:
                await asyncio.to_thread(telemetry.close)
            database.close()
            log.event("stopped")

    app = FastAPI(
        title="DAME collection service",
        version=dame.__version__,
        description="Means of data that never leave people's devices.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.router.routes[:0] = routes(commits, studies)
    app.include_router(api.public_router(services))
    app.include_router(api.metrics_router(services))
    app.include_router(api.operator_router(services))
    app.include_router(api.administrator_router(services))
    app.include_router(participant_router(services))
    app.include_router(reminder_router(services))
    app.include_router(retention_router(services))
    app.include_router(operator_acts_router(services))
    app.router.routes.extend(page_routes())
    app.add_middleware(Guard, settings=settings, metrics=metrics, log=log)
    _tell_problems(app)
    _describe_uploads(app)
    app.state.services = services
    return app


def _seal_keys(database: Database, studies: Studies) -> int:
    """How many signing keys were sealed anew; a database that cannot be opened with these keys is left alone."""
    try:
        return studies.seal_keys()
    except BaseException:
        database.close()
        raise


class Ticker:
    """Closes rounds that are due: every second, and whenever a round has become full; and purges reports that are."""

    def __init__(self, rounds: Rounds, retention: Retention, log: Log) -> None:
        self._rounds = rounds
        self._retention = retention
        self._log = log
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Looks now."""
        self._woken.set()

    async def run(self) -> None:
        """Looks until it is cancelled."""
        while True:
            try:
                closed = await asyncio.to_thread(self._rounds.close_due)
                for study, index in closed:
                    self._log.event("round-closed", study=study, round=index, automatic=True)
                for study, slots in await asyncio.to_thread(self._retention.purge_due):
                    self._log.event("reports-purged", study=study, rounds=slots, automatic=True)
            except Exception as error:  # the database may be back in a second
                self._log.failure("closing-failed", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), TICK_SECONDS)
            self._woken.clear()


def _tell_problems(app: FastAPI) -> None:
    async def known(_request: Request, error: Exception) -> Response:
        return problem_response(problem_of(error))

    async def http(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, Problem | RecursionError):  # FastAPI wraps what goes wrong while a body is read
            return problem_response(problem_of(error.__cause__))
        return problem_response(Problem(_OTHER.get(error.status_code, "invalid"), str(error.detail)))

    async def invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return problem_response(Problem("invalid", f"{field}: {first['msg']}"))

    app.add_exception_handler(DameError, known)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)


def _describe_uploads(app: FastAPI) -> None:
    described = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = described()
            document["paths"].update(description.upload_paths())
            parts = document["components"]
            parts["schemas"].update(description.upload_schemas())
            parts["securitySchemes"]["token"] = {"type": "http", "scheme": "bearer"}
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
