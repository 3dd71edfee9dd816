"""A study of several targets, as one device sees it: her own column is read, and nothing shows whether she has it.

The service is a list of answers in this process, so that every request can be looked at.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dame
from dame.cli.app import run
from dame.client.http import Answer, Unreachable
from dame.client.invitations import Invitation
from dame.client.participation import Participation, Terms, Untrusted
from dame.client.signed import participant_name, plan_identity
from dame.device.assignment import slot_of
from dame.device.ledger import Ledger
from dame.device.questions import Question, Slot
from dame.device.reports import Report
from dame.device.statistics import Value
from dame.errors import Mismatch
from dame.service.signing import new_signing_key, public_key, signature

STUDY = dame.Study(
    users=4000,
    alpha=1.0,
    sizes="poisson:5",
    protocol="one-bit",
    study="commute",
    targets=[
        dame.mean("minutes", (0, 120), weight=3),
        dame.share("colour", is_="red"),
        dame.sd("hours", (0, 24), present=0.5),
    ],
)
PLAN = STUDY.plan()
SLOTS = {slot.target: place for place, slot in enumerate(PLAN.slots)}
TARGETS = ["minutes", "colour", "hours/mean", "hours/square", "hours/present"]
BASE = "http://127.0.0.1:9"


class Service:
    """What a service would answer, and what it was asked."""

    def __init__(self) -> None:
        self.key = new_signing_key()
        self.plan: dict = json.loads(json.dumps(dame.plan_to_json(PLAN)))
        self.asked = {SLOTS[question.target]: question for question in dame.questions(PLAN)}
        self.requests: list[tuple[object, ...]] = []
        self.down = False

    def get(self, *path: str, secret: str | None = None) -> Answer:
        self.requests.append(("GET", *path, secret))
        if self.down:
            raise Unreachable("the line is cut")
        return Answer(body=json.dumps(self._document(path)).encode(), headers={})

    def put_json(self, *path: str, document: object, secret: str) -> Answer:
        self.requests.append(("PUT", *path, secret))
        return Answer(body=json.dumps(self._document(path)).encode(), headers={})

    def _document(self, path: tuple[str, ...]) -> dict[str, object]:
        if path[-1] == "invitation":
            return {"answered": False, "granted": True}
        if path[-1] != "question":
            return {"plan": self.plan, "public_key": public_key(self.key), "title": "Commute"}
        question = self.asked[int(path[3])]
        return {"question": question.to_json(), "signature": signature(self.key, plan_identity(self.plan), question)}

    def post_bytes(self, *path: str, body: bytes, secret: str) -> Answer:
        self.requests.append(("POST", *path, len(body)))
        return Answer(body=b"{}", headers={})


def token_in(target: str) -> str:
    """A token whose slot is that of a target."""
    tokens = (f"{number:032x}" for number in range(10_000))
    return next(one for one in tokens if slot_of("commute", PLAN.shares, participant_name(one)) == SLOTS[target])


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    made = Service()
    monkeypatch.setattr("dame.client.participation.Server", lambda base: made)
    return made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


def invited(service: Service, target: str) -> Invitation:
    """An invitation to the study as the service describes it now."""
    identity, key = plan_identity(service.plan), public_key(service.key)
    return Invitation(base=BASE, token=token_in(target), study="commute", key=key, plan_id=identity)


def link_to(service: Service, target: str) -> str:
    one = invited(service, target)
    return f"{BASE}/join#study=commute&token={one.token}&key={one.key}&plan={one.plan_id}&alpha=1.0"


def part_in(service: Service, target: str, ledger: Ledger) -> tuple[Participation, Terms]:
    part = Participation(invited(service, target), ledger)
    return part, part.terms()


# --- what the plan says


def test_slots_shares_and_statistics_are_those_of_the_plan(service: Service, ledger: Ledger) -> None:
    _, terms = part_in(service, "minutes", ledger)
    assert list(SLOTS) == TARGETS
    assert terms.slots == PLAN.slots
    assert terms.shares == PLAN.shares
    assert terms.statistics == tuple(machine.brief.statistic for machine in PLAN.machines for _ in machine.rounds)


@pytest.mark.parametrize("target", TARGETS)
def test_a_person_is_asked_about_the_column_of_her_own_target(service: Service, ledger: Ledger, target: str) -> None:
    part, terms = part_in(service, target, ledger)
    question = part.question(terms)
    assert question.slot == terms.slots[terms.slot] == Slot(target, 0)
    assert question.statistic == terms.statistic
    assert question.statistic.column == target.partition("/")[0]
    read: list[Question] = []
    report = part.take_part(terms, lambda asked: read.append(asked) or [{question.statistic.column: 7}])
    assert read == [question]
    assert Report.decode(question, report)
    assert part.take_part(terms, lambda _: pytest.fail("records are read once")) == report


def test_a_single_machine_has_the_shares_of_its_rounds(service: Service, ledger: Ledger) -> None:
    plan = dame.plan(users=900, alpha=1.0, sizes="poisson:5", bounds=(0, 24), study="commute", between_sd=0)
    service.plan = json.loads(json.dumps(dame.plan_to_json(plan)))
    _, terms = part_in(service, "minutes", ledger)
    assert len(terms.slots) > 1
    assert (terms.slots, terms.shares) == (plan.slots, plan.shares)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"statistic": Value(column="salary", low=0, high=120)}, "statistic .*salary.* and .*minutes"),
        ({"statistic": Value(column="minutes", low=0, high=60)}, r"statistic .*60\.0.* and .*120\.0"),
        ({"target": "colour"}, "target and round"),
        ({"round": 1}, "target and round"),
    ],
)
def test_a_signed_question_about_something_else_is_refused(
    service: Service, ledger: Ledger, change: dict[str, object], word: str
) -> None:
    part, terms = part_in(service, "minutes", ledger)
    service.asked[SLOTS["minutes"]] = dataclasses.replace(service.asked[SLOTS["minutes"]], **change)
    with pytest.raises(Untrusted, match=word):
        part.take_part(terms, lambda _: pytest.fail("nothing may be read for it"))
    assert ledger.spent() == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan["targets"][0]["machines"][0]["statistic"].update(column="salary"),
        lambda plan: plan["targets"][0]["machines"][0]["statistic"].update(high=60.0),
        lambda plan: plan["targets"].pop(),
    ],
)
def test_a_plan_that_asks_for_something_else_is_refused_after_enrolment(
    service: Service, ledger: Ledger, change: Callable[[dict], object]
) -> None:
    part, terms = part_in(service, "minutes", ledger)
    part.agree(terms)
    change(service.plan)
    with pytest.raises(Untrusted, match="not the one in the invitation"):
        part.terms()
    with pytest.raises(Mismatch, match="plan"):  # nor does another invitation help
        part_in(service, "minutes", ledger)


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.update(targets=[]),
        lambda plan: plan.update(targets={}),
        lambda plan: plan.pop("targets"),
        lambda plan: plan["targets"][0].update(machines=[{}]),
        lambda plan: plan["targets"][0]["machines"][0].update(users=0),
        lambda plan: plan["targets"][0]["machines"][0].update(users="many"),
        lambda plan: plan["targets"][0]["machines"][0].update(statistic={"kind": "all"}),
        lambda plan: plan["targets"][0]["machines"][0].update(rounds=None),
        lambda plan: plan["targets"][0]["machines"][0]["rounds"][0].update(share=0.0),
    ],
)
def test_a_plan_that_is_none_is_one_sentence(
    service: Service, ledger: Ledger, change: Callable[[dict], object]
) -> None:
    change(service.plan)
    with pytest.raises(Untrusted, match="description of the study cannot be used") as refused:
        part_in(service, "minutes", ledger)
    assert "\n" not in str(refused.value)


# --- the command


FULL = "minutes,colour,hours\n30,red,7.5\n45,blue,8\n,red,\n"
LACKING = "day,other\n1,5\n2,6\n"


def join(
    service: Service, capsys: pytest.CaptureFixture[str], folder: Path, target: str, text: str, *more: str
) -> tuple[int, str, str]:
    (folder / "my.csv").write_text(text)
    link = link_to(service, target)
    words = ["join", link, "--data", str(folder / "my.csv"), "--ledger", str(folder / "book"), "--yes", "--json", *more]
    code = run(words)
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_requests_are_made_with_the_column_and_without_it(service, capsys, tmp_path, target) -> None:
    column, requests = target.partition("/")[0], []
    for name, text in {"full": FULL, "lacking": LACKING, "empty": f"{column},x\n,1\n", "nothing": ""}.items():
        (tmp_path / name).mkdir()
        service.requests.clear()
        code, out, err = join(service, capsys, tmp_path / name, target, text)
        assert code == 0, err
        requests.append(list(service.requests))
        told = json.loads(out)
        assert (told["target"], told["column"]) == (target, column)
        assert (told["missing"] is None) == (name == "full")
        assert ("nobody can tell" in err) == (name != "full")
        assert name != "lacking" or f"your file has no column '{column}': it has day, other" in err
    assert requests[0] == requests[1] == requests[2] == requests[3]
    assert [request[0] for request in requests[0]] == ["GET", "GET", "PUT", "POST"]


@pytest.mark.parametrize(
    ("text", "more", "word"),
    [
        ("minutes,minutes\n1,2\n", (), "different names"),
        ('minutes\n"1\n', (), "CSV file"),
        ("minutes\n1\n", ("--value", "salary"), "value column"),
        ("7\n8.7654321x\n", (), "record number 2"),
    ],
)
def test_a_bad_file_is_refused_before_anybody_is_contacted(service, capsys, tmp_path, text, more, word) -> None:
    code, out, err = join(service, capsys, tmp_path, "minutes", text, *more)
    assert (code, out) == (2, "")
    assert word in err
    assert "8.76" not in err
    assert err.count("\n") == 1
    assert service.requests == []


def test_a_missing_file_is_refused_before_anybody_is_contacted(service, capsys, tmp_path) -> None:
    link = link_to(service, "minutes")
    assert run(["join", link, "--data", str(tmp_path / "absent.csv"), "--ledger", str(tmp_path / "book"), "--yes"]) == 2
    assert "absent.csv" in capsys.readouterr().err
    assert service.requests == []


def test_records_that_cannot_be_averaged_are_refused_after_public_things_were_asked_for(
    service, capsys, tmp_path
) -> None:
    code, out, err = join(service, capsys, tmp_path, "minutes", "minutes,colour\n7,red\nsecret,blue\n")
    assert (code, out) == (2, "")
    assert "record number 2 must be a finite number" in err
    assert "secret" not in err
    slot = str(SLOTS["minutes"])
    asked = [("studies", "commute", None), ("studies", "commute", "rounds", slot, "question", None)]
    assert [request[1:] for request in service.requests] == asked, "nothing with her token"
    assert join(service, capsys, tmp_path, "colour", "minutes,colour\n7,red\nsecret,blue\n")[0] == 0


def test_a_retry_sends_the_same_report_whatever_the_file_has_become(service, capsys, tmp_path) -> None:
    first = json.loads(join(service, capsys, tmp_path, "minutes", FULL)[1])
    for text in (LACKING, "minutes\nseven\n", ""):
        again = json.loads(join(service, capsys, tmp_path, "minutes", text)[1])
        assert again["report"] == first["report"]
        assert again["sent_again"]
    assert again["spent"] == 1


def test_a_person_is_told_in_words_what_she_is_asked(service, capsys, tmp_path) -> None:
    (tmp_path / "my.csv").write_text(FULL)
    link = link_to(service, "colour")
    assert run(["join", link, "--data", str(tmp_path / "my.csv"), "--ledger", str(tmp_path / "book")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "asks one question about your records: whether colour is red." in told
    assert "agreement" in told


def test_bounds_that_are_not_those_of_her_target_are_refused(service, capsys, tmp_path) -> None:
    code, _, err = join(service, capsys, tmp_path, "minutes", FULL, "--bounds", "0", "60")
    assert (code, "bounds" in err) == (2, True)
    assert join(service, capsys, tmp_path, "minutes", FULL, "--bounds", "0", "120")[0] == 0


def test_one_report_a_study_whatever_the_target(service, capsys, tmp_path) -> None:
    """A service that gives out a second token cannot have a second report from the same device."""
    assert join(service, capsys, tmp_path, "minutes", FULL)[0] == 0
    service.requests.clear()
    code, out, err = join(service, capsys, tmp_path, "colour", FULL)
    assert (code, out) == (2, "")
    assert "the token of study 'commute' is not the one that this device agreed to" in err
    assert [request[0] for request in service.requests] == ["GET"]
