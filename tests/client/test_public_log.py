"""The public log: a chain that anybody can fetch and compare, and what a device refuses that is not in it."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from dame.cli.app import run
from dame.client.http import Server
from dame.client.participation import Participation
from dame.client.public_log import START, ForkedLog, checked_log, entry_hash, fetched_log
from dame.client.signed import plan_identity
from dame.device.ledger import Ledger
from dame.device.questions import question_id
from dame.service import public_log
from dame.service.database import Database
from dame.service.pages import folder
from tests.client.test_participation import Forged, invited
from tests.service.studies import Live, answer_of


@pytest.fixture
def live(tmp_path: Path, serve: Callable[..., Live]) -> Live:
    return serve(str(tmp_path / "dame.sqlite"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


def kinds(live: Live) -> list[str]:
    return [one["kind"] for one in fetched_log(Server(live.base)).entries]


def test_plans_and_questions_are_told_in_the_order_in_which_they_came(live: Live) -> None:
    first = live.create()
    token = first.by_round(first.invite(40))[0][0]
    assert first.upload(token, answer_of(first.question(0))).status_code == 200
    second = live.create("steps")
    first.close(0)
    entries = fetched_log(Server(live.base)).entries
    assert [one["kind"] for one in entries] == ["pages", "plan", "question", "plan", "question", "question"]
    plan, question = entries[1], entries[2]
    public = first.public()
    assert (plan["plan_id"], plan["public_key"]) == (plan_identity(public["plan"]), public["public_key"])
    assert (plan["study"], plan["alpha"], plan["previous"]) == ("sleep", 2.0, entry_hash(entries[0]))
    assert entries[3]["plan_id"] == second.public()["plan_id"]
    assert entries[-1]["question_id"] == question_id(first.question(1))
    assert (question["target"], question["round"], entries[-1]["round"]) == ("mean", 0, 1)
    assert not any("token" in json.dumps(one) for one in entries)


def test_the_log_is_told_in_parts(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_log, "AT_ONCE", 2)
    for name in ("one", "two", "three"):
        live.create(name)
    assert kinds(live) == ["pages", *["plan", "question"] * 3]
    assert live.http.get("/api/v1/log", params={"start": 6}).json()["entries"][0]["place"] == 6


def test_the_log_holds_the_hash_of_every_file_that_is_served(live: Live) -> None:
    files = fetched_log(Server(live.base)).entries[0]["files"]
    served = {path.relative_to(folder()).as_posix() for path in folder().rglob("*") if path.is_file()}
    assert files.keys() == served
    for name in ("join.js", "device/answer.js", "style.css", "device/sha256.js"):
        assert hashlib.sha256(live.http.get(f"/static/{name}").content).hexdigest() == files[name]
    assert hashlib.sha256(live.http.get("/join").content).hexdigest() == files["join.html"]


def test_pages_are_told_again_when_they_have_changed(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "dame.sqlite"))
    web = tmp_path / "web"
    web.mkdir()
    (web / "join.js").write_text("one")
    assert public_log.add_pages(database, web, "1", 0.0)
    assert not public_log.add_pages(database, web, "1", 1.0)
    (web / "join.js").write_text("two")
    assert public_log.add_pages(database, web, "1", 2.0)
    assert public_log.log_document(database, 0).size == 2
    database.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries.pop(1),
        lambda entries: entries.reverse(),
        lambda entries: entries[0].update(time="1970-01-01T00:00:00+00:00"),
        lambda entries: entries[1].update(alpha=32.0),
        lambda entries: entries[2].update(previous=START),
        lambda entries: entries[2].update(place=7),
        lambda entries: entries.insert(1, copy.deepcopy(entries[1])),
    ],
)
def test_what_was_changed_is_no_chain(live: Live, change: Callable[[list], object]) -> None:
    live.create()
    entries = [dict(one) for one in fetched_log(Server(live.base)).entries]
    checked_log(entries)
    change(entries)
    with pytest.raises(ForkedLog, match="does not follow"):
        checked_log(entries)


def verified(live: Live, ledger: Ledger, server: Server | None = None):
    one = invited(next(iter(live_studies(live))))
    part = Participation(one, ledger, server)
    terms = part.terms()
    part.question(terms)
    return part.verify_log(terms)


def live_studies(live: Live):
    yield live.create("study-" + str(len(live.http.get("/api/v1/studies").json()["studies"])))


def rechained(change: Callable[[list[dict]], object]) -> Callable[[dict], object]:
    """A service that makes a new chain of changed entries."""

    def changed(document: dict) -> None:
        if "entries" not in document:
            return
        change(document["entries"])
        previous = START
        for place, entry in enumerate(document["entries"]):
            entry.update(place=place, previous=previous)
            previous = entry_hash(entry)
        document.update(head=previous, size=len(document["entries"]))

    return changed


def test_a_device_verifies_that_its_plan_and_question_are_in_the_log(live: Live, ledger: Ledger) -> None:
    log = verified(live, ledger)
    assert ledger.log_seen(live.base) == (len(log.entries), log.head)
    later = verified(live, ledger)
    assert later.hashes[: len(log.hashes)] == log.hashes


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda entries: entries.pop(1), "0 plans"),
        (lambda entries: entries[1].update(plan_id="00" * 32), "1 plans"),
        (lambda entries: entries[1].update(public_key="00" * 32), "1 plans"),
        (lambda entries: entries.append({**entries[1], "plan_id": "00" * 32}), "2 plans"),
        (lambda entries: entries.pop(2), "0 questions"),
        (lambda entries: entries[2].update(question_id="00" * 32), "1 questions"),
        (lambda entries: entries.append({**entries[2], "question_id": "00" * 32}), "2 questions"),
    ],
)
def test_a_log_that_tells_something_else_is_refused(live: Live, ledger: Ledger, change, word: str) -> None:
    with pytest.raises(ForkedLog, match=word):
        verified(live, ledger, Forged(live.base, rechained(change)))
    assert ledger.log_seen(live.base) == (0, "")


def test_a_log_that_was_changed_since_it_was_seen_is_refused(live: Live, ledger: Ledger) -> None:
    verified(live, ledger)
    older = Forged(live.base, rechained(lambda entries: entries[0].update(version="0")))
    with pytest.raises(ForkedLog, match="saw before"):
        verified(live, ledger, older)


def test_a_service_that_names_another_end_is_refused(live: Live) -> None:
    forged = Forged(live.base, lambda document: document.update(head="00" * 32))
    with pytest.raises(ForkedLog, match="another last entry"):
        fetched_log(forged)


def test_the_command_verifies_and_prints_what_to_compare(live: Live, tmp_path: Path, capsys) -> None:
    study = live.create()
    (tmp_path / "my.csv").write_text("hours\n" + "7\n" * 400)
    answer = live.http.post(f"{study.base}/invitations", json={"count": 40}, headers=study.secret).json()
    tokens = study.by_round([one["token"] for one in answer["invitations"]])[0]
    links = [one["link"] for one in answer["invitations"] if one["token"] in tokens]
    words = ["--data", str(tmp_path / "my.csv"), "--ledger", str(tmp_path / "book"), "--yes", "--verify-log"]
    assert run(["join", links[0], *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["log"] == {"size": 3, "head": live.http.get("/api/v1/log").json()["head"]}
    database = live.app.state.services.database
    with database.writing() as connection:  # a service that rewrites its past
        connection.execute(text("UPDATE public_log SET entry = replace(entry, 'sleep', 'sheep') WHERE place = 1"))
    again = [word if word != str(tmp_path / "book") else str(tmp_path / "other") for word in words]
    assert run(["join", links[1], *again]) == 2
    assert "does not follow the one before it" in capsys.readouterr().err


def test_studies_of_a_release_without_a_log_are_told_of_once(live: Live, ledger: Ledger) -> None:
    study = live.create()
    database = Database(live.settings.database)
    with database.writing() as connection:
        connection.execute(text("DELETE FROM public_log"))
    assert [public_log.add_untold(database, 1.0), public_log.add_untold(database, 2.0)] == [1, 0]
    part = Participation(invited(study), ledger)
    terms = part.terms()
    part.question(terms)
    assert [one["kind"] for one in part.verify_log(terms).entries] == ["plan", "question"]
    database.close()
