"""Small studies, their participants, and a running service to try them on."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import lru_cache

import httpx
from fastapi import FastAPI

import dame
from dame.client.signed import participant_name
from dame.device.assignment import slot_of
from dame.device.questions import Question, question_from_json
from dame.service.settings import Settings
from tests.service.contract import Reader

SURVEYED = "adaptive, with a survey of sizes"
VARYING = "adaptive, under between-user variation"
_KINDS = {
    SURVEYED: {"protocol": "adaptive", "survey": 0.2},
    VARYING: {"protocol": "adaptive", "between_sd": "learn"},
}


@lru_cache(maxsize=32)
def _plan_text(protocol: str, users: int) -> str:
    sizes = dame.Sizes.parse("poisson:400")
    kind = _KINDS.get(protocol, {"protocol": protocol})
    plan = dame.plan(users=users, alpha=2.0, sizes=sizes, bounds=(0.0, 24.0), study="x", **kind)
    return json.dumps(dame.plan_to_json(plan))


def plan_document(study: str = "sleep", protocol: str = "paper", users: int = 4000) -> dict:
    """A plan with rounds of both kinds, as JSON."""
    return {**json.loads(_plan_text(protocol, users)), "study": study}


@lru_cache(maxsize=4)
def _several_text() -> str:
    study = dame.Study(
        users=4000,
        alpha=2.0,
        sizes="poisson:400",
        targets=[dame.mean("hours", (0, 24)), dame.share("hours", above=8), dame.sd("steps", (0, 10), present=0.9)],
        protocol="one-bit",
        group="arm",
        study="x",
    )
    return json.dumps(dame.plan_to_json(study.plan()))


def several_document(study: str = "sleep", group: str = "arm") -> dict:
    """A plan with three targets and five machines, as JSON; people are told apart if the group has a name."""
    return {**json.loads(_several_text()), "study": study, "group": group}


@lru_cache(maxsize=4)
def _mixed_text() -> str:
    targets = [dame.mean("hours", (0, 24)), dame.share("snores", is_="yes", present=0.5)]
    study = dame.Study(users=4000, alpha=2.0, sizes="poisson:400", targets=targets, group="arm", study="x")
    return json.dumps(dame.plan_to_json(study.plan()))


def mixed_document(study: str = "sleep") -> dict:
    """A plan with two targets whose machines have different numbers of rounds, for people in groups, as JSON."""
    return {**json.loads(_mixed_text()), "study": study}


def answer_of(question: Question, hours: float = 7.5, records: int = 400) -> bytes:
    """An honest report."""
    return dame.device.answer(question, [hours] * records).encode(question)


@dataclass
class Live:
    """A running service, and a client to ask it, which compares every answer with its description."""

    base: str
    app: FastAPI
    log: io.StringIO
    settings: Settings
    http: httpx.Client = field(init=False)
    reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        self.reader = Reader(self.app)
        self.http = httpx.Client(base_url=self.base, timeout=30, event_hooks={"response": [self.reader.read]})

    def create(self, study: str = "sleep", protocol: str = "paper", **more: object) -> Run:
        """A new study on this service."""
        return self.create_from({"plan": plan_document(study, protocol), **more})

    def create_from(self, wanted: dict) -> Run:
        """A new study on this service, by what is posted."""
        answer = self.http.post("/api/v1/studies", json={"minimum_reports": 0, **wanted})
        assert answer.status_code == 201, answer.text
        return Run(self, answer.json()["study"], answer.json()["administrator_key"])


@dataclass
class Run:
    """One study on a service, and what its administrator and participants do."""

    live: Live
    study: str
    key: str

    @property
    def base(self) -> str:
        return f"/api/v1/studies/{self.study}"

    @property
    def secret(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def public(self) -> dict:
        return self.live.http.get(self.base).json()

    def status(self) -> dict:
        return self.live.http.get(f"{self.base}/status", headers=self.secret).json()

    def result(self) -> dict:
        return self.live.http.get(f"{self.base}/result", headers=self.secret).json()

    def invite(self, count: int, group: str | None = None) -> list[str]:
        wanted = {"count": count, **({} if group is None else {"group": group})}
        answer = self.live.http.post(f"{self.base}/invitations", json=wanted, headers=self.secret)
        assert answer.status_code == 200, answer.text
        return [one["token"] for one in answer.json()["invitations"]]

    def by_round(self, tokens: list[str]) -> list[list[str]]:
        shares = self.public()["shares"]
        rounds: list[list[str]] = [[] for _ in shares]
        for token in tokens:
            rounds[slot_of(self.study, shares, participant_name(token))].append(token)
        return rounds

    def question(self, index: int) -> Question:
        answer = self.live.http.get(f"{self.base}/rounds/{index}/question")
        assert answer.status_code == 200, answer.text
        return question_from_json(answer.json()["question"])

    def upload(self, token: str, report: bytes) -> httpx.Response:
        return self.live.http.post(f"{self.base}/reports", content=report, headers={"Authorization": f"Bearer {token}"})

    def batch(self, pairs: list[tuple[str, bytes]]) -> list[str]:
        entries = [{"token": token, "report": report.hex()} for token, report in pairs]
        answer = self.live.http.post(f"{self.base}/reports/batch", json={"reports": entries})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def close(self, index: int, anyway: bool = True) -> httpx.Response:
        return self.live.http.post(f"{self.base}/rounds/{index}/close", headers=self.secret, json={"anyway": anyway})

    def post(self, path: str, **wanted: object) -> httpx.Response:
        return self.live.http.post(f"{self.base}/{path}", headers=self.secret, json=wanted)
