"""What is looked at first: the address, the origin and the secret; the body comes last, and only when it is whole."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from dame.service import auth
from dame.service.app import create_app
from dame.service.settings import Settings
from dame.service.visits import STRANGER_BYTES
from tests.service.studies import Live, Run, answer_of, plan_document

OPERATOR = "a long operator key"
MEGABYTES_16 = 2**24


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A database for what does not depend on its kind."""
    return str(tmp_path / "dame.sqlite")


# --- 8: secrets before bodies


def answered(app, method: str, path: str, secret: str, body: bytes) -> tuple[int, int]:
    """The status of an answer, and how many bytes of the body were asked for before it."""
    parts = [body[start : start + 2**16] for start in range(0, len(body), 2**16)]
    read, status = 0, 0

    async def receive() -> dict:
        nonlocal read
        part = parts.pop(0)
        read += len(part)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: dict) -> None:
        nonlocal status
        status = message.get("status", status)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    headers += [(b"authorization", f"Bearer {secret}".encode())] if secret else []
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "client": ("192.0.2.7", 4000),
        "server": ("127.0.0.1", 8000),
        "headers": [*headers, (b"content-length", str(len(body)).encode())],
        "http_version": "1.1",
        "asgi": {"version": "3.0"},
    }
    asyncio.run(app(scope, receive, send))
    return status, read


@pytest.mark.parametrize("secret", ["", "wrong"])
@pytest.mark.parametrize("path", ["", "/sleep/invitations", "/sleep/rounds/0/close"])
def test_no_byte_of_a_body_is_read_for_a_wrong_key(file: str, path: str, secret: str) -> None:
    app = create_app(Settings(database=file, operator_key=OPERATOR))
    app.state.services.studies.create(plan_document())
    status, read = answered(app, "POST", f"/api/v1/studies{path}", secret, b"[" * MEGABYTES_16)
    assert (status, read) == (403, 0)


def test_strangers_may_send_256_kilobytes(file: str) -> None:
    app = create_app(Settings(database=file, operator_key=OPERATOR))
    app.state.services.studies.create(plan_document())
    for path in ("/reports", "/reports/batch"):
        status, read = answered(app, "POST", f"/api/v1/studies/sleep{path}", "", b" " * MEGABYTES_16)
        assert status == 413
        assert read <= STRANGER_BYTES + 2**16


