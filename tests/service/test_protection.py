"""Who may do what; what strangers learn; and what bombs, floods and odd paths come to."""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from dame.errors import DameError, InvalidInput
from dame.service import auth
from dame.service.database import Database, database_url
from dame.service.limits import RateLimit
from dame.service.migrations import FIRST, MIGRATIONS, migrate, schema_version
from dame.service.settings import Settings, is_loopback
from tests.service.studies import Live, answer_of, plan_document

ADMINISTRATION = [
    ("POST", "/invitations"),
    ("GET", "/status"),
    ("POST", "/rounds/0/close"),
    ("GET", "/result"),
    ("GET", "/rounds/0/tally"),
    ("GET", "/rounds/0/reports"),
]


def test_administration_needs_the_key_of_this_study(live: Live) -> None:
    study, other = live.create(), live.create("steps")
    token = study.invite(1)[0]
    for method, path in ADMINISTRATION:
        body = {"count": 1} if method == "POST" else None
        for secret in ("", "x", token, other.key, study.key[:-1], study.key.upper()):
            headers = {"Authorization": f"Bearer {secret}"} if secret else {}
            answer = live.http.request(method, study.base + path, headers=headers, json=body)
            assert (answer.status_code, answer.json()["reason"]) == (403, "forbidden"), (path, secret)
    assert study.public()["open_rounds"] == [0]


def test_cookies_and_queries_are_no_keys(live: Live) -> None:
    study = live.create()
    live.http.cookies.set("Authorization", f"Bearer {study.key}")
    assert live.http.get(f"{study.base}/status", params={"key": study.key}).status_code == 403


def test_creating_needs_the_operator_key_where_there_is_one(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, operator_key="a long operator key")
    body = {"plan": plan_document()}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert live.http.post("/api/v1/studies", json=body, headers=headers).status_code == 403
    headers = {"Authorization": "Bearer a long operator key"}
    assert live.http.post("/api/v1/studies", json=body, headers=headers).status_code == 201
    assert live.http.post("/api/v1/studies", json=body, headers=headers).json()["reason"] == "conflict"


def test_secrets_are_stored_as_hashes_only(live: Live, address: str) -> None:
    study = live.create()
    tokens = study.invite(3)
    database = Database(address)
    with database.reading() as connection:
        rows = [
            *connection.execute(text("SELECT * FROM studies")),
            *connection.execute(text("SELECT * FROM participants")),
        ]
    database.close()
    everything = repr(
        [[bytes(value).hex() if isinstance(value, bytes | memoryview) else value for value in row] for row in rows]
    )
    assert study.key not in everything
    assert not any(token in everything for token in tokens)
    assert auth.digest(tokens[0]).hex() in everything


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", noted)
    assert auth.matches("right", auth.digest("right"))
    assert not auth.matches("wrong", auth.digest("right"))
    assert compared == [(auth.digest("right"),) * 2, (auth.digest("wrong"), auth.digest("right"))]


def test_nobody_learns_who_has_answered(live: Live) -> None:
    study = live.create()
    first, second, *_ = study.by_round(study.invite(40))[0]
    report = answer_of(study.question(0))
    before = [
        live.http.get(path).text for path in ("/api/v1/studies", study.base, "/api/v1/studies/sleep/rounds/0/question")
    ]
    assert study.upload(first, report).status_code == 200
    after = [
        live.http.get(path).text for path in ("/api/v1/studies", study.base, "/api/v1/studies/sleep/rounds/0/question")
    ]
    assert before == after
    # Somebody else's token is no help: used or not, a stranger's answer is the same.
    strangers = [study.upload(auth.new_token(), report) for _ in range(2)]
    assert {(one.status_code, one.text) for one in strangers} == {(401, strangers[0].text)}
    assert study.upload(second, report).status_code == 200


def test_logs_and_metrics_hold_no_report_token_key_or_address(live: Live) -> None:
    study = live.create()
    token = study.by_round(study.invite(40))[0][0]
    report = answer_of(study.question(0))
    study.upload(token, report)
    study.upload(token, report + b"x")
    study.status()
    log = live.log.getvalue()
    lines = [json.loads(line) for line in log.splitlines()]
    assert {"started", "study-created", "invited", "request"} <= {line["event"] for line in lines}
    told = log + live.app.state.services.metrics.text()
    for secret in (token, study.key, report.hex(), "127.0.0.1", auth.digest(token).hex()):
        assert secret not in told
    assert 'dame_reports_refused_total{reason="conflict"} 1' in told
    assert "dame_reports_accepted_total 1" in told
    assert not [line for line in lines if str(line.get("route")).endswith("/reports") and line["status"] == 200]


