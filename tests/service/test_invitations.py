"""Invitations: who asks and why, when each round is expected, whom to remind, and texts that only ever are shown."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dame.cli.app import run
from dame.client.http import Refused
from dame.client.signed import participant_name
from dame.errors import plain
from tests.service.studies import Live, answer_of, plan_document

ABOUT = {
    "asker": "The sleep laboratory of Example University",
    "purpose": "To learn how long people sleep on working days",
    "contact": "sleep@example.org",
    "consent": "I am at least 18 years old.\nI agree that my device sends one report.",
}
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxet"


@pytest.fixture
def live(tmp_path: Path, serve: Callable[..., Live]) -> Live:
    return serve(str(tmp_path / "dame.sqlite"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan_document()))
    (tmp_path / "my.csv").write_text("hours\n" + "7\n" * 400)
    (tmp_path / "consent.txt").write_text(ABOUT["consent"] + "\n")
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def called(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return called


def created(live: Live, call) -> None:
    words = [word for name in ("asker", "purpose", "contact") for word in (f"--{name}", ABOUT[name])]
    consent = ("--consent", "consent.txt", "--min-reports", "1")
    assert call("study", "create", "plan.json", "--server", live.base, *words, *consent)[0] == 0


def invitations(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_shows_who_asks_and_what_is_agreed_to(live: Live, call, folder: Path) -> None:
    created(live, call)
    assert live.http.get("/api/v1/studies/sleep").json()["about"] == ABOUT
    assert call("study", "invite", "20")[0] == 0
    link = next(row["link"] for row in invitations(folder / "invitations.csv") if row["expected"] == "now")
    code, _, err = call("join", link, "--data", "my.csv", "--ledger", "ledger")
    assert (code, "agreement" in err) == (2, True), "there is nobody to ask"
    for words in ABOUT.values():
        for line in words.splitlines():
            assert line in err


def test_a_study_that_does_not_say_who_asks_is_told_to_be_one(live: Live, call, folder: Path) -> None:
    assert call("study", "create", "plan.json", "--server", live.base)[0] == 0
    assert call("study", "invite", "20")[0] == 0
    link = next(row["link"] for row in invitations(folder / "invitations.csv") if row["expected"] == "now")
    assert "does not say who asks" in call("join", link, "--data", "my.csv", "--ledger", "ledger")[2]


@pytest.mark.parametrize("name", ["asker", "purpose", "contact", "consent"])
def test_what_cannot_be_shown_is_refused(live: Live, name: str) -> None:
    for words in (EVIL, "x" * 10_001):
        wanted = {"plan": plan_document(), "about": {name: words}}
        answer = live.http.post("/api/v1/studies", json=wanted)
        assert (answer.status_code, answer.json()["reason"]) == (422, "invalid")


def test_invitations_say_when_each_round_is_expected(live: Live, call, folder: Path) -> None:
    created(live, call)
    assert call("study", "invite", "60")[0] == 0
    rows = invitations(folder / "invitations.csv")
    assert {(row["round"], row["expected"]) for row in rows} == {("1", "now"), ("2", "when round 1 is closed")}
    wanted = {"plan": plan_document("timed"), "deadlines": ["2099-01-01T00:00", "2099-02-01T00:00"]}
    study = live.create_from(wanted)
    answer = live.http.post(f"{study.base}/invitations", json={"count": 60}, headers=study.secret).json()
    expected = {(one["round"], one["expected"]) for one in answer["invitations"]}
    assert expected == {(1, "now"), (2, "after 2099-01-01T00:00:00+00:00")}


def test_whoever_has_not_answered_is_reminded(live: Live, call, folder: Path) -> None:
    created(live, call)
    assert call("study", "invite", "30")[0] == 0
    rows = invitations(folder / "invitations.csv")
    early = [row for row in rows if row["round"] == "1"]
    for place, row in enumerate(early[:3]):
        assert call("join", row["link"], "--data", "my.csv", "--yes", "--ledger", f"ledger-{place}")[0] == 0
    code, out, _ = call("study", "reminders", "--json")
    assert (code, json.loads(out)) == (0, {"invited": 30, "answered": 3, "silent": 27, "out": "reminders.csv"})
    assert invitations(folder / "reminders.csv") == [row for row in rows if row not in early[:3]]
    assert call("study", "close-round", "1")[0] == 0
    assert call("study", "reminders", "--out", "later.csv")[0] == 0
    assert invitations(folder / "later.csv") == [row for row in rows if row not in early[:3]]
    assert call("study", "reminders", "--out", "later.csv")[0] == 2
    assert call("study", "reminders", "my.csv", "--out", "other.csv")[0] == 2


def test_who_has_answered_is_for_administrators_of_this_study(live: Live) -> None:
    study, other = live.create(), live.create("steps")
    token = study.by_round(study.invite(40))[0][0]
    assert study.upload(token, answer_of(study.question(0))).status_code == 200
    body = {"tokens": [participant_name(token), participant_name("ab" * 16)]}
    assert live.http.post(f"{study.base}/answered", json=body).status_code == 403
    answer = live.http.post(f"{study.base}/answered", json=body, headers=study.secret)
    assert answer.json() == {"answered": [True, None]}
    answer = live.http.post(f"{other.base}/answered", json=body, headers=other.secret)
    assert answer.json() == {"answered": [None, None]}, "tokens of another study are not known here"


def test_rounds_have_the_same_number_everywhere(live: Live, call, folder: Path) -> None:
    created(live, call)
    assert call("study", "invite", "40")[0] == 0
    told = " ".join(call("study", "status")[1].split())
    assert "round 1 " in told
    assert "round 2 " in told
    assert "round 0" not in told
    assert "round 2 is not open yet" in call("study", "close-round", "2", "--yes")[2]
    late = next(row for row in invitations(folder / "invitations.csv") if row["round"] == "2")
    assert "round 2 opens when" in call("join", late["link"], "--data", "my.csv", "--yes", "--ledger", "book")[2]
    assert call("study", "close-round", "0")[0] == 2


# --- what others write is shown, never obeyed


def test_a_text_that_a_terminal_would_obey_is_written_as_its_codes() -> None:
    shown = plain(f"before {EVIL} after\nnext\u202f%")
    assert shown == "before \\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202etxet after\nnext\u202f%"
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_a_refusal_of_the_service_does_not_reach_the_terminal_raw(live: Live, call, folder: Path, monkeypatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise Refused(409, {"reason": "conflict", "detail": EVIL})

    study = live.create()
    answer = live.http.post(f"{study.base}/invitations", json={"count": 1}, headers=study.secret).json()
    monkeypatch.setattr("dame.client.http.Server.get", refused)
    code, out, err = call("join", answer["invitations"][0]["link"], "--data", "my.csv", "--yes", "--ledger", "book")
    assert code == 2
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out + err)
    assert "\\x1b[2J" in err


@pytest.mark.parametrize("words", [EVIL, "[red]owned[/red]", "[link=http://evil.example]x[/link]"])
def test_a_status_does_not_reach_the_terminal_raw(live: Live, call, folder: Path, monkeypatch, words: str) -> None:
    created(live, call)
    status = live.http.get("/api/v1/studies/sleep/status", headers=secret(folder)).json()
    status["title"] = words
    status["targets"][0]["words"] = words
    monkeypatch.setattr("dame.client.administration.Administration.status", lambda _: status)
    code, out, _ = call("study", "status")
    assert code == 0
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)
    assert out.count(plain(words)[:8]) == 2


def secret(folder: Path) -> dict[str, str]:
    key = json.loads((folder / "study-access.json").read_text())["administrator_key"]
    return {"Authorization": f"Bearer {key}"}