def test_four_long_posts_of_strangers_cost_nothing(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file, operator_key=OPERATOR)
    begin = time.perf_counter()
    for _ in range(4):
        answer = live.http.post("/api/v1/studies", content=b'{"plan":[' + b"[]," * (MEGABYTES_16 // 3 - 10))
        assert answer.status_code == 403
    assert time.perf_counter() - begin < 4, "they took 13 seconds when they were parsed first"


def test_whoever_has_the_key_may_send_more(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file, operator_key=OPERATOR)
    wanted = json.dumps({"plan": plan_document()}) + " " * (2 * STRANGER_BYTES)
    headers = {"Authorization": f"Bearer {OPERATOR}", "Content-Type": "application/json"}
    assert live.http.post("/api/v1/studies", content=wanted, headers=headers).status_code == 201


def test_a_long_batch_shows_one_of_its_tokens(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file)
    study = live.create()
    tokens = study.by_round(study.invite(30))[0][:3]
    entries = [{"token": token, "report": answer_of(study.question(0)).hex()} for token in tokens]
    body = json.dumps({"reports": entries}) + " " * STRANGER_BYTES
    path = f"{study.base}/reports/batch"
    for headers, status in (
        ({}, 413),
        ({"Authorization": f"Bearer {auth.new_token()}"}, 401),
        ({"Authorization": f"Bearer {study.key}"}, 401),
        ({"Authorization": f"Bearer {tokens[0]}"}, 200),
    ):
        answer = live.http.post(path, content=body, headers=headers)
        assert answer.status_code == status, answer.text
    assert answer.json()["results"] == ["accepted"] * 3


# --- 9: metrics


def test_metrics_are_for_whoever_has_a_key(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file, operator_key=OPERATOR, metrics_key="a long metrics key")
    for secret in ("", "wrong", "a long metrics ke"):
        answer = live.http.get("/metrics", headers={"Authorization": f"Bearer {secret}"} if secret else {})
        assert (answer.status_code, answer.json()["reason"]) == (403, "forbidden")
        assert "dame_reports" not in answer.text
    for secret in (OPERATOR, "a long metrics key"):
        answer = live.http.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
        assert "dame_reports_accepted_total 0" in answer.text
    assert live.http.post("/api/v1/studies", headers={"Authorization": "Bearer a long metrics key"}).status_code == 403


def test_a_server_without_keys_tells_nobody_its_metrics(live: Live) -> None:
    assert live.http.get("/metrics").status_code == 403


# --- 11: what is charged


@pytest.fixture
def strict(file: str, serve: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A study on a server that forgives eight wrong secrets."""
    monkeypatch.setattr("dame.service.guard.BURST", 8.0 * 3600)
    return serve(file, refusal_limit=1.0 / 3600).create()


def blocked(study: Run) -> bool:
    return study.live.http.get(f"{study.base}/status", headers=study.secret).status_code == 429


def test_pages_that_are_not_there_and_missing_secrets_block_nobody(strict: Run) -> None:
    http = strict.live.http
    for _ in range(50):
        assert http.get("/nowhere").status_code == 404
        assert http.get("/api/v1/studies/unknown").status_code == 404
        assert http.get(f"{strict.base}/status").status_code == 403, "no secret is no wrong secret"
        assert http.post(f"{strict.base}/reports", content=b"x").status_code == 401
    assert not blocked(strict)


def test_refusals_of_a_right_token_block_nobody(strict: Run) -> None:
    first, *others = strict.by_round(strict.invite(60))[0]
    question = strict.question(0)
    assert strict.upload(first, answer_of(question)).status_code == 200
    for _ in range(20):
        assert strict.upload(first, b"other").status_code == 409
        assert strict.upload(others[0], b"malformed").status_code == 422
    assert not blocked(strict)


def test_wrong_secrets_block_secrets_and_nothing_else(strict: Run) -> None:
    http = strict.live.http
    token = strict.by_round(strict.invite(60))[0][0]
    report = answer_of(strict.question(0))
    for _ in range(8):
        assert not blocked(strict)
        assert http.get(f"{strict.base}/status", headers={"Authorization": "Bearer wrong"}).status_code == 403
    assert blocked(strict)
    assert http.get("/health").status_code == 200
    assert http.get("/join").status_code == 200
    assert http.get(strict.base).status_code == 200
    assert strict.upload(auth.new_token(), report).status_code == 429
    assert http.post(f"{strict.base}/reports/batch", json={"reports": []}).status_code == 429
    assert strict.upload(token, report).status_code == 200, "a right token is good from any address"


def test_wrong_tokens_inside_a_batch_are_charged(strict: Run) -> None:
    report = answer_of(strict.question(0))
    tokens = strict.by_round(strict.invite(60))[0]
    assert strict.batch([(token, report) for token in tokens[:20]]) == ["accepted"] * 20
    assert not blocked(strict)
    assert strict.batch([(auth.new_token(), report) for _ in range(7)]) == ["unknown-token"] * 7
    assert not blocked(strict)
    strict.batch([(auth.new_token(), report)])
    assert blocked(strict)


# --- 13: routes in the log, not paths


def test_the_log_has_routes_and_no_paths(live: Live) -> None:
    study = live.create()
    token = study.invite(1)[0]
    for path in (
        f"/join%23study=sleep&token={token}&key=00",
        f"/join/%23token={token}",
        f"/static/{token}",
        f"/api/v1/studies/{token}",
        f"/api/v1/studies/sleep/{token}",
        f"/?token={token}",
    ):
        live.http.get(path)
    study.status()
    log = live.log.getvalue()
    assert token not in log
    routes = {
        (line["route"], line["status"]) for line in map(json.loads, log.splitlines()) if line["event"] == "request"
    }
    assert (None, 404) in routes
    assert ("/api/v1/studies/{study}/status", 200) in routes
    assert ("/api/v1/studies/{study}", 404) in routes


# --- 14: pages of other origins


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://evil.example:{port}"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}"},
    {"Host": "[::", "Origin": "http://[::"},
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
def test_a_page_of_another_origin_cannot_create_a_study(file: str, serve: Callable[..., Live], foreign: dict) -> None:
    live = serve(file)
    port = live.base.rpartition(":")[2]
    headers = {name: value.format(port=port) for name, value in foreign.items()}
    # What a browser sends without asking first: no content type, or that of a plain form.
    for kind in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json"}):
        body = json.dumps({"plan": plan_document()}).encode()
        answer = live.http.post("/api/v1/studies", content=body, headers={**headers, **kind})
        assert (answer.status_code, answer.json()["reason"]) == (403, "wrong-origin")
    assert live.http.get("/api/v1/studies").json() == {"studies": []}


def test_bodies_that_are_not_called_json_create_nothing(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file)
    body = json.dumps({"plan": plan_document()}).encode()
    for kind in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        assert live.http.post("/api/v1/studies", content=body, headers=kind).status_code == 422


def test_our_own_pages_may_ask(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file)
    port = live.base.rpartition(":")[2]
    for number, host in enumerate((f"127.0.0.1:{port}", f"localhost:{port}")):
        headers = {"Origin": f"http://{host}", "Host": host, "Sec-Fetch-Site": "same-origin"}
        plan = plan_document(f"s{number}")
        assert live.http.post("/api/v1/studies", json={"plan": plan}, headers=headers).status_code == 201


def test_behind_a_proxy_the_public_name_counts(file: str, serve: Callable[..., Live]) -> None:
    live = serve(file, operator_key=OPERATOR, public_url="https://study.example.org/")
    for headers, status in (
        ({"Host": "study.example.org", "Origin": "https://study.example.org"}, 200),
        ({"Host": "127.0.0.1:8000", "Origin": "https://study.example.org"}, 200),
        ({"Host": "127.0.0.1:8000"}, 200),
        ({"Host": "other.example.org"}, 403),
        ({"Host": "study.example.org", "Origin": "https://other.example.org"}, 403),
    ):
        assert live.http.get("/api/v1/studies", headers=headers).status_code == status, headers


# --- 18: bodies that are cut short


def send_and_leave(live: Live, request: bytes) -> None:
    host, _, port = live.base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        time.sleep(0.1)


def test_a_report_that_is_cut_short_is_not_judged(live: Live) -> None:
    """All bytes of a report arrived, but not all that were announced: she may still send what she meant."""
    study = live.create()
    token = study.by_round(study.invite(60))[0][0]
    cut, meant = answer_of(study.question(0)), answer_of(study.question(0), 3.0)
    head = f"POST {study.base}/reports HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    send_and_leave(live, f"{head}Content-Length: {len(cut) + 1}\r\n\r\n".encode() + cut)
    send_and_leave(live, f"{head}Transfer-Encoding: chunked\r\n\r\n{len(cut):x}\r\n".encode() + cut + b"\r\n")
    send_and_leave(live, f"{head}Content-Length: {len(cut)}\r\n\r\n".encode())
    status = study.status()
    assert status["rounds"][0]["reports"] == 0
    assert status["rejected"] == {}
    assert study.upload(token, meant).status_code == 200
    assert "failed" not in live.log.getvalue()


def test_a_batch_and_a_document_that_are_cut_short_do_nothing(live: Live) -> None:
    study = live.create()
    token = study.by_round(study.invite(60))[0][0]
    batch = json.dumps({"reports": [{"token": token, "report": answer_of(study.question(0)).hex()}]}).encode()
    wanted = b'{"count": 1}'
    for path, body in (("/reports/batch", batch), ("/invitations", wanted)):
        head = f"POST {study.base}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {study.key}\r\n"
        length = f"Content-Type: application/json\r\nContent-Length: {len(body) + 1}\r\n\r\n"
        send_and_leave(live, (head + length).encode() + body)
    status = study.status()
    assert (status["invited"], status["rounds"][0]["reports"]) == (60, 0)
    assert "failed" not in live.log.getvalue()
    assert httpx.get(f"{live.base}/health").status_code == 200
