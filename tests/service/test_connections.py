"""Half-sent requests, by the hundred: they are sent away in time, and nobody else waits for them."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from dame.service.connections import Connections, Stage, most_connections
from tests.service.studies import Live, answer_of

HEAD = b"POST /api/v1/studies/sleep/reports HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALVES = [b"", b"POST", HEAD, HEAD + b"Content-Length: 100\r\n\r\nx"]


@pytest.fixture
def live(tmp_path: Path, serve: Callable[..., Live]) -> Live:
    return serve(str(tmp_path / "dame.sqlite"), header_timeout=0.5, body_timeout=1.0, max_connections=50)


def connected(base: str) -> socket.socket:
    host, _, port = base.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection, or does so within the connection's timeout."""
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("half", HALVES, ids=["nothing", "a word", "a head", "a body"])
def test_half_a_request_has_its_time(live: Live, half: bytes) -> None:
    with connected(live.base) as connection:
        connection.sendall(half)
        begin = time.monotonic()
        assert is_closed(connection)
        assert 0.3 < time.monotonic() - begin < 5.0


def test_a_request_that_trickles_in_has_no_more_time(live: Live) -> None:
    """Bytes that come one by one do not begin the time again."""
    with connected(live.base) as connection:
        begin, closed = time.monotonic(), False
        connection.settimeout(0.05)
        while not closed and time.monotonic() - begin < 8:
            try:
                connection.sendall(b"G" if time.monotonic() - begin < 0.1 else b"E")
            except (BrokenPipeError, ConnectionResetError):
                closed = True
            closed = closed or is_closed(connection)
        assert closed
        assert time.monotonic() - begin < 5


def test_whoever_asks_again_and_again_is_not_disturbed(live: Live) -> None:
    study = live.create()
    tokens = study.by_round(study.invite(60))[0]
    report = answer_of(study.question(0))
    with httpx.Client(base_url=live.base) as client:
        begin = time.monotonic()
        for token in tokens[:8]:  # over one connection, for longer than either time
            secret = {"Authorization": f"Bearer {token}"}
            assert client.post(f"{study.base}/reports", content=report, headers=secret).status_code == 200
            time.sleep(0.25)
        assert time.monotonic() - begin > 1.5


def test_when_all_places_are_taken_half_requests_give_way(live: Live) -> None:
    with contextlib.ExitStack() as stack:
        halves = [stack.enter_context(connected(live.base)) for _ in range(120)]
        for half in halves:
            with contextlib.suppress(OSError):
                half.sendall(HEAD)
        for _ in range(20):  # each over a new connection
            assert httpx.get(f"{live.base}/health", timeout=5).status_code == 200


@contextlib.contextmanager
def small_server(folder: Path, descriptors: int) -> Iterator[tuple[subprocess.Popen, str]]:
    """A server whose process may have few files open, as `dame serve` starts it."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2);"
        "import dame.cli; sys.argv = ['dame', *sys.argv[2:]]; dame.cli.main()"
    )
    words = ["serve", "--database", str(folder / "d.sqlite"), "--port", "0", "--json", "--header-timeout", "2"]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(descriptors), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process, json.loads(process.stdout.readline())["listening"]
        finally:
            process.kill()


def test_more_half_requests_than_file_descriptors(tmp_path: Path) -> None:
    """1,015 half-sent requests once filled the descriptors of a process, and nobody else got in."""
    with small_server(tmp_path, 300) as (process, base), contextlib.ExitStack() as stack:
        for _ in range(500):
            half = stack.enter_context(connected(base))
            with contextlib.suppress(OSError):
                half.sendall(HEAD)
        for _ in range(10):
            assert httpx.get(f"{base}/health", timeout=5).status_code == 200
        assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) < 300
        deadline = time.monotonic() + 15
        while len(list(Path(f"/proc/{process.pid}/fd").iterdir())) > 60:
            assert time.monotonic() < deadline, "half requests are not sent away"
            time.sleep(0.1)


class Line:
    """A connection without a network."""

    def __init__(self, idle: bool = True) -> None:
        self.idle, self.closed, self.transport = idle, False, self

    def close(self) -> None:
        self.closed = True


def test_who_gives_way_to_whom() -> None:
    now = [0.0]
    connections = Connections(4, 10.0, 60.0, lambda: now[0])
    body, busy, idle, head, *more = (Line(idle=place != 1) for place in range(9))
    for line, stage in ((body, Stage.BODY), (busy, Stage.NOTHING), (idle, Stage.NOTHING), (head, Stage.HEAD)):
        connections.note(line, None, Stage.HEAD)
        connections.note(line, Stage.HEAD, stage)
    for victim, newcomer in zip((head, body, idle), more[:3], strict=True):
        assert not victim.closed
        connections.note(newcomer, None, Stage.HEAD)
        connections.note(newcomer, Stage.HEAD, Stage.NOTHING)
        newcomer.idle = False
        assert victim.closed
    last = more[3]
    connections.note(last, None, Stage.HEAD)
    assert last.closed, "whoever is being answered is not sent away"
    assert not busy.closed


def test_late_lines_are_swept_and_others_stay() -> None:
    now = [0.0]
    connections = Connections(10, 10.0, 60.0, lambda: now[0])
    head, body, done = Line(), Line(), Line()
    for line, stage in ((head, Stage.HEAD), (body, Stage.BODY), (done, Stage.NOTHING)):
        connections.note(line, None, stage)
    for seconds, closed in ((9.9, [False] * 3), (10.0, [True, False, False]), (60.0, [True, True, False])):
        now[0] = seconds
        connections.sweep()
        assert [head.closed, body.closed, done.closed] == closed
    connections.note(done, Stage.NOTHING, None)
    assert len(connections) == 0


def test_there_are_descriptors_left_for_the_database() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 0 < most_connections() < soft
