"""Every test of the service runs on both databases: SQLite in a file, and a PostgreSQL of our own."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dame.service.app import create_app
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.server import configured, listen, run
from dame.service.settings import Settings
from tests.service.postgres import Postgres
from tests.service.studies import Live

PATIENCE = 30.0


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One PostgreSQL server for all tests of this process."""
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(autouse=True)
def no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that do not keep anybody waiting."""
    monkeypatch.setattr("dame.client.pacing.PACE_SECONDS", 0.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new, empty database."""
    if request.param == "sqlite":
        yield str(tmp_path / "dame.sqlite")
        return
    server: Postgres = request.getfixturevalue("postgres")
    new = server.new_database()
    yield new
    server.drop_database(new)


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    """A new database with the service's tables."""
    opened = Database(address)
    yield opened
    opened.close()


@contextlib.contextmanager
def live_server(settings: Settings, clock: Callable[[], float] | None = None) -> Iterator[Live]:
    """The whole service behind a real port, in a thread of this process."""
    log = io.StringIO()
    app = create_app(settings, Log(log), **({} if clock is None else {"clock": clock}))
    config, opened = configured(settings, app), listen(settings)
    ready, where = threading.Event(), []

    def listening(at: str) -> None:
        where.append(at)
        ready.set()

    servers: list = []
    thread = threading.Thread(target=run, args=(config, opened, listening, servers.append), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    live = Live(where[0], app, log, settings)
    try:
        yield live
    finally:
        live.http.close()
        servers[0].should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()
        opened.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Live]]:
    """Starts servers, which are stopped after the test."""
    with contextlib.ExitStack() as stack:

        def started(address: str, clock: Callable[[], float] | None = None, **settings: object) -> Live:
            chosen = {"rate_limit": 0.0, "refusal_limit": 0.0, **settings}
            return stack.enter_context(live_server(Settings(database=address, port=0, **chosen), clock))

        yield started


@pytest.fixture
def live(address: str, serve: Callable[..., Live]) -> Live:
    """A running service on a new database."""
    return serve(address)
