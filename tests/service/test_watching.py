"""Whoever watches a server: whether it lives and is ready, lines of JSON, and metrics for a collector."""

from __future__ import annotations

import http.server
import io
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from dame.service.database import Database
from dame.service.logs import Log, log_everything
from dame.service.metrics import Metrics
from dame.service.probe import is_ready
from dame.service.readiness import GOOD_FOR, Readiness
from dame.service.telemetry import Telemetry
from tests.service.postgres import Postgres
from tests.service.studies import Live, answer_of


def test_a_server_that_lives_is_not_always_ready(serve) -> None:
    postgres = Postgres()
    try:
        postgres.start()
        live = serve(postgres.new_database())
        port = int(live.base.rpartition(":")[2])
        assert [live.http.get(f"/health{path}").status_code for path in ("", "/live", "/ready")] == [200] * 3
        assert is_ready(port)
        postgres.stop()
        live.app.state.services.database.engine.dispose()
        threading.Event().wait(GOOD_FOR)
        assert [live.http.get(f"/health{path}").status_code for path in ("", "/live", "/ready")] == [503, 200, 503]
        assert not is_ready(port)
    finally:
        postgres.remove()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert not is_ready(free.getsockname()[1]), "nobody listens there"


def test_the_database_is_asked_once_a_second_at_most(tmp_path: Path) -> None:
    database, now, asked = Database(str(tmp_path / "d.sqlite")), [0.0], []
    reading = database.reading
    database.reading = lambda: asked.append(now[0]) or reading()
    readiness = Readiness(database, lambda: now[0])
    for moment in (0.0, 0.5, 0.99, 1.0, 1.5, 2.5):
        now[0] = moment
        readiness.check()
    assert asked == [0.0, 1.0, 2.5]
    database.close()


# --- logs


@pytest.fixture
def root() -> Iterator[None]:
    """Puts the logging of this process back as it was."""
    before = logging.getLogger().handlers[:]
    yield
    logging.captureWarnings(False)
    logging.getLogger().handlers[:] = before


def test_what_libraries_log_is_json_without_what_was_in_their_hands(root: None) -> None:
    stream = io.StringIO()
    log_everything(Log(stream))
    logger = logging.getLogger("uvicorn.error")
    logger.warning("Invalid HTTP request received.")
    logger.info("nobody's business")
    try:
        raise ValueError("a secret")
    except ValueError:
        logger.exception("Exception in ASGI application")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    first, second, third = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (first["logger"], first["message"]) == ("uvicorn.error", "Invalid HTTP request received.")
    assert (second["error"], second["level"]) == ("ValueError", "error")
    assert "secret" not in json.dumps(second)
    assert third["logger"] == "py.warnings"


def test_every_line_of_a_server_is_json(tmp_path: Path) -> None:
    words = ["serve", "--database", str(tmp_path / "d.sqlite"), "--port", "0", "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", "dame", *words], **pipes) as process:
        base = json.loads(process.stdout.readline())["listening"]
        host, _, port = base.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"nonsense\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 400")
        assert httpx.get(f"{base}/health/live").status_code == 200
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30)
    events = [json.loads(line)["event"] for line in told.decode().splitlines()]
    assert events == ["started", "log", "request", "stopped"]


# --- metrics for a collector


class Collector(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, ExportMetricsServiceRequest.FromString(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[http.server.HTTPServer]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.received = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def sent_to(collector: http.server.HTTPServer) -> dict[tuple, float]:
    """The last values that a collector was sent, by name and labels."""
    found: dict[tuple, float] = {}
    for path, request in collector.received:
        assert path == "/v1/metrics"
        for one in request.resource_metrics[0].scope_metrics[0].metrics:
            for point in one.sum.data_points:
                labels = sorted((each.key, each.value.string_value) for each in point.attributes)
                found[one.name, *labels] = point.as_int or point.as_double
    return found


def test_metrics_are_sent_to_a_collector(collector, tmp_path: Path) -> None:
    from dame.service.settings import Settings
    from tests.service.conftest import live_server

    endpoint = f"http://127.0.0.1:{collector.server_port}"
    settings = Settings(database=str(tmp_path / "d.sqlite"), port=0, otlp_endpoint=endpoint, refusal_limit=0.0)
    with live_server(settings) as live:
        study = live.create()
        token = study.by_round(study.invite(60))[0][0]
        report = answer_of(study.question(0))
        assert study.upload(token, report).status_code == 200
        assert study.upload(token, b"other").status_code == 409
    found = sent_to(collector)
    assert found["dame_reports_accepted_total",] == 1
    assert found["dame_reports_refused_total", ("reason", "conflict")] == 1
    assert found["dame_commits_total",] == 2
    assert found["dame_http_requests_total", ("method", "POST"), ("status", "200")] >= 2
    assert token not in repr(found)


def test_metrics_are_the_same_either_way(collector) -> None:
    metrics = Metrics()
    metrics.judged(3, {"conflict": 2})
    with metrics.commit_of(5):
        pass
    telemetry = Telemetry(metrics, f"http://127.0.0.1:{collector.server_port}/")
    telemetry.close()
    found = sent_to(collector)
    lines = dict(line.rsplit(" ", 1) for line in metrics.text().splitlines() if not line.startswith("#"))
    assert float(lines["dame_reports_accepted_total"]) == found["dame_reports_accepted_total",] == 3
    assert float(lines['dame_reports_refused_total{reason="conflict"}']) == 2
    assert found["dame_reports_refused_total", ("reason", "conflict")] == 2
    assert float(lines["dame_commit_seconds_count"]) == found["dame_commits_total",] == 1


def test_a_collector_that_is_not_there_disturbs_nobody(serve, tmp_path: Path, caplog) -> None:
    live: Live = serve(str(tmp_path / "d.sqlite"), otlp_endpoint="http://127.0.0.1:9")
    assert live.create().public()["state"] == "running"
