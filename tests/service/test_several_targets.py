"""Studies of several targets: each machine at its own pace, on its own people, and one result of all."""

from __future__ import annotations

import json
import math
import time

import pytest
from sqlalchemy import text

import dame
from dame.device.questions import Question
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.rounds import Rounds
from dame.service.shifts import Shifts
from dame.service.studies import Studies
from dame.studies.running import result
from tests.service.studies import Live, Run, mixed_document, several_document
from tests.service.test_study_runs import wait_for

RECORDS = [{"hours": 7.5 + 2 * (day % 2), "steps": float(day % 10), "snores": "no"} for day in range(40)]
NOBODY: list[dict] = []


def answer_slot(study: Run, tokens: list[str], index: int, records: list[dict] = RECORDS) -> Question:
    question = study.question(index)
    pairs = [(token, dame.device.answer(question, records).encode(question)) for token in tokens]
    assert study.batch(pairs) == ["accepted"] * len(pairs)
    return question


def test_all_machines_ask_at_once_and_each_goes_on_at_its_own_pace(live: Live) -> None:
    study = live.create_from({"plan": {**mixed_document(), "group": ""}})
    public = study.public()
    plan = dame.plan_from_json(public["plan"])
    firsts = [index for index, slot in enumerate(plan.slots) if slot.round == 0]
    assert public["open_rounds"] == firsts
    assert len(firsts) == len(plan.machines) == 3
    assert [study.question(index).target for index in firsts] == [machine.name for machine in plan.machines]
    tokens = study.by_round(study.invite(300))
    for index in firsts:
        answer_slot(study, tokens[index], index)
    # One machine runs to its end while the others stand still.
    for index in range(len(plan.machines[0].slots)):
        if index:
            answer_slot(study, tokens[index], index)
        status = study.close(index).json()
    assert status["open_rounds"] == firsts[1:]
    assert (status["state"], status["result"]) == ("running", None)
    hours, snores = status["targets"]
    assert abs(hours["estimate"]["estimate"] - 8.5) < 4
    assert hours["estimate"]["users"] == sum(len(tokens[index]) for index in range(3)) == hours["reports"]
    assert snores["estimate"] is None
    assert live.http.get(f"{study.base}/result", headers=study.secret).json()["reason"] == "not-finished"
    while status["open_rounds"]:
        index = status["open_rounds"][0]
        if index not in firsts:
            answer_slot(study, tokens[index], index)
        status = study.close(index).json()
    assert status["state"] == "finished"
    assert study.result() == status["result"]
    assert [one["name"] for one in status["result"]["targets"]] == ["hours", "snores"]
    assert status["result"]["targets"][0] == hours["estimate"], "what a target came to does not change later"
    assert "estimate" not in status["result"], "with several targets no one of them stands for all"
    assert live.http.get("/api/v1/studies").json()["studies"][0]["state"] == "finished"


def test_the_result_is_that_of_the_tallies(live: Live) -> None:
    study = live.create_from({"plan": several_document(group="")})
    tokens = study.by_round(study.invite(200))
    for index in study.public()["open_rounds"]:
        answer_slot(study, tokens[index], index)
        study.close(index)
    services = live.app.state.services
    stored = services.studies.get(study.study)
    expected = result(stored.plan, services.rounds.tallies(stored)).to_json()
    assert study.result() == json.loads(json.dumps(expected))
    deviation = study.result()["targets"][2]
    assert deviation["kind"] == "sd"
    assert deviation["reports"] == [len(some) for some in tokens[2:]]
    assert 0 <= deviation["interval"][0] <= deviation["estimate"] <= deviation["interval"][1] <= 5
    assert any("of people have records" in note for note in deviation["notes"])


def test_the_status_describes_targets_and_their_machines(live: Live) -> None:
    study = live.create_from({"plan": several_document(group="")})
    study.invite(50)
    hours, late, steps = study.status()["targets"]
    assert (hours["kind"], hours["range"], hours["words"]) == ("mean", [0, 24], "the mean of hours, between 0 and 24")
    assert (late["name"], late["kind"], late["range"]) == ("hours-above-8", "share", [0, 1])
    assert (steps["kind"], steps["range"]) == ("sd", [0, 5])
    assert [machine["name"] for machine in steps["machines"]] == ["steps/mean", "steps/square", "steps/present"]
    assert [machine["rounds"] for machine in steps["machines"]] == [[2], [3], [4]]
    assert steps["machines"][1]["range"] == [0, 25]
    assert hours["users_planned"] + late["users_planned"] + steps["users_planned"] == 4000
    assert hours["invited"] + late["invited"] + steps["invited"] == 50
    assert all(math.isfinite(target["predicted_rmse"]) for target in (hours, late, steps))


