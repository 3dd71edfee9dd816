"""The device client against a running service, honest and not: what it sends, what it refuses, what it remembers."""

from __future__ import annotations

import copy
import dataclasses
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from dame.client.administration import Access, Administration
from dame.client.http import Refused, Server, Unreachable
from dame.client.invitations import Invitation, invitation
from dame.client.participation import Participation, Untrusted
from dame.client.signed import participant_name, plan_identity
from dame.device.assignment import slot_of
from dame.device.ledger import Ledger
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.device.questions import Question, question_from_json
from dame.device.statistics import Value
from dame.errors import AlreadyAnswered, InvalidInput, Mismatch
from dame.service.signing import new_signing_key, public_key, signature
from tests.service.studies import Live, Run

GOOD = "http://x.example/join#token=" + "0" * 32 + "&study=s&key=" + "1" * 64 + "&plan=" + "2" * 64 + "&alpha=2.0"
RECORDS = [7.0, 8.0] * 200


@pytest.fixture
def live(tmp_path: Path, serve: Callable[..., Live]) -> Live:
    return serve(str(tmp_path / "dame.sqlite"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


def invited(study: Run, index: int = 0) -> Invitation:
    token = study.by_round(study.invite(40))[index][0]
    public = study.public()
    return Invitation(
        base=study.live.base,
        token=token,
        study=study.study,
        key=public["public_key"],
        plan_id=public["plan_id"],
        alpha=public["alpha"],
    )


def join(invited: Invitation, ledger: Ledger, server: Server | None = None) -> bytes:
    part = Participation(invited, ledger, server)
    return part.take_part(part.terms(), lambda _: RECORDS)


def test_a_device_takes_part_and_a_retry_sends_the_same(live: Live, ledger: Ledger) -> None:
    study = live.create()
    one = invited(study)
    report = join(one, ledger)
    assert ledger.is_sent("sleep")
    assert ledger.spent() == 2
    assert join(one, ledger) == report
    study.close(0)
    assert join(one, ledger) == report  # even when the round is over: it was counted
    status = study.status()
    assert status["rounds"][0]["reports"] == 1
    assert status["rejected"] == {}


def test_the_report_is_stored_before_it_is_sent(live: Live, ledger: Ledger) -> None:
    study = live.create()
    one = invited(study)
    stored_at_send: list[bytes | None] = []

    class Watching(Server):
        def post_bytes(self, *path: str, body: bytes, secret: str):
            stored_at_send.append(ledger.report("sleep"))
            raise Unreachable("the line is cut")

    part = Participation(one, ledger, Watching(one.base))
    with pytest.raises(Unreachable):
        part.take_part(part.terms(), lambda _: RECORDS)
    assert stored_at_send[0] is not None
    assert not ledger.is_sent("sleep")
    part = Participation(one, ledger)
    assert part.take_part(part.terms(), lambda _: pytest.fail("records are read once")) == stored_at_send[0]


def test_a_report_made_in_time_can_be_late(live: Live, ledger: Ledger) -> None:
    study = live.create()
    one = invited(study)
    part = Participation(one, ledger)
    terms = part.terms()
    part.agree(terms)
    part.answer(part.question(terms), RECORDS)
    study.close(0)
    with pytest.raises(Refused) as refused:
        part.take_part(terms, lambda _: RECORDS)
    assert refused.value.reason == "too-late"


def test_who_is_early_may_wait(live: Live, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.client.participation.POLL_SECONDS", 0.05)
    study = live.create()
    one = invited(study, 1)
    part = Participation(one, ledger)
    with pytest.raises(Refused, match="too-early"):
        part.take_part(part.terms(), lambda _: RECORDS)
    assert ledger.report("sleep") is None
    closing = threading.Timer(0.3, lambda: study.close(0))
    closing.start()
    part.take_part(part.terms(), lambda _: RECORDS, wait=20.0)
    closing.join()
    assert study.status()["rounds"][1]["reports"] == 1


# --- a server that is not what it should be


class Forged(Server):
    """A server whose answers were changed on the way."""

    def __init__(self, base: str, change: Callable[[dict], object]) -> None:
        super().__init__(base)
        self._change = change

    def get(self, *path: str, **more):
        answer = super().get(*path, **more)
        document = copy.deepcopy(answer.document())
        self._change(document)
        return type(answer)(body=json.dumps(document).encode(), headers=answer.headers)


def in_question(*path: str, value: object) -> Callable[[dict], object]:
    """Changes a field of the question, or of one of its parts."""

    def change(document: dict) -> None:
        part = document.get("question")
        for name in path[:-1] if part else ():
            part = part[name]
        if part:
            assert path[-1] in part
            part[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        in_question("alpha", value=4.0),
        in_question("target", value="another"),
        in_question("statistic", "high", value=12.0),
        in_question("lens", "min_size", value=1),
        in_question("channel", "no", value="0000000000000001"),
        lambda document: document.update(signature="00" * 64) if "signature" in document else None,
        lambda document: document.pop("signature", None),
        lambda document: document.update(signature="xyz") if "signature" in document else None,
        lambda document: document.update(question=None) if "question" in document else None,
    ],
)
def test_an_altered_or_unsigned_question_is_refused(
    live: Live, ledger: Ledger, change: Callable[[dict], object]
) -> None:
    one = invited(live.create())
    with pytest.raises(Untrusted, match="not signed"):
        join(one, ledger, Forged(one.base, change))
    assert ledger.spent() == 0


def test_a_key_other_than_the_invitations_is_refused(live: Live, ledger: Ledger) -> None:
    one = invited(live.create())
    other = dataclasses.replace(one, key="ab" * 32)
    with pytest.raises(Untrusted, match="key"):
        Participation(other, ledger).terms()


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [("alpha", 3.0, r"alpha 3\.0"), ("bounds", [0.0, 48.0], "plan"), ("users", 5, "plan")],
)
def test_a_changed_plan_is_refused_after_enrolment(
    live: Live, ledger: Ledger, name: str, value: object, word: str
) -> None:
    study = live.create()
    one = invited(study, 1)
    part = Participation(one, ledger)
    part.agree(part.terms())
    changed = Forged(one.base, lambda document: document.get("plan", {}).update({name: value}))
    with pytest.raises(Untrusted, match=word):
        Participation(one, ledger, changed).terms()
    # Nor does an invitation to another plan help.
    plan = {**study.public()["plan"], name: value}
    other = dataclasses.replace(one, plan_id=plan_identity(plan), alpha=plan["alpha"])
    with pytest.raises(Mismatch, match="plan"):
        Participation(other, ledger, changed).terms()


@pytest.mark.parametrize(
    ("raised", "word"),
    [
        ({"alpha": 3.0}, r"alpha 3\.0"),
        ({"statistic": Value(low=0.0, high=12.0)}, r"statistic .*12\.0.* and .*24\.0"),
        ({"target": "another"}, "target and round .*another"),
        ({"round": 1}, "target and round"),
        ({"study": "another"}, "study 'another'"),
    ],
)
def test_a_question_signed_by_the_study_must_still_be_the_one_agreed_to(
    live: Live, ledger: Ledger, raised: dict[str, object], word: str
) -> None:
    """A dishonest administrator signs a question with a larger α, say: the device compares it with what was pinned."""
    one, key = invited(live.create()), new_signing_key()
    forged = Forged(one.base, resigned(key, lambda asked: dataclasses.replace(asked, **raised)))
    with pytest.raises(Untrusted, match=word):
        join(dataclasses.replace(one, key=public_key(key)), ledger, forged)
    assert ledger.spent() == 0


def resigned(key: bytes, other: Callable[[Question], Question]) -> Callable[[dict], object]:
    """What somebody changes who signs other questions with a key of his own, and says that it is the study's."""

    def change(document: dict) -> None:
        if "public_key" in document:
            document["public_key"] = public_key(key)
        if "question" in document:
            asked = other(question_from_json(document["question"]))
            document.update(question=asked.to_json(), signature=signature(key, document["plan_id"], asked))

    return change


def test_a_second_question_of_the_same_study_is_refused(live: Live, ledger: Ledger) -> None:
    one, key = invited(live.create()), new_signing_key()
    other_width = [0.5]

    def other(asked: Question) -> Question:
        lens = dataclasses.replace(narrowed(Bins, asked.lens), width=other_width[0])
        return dataclasses.replace(asked, lens=lens)

    one = dataclasses.replace(one, key=public_key(key))
    part = Participation(one, ledger, Forged(one.base, resigned(key, other)))
    terms = part.terms()
    part.agree(terms)
    part.answer(part.question(terms), RECORDS)
    other_width[0] = 0.25
    again = Participation(one, ledger, Forged(one.base, resigned(key, other)))
    with pytest.raises(AlreadyAnswered):
        again.take_part(terms, lambda _: RECORDS)


def test_a_second_token_for_the_same_study_is_refused(live: Live, ledger: Ledger) -> None:
    study = live.create()
    join(invited(study), ledger)
    with pytest.raises(Mismatch, match="token"):
        Participation(invited(study), ledger).terms()


def test_the_cap_holds_across_studies(live: Live, ledger: Ledger) -> None:
    ledger.set_cap(3.0)
    join(invited(live.create("one")), ledger)
    with pytest.raises(AlreadyAnswered, match="cap of 3"):
        join(invited(live.create("two")), ledger)
    ledger.set_cap(4.0)
    join(invited(live.create("three")), ledger)
    assert ledger.spent() == 4


# --- the line


class Unreliable(BaseHTTPRequestHandler):
    """Answers with what the test put into `script`."""

    script: ClassVar[list[tuple[int, dict[str, str], bytes]]] = []
    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        type(self).bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        status, headers, body = type(self).script.pop(0)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def unreliable() -> Iterator[type[Unreliable]]:
    handler = type("Handler", (Unreliable,), {"script": [], "bodies": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


def test_retries_send_the_same_bytes_with_growing_pauses(unreliable: type[Unreliable]) -> None:
    unreliable.script.extend([(0, {}, b""), (503, {}, b"busy"), (429, {}, b"{}"), (200, {}, b'{"accepted":true}')])
    pauses: list[float] = []
    Server(unreliable.base, pauses.append).post_bytes("studies", "s", "reports", body=b"abc", secret="t")
    assert unreliable.bodies == [b"abc"] * 4
    assert len(pauses) == 3
    assert all(0.25 <= pause <= 30 for pause in pauses)


def test_a_refusal_is_final_and_says_why(unreliable: type[Unreliable]) -> None:
    unreliable.script.append((409, {}, json.dumps({"reason": "conflict", "detail": "another report"}).encode()))
    with pytest.raises(Refused, match=r"conflict.*another report"):
        Server(unreliable.base, lambda _: None).post_bytes("x", body=b"", secret="t")


def test_a_token_does_not_follow_a_redirect(unreliable: type[Unreliable]) -> None:
    unreliable.script.extend([(302, {"Location": "http://elsewhere.example/"}, b"")] * 8)
    with pytest.raises(Unreachable, match=r"elsewhere\.example"):
        Server(unreliable.base, lambda _: None).post_bytes("x", body=b"", secret="t")


def test_a_server_that_is_something_else(unreliable: type[Unreliable]) -> None:
    unreliable.script.append((200, {}, b"<html>"))
    with pytest.raises(Unreachable, match="not a JSON object"):
        Server(unreliable.base).post_json("x").document()
    with pytest.raises(Unreachable, match="does not answer"):
        Server("http://127.0.0.1:9", lambda _: None).get("studies")


# --- invitations and administration


def test_links_and_parts_give_the_same_invitation(live: Live) -> None:
    study = live.create("a study with spaces & more")
    access = Access(server=live.base, study=study.study, administrator_key=study.key)
    (one,) = Administration(access).invite(1)
    from_link = invitation(one["link"])
    assert from_link.study == study.study
    public = study.public()
    assert (from_link.plan_id, from_link.alpha) == (public["plan_id"], public["alpha"])
    by_parts = invitation(live.base, one["token"], study.study, from_link.key, from_link.plan_id)
    assert from_link == dataclasses.replace(by_parts, alpha=from_link.alpha)
    assert from_link.token not in repr(from_link)
    assert one["token"] not in one["link"].partition("#")[0]


@pytest.mark.parametrize(
    ("link", "field"),
    [
        ("http://x.example", "token"),
        (GOOD.replace("http:", "ftp:"), "server"),
        ("nonsense", "token"),
        (GOOD.replace("token=", "token=short"), "token"),
        (GOOD.replace("key=", "key=zz"), "key"),
        (GOOD.replace("plan=", "plan=zz"), "plan"),
        (GOOD.replace("alpha=2.0", "alpha=two"), "alpha"),
        (GOOD.replace("alpha=2.0", "alpha=-1"), "alpha"),
        (GOOD.replace("&plan=", "&other="), "plan"),
        (GOOD.replace("&key=", "&other="), "key"),
        (GOOD.replace("&study=", "&other="), "study"),
    ],
)
def test_bad_links_are_one_sentence(link: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        invitation(link)
    assert refused.value.field == field
    assert "0" * 32 not in str(refused.value)


def test_the_slot_follows_from_the_token_alone(live: Live) -> None:
    study = live.create()
    one = invited(study, 1)
    terms = Participation(one, Ledger(":memory:")).terms()
    assert terms.slot == slot_of("sleep", study.public()["shares"], participant_name(one.token)) == 1
