"""A study on a server, and a person with a browser."""

from __future__ import annotations

import functools
import hashlib
import json
import random
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dame
from dame.device import answer, question_from_json, slot_of
from dame.studies.codec import plan_from_json, plan_to_json

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
HURRY = """if (location.pathname.endsWith("/join")) {
  const wait = setTimeout;
  globalThis.setTimeout = (act, ms, ...more) => wait(act, ms / 20, ...more);
}"""
"""The page of a participant waits for a moment that her records do not decide; most tests do not have the time."""
WATCH = "addEventListener('securitypolicyviolation', (e) => console.error('policy', e.violatedDirective, e.blockedURI))"


@functools.cache
def _plan() -> str:
    sizes = dame.Sizes.parse("poisson:500")
    return json.dumps(plan_to_json(dame.plan(users=300, alpha=4.0, sizes=sizes, bounds=(0, 60), study="x")))


def name_of(test: str) -> str:
    """A name for the study of a test."""
    return f"study {hashlib.sha256(test.encode()).hexdigest()[:12]}"


def planned(name: str) -> dict[str, Any]:
    """A plan of three rounds, the first of them a vote."""
    plan = {**json.loads(_plan()), "study": name}
    assert [round_["lens"]["kind"] for round_ in plan["rounds"]] == ["bins", "windows", "windows"]
    return plan


def call(address: str, *, body: object = None, secret: str | None = None) -> Any:
    """An answer of the service."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {secret}"} if secret else {})}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address, data=data, headers=headers), timeout=30) as response:
        return json.load(response)


@dataclass
class Study:
    """A study, its administrator's key, and the links of each round."""

    server: str
    name: str
    key: str
    plan: dict[str, Any]
    access: Path
    links: dict[int, list[str]]

    @classmethod
    def create(
        cls, server: str, plan: dict[str, Any], folder: Path, invitations: int = 60, groups: tuple[str, ...] = ()
    ) -> Study:
        made = call(f"{server}/api/v1/studies", body={"plan": plan, "title": "Minutes of sport on a weekday"})
        access = folder / "access.json"
        key = made["administrator_key"]
        access.write_text(json.dumps({"server": server, "study": plan["study"], "administrator_key": key}))
        study = cls(server=server, name=plan["study"], key=key, plan=plan, access=access, links={})
        for whose in [{"group": group} for group in groups] or [{}]:
            body = study.call("invitations", body={"count": invitations, **whose})
            study.add_links([one["link"] for one in body["invitations"]])
        return study

    def add_links(self, links: list[str]) -> None:
        shares = plan_from_json(self.plan).shares
        for link in links:
            name = hashlib.sha256(token_of(link).encode()).hexdigest()
            self.links.setdefault(slot_of(self.name, shares, name), []).append(link)

    def call(self, path: str, body: object = None) -> Any:
        address = "/".join([f"{self.server}/api/v1/studies", quote(self.name, safe=""), *([path] if path else [])])
        return call(address, body=body, secret=self.key)

    def close(self, index: int) -> None:
        self.call(f"rounds/{index}/close", body={"anyway": True})

    def answer_all(self, index: int, records: Callable[[str], list] | None = None) -> int:
        """Everybody of a round who is left answers with the Python device; how many they are.

        `records` are those of a person by her link.
        """
        question = question_from_json(self.call(f"rounds/{index}/question")["question"])
        people, self.links[index] = self.links.get(index, []), []
        draw = random.Random(index)
        own = records or (lambda _: [draw.gauss(31, 9) for _ in range(500)])
        answers = [answer(question, own(link)) for link in people]
        reports = [
            {"token": token_of(link), "report": one.encode(question).hex()}
            for link, one in zip(people, answers, strict=True)
        ]
        assert set(self.call("reports/batch", body={"reports": reports})["results"]) <= {"accepted"}
        return len(people)

    def command(self, *words: str) -> Any:
        """What `dame study … --json` prints."""
        command = [sys.executable, "-m", "dame", "study", *words, "--access", str(self.access), "--json"]
        environment = {"PYTHONPATH": str(Path(dame.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
        return json.loads(done.stdout)


def token_of(link: str) -> str:
    return link.split("token=")[1][:32]


class Guest:
    """A person with a browser of her own. Everything that her pages ask for, and complain about, is written down."""

    def __init__(self, context: Any, server: str, *, patient: bool = False) -> None:
        self.context = context
        self.server = server
        self.requests: list[Any] = []
        self.complaints: list[str] = []
        self.expected: list[str] = []
        context.add_init_script(WATCH)
        if not patient:
            context.add_init_script(HURRY)
        context.on("request", self._note)
        context.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        context.on("weberror", lambda problem: self.complaints.append(str(problem.error)))

    def _note(self, request: Any) -> None:
        self.requests.append(request)

    def open(self, address: str) -> Any:
        page = self.context.new_page()
        page.goto(address)
        return page

    def expect(self, *texts: str) -> None:
        """Complaints of the browser about answers such as 409, which the page itself handles."""
        self.expected += texts

    def check(self) -> None:
        origin = urlsplit(self.server).netloc
        elsewhere = [
            one.url for one in self.requests if urlsplit(one.url).netloc != origin and not one.url.startswith("blob:")
        ]
        assert elsewhere == [], elsewhere
        left = [text for text in self.complaints if not any(part in text for part in self.expected)]
        assert left == [], left

    def sent(self) -> list[bytes]:
        """The bodies of everything that was posted."""
        return [one.post_data_buffer or b"" for one in self.requests if one.method == "POST"]