def test_guessing_secrets_is_slowed_down(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, refusal_limit=2.0)
    study = live.create()
    statuses = [study.upload(auth.new_token(), b"x").status_code for _ in range(30)]
    assert statuses[:8] == [401] * 8
    assert 429 in statuses
    limited = live.http.get(f"{study.base}/status", headers=study.secret)
    assert (limited.status_code, limited.json()["reason"]) == (429, "rate-limited")
    assert limited.headers["retry-after"]


def test_an_address_gets_so_many_requests(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, rate_limit=5.0)
    statuses = [live.http.get("/join").status_code for _ in range(60)]
    assert statuses[:20] == [200] * 20
    assert 429 in statuses
    assert [live.http.get("/health").status_code for _ in range(60)] == [200] * 60, "whoever watches may always look"


def test_a_bucket_fills_again_and_addresses_are_forgotten() -> None:
    now = [0.0]
    limit = RateLimit(1.0, 2.0, lambda: now[0])
    assert [limit.take("a") for _ in range(3)] == [True, True, False]
    assert limit.take("b")
    now[0] = 1.0
    assert limit.take("a")
    assert not limit.take("a")
    now[0] = -100.0  # a clock that goes back gives nothing and takes nothing
    assert not limit.take("a")
    limit.charge("c", 1000.0)  # a debt has an end
    now[0] += 18.0
    assert limit.spent("c")
    now[0] += 4.0
    assert not limit.spent("c")
    for number in range(20_000):
        limit.take(str(number))
    assert len(limit._buckets) <= 10_000


# --- bombs


def test_bodies_are_bounded_even_without_a_length(live: Live) -> None:
    study = live.create()
    token = study.invite(1)[0]

    def endless():
        for _ in range(64):
            yield b"x" * 2**20

    for path, secret in (("/reports", token), ("/reports/batch", token), ("/invitations", study.key)):
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        answer = live.http.post(study.base + path, content=endless(), headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (413, "oversized"), path


BOMBS = [
    b"[" * 100_000,
    b'{"plan":' * 50_000,
    b"{",
    b"\xff\xfe",
    b'{"plan": NaN}',
    b'{"plan":{"users":1' + b"0" * 10_000 + b"}}",
]


@pytest.mark.parametrize("path", ["", "/sleep/reports/batch", "/sleep/invitations"])
def test_json_bombs_are_refused(live: Live, path: str) -> None:
    study = live.create()
    secret = study.invite(1)[0] if path.endswith("batch") else study.key
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    for body in BOMBS:
        answer = live.http.post(f"/api/v1/studies{path}", content=body, headers=headers)
        assert answer.status_code in (413, 422), (body[:20], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert live.http.get("/health").status_code == 200


def test_a_batch_has_at_most_a_thousand_reports(live: Live) -> None:
    study = live.create()
    body = {"reports": [{"token": "0" * 32, "report": ""}] * 1001}
    assert live.http.post(f"{study.base}/reports/batch", json=body).json()["reason"] == "oversized"
    assert study.batch([]) == []
    mixed = [{"token": "0" * 32, "report": "zz"}, {"token": "\0", "report": "00"}]
    answer = live.http.post(f"{study.base}/reports/batch", json={"reports": mixed})
    assert answer.json()["results"] == ["malformed", "unknown-token"]


def test_header_bombs_close_the_connection(live: Live) -> None:
    host, _, port = live.base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        received = b""
        try:
            for number in range(4000):
                connection.sendall(b"X-%d: %s\r\n" % (number, b"y" * 100))
            connection.sendall(b"\r\n")
            received = connection.recv(1000)
        except (BrokenPipeError, ConnectionResetError):
            received = b"HTTP/1.1 400"
    assert received.startswith(b"HTTP/1.1 400")
    assert live.http.get("/health").status_code == 200


INJECTIONS = [
    "' OR 1=1 --",
    "x'; DROP TABLE studies; --",
    "%00",
    "..%2f..%2fetc%2fpasswd",
    "sleep%00",
    "a" * 5000,
    "%ff",
    "💥",
]


def test_odd_names_are_unknown_studies(live: Live) -> None:
    study = live.create()
    for name in INJECTIONS:
        for path in (
            f"/api/v1/studies/{name}",
            f"/api/v1/studies/{name}/rounds/0/question",
            f"/static/{name}",
            f"/{name}",
        ):
            assert live.http.get(path).status_code in (404, 422), path
        assert live.http.post(f"/api/v1/studies/{name}/reports", content=b"x").status_code in (401, 404, 422)
    headers = {"Authorization": "Bearer ' OR '1'='1"}
    assert live.http.get(f"{study.base}/status", headers=headers).status_code == 403
    assert live.http.get("/api/v1/studies").json()["studies"][0]["study"] == "sleep"


def test_names_that_do_not_fit_into_addresses_are_refused(live: Live) -> None:
    for study in ("a/b", "..", "a?b", "a#b", "a%2fb", 'a"b', "a\\b"):
        answer = live.http.post("/api/v1/studies", json={"plan": plan_document(study)})
        assert (answer.status_code, answer.json()["reason"]) == (422, "invalid"), study
        assert "study must be" in answer.json()["detail"]


NONSENSE = [
    {"title": "x" * 300},
    {"title": "\x07"},
    {"close_at_count": [1]},
    {"close_at_count": [0, 1]},
    {"deadlines": ["soon", None]},
    {"deadlines": ["2001-01-01T00:00:00", None]},
    {"deadlines": ["2901-01-02T00:00:00", "2901-01-01T00:00:00"]},
    {"plan": {}},
    {"plan": {"protocol": "paper"}},
    {"unknown": 1},
]


def test_studies_that_make_no_sense_are_refused(live: Live) -> None:
    for wanted in NONSENSE:
        answer = live.http.post("/api/v1/studies", json={"plan": plan_document(), **wanted})
        assert (answer.status_code, answer.json()["reason"]) == (422, "invalid"), (wanted, answer.text)
    assert live.http.get("/api/v1/studies").json() == {"studies": []}


# --- pages


def test_pages_have_a_strict_policy(live: Live) -> None:
    for path in ("/", "/dashboard", "/join"):
        answer = live.http.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert live.http.delete("/join").json()["reason"] == "wrong-method"
    assert live.http.get("/nowhere").json()["reason"] == "unknown-page"
    assert live.http.get("/docs").status_code == 404


# --- settings and tables


@pytest.mark.parametrize("reachable", [{"public_url": "https://study.example.org"}, {"trusted_proxy": "127.0.0.1"}])
def test_a_server_behind_a_proxy_needs_an_operator_key(reachable: dict) -> None:
    with pytest.raises(InvalidInput, match="strangers could create studies"):
        Settings(**reachable)
    assert Settings(**reachable, operator_key="x" * 16)


def test_a_server_beyond_this_machine_needs_an_operator_key() -> None:
    with pytest.raises(InvalidInput, match="operator key"):
        Settings(host="0.0.0.0")
    assert Settings(host="0.0.0.0", operator_key="x" * 16).host == "0.0.0.0"
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "10.0.0.1", "example.org")] == [
        True
    ] * 3 + [False] * 2
    for wrong in (
        {"port": 70_000},
        {"rate_limit": -1.0},
        {"public_url": "example.org", "operator_key": "x" * 16},
        {"operator_key": "short"},
        {"metrics_key": "short"},
    ):
        with pytest.raises(InvalidInput):
            Settings(**wrong)


