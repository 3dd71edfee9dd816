"""What the service sends is what it describes: every answer has the keys of its model, none missing and none more.

The answers in all other tests are compared, too (`Live`).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

import dame
from dame.client.signed import participant_name
from dame.service import models
from dame.service.exact import Where
from dame.service.problems import MEDIA_TYPE
from dame.service.settings import Settings
from tests.service.conftest import live_server
from tests.service.contract import DOCUMENTS, JSON
from tests.service.studies import Live, Run, answer_of, plan_document
from tests.service.test_study_runs import wait_for

NO_DOCUMENTS = {"/metrics", "/api/v1/studies/{study}/rounds/{slot}/reports"}
BESIDE = models.Figures.model_fields.keys() - {"targets"}
SOMETIMES = {
    "ProblemDocument": {"why", "opens_after"},
    "TallyDocument": {"groups"},
    "EstimateDocument": set(Where.model_fields),
    "GroupResultDocument": BESIDE,
    "ResultDocument": {*BESIDE, "groups", "differences", "privacy"},
}
"""What only some answers tell: those about a single target, about groups, and some refusals."""
PEOPLE = 60
SHIFT = "shift_by_1_percent"


@pytest.fixture
def live(tmp_path: Path):
    with live_server(Settings(database=str(tmp_path / "d.sqlite"), port=0, rate_limit=0, refusal_limit=0)) as server:
        yield server


GROUPED = [dame.mean("hours", (0, 24)), dame.quantiles("hours", (0, 24), [0.5]), dame.distribution("hours", (0, 24))]
"""One study each, with public groups: numbers, quantiles and curves are told in fields of their own."""


def grouped_document(target: dame.studies.targets.Target) -> dict:
    """The plan of a study with public groups."""
    name = f"groups-{target.kind}"
    study = dame.Study(users=400, alpha=2.0, sizes="constant:3", targets=[target], group="region", study=name)
    return dame.plan_to_json(study.plan())


def look(study: Run, rounds: int) -> None:
    """Asks for everything that can be asked about a study."""
    http = study.live.http
    study.public()
    study.status()
    for path in ("/health", "/health/live", "/metrics", "/api/v1/studies", f"{study.base}/result"):
        http.get(path, headers=study.secret)
    for index in range(rounds):
        http.get(f"{study.base}/rounds/{index}/question")
        http.get(f"{study.base}/rounds/{index}/tally", headers=study.secret)
        http.get(f"{study.base}/rounds/{index}/reports", headers=study.secret)


def run_through(study: Run) -> None:
    """A study from its first question to its estimate, with a look at every state, and refusals of reports."""
    rounds = len(study.public()["rounds"])
    groups = ("north", "south") if study.public()["group"] else (None,)
    tokens = study.by_round([token for group in groups for token in study.invite(PEOPLE, group)])
    for index in range(rounds):
        look(study, rounds)
        report = answer_of(study.question(index))
        assert study.upload(tokens[index][0], report + b"x").json()["why"] == "length"
        assert study.upload(tokens[index][0], report).json() == {"accepted": True}
        study.batch([(token, report) for token in tokens[index]])
        look(study, rounds)
        study.close(index)
    look(study, rounds)
    assert study.status()["state"] == "finished"
    assert study.upload(tokens[0][0], b"another").json() == {"accepted": True}, "hers was counted; nothing is compared"
    state = study.live.http.get(f"{study.base}/invitation", headers={"Authorization": f"Bearer {tokens[0][0]}"})
    assert state.json() == {"answered": True}
    claim = {"claim": "0" * 64}
    put = study.live.http.put(f"{study.base}/invitation", json=claim, headers=state.request.headers)
    assert put.json() == {"answered": True, "granted": False}
    assert study.post("answered", tokens=[participant_name(tokens[0][0])]).json() == {"answered": [True]}
    assert study.live.http.get("/api/v1/log").json()["size"] > rounds


def end_of(study: Run) -> None:
    """A study that is ended and deleted, with another administrator."""
    token = study.invite(1)[0]
    assert study.post("withdraw", tokens=[token, "00"]).json() == {"withdrawn": 1, "answered": 0, "unknown": 1}
    assert study.post("administrators", name="second").json()["name"] == "second"
    assert study.post("administrators/remove", name="second").json() == {"administrators": ["administrator"]}
    assert study.post("end").json()["state"] == "ended"
    assert study.post("purge").json() == {"rounds": [0]}
    study.status()
    acts = study.live.http.get(f"{study.base}/acts", headers=study.secret).json()["acts"]
    assert {one["act"] for one in acts} >= {"created", "invited", "withdrawn", "ended", "purged"}
    assert study.post("delete", study=study.study).json() == {"deleted": study.study}


def refused(study: Run) -> None:
    """Requests that are refused, for reasons that are not met on the way."""
    http = study.live.http
    assert http.get(f"{study.base}/status", headers={"Authorization": "Bearer x"}).json()["reason"] == "forbidden"
    assert http.get("/api/v1/studies/nobody").json()["reason"] == "unknown-study"
    assert http.get("/nowhere").json()["reason"] == "unknown-page"
    assert http.delete("/health").json()["reason"] == "wrong-method"
    again = http.post("/api/v1/studies", json={"plan": plan_document(study.study, "one-bit")})
    assert again.json()["reason"] == "conflict"
    assert http.post("/api/v1/studies", json={"plan": {}}).json()["reason"] == "invalid"
    assert study.upload("00", b"x").json()["reason"] == "unknown-token"
    assert study.upload("00", bytes(2**20)).json()["reason"] == "oversized"


def test_every_field_of_every_answer_is_met(live: Live) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 3600))
    run_through(live.create("votes", "paper", close_at_count=[10_000, None], deadlines=[moment, None]))
    run_through(live.create("bits", "one-bit"))
    for target in GROUPED:
        run_through(live.create_from({"plan": grouped_document(target)}))
    over = live.create("over", "one-bit", keep_reports_days=30.0)
    end_of(over)
    last = live.create("refused", "one-bit")
    refused(last)
    wait_for(lambda: live.http.get(f"{last.base}/status", headers=last.secret).json()["targets"][0][SHIFT] is not None)
    described = {(name, field) for name, model in DOCUMENTS.items() for field in model.model_fields}
    assert live.reader.filled == described


def test_the_description_leaves_nothing_open(live: Live) -> None:
    description = live.http.get("/openapi.json").json()
    schemas = description["components"]["schemas"]
    for name in DOCUMENTS:
        assert schemas[name]["additionalProperties"] is False, name
        sometimes = SOMETIMES.get(name, set())
        assert set(schemas[name]["required"]) == schemas[name]["properties"].keys() - sometimes, name
    for path, operations in description["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if not status.startswith("2"):
                    assert answer["content"][MEDIA_TYPE]["schema"]["$ref"].endswith("/ProblemDocument"), path
                elif path not in NO_DOCUMENTS:
                    assert answer["content"][JSON]["schema"]["$ref"].rpartition("/")[2] in DOCUMENTS, path


@pytest.mark.parametrize("path", ["/health", "/api/v1/studies/sleep", "/api/v1/studies/nobody"])
def test_a_key_on_one_side_only_is_found(live: Live, path: str) -> None:
    live.create()
    sent = live.http.get(path)
    document = sent.json()
    first = next(iter(document))
    for drifted in ({**document, "more": 1}, {key: value for key, value in document.items() if key != first}):
        headers = {"content-type": sent.headers["content-type"]}
        body = json.dumps(drifted).encode()
        with pytest.raises(ValidationError):
            live.reader.read(httpx.Response(sent.status_code, content=body, headers=headers, request=sent.request))


def test_a_key_of_estimates_that_is_not_described_is_not_sent(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    told = dame.Estimate.to_json
    monkeypatch.setattr(dame.Estimate, "to_json", lambda estimate: {**told(estimate), "more": 1})
    assert live.create(protocol="one-bit").close(0).status_code == 500
