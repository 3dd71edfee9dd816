"""A study over HTTP, from the plan to the estimate, on both databases."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dame.cli.app import run
from dame.client.administration import Access, Administration
from dame.client.signed import plan_identity, signed_bytes
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.device.questions import question_id
from dame.device.reports import Report
from dame.service.export import export_study
from dame.tally import Tally
from tests.service.studies import SURVEYED, VARYING, Live, Run, answer_of

PEOPLE = 40


def answer_all(study: Run, tokens: list[str], index: int) -> None:
    question = study.question(index)
    pairs = [(token, answer_of(question)) for token in study.by_round(tokens)[index]]
    assert study.batch(pairs[1:]) == ["accepted"] * len(pairs[1:])
    for pair in pairs[:1]:  # a round with a small share may have nobody
        assert study.upload(*pair).json() == {"accepted": True}


@pytest.mark.parametrize("protocol", ["paper", "adaptive", SURVEYED, VARYING, "one-bit"])
def test_a_study_from_plan_to_estimate(live: Live, protocol: str, tmp_path: Path, capsys) -> None:
    study = live.create(protocol=protocol)
    tokens = study.invite(PEOPLE)
    assert len(set(tokens)) == PEOPLE
    rounds = study.public()["rounds"]
    for index in range(len(rounds)):
        assert study.public()["open_rounds"] == [index]
        answer_all(study, tokens, index)
        assert study.close(index).status_code == 200
    status = study.status()
    assert status["state"] == "finished"
    assert [one["reports"] for one in status["rounds"]] == list(map(len, study.by_round(tokens)))
    assert status["invited"] == PEOPLE
    result = study.result()
    assert result == status["result"]
    assert result["reports"] == [one["reports"] for one in status["rounds"]]
    assert offline_estimate(study, tmp_path / "export", capsys) == result


def offline_estimate(study: Run, folder: Path, capsys) -> dict:
    """What `dame tally` and `dame ask` make of the exported files."""
    access = Access(server=study.live.base, study=study.study, administrator_key=study.key)
    names = export_study(Administration(access), folder)
    tallies = []
    for index in range(sum(name.startswith("reports") for name in names)):
        tallies.append(str(folder / f"tally-{index}.json"))
        question, reports = folder / f"question-{index + 1}.json", folder / f"reports-{index + 1}.parquet"
        assert run(["tally", str(question), str(reports), "--out", tallies[-1]]) == 0
    capsys.readouterr()
    assert run(["ask", str(folder / "plan.json"), *tallies, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_plan_and_the_question_are_what_their_names_say(live: Live) -> None:
    study = live.create()
    public = study.public()
    assert plan_identity(public["plan"]) == public["plan_id"]
    assert json.loads(public["plan_canonical"]) == public["plan"]
    asked = live.http.get(f"{study.base}/rounds/0/question").json()
    assert question_id(study.question(0)) == asked["question_id"]
    assert signed_bytes(public["plan_id"], asked["question"]).endswith(asked["canonical"].encode())


def test_the_histogram_shows_where_people_are(live: Live) -> None:
    study = live.create()
    tokens = study.by_round(study.invite(2000))[0]
    question = study.question(0)
    marked = Report(question=question_id(question), value=1 << narrowed(Bins, question.lens).bin_of(-0.5)).encode(
        question
    )  # 6 of 24 hours
    assert set(study.batch([(token, marked) for token in tokens[:900]])) == {"accepted"}
    status = study.close(0).json()
    histogram = status["rounds"][0]["histogram"]
    assert len(histogram["edges"]) == len(histogram["shares"]) + 1
    assert histogram["edges"][0] == 0.0
    assert histogram["edges"][-1] == 24.0
    low, high = histogram["chosen"]
    assert low <= 6.0 <= high
    assert max(histogram["shares"]) > 1.5  # everybody told the bin, and nobody was random
    assert histogram["standard_error"] > 0
    window = status["rounds"][1]["window"]
    assert window["low"] <= window["centre"] <= window["high"]


def test_bits_on_segments_have_a_range_and_no_histogram(live: Live) -> None:
    study = live.create(protocol=VARYING)
    tokens = study.by_round(study.invite(200))[0]
    question = study.question(0)
    reports = [Report(question=question_id(question), window=window, value=1).encode(question) for window in range(8)]
    assert set(study.batch(list(zip(tokens[:8], reports, strict=True)))) == {"accepted"}
    strange = bytearray(reports[7])
    strange[-1] |= 0x10  # a ninth window
    assert study.upload(tokens[8], bytes(strange)).json()["reason"] == "malformed"
    first, second, *_ = study.close(0).json()["rounds"]
    assert (first["lens"], first["histogram"]) == ("windows", None)
    assert first["window"] == {"centre": 12.0, "low": 0.0, "high": 24.0}
    assert second["window"] == first["window"], "segments always cover the range"


def test_a_survey_of_sizes_has_no_picture(live: Live) -> None:
    study = live.create(protocol=SURVEYED)
    tokens = study.by_round(study.invite(100))[0]
    question = study.question(0)
    assert set(study.batch([(token, answer_of(question)) for token in tokens])) == {"accepted"}
    first = study.close(0).json()["rounds"][0]
    assert (first["lens"], first["histogram"], first["window"]) == ("size-classes", None, None)


def test_the_tally_of_a_closed_round_names_the_question_that_was_asked(live: Live) -> None:
    study = live.create()
    token = study.by_round(study.invite(30))[0][0]
    question = study.question(0)
    report = answer_of(question)
    assert study.upload(token, report).status_code == 200
    path = f"{study.base}/rounds/0/tally"
    early = live.http.get(path, headers=study.secret)
    assert (early.status_code, early.json()["reason"]) == (409, "not-finished")
    study.close(0)
    expected = Tally.zero(question).add(Report.decode(question, report))
    assert Tally.from_json(live.http.get(path, headers=study.secret).json()) == expected


def test_who_comes_too_early_or_too_late_is_told(live: Live) -> None:
    later = time.time() + 3600
    deadline = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(later))
    study = live.create(deadlines=[deadline, None])
    first, second = study.by_round(study.invite(30))
    early = live.http.get(f"{study.base}/rounds/1/question")
    assert (early.status_code, early.json()["reason"]) == (409, "too-early")
    assert early.json()["opens_after"] == deadline
    report = answer_of(study.question(0))
    upload = study.upload(second[0], report)
    assert (upload.status_code, upload.json()["opens_after"]) == (409, deadline)
    assert study.upload(first[0], report).status_code == 200
    study.close(0)
    late = live.http.get(f"{study.base}/rounds/0/question")
    assert (late.status_code, late.json()["reason"]) == (410, "too-late")
    assert study.upload(first[1], report).json()["reason"] == "too-late"


def test_uploads_are_idempotent(live: Live) -> None:
    study = live.create()
    token, other, *_ = study.by_round(study.invite(30))[0]
    question = study.question(0)
    report = answer_of(question)
    changed = report[:-1] + bytes([report[-1] ^ 1])
    for _ in range(3):
        assert study.upload(token, report).status_code == 200
    assert study.upload(token, changed).json()["reason"] == "conflict"
    assert study.status()["rounds"][0]["reports"] == 1
    # In one group, too: the first of a token decides.
    assert study.batch([(other, report), (other, report), (other, changed), (token, report)]) == [
        "accepted",
        "accepted",
        "conflict",
        "accepted",
    ]
    study.close(0)
    assert study.upload(token, report).status_code == 200  # a retry after the end of the round is still told the truth
    assert study.status()["rounds"][0]["reports"] == 2
    assert study.status()["rejected"] == {"conflict": 2}


def test_refused_reports_have_a_reason_and_are_counted(live: Live) -> None:
    study, other = live.create(), live.create("steps")
    first, second = study.by_round(study.invite(30))
    report = answer_of(study.question(0))
    strange = other.by_round(other.invite(30))[0][0]
    cases = {
        "unknown-token": study.upload("0" * 32, report),
        "oversized": study.upload(first[0], b"x" * 200_000),
    }
    assert study.upload(strange, report).json()["reason"] == "unknown-token"
    for reason, answer in cases.items():
        assert answer.json()["reason"] == reason
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == answer.status_code
    for bad, why in ((report[:-1], "length"), (b"", "length"), (b"\0" * len(report), "question")):
        answer = study.upload(first[0], bad)
        assert (answer.status_code, answer.json()["reason"], answer.json()["why"]) == (422, "malformed", why)
    assert study.upload(first[0], report).status_code == 200
    study.close(0)
    wrong = study.upload(second[0], report)
    assert (wrong.status_code, wrong.json()["reason"]) == (409, "wrong-round")
    counted = study.status()["rejected"]
    assert counted == {"malformed": 3, "oversized": 1, "unknown-token": 2, "wrong-round": 1}
    assert study.status()["rounds"][0]["reports"] == 1


def test_a_round_closes_by_itself_at_its_count(live: Live) -> None:
    study = live.create(close_at_count=[3, None])
    tokens = study.by_round(study.invite(30))[0]
    question = study.question(0)
    for token in tokens[:3]:
        assert study.upload(token, answer_of(question)).status_code == 200
    wait_for(lambda: study.public()["open_rounds"] == [1])
    assert study.status()["rounds"][0]["reports"] >= 3


def test_a_round_closes_at_its_deadline_whatever_the_clock_does(address: str, serve) -> None:
    now = [1_000_000.0]
    live = serve(address, clock=lambda: now[0])
    ends = [time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(now[0] + hours * 3600)) for hours in (1, 3)]
    study = live.create(deadlines=ends)
    token = study.by_round(study.invite(30))[0][0]
    now[0] += 7200  # past the deadline, but nobody has answered: the study goes on
    time.sleep(1.5)
    assert study.public()["open_rounds"] == [0]
    now[0] -= 86_400  # the clock is set back by a day
    assert study.upload(token, answer_of(study.question(0))).status_code == 200
    now[0] += 86_400
    wait_for(lambda: study.public()["open_rounds"] == [1])
    # The round before closed an hour late: this one keeps its two hours.
    assert study.public()["rounds"][1]["deadline"] == time.strftime(
        "%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1_000_000.0 + 4 * 3600)
    )
    now[0] -= 1e6 - 10  # nearly back to 1970
    closed = study.close(1).json()
    assert closed["state"] == "finished"
    assert closed["rounds"][1]["closed_at"] >= closed["rounds"][1]["opened_at"]


def test_a_round_is_closed_in_order_and_once(live: Live) -> None:
    study = live.create()
    assert study.close(1).json()["reason"] == "too-early"
    assert study.close(2).json()["reason"] == "unknown-round"
    first = study.close(0).json()
    assert study.close(0).json() == first


def wait_for(condition, seconds: float = 15.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)
