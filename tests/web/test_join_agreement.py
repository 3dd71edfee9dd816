"""The page of a participant: it refuses what differs from what she agreed to."""

from __future__ import annotations

import copy
import hashlib
import json
import re

import pytest

from dame.device.questions import canonical, question_from_json, question_id
from tests.web.joining import opened, refusal


def pinned(guest, study):
    """A person who has seen the study once, as it was."""
    person = guest()
    opened(person, study.links[0][0]).close()
    return person


def serving(person, path, change):
    """From now on, the service's answers are changed on their way."""

    def handle(route):
        document = json.loads(route.fetch().body())
        change(document)
        route.fulfill(json=document)

    person.context.route(path, handle)


def changed_plan(**fields):
    def change(document):
        document["plan"].update(copy.deepcopy(fields))
        document["plan_id"] = hashlib.sha256(canonical(document["plan"])).hexdigest()

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (changed_plan(alpha=0.75), "has α = 0.75, your invitation says α = 0.5"),
        (changed_plan(users=41), "not the one that your invitation names"),
        (lambda document: document.update(plan_id="00" * 32), "does not have the identity"),
        (lambda document: document["plan"].update(users=41), "does not have the identity"),
        (lambda document: document.update(public_key="ab" * 32), "another key than your invitation names"),
        (lambda document: document.update(public_key="no key"), "no valid key"),
        (lambda document: document.update(study="another"), "another study"),
    ],
)
def test_a_study_that_has_changed_is_refused(guest, one_bit, change, sentence):
    person = pinned(guest, one_bit)
    serving(person, re.compile(r"/api/v1/studies/[^/]+$"), change)
    assert sentence in refusal(person.open(one_bit.links[0][0]))


def invited_to(link, *, key=None, **plan):
    """The link of somebody who was invited to another study of the same name."""
    link = re.sub("key=[0-9a-f]+", f"key={key}", link) if key else link
    if plan:
        link = re.sub("plan=[0-9a-f]+", f"plan={hashlib.sha256(canonical(plan)).hexdigest()}", link)
        link = re.sub("alpha=[0-9.]+", f"alpha={plan['alpha']}", link)
    return link


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"key": "ab" * 32}, "key of this study has changed"),
        ({"alpha": 0.75}, "larger α"),
        ({"users": 41}, "plan of this study has changed"),
    ],
)
def test_another_study_of_the_same_name_is_refused_though_the_invitation_fits(guest, one_bit, other, sentence):
    person = pinned(guest, one_bit)
    plan = {} if "key" in other else {**one_bit.call("")["plan"], **other}
    change = changed_plan(**other) if plan else lambda document: document.update(public_key=other["key"])
    serving(person, re.compile(r"/api/v1/studies/[^/]+$"), change)
    link = invited_to(one_bit.links[0][0], key=other.get("key"), **plan)
    assert sentence in refusal(person.open(link))


def altered(part=None, /, **fields):
    """Other fields in the header of the question, or in one of its parts."""

    def change(document):
        (document["question"] if part is None else document["question"][part]).update(fields)
        document["question_id"] = hashlib.sha256(canonical(document["question"])).hexdigest()

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (altered(alpha=0.6), "would spend α = 0.6"),
        (altered("lens", windows=[[0.5, -1.0, 1.0]]), "not signed"),
        (altered("statistic", high=61.0), "another column, or within other bounds"),
        (altered(study="another"), "another study, target or round"),
        (altered(target="another"), "another study, target or round"),
        (altered(round=1), "another study, target or round"),
        (altered("channel", no="1" * 16, yes="f" * 16), "privacy loss is at most alpha"),
        (altered("channel", kind="nothing"), "channel kind must be one of bits, choice, laplace"),
        (altered("lens", kind="nothing"), "lens kind must be one of bins, size-classes, windows, stripes"),
        (altered("channel", bins=2), "those of the lens, 1"),
        (altered(extra=1), "without unknown keys"),
        (altered("lens", extra=1), "without unknown keys"),
        (lambda document: document.update(signature="00" * 64), "not signed"),
        (lambda document: document.update(signature=""), "not signed"),
        (lambda document: document.update(question_id="00" * 32), "does not have the identity"),
    ],
)
def test_a_question_that_was_altered_is_refused(guest, one_bit, change, sentence):
    person = guest()
    serving(person, "**/question", change)
    assert sentence in refusal(person.open(one_bit.links[0][0]))


def test_what_the_tests_alter_is_what_they_mean(one_bit):
    """Without an alteration the same way of writing gives the question that the service signed."""
    document = one_bit.call("rounds/0/question")
    altered()(document)
    assert document["question_id"] == question_id(question_from_json(document["question"]))
    study = one_bit.call("")
    before = study["plan_id"]
    changed_plan()(study)
    assert study["plan_id"] == before


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "if (window.SubtleCrypto) SubtleCrypto.prototype.importKey = async () => {"
            "throw new DOMException('', 'NotSupportedError') }",
            "cannot check Ed25519",
        ),
        ("Object.defineProperty(crypto, 'subtle', { value: undefined })", "open it over https"),
        ("Object.defineProperty(window, 'indexedDB', { value: undefined })", "keeps no memory"),
    ],
)
def test_a_browser_that_cannot_protect_her_is_told_so(guest, one_bit, script, sentence):
    person = guest()
    person.context.add_init_script(script)
    assert sentence in refusal(person.open(one_bit.links[0][0]))
