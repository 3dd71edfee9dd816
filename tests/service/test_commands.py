"""`dame serve`, `dame study …` and `dame join` as people call them."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dame.cli.app import run
from tests.service.studies import Live, plan_document, several_document

NEW = '"new, at last"'
HOURS = "day,hours\n" + "".join(f"{day},{7 + day % 3}\n" for day in range(400))


@pytest.fixture
def live(tmp_path: Path, serve: Callable[..., Live]) -> Live:
    return serve(str(tmp_path / "dame.sqlite"))


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan_document()))
    (tmp_path / "my.csv").write_text(HOURS)
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict | None, str]]:
    def called(*words: str) -> tuple[int, dict | None, str]:
        capsys.readouterr()
        code = run([*words, "--json"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return called


def test_a_study_by_commands_alone(live: Live, call, own_folder: Path) -> None:
    code, created, _ = call(
        "study", "create", "plan.json", "--server", live.base, "--title", "Sleep", "--close-at", "100,-"
    )
    assert code == 0
    assert stat.S_IMODE((own_folder / "study-access.json").stat().st_mode) == 0o600
    assert created["administrator_key"] in (own_folder / "study-access.json").read_text()
    assert call("study", "invite", "12")[1]["invited"] == 12
    with (own_folder / "invitations.csv").open(newline="") as file:
        links = [row["link"] for row in csv.DictReader(file)]
    assert len(set(links)) == 12
    for index in (0, 1):
        codes = []
        for place, link in enumerate(links):
            words = (
                "join",
                link,
                "--data",
                "my.csv",
                "--value",
                "hours",
                "--ledger",
                f"ledger-{place}",
                "--alpha",
                "2",
            )
            code, told, err = call(*words)
            codes.append(code)
            assert (code == 0) == (told is not None)
            assert code == 0 or "too-early" in err
        assert set(codes) == ({0, 1} if index == 0 else {0})
        which = [str(index + 1)] if index else []
        code, told, err = call("study", "close-round", *which)
        assert (code, told, "waits for 25: --yes closes it anyway" in err) == (2, None, True)
        code, status, _ = call("study", "close-round", *which, "--yes")
        assert code == 0
        assert status["rounds"][index]["state"] == "closed"
    assert sum(one["reports"] for one in status["rounds"]) == 12
    result = call("study", "result")[1]
    assert result == call("study", "status")[1]["result"]
    assert call("study", "export", "--out", "export")[0] == 0
    for index in (0, 1):
        assert (
            call(
                "tally",
                f"export/question-{index + 1}.json",
                f"export/reports-{index + 1}.parquet",
                "--out",
                f"t{index}",
            )[0]
            == 0
        )
    assert call("ask", "export/plan.json", "t0", "t1")[1] == result
    code, _, err = call("study", "close-round")
    assert (code, "no round is open" in err) == (2, True)
    code, _, err = call("study", "invite", "1", "--out", "late.csv")
    assert (code, "the study is over" in err) == (2, True)
    assert not (own_folder / "late.csv").exists()


def test_a_study_of_groups_by_commands_alone(live: Live, call, own_folder: Path, capsys) -> None:
    (own_folder / "plan.json").write_text(json.dumps(several_document("groups")))
    people = "name,group\n" + "".join(f"p{place},{'old' if place % 3 else NEW}\n" for place in range(60))
    (own_folder / "people.csv").write_text(people)
    days = "".join(f"{day % 9},{day % 10}\n" for day in range(30))
    (own_folder / "my.csv").write_text(f"hours,steps\n{days}")
    assert call("study", "create", "plan.json", "--server", live.base)[0] == 0
    assert call("study", "invite", "--file", "people.csv")[1]["invited"] == 60
    assert call("study", "invite", "5", "--group", "old", "--out", "more.csv")[1]["invited"] == 5
    rows = read_table(own_folder / "invitations.csv")
    assert list(rows[0]) == ["name", "group", "token", "link", "round", "expected"]
    assert [row["name"] for row in rows] == [f"p{place}" for place in range(60)]
    assert all(f"group={quote(row['group'])}" in row["link"] for row in rows)
    assert {row["group"] for row in read_table(own_folder / "more.csv")} == {"old"}
    for place, row in enumerate(rows):
        ledger = ("--ledger", f"ledger-{place}")
        assert call("join", row["link"], "--data", "my.csv", "--alpha", "2", *ledger)[0] == 0
    code, status, _ = call("study", "close-round", "--target", "steps", "--yes")
    assert (code, status["open_rounds"]) == (0, [0, 1])
    code, _, err = call("study", "close-round", "--target", "steps")
    assert (code, "no round is open of target steps" in err) == (2, True)
    code, status, _ = call("study", "close-round", "--yes")
    assert (code, status["state"]) == (0, "finished")
    assert {one["group"]: one["counted"] for one in status["groups"]} == {"new, at last": 20, "old": 40}
    capsys.readouterr()
    assert run(["study", "result"]) == 0
    assert "hours, effect: old less new, at last" in " ".join(capsys.readouterr().out.split())
    assert run(["study", "status"]) == 0
    assert "arm old 45 invited, 40 reports in closed rounds" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("table", "words", "sentence"),
    [
        ("name\n", (), "1 to 10,000,000 people"),
        ("name,group\na,\n", (), "group"),
        ("name,token\na,b\n", (), "without columns of this name"),
        ("name,group\na\n", (), "2 cells"),
        ("name\na\n", (), "by arm"),
        ("name,group\na,old\n", ("--group", "old"), "a column 'group'"),
        ("name,group\na,old\n", ("3",), "count"),
    ],
)
def test_a_table_of_people_that_cannot_be_used(live: Live, call, own_folder: Path, table, words, sentence) -> None:
    (own_folder / "plan.json").write_text(json.dumps(several_document("groups")))
    (own_folder / "people.csv").write_text(table)
    assert call("study", "create", "plan.json", "--server", live.base)[0] == 0
    code, told, err = call("study", "invite", *words, "--file", "people.csv")
    assert (code, told) == (2, None)
    assert sentence in err
    assert not (own_folder / "invitations.csv").exists()
    assert call("study", "invite")[0] == 2


def read_table(path: Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_mistakes_are_one_sentence_and_leave_nothing_behind(live: Live, call, own_folder: Path) -> None:
    create = ("study", "create", "plan.json", "--server", live.base)
    (own_folder / "bad.json").write_text("{}")
    (own_folder / "ok.csv").write_text("hours,steps\n7,8000\n" * 100)
    (own_folder / "ok.csv").chmod(0o644)
    cases = [
        (("study", "create", "bad.json", "--server", live.base), "plan"),
        ((*create, "--close-at", "1,2,3"), "close_at_count"),
        ((*create, "--deadlines", "soon,later"), "deadline"),
        (("study", "status"), "study-access.json"),
        (("study", "create", "plan.json", "--server", "nowhere"), "server"),
        (("join", live.base, "--data", "my.csv", "--value", "hours"), "token"),
        (("serve", "--host", "0.0.0.0"), "operator"),
        (("serve", "--port", "99999"), "port"),
        (("serve", "--port", live.base.rpartition(":")[2]), "port must be one on which nobody listens yet"),
        (("serve", "--host", "192.0.2.1", "--operator-key", "x" * 16), "host must be an address of this machine"),
        (("serve", "--public-url", "https://study.example.org"), "public-url must be absent, unless"),
        (("serve", "--trusted-proxy", "127.0.0.1"), "trusted-proxy must be absent, unless"),
        (("serve", "--port", "0", "--database", "ok.csv"), "database must be a database of this service"),
        (("serve", "--port", "0", "--database", "absent/d.sqlite"), "database must be a file that can be written"),
        (("serve", "--port", "0", "--storage-key", "short"), "storage-key"),
        (("serve", "--database", "mysql://x"), "database"),
        (("study", "new-key", "sleep", "--database", "absent.sqlite"), "database"),
    ]
    for words, word in cases:
        code, told, err = call(*words)
        assert (code, told) == (2, None), (words, err)
        assert word in err
        assert err.count("\n") == 1
    assert stat.S_IMODE((own_folder / "ok.csv").stat().st_mode) == 0o644
    assert (own_folder / "ok.csv").read_text().startswith("hours,steps")
    assert not (own_folder / "study-access.json").exists()
    assert not (own_folder / "dame.sqlite-journal").exists()


def test_a_join_asks_for_agreement_and_checks_the_data(live: Live, call, own_folder: Path) -> None:
    study = live.create()
    token = study.by_round(study.invite(40))[0][0]
    public = study.public()
    link = f"{live.base}/join#study=sleep&token={token}&key={public['public_key']}&plan={public['plan_id']}"
    words = ("join", link, "--data", "my.csv", "--ledger", "ledger")
    (own_folder / "words.csv").write_text("hours\n7\nseven\n")
    cases = [
        ((*words, "--value", "hours"), "agreement"),
        ((*words, "--value", "hours", "--alpha", "1"), "asks for more"),
        ((*words, "--value", "hours", "--yes", "--bounds", "0", "12"), "bounds"),
        ((*words, "--value", "minutes", "--yes"), "value column"),
        (("join", link, "--data", "words.csv", "--value", "hours", "--yes", "--ledger", "ledger"), "record number 2"),
        (("join", link, "--data", "absent.csv", "--value", "hours", "--yes", "--ledger", "ledger"), "absent.csv"),
        ((*words, "--value", "hours", "--yes", "--cap", "1.5"), "cap of 1.5"),
    ]
    for case, word in cases:
        code, told, err = call(*case)
        assert (code, told) == (2, None), err
        assert word in err
        assert "seven" not in err
        assert ("bins?" in err) == (word == "agreement"), "who is asked to agree is told the question in words"
    assert study.status()["rounds"][0]["reports"] == 0
    code, told, _ = call(*words, "--value", "hours", "--yes", "--cap", "5")
    assert (code, told["state"], told["cap"], told["sent_again"]) == (0, "sent", 5.0, False)
    assert stat.S_IMODE((own_folder / "ledger").stat().st_mode) == 0o600
    assert call(*words, "--value", "hours")[1]["report"] == told["report"]


def test_a_lost_key_is_replaced_on_the_machine_of_the_service(live: Live, call, own_folder: Path) -> None:
    study = live.create()
    database = live.settings.database
    code, told, _ = call("study", "new-key", "sleep", "--database", database, "--server", live.base)
    assert code == 0
    assert call("study", "status")[1]["study"] == "sleep"
    assert live.http.get(f"{study.base}/status", headers=study.secret).status_code == 403
    assert told["administrator_key"] != study.key


def test_a_study_is_closed_only_when_asked(live: Live, call) -> None:
    """`close-round` on a study that nobody has answered once ended it."""
    assert call("study", "create", "plan.json", "--server", live.base, "--min-reports", "0")[0] == 0
    code, told, err = call("study", "close-round")
    assert (code, told) == (2, None)
    assert "round 0 has 0 reports, and this study waits for 1: --yes closes it anyway" in err
    assert call("study", "status")[1]["open_rounds"] == [0]
    assert call("study", "create", "plan.json", "--server", live.base, "--access", "b", "--close-at", "9,-")[0] == 2


def test_the_end_of_a_study_by_commands_alone(live: Live, call, own_folder: Path, capsys) -> None:
    words = ("--min-reports", "1", "--keep-reports-days", "30", "--administrator", "ada")
    assert call("study", "create", "plan.json", "--server", live.base, *words)[0] == 0
    assert call("study", "invite", "30", "--expires", "2901-01-01")[1]["invited"] == 30
    assert call("study", "withdraw", "invitations.csv")[1] == {"withdrawn": 30, "answered": 0, "unknown": 0}
    assert call("study", "withdraw", "my.csv")[0] == 2
    assert call("study", "administrators", "--add", "grace")[0] == 2
    added = call("study", "administrators", "--add", "grace", "--out", "grace.json")
    assert added[:2] == (0, {"administrators": ["ada", "grace"]})
    assert stat.S_IMODE((own_folder / "grace.json").stat().st_mode) == 0o600
    grace = ("--access", "grace.json")
    assert call("study", "status", *grace)[1]["keep_reports_days"] == 30
    assert call("study", "administrators", "--remove", "ada", *grace)[1] == {"administrators": ["grace"]}
    assert call("study", "status")[0] == 2
    for command in ("end", "purge", "delete"):
        code, told, err = call("study", command, *grace)
        assert (code, told, "say --yes" in err) == (2, None, True)
    assert call("study", "delete", "--yes", *grace)[0] == 2, "it is running"
    assert call("study", "end", "--yes", *grace)[1] == {"study": "sleep", "state": "ended"}
    assert call("study", "purge", "--yes", *grace)[1] == {"rounds": [0, 1]}
    acts = [(one["who"], one["act"]) for one in call("study", "acts", *grace)[1]["acts"]]
    assert acts == [
        ("operator", "created"),
        ("ada", "invited"),
        ("ada", "withdrawn"),
        ("ada", "administrator-added"),
        ("grace", "administrator-removed"),
        ("grace", "ended"),
        ("grace", "purged"),
    ]
    capsys.readouterr()
    assert run(["study", "acts", *grace]) == 0
    assert "ada: administrator-added (administrator grace)" in " ".join(capsys.readouterr().out.split())
    assert call("study", "delete", "--yes", *grace)[1] == {"deleted": "sleep"}
    assert call("study", "status", *grace)[0] == 2


def test_a_server_that_is_not_there_is_not_a_mistake(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.client.http.time.sleep", lambda _: None)
    code, told, err = call("study", "create", "plan.json", "--server", "http://127.0.0.1:9")
    assert (code, told) == (1, None)
    assert "does not answer" in err


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "dame", "serve", "--port", "0", "--json"]
    environment = {**os.environ, "DAME_DATABASE": str(tmp_path / "by-environment.sqlite")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as started:
        yield started
        started.kill()


def test_serve_takes_its_settings_from_the_environment_and_stops_politely(
    process: subprocess.Popen, own_folder: Path
) -> None:
    told = json.loads(process.stdout.readline())
    assert told["listening"].startswith("http://127.0.0.1:")
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert (own_folder / "by-environment.sqlite").exists()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert events == ["started", "stopped"]
