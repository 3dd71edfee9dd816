"""Taking part in the page, step by step, as the tests of it do."""

from __future__ import annotations

import hashlib
import json
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dame.client.public_log import START, entry_hash
from dame.device.channels import Channel
from dame.device.lenses import Lens
from dame.device.questions import Question, canonical
from dame.device.statistics import Value

NUMBERS = "31.25 28.5\n44 12 99"
KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key().public_bytes_raw().hex()


def opened(guest, link):
    page = guest.open(link)
    page.wait_for_selector("#numbers:not([hidden])")
    return page


def agree(page):
    """She agrees, to a large budget too; then her report is drawn, shown and on its way."""
    if page.locator("#weak").is_visible():
        page.check("#weak")
    page.click("#draw")
    page.wait_for_selector("#report:not([hidden])")


def arrived(page):
    """Waits until her report is with the service."""
    page.wait_for_selector("#done:not([hidden])")


def drawn(page, numbers=NUMBERS):
    page.fill("#typed", numbers)
    agree(page)
    return bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", ""))


def refusal(page):
    page.wait_for_selector("#refusal:not([hidden])")
    for part in ("#numbers", "#agreement", "#send", "#report"):
        assert page.locator(part).is_hidden()
    return page.locator("#refusal-text").inner_text()


def question_of(study, lens: Lens, channel: Channel) -> Question:
    """A question for the first round of the study of one bit."""
    statistic = Value(low=0.0, high=60.0)
    return Question(study=study.name, round=0, alpha=0.5, statistic=statistic, lens=lens, channel=channel)


def log_of(entries: list[dict]) -> dict:
    """The public log of a service, as it would tell these entries."""
    chain: list[dict] = []
    for place, entry in enumerate(entries):
        chain.append({"place": place, "previous": entry_hash(chain[-1]) if chain else START, **entry})
    return {"size": len(chain), "head": entry_hash(chain[-1]), "entries": chain}


def _told(study, document: dict) -> list[dict]:
    name, plan = study.name, study.call("")["plan_id"]
    slot = {"target": document["target"], "round": document["round"]}
    question = {"question_id": hashlib.sha256(canonical(document)).hexdigest(), **slot}
    return [
        {"kind": "plan", "study": name, "plan_id": plan, "public_key": PUBLIC},
        {"kind": "question", "study": name, "plan_id": plan, **question},
    ]


def asking(person, study, document: dict) -> str:
    """A link to the study, of which another operator holds the key from now on; he asks this question."""
    signed = b"\n".join([b"dame-question-v1", study.call("")["plan_id"].encode(), canonical(document)])
    question = {
        "question": document,
        "question_id": hashlib.sha256(canonical(document)).hexdigest(),
        "signature": KEY.sign(signed).hex(),
    }

    def describe(route):
        route.fulfill(json={**json.loads(route.fetch().body()), "public_key": PUBLIC})

    person.context.route("**/api/v1/log*", lambda route: route.fulfill(json=log_of(_told(study, document))))
    person.context.route(re.compile(r"/api/v1/studies/[^/]+$"), describe)
    person.context.route("**/question", lambda route: route.fulfill(json=question))
    person.context.route("**/reports", lambda route: route.fulfill(json={"result": "accepted"}))
    return re.sub("key=[0-9a-f]{64}", f"key={PUBLIC}", study.links[0][0])
