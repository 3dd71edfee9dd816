"""What is acknowledged is stored and counted once, whatever dies, fills up, goes away, or comes twice."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event, text

from dame.client.signed import participant_name
from dame.device.assignment import slot_of
from dame.device.questions import question_from_json
from dame.service import auth
from dame.service.database import Database, Unavailable
from dame.service.rounds import Rounds
from dame.service.stored import REPORTS, StoredStudy
from dame.service.studies import Studies
from dame.service.uploads import Upload, Uploads
from dame.tally import merged
from tests.service.postgres import Postgres
from tests.service.studies import answer_of, plan_document
from tests.service.test_study_runs import wait_for

PATIENCE = 60.0


class Desk:
    """The service without HTTP: one process's view of a database."""

    def __init__(self, address: str) -> None:
        self.database = Database(address)
        self.studies = Studies(self.database)
        self.rounds = Rounds(self.database, self.studies)
        self.uploads = Uploads(self.database)

    def reports(self, study: StoredStudy, index: int) -> tuple[int, int, int]:
        """How many reports of a round were counted on arrival, are stored, and are found by a recount."""
        with self.database.reading() as connection:
            row = text(f"SELECT id, {REPORTS} FROM rounds r WHERE study_id = :study AND slot = :slot")
            round_id, counted = connection.execute(row, {"study": study.id, "slot": index}).one()
            query = text("SELECT count(*) FROM reports WHERE round_id = :round")
            stored = connection.execute(query, {"round": round_id}).scalar_one()
        tallies = self.rounds.recount(study, index)
        return counted, stored, 0 if tallies is None else merged(tallies.values()).reports


@pytest.fixture
def desk(address: str) -> Iterator[Desk]:
    opened = Desk(address)
    yield opened
    opened.database.close()


def tokens_of(desk: Desk, study: StoredStudy, index: int, count: int) -> list[str]:
    made: list[str] = []
    while len(made) < count:
        some = desk.studies.invite(study, 2 * count)
        made += [one for one in some if slot_of(study.study, study.plan.shares, participant_name(one)) == index]
    return made[:count]


def prepared(desk: Desk, count: int) -> tuple[StoredStudy, list[Sent]]:
    study = desk.studies.create(plan_document()).study
    question = question_from_json(desk.rounds.question(study, 0).document)
    tokens = tokens_of(desk, study, 0, count)
    return study, [Sent(study.study, token, answer_of(question)) for token in tokens]


class Sent(Upload):
    """An upload whose token is known, as it is to the device."""

    __slots__ = ("token",)

    def __init__(self, study: str, token: str, report: bytes) -> None:
        super().__init__(study, auth.digest(token), report)
        object.__setattr__(self, "token", token)


# --- the server dies


@contextlib.contextmanager
def server_process(address: str) -> Iterator[tuple[subprocess.Popen, str]]:
    command = [sys.executable, "-m", "dame", "serve", "--database", address, "--port", "0", "--json"]
    limits = ["--rate-limit", "0", "--refusal-limit", "0"]
    with subprocess.Popen([*command, *limits], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line, "the server did not start"
            yield process, line.split('"')[3]
        finally:
            process.kill()


def killed_under_load(desk: Desk, address: str, kills: int, seed: int) -> None:
    study, uploads = prepared(desk, 300 * kills)
    chance = random.Random(seed)
    left, acknowledged = uploads.copy(), []
    for _ in range(kills):
        with server_process(address) as (process, base):
            stop = threading.Event()
            threads = [threading.Thread(target=load, args=(base, left, acknowledged, stop)) for _ in range(4)]
            before = len(acknowledged)
            for thread in threads:
                thread.start()
            wait_for(lambda before=before: len(acknowledged) > before, PATIENCE)
            time.sleep(chance.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
            stop.set()
            for thread in threads:
                thread.join(PATIENCE)
        with desk.database.reading() as connection:
            stored = {
                bytes(row[0])
                for row in connection.execute(
                    text("SELECT p.token_hash FROM reports r JOIN participants p ON p.id = r.participant_id")
                )
            }
        assert {one.token_hash for one in acknowledged} <= stored, "an acknowledged report is lost"
        counted, rows, recounted = desk.reports(study, 0)
        assert counted == rows == recounted == len(stored)


def load(base: str, left: list, acknowledged: list, stop: threading.Event) -> None:
    with httpx.Client(base_url=base, timeout=10) as client:
        while not stop.is_set() and left:
            upload = left.pop()
            try:
                answer = client.post(
                    f"/api/v1/studies/{upload.study}/reports",
                    content=upload.report,
                    headers={"Authorization": f"Bearer {upload.token}"},
                )
            except httpx.HTTPError:
                left.append(upload)  # nobody knows what became of it: the same bytes again
                return
            assert answer.status_code == 200, answer.text
            acknowledged.append(upload)


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(desk: Desk, address: str) -> None:
    killed_under_load(desk, address, kills=2, seed=1)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_server_is_killed_often(desk: Desk, address: str) -> None:
    killed_under_load(desk, address, kills=20, seed=2)


def test_a_server_that_died_while_closing_is_taken_over(desk: Desk, address: str) -> None:
    study, uploads = prepared(desk, 20)
    assert not any(desk.uploads.accept(uploads).refusals)
    with desk.database.writing() as connection:  # what the first transaction of a close leaves behind
        connection.execute(text("UPDATE rounds SET state = 'closing', closed_at = opened_at WHERE slot = 0"))
    (token,) = tokens_of(desk, study, 0, 1)
    (late,) = desk.uploads.accept([Sent(study.study, token, uploads[0].report)]).refusals
    assert late is not None
    assert late.reason == "too-late"
    other = Desk(address)
    assert other.rounds.close_due() == [(study.study, 0)]
    assert other.rounds.question(study, 1).document["round"] == 1
    assert desk.rounds.tallies(study)[0] == desk.rounds.recount(study, 0)
    other.database.close()


# --- the disk is full


def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "dame.sqlite"))
    study, uploads = prepared(desk, 3000)
    full = True

    @event.listens_for(desk.database.engine, "begin")
    def limit(connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if full else 2**30}")

    accepted = 0
    with contextlib.suppress(Unavailable):
        for start in range(0, len(uploads), 100):
            desk.uploads.accept(uploads[start : start + 100])
            accepted += 100
    assert accepted < 3000, "the disk never was full"
    with pytest.raises(Unavailable, match="full"):
        desk.uploads.accept(uploads)
    assert desk.reports(study, 0) == (accepted, accepted, accepted)
    full = False
    assert not any(desk.uploads.accept(uploads).refusals)  # the same again: what was stored counts once
    assert desk.reports(study, 0) == (3000, 3000, 3000)
    desk.database.close()