def test_somebody_without_records_sends_a_report_like_anybody(live: Live) -> None:
    study = live.create_from({"plan": several_document(group="")})
    tokens = study.by_round(study.invite(100))
    for index in study.public()["open_rounds"]:
        lengths = {len(dame.device.answer(study.question(index), some).encode(study.question(index)))
                   for some in (RECORDS, NOBODY)}  # fmt: skip
        assert len(lengths) == 1
        answer_slot(study, tokens[index], index, NOBODY)
        assert study.close(index).status_code == 200
    assert study.status()["state"] == "finished"


def test_rounds_of_all_targets_close_together_at_a_deadline(address: str, serve) -> None:
    now = [1_000_000.0]
    live = serve(address, clock=lambda: now[0])
    plan = {**mixed_document(), "group": ""}
    ends = [time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(now[0] + 3600 * (k + 1))) for k in range(3)]
    study = live.create_from({"plan": plan, "deadlines": ends})
    rounds = study.public()["rounds"]
    assert [one["deadline"] for one in rounds] == [ends[one["round"]] for one in rounds]
    tokens = study.by_round(study.invite(300))
    firsts = study.public()["open_rounds"]
    for index in firsts:
        answer_slot(study, tokens[index], index)
    now[0] += 3601
    wait_for(lambda: not set(firsts) & set(study.public()["open_rounds"]))
    assert {one["state"] for one in study.public()["rounds"] if one["round"] == 0} == {"closed"}
    assert {one["round"] for one in study.public()["rounds"] if one["state"] == "open"} == {1}


def test_a_study_whose_last_server_died_before_the_result_gets_one(database: Database) -> None:
    studies = Studies(database)
    rounds = Rounds(database, studies)
    study = studies.create(several_document(group="")).study
    for index in range(len(study.plan.slots)):
        rounds.close(study, index)
    found = studies.get(study.study).result
    assert found is not None
    assert rounds.due() == []
    with database.writing() as connection:
        connection.execute(text("UPDATE studies SET result = NULL"))
    assert studies.get(study.study).state == "running"
    assert rounds.close_due() == [(study.study, len(study.plan.slots) - 1)]
    assert studies.get(study.study).result == found


# --- what malicious users could do


def test_shifts_are_worked_out_in_peace(database: Database, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        "dame.service.shifts.largest_shift", lambda machine: asked.append(machine) or 0.25 * machine.brief.half_range
    )
    studies = Studies(database)
    study = studies.create(several_document(group="")).study
    assert study.shifts is None
    shifts = Shifts(database)
    shifts.work()
    found = studies.get(study.study).shifts
    assert found["hours"] == 0.25 * 12
    assert found["hours-above-8"] == 0.25 * 0.5
    assert found["steps"] == pytest.approx(study.plan.targets[2].shift(lambda machine: 0.25 * machine.brief.half_range))
    shifts.work()
    assert len(asked) == 5, "what is stored is not worked out again"


def test_a_study_whose_shifts_cannot_be_worked_out_leaves_others_alone(database: Database, monkeypatch) -> None:
    studies = Studies(database)
    for name in ("broken", "whole"):
        studies.create(several_document(name, ""))
    monkeypatch.setattr("dame.service.shifts.largest_shift", lambda machine: 0.5)
    with database.writing() as connection:
        connection.execute(text("UPDATE studies SET plan = '{}' WHERE study = 'broken'"))
    logged: list[tuple] = []
    monkeypatch.setattr(Log, "failure", lambda _self, name, error, **facts: logged.append((name, facts)))
    shifts = Shifts(database)
    for _ in range(2):
        shifts.work()
    assert logged == [("shifts-failed", {"study": "broken"})]
    assert set(studies.get("whole").shifts) == {"hours", "hours-above-8", "steps"}


def test_creating_a_study_does_not_wait_for_its_shifts(live: Live, monkeypatch) -> None:
    study = live.create_from({"plan": several_document(group="")})
    wait_for(lambda: all(one["shift_by_1_percent"] is not None for one in study.status()["targets"]), 60)
    shifts = [one["shift_by_1_percent"] for one in study.status()["targets"]]
    assert 0 < shifts[0] < 24
    assert 0 < shifts[1] < 1