@pytest.mark.parametrize("wrong", ["mysql://x/y", "sqlite://", "http://x"])
def test_databases_of_other_kinds_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="database"):
        Database(wrong)


def test_passwords_are_not_part_of_messages() -> None:
    with pytest.raises(InvalidInput) as refused:
        database_url("mysql://user:secret@host/name")
    assert "secret" not in str(refused.value)


def test_migrations_are_taken_in_order_and_once(address: str) -> None:
    more = [*MIGRATIONS, ("CREATE TABLE later (name TEXT, data {bytes})",)]
    old = Database(address, MIGRATIONS)
    old.close()
    for _ in range(2):
        new = Database(address, more)
        with new.writing() as connection:
            assert schema_version(connection) == len(more)
            connection.execute(text("INSERT INTO later (name) VALUES ('kept')"))
            assert migrate(connection, more) == 0
        new.close()
    with pytest.raises(DameError, match="newer"):
        Database(address, MIGRATIONS)


def test_a_migration_that_fails_changes_nothing(address: str) -> None:
    Database(address).close()
    broken = [*MIGRATIONS, ("CREATE TABLE half (x INTEGER)", "CREATE NONSENSE")]
    with pytest.raises(Exception, match=r"(?i)syntax|nonsense"):
        Database(address, broken)
    again = Database(address)
    with again.reading() as connection:
        assert schema_version(connection) == len(MIGRATIONS)
    again.close()


def test_the_first_migration_is_never_rewritten() -> None:
    """Databases out there have taken it: a change belongs into a new step."""
    import hashlib

    assert hashlib.sha256(repr(FIRST).encode()).hexdigest()[:16] == "45497982778d731f"


def test_pages_are_in_the_package() -> None:
    from dame.service.pages import PAGES, folder

    assert isinstance(folder(), Path)
    for name in PAGES.values():
        assert (folder() / name).is_file()
