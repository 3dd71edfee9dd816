"""One study's trouble is its own: what is stored of it cannot be read, and all others go on."""

from __future__ import annotations

import io
import itertools
import json

import pytest
from sqlalchemy import text

from dame.device.questions import question_from_json
from dame.service import auth
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.patience import LONGEST_PAUSE, Patience
from dame.service.rounds import Rounds
from dame.service.studies import Studies
from dame.service.uploads import Upload, Uploads
from tests.service.studies import Live, answer_of, plan_document
from tests.service.test_study_runs import wait_for

READ = {
    "question": "SELECT question FROM rounds WHERE slot = 0 AND study_id = :id",
    "plan": "SELECT plan FROM studies WHERE id = :id",
}
WRITE = {
    "question": "UPDATE rounds SET question = :text WHERE slot = 0 AND study_id = :id",
    "plan": "UPDATE studies SET plan = :text WHERE id = :id",
}


def exchange(database: Database, study_id: int, what: str, new: str) -> str:
    """Stores another text as the plan of a study or as its first question; returns the one before."""
    with database.writing() as connection:
        old = connection.execute(text(READ[what]), {"id": study_id}).scalar_one()
        connection.execute(text(WRITE[what]), {"id": study_id, "text": new})
    return str(old)


class Office:
    """Two studies whose first round is to be closed, and the rounds of their database, with a log."""

    def __init__(self, database: Database) -> None:
        self.database = database
        studies = Studies(database)
        self.ids = {name: studies.create(plan_document(name)).study.id for name in ("broken", "whole")}
        with database.writing() as connection:
            connection.execute(text("UPDATE rounds SET state = 'closing', closed_at = opened_at WHERE slot = 0"))
        self.stream = io.StringIO()
        self.seconds = 0.0
        self.rounds = Rounds(database, studies, log=Log(self.stream), patience=Patience(lambda: self.seconds))

    def logged(self) -> list[dict]:
        """The lines since the last look."""
        lines = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        self.stream.seek(self.stream.truncate(0))
        return lines


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


@pytest.mark.parametrize("what", ["question", "plan"])
@pytest.mark.parametrize("new", ["{}", "no JSON"])
def test_a_study_that_cannot_be_closed_leaves_the_others_alone(office: Office, what: str, new: str) -> None:
    old = exchange(office.database, office.ids["broken"], what, new)
    assert office.rounds.close_due() == [("whole", 0)]
    (line,) = office.logged()
    assert (line["event"], line["study"], line["round"]) == ("closing-failed", "broken", 0)
    assert line["error"]
    assert line["where"]
    assert ("detail" in line) == (new == "{}"), "errors of our own say in a sentence what is wrong"
    # It is tried again until it works.
    assert office.rounds.close_due() == []
    exchange(office.database, office.ids["broken"], what, old)
    office.seconds += LONGEST_PAUSE
    assert office.rounds.close_due() == [("broken", 0)]
    assert office.rounds.close_due() == []
    assert office.logged() == []


def test_a_study_that_cannot_be_closed_is_tried_ever_more_rarely(office: Office) -> None:
    old = exchange(office.database, office.ids["broken"], "plan", "{}")
    tries: list[float] = []
    for second in range(3000):
        office.seconds = float(second)
        office.rounds.close_due()
        tries += [second] * len(office.logged())
    pauses = [after - before for before, after in itertools.pairwise(tries)]
    assert pauses[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert set(pauses[9:]) == {512, LONGEST_PAUSE}
    # Whoever asks for it is not kept waiting.
    exchange(office.database, office.ids["broken"], "plan", old)
    assert office.rounds.close_due() == []
    study = Studies(office.database).get("broken")
    office.rounds.close(study, 0)
    assert office.rounds.question(study, 1).document["round"] == 1


def test_a_server_closes_the_rounds_of_other_studies_and_logs_the_name(live: Live) -> None:
    services = live.app.state.services
    studies = [live.create(name, close_at_count=[1, None]) for name in ("broken", "whole")]
    uploads = [(study, study.by_round(study.invite(30))[0][0], answer_of(study.question(0))) for study in studies]
    exchange(services.database, services.studies.get("broken").id, "plan", "{}")
    for study, token, report in uploads:
        assert study.upload(token, report).status_code == 200
    wait_for(lambda: studies[1].public()["open_rounds"] == [1])
    wait_for(lambda: "closing-failed" in live.log.getvalue())
    lines = [json.loads(line) for line in live.log.getvalue().splitlines()]
    failed = [line for line in lines if line["event"] == "closing-failed"]
    assert {line["study"] for line in failed} == {"broken"}
    assert {"event": "round-closed", "study": "whole", "round": 0, "automatic": True}.items() <= next(
        line for line in lines if line["event"] == "round-closed"
    ).items()


def test_reports_to_a_study_that_cannot_be_read_do_not_keep_others_out(database: Database) -> None:
    studies, stream = Studies(database), io.StringIO()
    uploads, rounds = Uploads(database, Log(stream)), Rounds(database, studies)
    made = [studies.create(plan_document(name, "one-bit")).study for name in ("broken", "whole")]
    sent = []
    for study in made:
        question = question_from_json(rounds.question(study, 0).document)
        sent += [Upload(study.study, auth.digest(token), answer_of(question)) for token in studies.invite(study, 2)]
    old = exchange(database, made[0].id, "question", "{}")
    verdicts = uploads.accept(sent).refusals
    assert [verdict and verdict.reason for verdict in verdicts] == ["unavailable", "unavailable", None, None]
    (line,) = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (line["event"], line["study"], line["round"]) == ("uploads-failed", "broken", 0)
    exchange(database, made[0].id, "question", old)
    assert not any(uploads.accept(sent).refusals), "what was refused may be sent again"
