"""Several servers on one database: uploads to one study do not wait for one another, and a close waits for them all."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import event, text

from dame.device.questions import question_from_json
from dame.service.database import Database, Unavailable
from dame.service.migrations import FIRST, MIGRATIONS
from dame.service.schedule import Schedule
from dame.service.stored import REPORTS
from dame.service.studies import Safeguards
from tests.service.postgres import Postgres
from tests.service.studies import answer_of, plan_document
from tests.service.test_faults import Desk, Sent, prepared, tokens_of

PATIENCE = 30.0


class Pause:
    """Stops the next transaction of a desk that writes just before its commit, until it may go on."""

    def __init__(self, desk: Desk) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

        @event.listens_for(desk.database.engine, "commit")
        def before_commit(connection) -> None:
            if connection.get_execution_options().get("dame_writes") and not self.go_on.is_set():
                self.reached.set()
                assert self.go_on.wait(PATIENCE)


@pytest.fixture
def address(postgres: Postgres) -> Iterator[str]:
    """On PostgreSQL only: SQLite has one writer at a time."""
    new = postgres.new_database()
    yield new
    postgres.drop_database(new)


@pytest.fixture
def desks(address: str) -> Iterator[list[Desk]]:
    opened = [Desk(address) for _ in range(3)]
    yield opened
    for desk in opened:
        desk.database.close()


@contextlib.contextmanager
def in_thread(action) -> Iterator[list]:
    """What an action gives, or how it fails, once the block has been left."""
    outcome: list = []

    def work() -> None:
        try:
            outcome.append(action())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield outcome
    finally:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_an_upload_does_not_wait_for_another_one_to_the_same_round(desks: list[Desk]) -> None:
    """While one server is about to commit, three others write to the same round, refusals included."""
    first, second, _ = desks
    study, uploads = prepared(first, 40)
    pause = Pause(first)
    bad = [Sent(study.study, "0" * 32, b"x")]
    shards = iter(range(1, 31))
    first.database.shard = lambda: 0
    second.database.shard = lambda: next(shards)  # two draws by chance differ 31 times in 32
    with in_thread(lambda: first.uploads.accept(uploads[:10] + bad)) as outcome:
        assert pause.reached.wait(PATIENCE)
        for start in range(10, 40, 10):
            refusals = second.uploads.accept(uploads[start : start + 10] + bad).refusals
            assert [one and one.reason for one in refusals] == [None] * 10 + ["unknown-token"]
        assert not outcome, "the first one was committed too early for this test to mean anything"
        assert second.reports(study, 0) == (30, 30, 30)
        pause.go_on.set()
    assert outcome[0].refusals[:10] == [None] * 10
    assert second.reports(study, 0) == (40, 40, 40)


def test_a_close_waits_for_uploads_under_way_and_keeps_later_ones_out(desks: list[Desk]) -> None:
    first, second, third = desks
    study, uploads = prepared(first, 30)
    pause = Pause(first)
    with in_thread(lambda: first.uploads.accept(uploads[:20])) as accepted:
        assert pause.reached.wait(PATIENCE)
        with in_thread(lambda: second.rounds.close(study, 0)) as closed:
            assert wait_until_somebody_waits(third), "the close must wait"
            with in_thread(lambda: third.uploads.accept(uploads[20:])) as late:
                assert wait_until_somebody_waits(third, 2), "a close is not overtaken for ever"
                assert not closed
                pause.go_on.set()
    assert accepted[0].refusals == [None] * 20
    assert closed == [None]
    assert {one.reason for one in late[0].refusals} == {"too-late"}
    assert second.reports(study, 0) == (20, 20, 20)
    (tally,) = second.rounds.tallies(study)
    assert sum(one.reports for one in tally.values()) == 20


def wait_until_somebody_waits(desk: Desk, count: int = 1) -> bool:
    """Whether so many of the database's own processes come to wait for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    for _ in range(200):
        with desk.database.reading() as connection:
            if connection.execute(text(waiting)).scalar_one() >= count:
                return True
        threading.Event().wait(0.02)
    return False


def test_a_token_on_two_servers_at_once_is_good_for_one_report(desks: list[Desk]) -> None:
    first, second, _ = desks
    study, uploads = prepared(first, 6)
    question = question_from_json(first.rounds.question(study, 0).document)
    others = [Sent(study.study, one.token, answer_of(question, hours=3.0)) for one in uploads]
    others = [other for other, one in zip(others, uploads, strict=True) if other.report != one.report]
    assert others, "all coins fell alike: 2^-96"
    pause = Pause(first)
    with in_thread(lambda: first.uploads.accept(uploads)):
        assert pause.reached.wait(PATIENCE)
        with in_thread(lambda: second.uploads.accept([*reversed(others), *uploads])) as judged:
            assert wait_until_somebody_waits(second), "the same token has to wait for what becomes of it"
            pause.go_on.set()
    reasons = [one and one.reason for one in judged[0].refusals]
    assert reasons == ["conflict"] * len(others) + [None] * len(uploads)
    assert second.reports(study, 0) == (6, 6, 6)


def test_servers_that_are_ever_slower_give_up(desks: list[Desk]) -> None:
    first, second, _ = desks
    _, uploads = prepared(first, 2)
    second.database.find = lambda connection, hashes: [
        row._replace(report=None) for row in Database.find(second.database, connection, hashes)
    ]
    assert not any(first.uploads.accept(uploads).refusals)
    with pytest.raises(Unavailable, match="same tokens"):
        second.uploads.accept(uploads)


def test_a_round_is_full_by_the_sum_of_all_servers(desks: list[Desk]) -> None:
    schedule = Schedule(counts=[20, None])
    study = desks[0].studies.create(plan_document(), schedule=schedule, safeguards=Safeguards(minimum_reports=20)).study
    question = question_from_json(desks[0].rounds.question(study, 0).document)
    tokens = tokens_of(desks[0], study, 0, 21)
    uploads = [Sent(study.study, token, answer_of(question)) for token in tokens]
    full = [desks[place % 3].uploads.accept([upload]).full for place, upload in enumerate(uploads)]
    assert full == [False] * 19 + [True] * 2
    assert desks[2].rounds.close_due() == [(study.study, 0)]


def test_a_database_of_the_first_version_keeps_its_counts(address: str) -> None:
    old = Database(address, (FIRST,))
    with old.writing() as connection:
        for statement in (
            "INSERT INTO studies (study, title, plan, plan_id, administrator_hash, signing_key, public_key, created_at)"
            " VALUES ('s', 't', '{}', '', '', '', '', 0)",
            "INSERT INTO rounds (study_id, slot, target, round, name, lens, state, reports)"
            " VALUES (1, 0, 'm', 0, 'n', 'bins', 'open', 7)",
            "INSERT INTO rejections (study_id, reason, count) VALUES (1, 'conflict', 3)",
        ):
            connection.execute(text(statement))
    old.close()
    new = Database(address, MIGRATIONS)
    with new.reading() as connection:
        assert connection.execute(text(f"SELECT {REPORTS} FROM rounds r")).scalar_one() == 7
        assert connection.execute(text("SELECT reason, refused FROM refusal_counts")).one() == ("conflict", 3)
    new.close()