def test_a_disk_that_takes_no_more_bytes_is_told_over_http(tmp_path: Path) -> None:
    """A real limit of the operating system on the size of files, not one of SQLite."""
    address = str(tmp_path / "dame.sqlite")
    desk = Desk(address)
    study, uploads = prepared(desk, 400)
    desk.database.close()  # the last one to leave brings everything into the one file
    size = Path(address).stat().st_size
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2);"
        "import dame.cli; sys.argv = ['dame', *sys.argv[2:]]; dame.cli.main()"
    )
    serve = ["serve", "--database", address, "--port", "0", "--json", "--rate-limit", "0"]
    command = [sys.executable, "-c", code, str(size + 100_000), *serve]
    statuses = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            base = process.stdout.readline().split('"')[3]
            with httpx.Client(base_url=base, timeout=30) as client:
                for upload in uploads:
                    secret = {"Authorization": f"Bearer {upload.token}"}
                    path = f"/api/v1/studies/{study.study}/reports"
                    statuses.append(client.post(path, content=upload.report, headers=secret).status_code)
        finally:
            process.kill()
    assert set(statuses) <= {200, 503}
    assert 503 in statuses
    stored = desk.reports(study, 0)
    assert stored == (statuses.count(200),) * 3
    desk.database.close()


# --- the database goes away and comes back


def test_postgresql_goes_away_and_comes_back(serve) -> None:
    postgres = Postgres()
    try:
        postgres.start()
        live = serve(postgres.new_database())
        study = live.create()
        tokens = study.by_round(study.invite(60))[0]
        question = study.question(0)
        reports = {token: answer_of(question) for token in tokens}
        assert study.upload(tokens[0], reports[tokens[0]]).status_code == 200
        postgres.stop()  # at once, as in a power cut
        gone = study.upload(tokens[1], reports[tokens[1]])
        assert (gone.status_code, gone.json()["reason"]) == (503, "unavailable")
        assert gone.headers["retry-after"]
        assert live.http.get("/health").status_code == 503
        postgres.start()
        wait_for(lambda: live.http.get("/health").status_code == 200)
        for token, report in reports.items():
            answer = study.upload(token, report)
            if answer.status_code == 503:  # a connection from before, once
                answer = study.upload(token, report)
            assert answer.status_code == 200
        assert study.status()["rounds"][0]["reports"] == len(tokens)
        assert study.close(0).json()["open_rounds"] == [1]
    finally:
        postgres.remove()


def test_sqlite_is_locked_by_somebody_and_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.service.database.LOCK_SECONDS", 0.2)
    address = str(tmp_path / "dame.sqlite")
    desk, other = Desk(address), Desk(address)
    study, uploads = prepared(desk, 5)
    with other.database.writing(), pytest.raises(Unavailable, match="locked"):
        desk.uploads.accept(uploads)
    assert not any(desk.uploads.accept(uploads).refusals)
    assert desk.reports(study, 0) == (5, 5, 5)
    for one in (desk, other):
        one.database.close()


# --- many at once


def test_several_servers_on_one_database_count_each_report_once(desk: Desk, address: str) -> None:
    study, uploads = prepared(desk, 240)
    others = [Desk(address) for _ in range(3)]
    problems: list[object] = []

    def work(one: Desk, seed: int) -> None:
        mine = uploads.copy()
        random.Random(seed).shuffle(mine)
        for start in range(0, len(mine), 16):
            problems.extend(filter(None, one.uploads.accept(mine[start : start + 16]).refusals))

    def closing(one: Desk) -> None:
        time.sleep(0.05)
        one.rounds.close(study, 0)

    threads = [threading.Thread(target=work, args=(one, seed)) for seed, one in enumerate(others)]
    closers = [threading.Thread(target=closing, args=(one,)) for one in others[:2]]
    for thread in (*threads, *closers):
        thread.start()
    for thread in (*threads, *closers):
        thread.join(PATIENCE)
    assert {problem.reason for problem in problems} <= {"too-late"}
    counted, stored, recounted = desk.reports(study, 0)
    assert counted == stored == recounted
    assert desk.rounds.tallies(study) == [desk.rounds.recount(study, 0)]
    for one in others:
        one.database.close()
