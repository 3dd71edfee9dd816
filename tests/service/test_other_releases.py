"""A study outlives its software: what was asked and signed counts, whatever the release of today would ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from dame.client.invitations import Invitation
from dame.client.participation import Participation
from dame.device.ledger import Ledger
from dame.device.lenses import Bins, Lens, Window, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question, Slot, canonical, question_id
from dame.errors import InvalidInput
from dame.service.database import Database
from dame.service.schedule import Schedule
from dame.service.signing import signature
from dame.service.studies import Studies
from tests.service.studies import VARYING, Live, Run, answer_of
from tests.service.test_study_runs import offline_estimate

HOURS = 7.5
PEOPLE = 700
_ASKED = "UPDATE rounds SET question = :question, question_id = :id, signature = :signature WHERE slot = :slot"


def wider_bins(lens: Lens) -> Lens:
    bins = narrowed(Bins, lens)
    return replace(bins, width=bins.width * 1.07)


def wider_windows(lens: Lens) -> Lens:
    windows = narrowed(Windows, lens)
    wider = tuple(Window(centre + 0.003, 1.1 * left, 1.1 * right) for centre, left, right in windows.windows)
    return replace(windows, windows=wider)


def other_segments(lens: Lens) -> Lens:
    first, *inner = (window.centre for window in narrowed(Windows, lens).windows)
    return Windows.segments([first, *(0.95 * border + 0.01 for border in inner), 1.0])


OTHERS: dict[str, tuple[Callable[[Lens], Lens], Callable[[Lens], Lens]]] = {
    "adaptive": (wider_bins, wider_windows),
    VARYING: (other_segments, other_segments),
    "paper": (wider_bins, wider_windows),
}
"""How the first two rounds of a protocol looked under other constants."""


def ask_otherwise(study: Run, index: int, other: Callable[[Lens], Lens]) -> Question:
    """Exchanges the question of an open round for one with another lens, as an earlier release would have signed it."""
    today = study.question(index)
    asked = replace(today, lens=other(today.lens))
    assert asked != today
    services = study.live.app.state.services
    stored = services.studies.get(study.study)
    values = {
        "question": canonical(asked.to_json()).decode("ascii"),
        "id": question_id(asked),
        "signature": signature(stored.signing_key, stored.plan_id, asked),
        "slot": index,
    }
    with services.database.writing() as connection:
        connection.execute(text(_ASKED), values)
    return asked


@pytest.mark.parametrize("protocol", OTHERS)
def test_a_study_that_began_under_other_constants_goes_on_and_ends(
    live: Live, protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = live.create(protocol=protocol)
    tokens = study.by_round(study.invite(PEOPLE))
    asked = []
    for index in range(len(tokens)):
        if index < len(OTHERS[protocol]):
            asked.append(ask_otherwise(study, index, OTHERS[protocol][index]))
        question = study.question(index)
        assert asked[index:] in ([], [question])
        own, *others = tokens[index]
        take_part(study, own, tmp_path / f"ledger-{index}")
        assert set(study.batch([(token, answer_of(question, HOURS)) for token in others])) == {"accepted"}
        closed = study.close(index)
        assert closed.status_code == 200, closed.text
    status = study.status()
    assert status["state"] == "finished"
    assert [one["reports"] for one in status["rounds"]] == list(map(len, tokens))
    low, high = status["result"]["interval"]
    assert low <= status["result"]["estimate"] <= high
    assert abs(status["result"]["estimate"] - HOURS) < 4
    # The questions that were asked go home with the reports, and lead to the same estimate there.
    assert offline_estimate(study, tmp_path / "export", capsys) == status["result"]
    exported = [json.loads((tmp_path / f"export/question-{index + 1}.json").read_text()) for index in range(len(asked))]
    assert exported == [question.to_json() for question in asked]


def take_part(study: Run, token: str, path: Path) -> None:
    """One participant whose device checks everything, the signature included."""
    public = study.public()
    named = {"study": study.study, "key": public["public_key"], "plan_id": public["plan_id"]}
    invited = Invitation(base=study.live.base, token=token, **named)
    ledger = Ledger(path)
    part = Participation(invited, ledger)
    part.take_part(part.terms(), lambda _: [HOURS] * 400)
    ledger.close()


def test_a_question_of_another_study_in_the_store_is_not_read(live: Live) -> None:
    """What was asked must still belong to the plan: another α or another statistic is no other constant."""
    study = live.create()
    services = live.app.state.services
    raised = replace(study.question(0), alpha=3.0)
    with services.database.writing() as connection:
        values = {"question": canonical(raised.to_json()).decode("ascii"), "id": question_id(raised)}
        connection.execute(text(_ASKED), {**values, "signature": "", "slot": 0})
    refused = study.close(0)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid")
    assert "does not belong to round 1" in refused.json()["detail"]
    assert study.status()["state"] == "running"


# --- versions that this release does not know


def versioned(plan: dict, version: int) -> dict:
    """A plan of one machine, as another release would have written it."""
    (target,) = plan["targets"]
    (machine,) = target["machines"]
    changed = {**target, "machines": [{**machine, "protocol_version": version}]}
    return {**plan, "protocol_version": version, "targets": [changed]}


def with_version(database: Database, version: int) -> None:
    """Stores a plan as another release would have written it."""
    with database.writing() as connection:
        plan = json.loads(connection.execute(text("SELECT plan FROM studies")).scalar_one())
        changed = canonical(versioned(plan, version)).decode("ascii")
        connection.execute(text("UPDATE studies SET plan = :plan"), {"plan": changed})


def test_a_posted_plan_of_an_unknown_version_is_refused_in_one_sentence(live: Live) -> None:
    plan = live.create("known").public()["plan"]
    answer = live.http.post("/api/v1/studies", json={"plan": {**versioned(plan, 99), "study": "new"}})
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid")
    assert answer.json()["detail"] == "protocol_version must be one that this release knows of paper: 1, not 99"
    assert [one["study"] for one in live.http.get("/api/v1/studies").json()["studies"]] == ["known"]


def test_a_stored_plan_of_an_unknown_version_is_told_in_one_sentence_and_kept(live: Live) -> None:
    study = live.create()
    token = study.by_round(study.invite(30))[0][0]
    report = answer_of(study.question(0))
    services = live.app.state.services
    with_version(services.database, 99)
    for answer in (
        live.http.get(study.base),
        live.http.get(f"{study.base}/status", headers=study.secret),
        live.http.get(f"{study.base}/rounds/0/question"),
        study.close(0),
    ):
        assert (answer.status_code, answer.json()["reason"]) == (422, "invalid")
        assert answer.json()["detail"] == "protocol_version must be one that this release knows of paper: 1, not 99"
    # Nothing is lost meanwhile: reports are taken, the key can be replaced, and a release that knows it goes on.
    assert study.upload(token, report).status_code == 200
    study.key = Studies(services.database).replace_key(study.study)
    with_version(services.database, 1)
    assert study.close(0).json()["rounds"][0]["reports"] == 1


# --- several targets side by side


def test_deadlines_follow_each_other_within_a_target_only() -> None:
    slots = [Slot("mean", 0), Slot("mean", 1), Slot("other", 0)]
    Schedule(deadlines=[5.0, 9.0, 6.0]).fitting(slots, now=1.0)
    for wrong in ([9.0, 5.0, 6.0], [5.0, 9.0, 0.5], [9.0, 5.0]):
        with pytest.raises(InvalidInput, match="deadlines"):
            Schedule(deadlines=wrong).fitting(slots, now=1.0)


def test_a_list_with_an_entry_for_each_round_is_for_all_targets() -> None:
    slots = [Slot("mean", 0), Slot("mean", 1), Slot("other", 0)]
    fitted = Schedule(deadlines=[5.0, 9.0], counts=[7, None]).fitting(slots, now=1.0)
    assert fitted == Schedule(deadlines=[5.0, 9.0, 5.0], counts=[7, None, 7])
    for wrong in ([7], [7, 7, 7, 7], []):
        with pytest.raises(InvalidInput, match="each of the 2 rounds, or for each of the 3 slots"):
            Schedule(counts=wrong).fitting(slots, now=1.0)
