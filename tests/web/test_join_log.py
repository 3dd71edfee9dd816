"""The page of a participant compares what it is asked with the public log, and draws only by the right to do so."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.web.joining import arrived, drawn, log_of, opened, refusal
from tests.web.study import call, planned

LOG = "**/api/v1/log*"


def bare(entry):
    return {name: value for name, value in entry.items() if name not in ("place", "previous")}


def altered(study, change):
    """The log of the service as a liar would show it: another one, and a chain all the same."""
    entries = [bare(entry) for entry in call(f"{study.server}/api/v1/log")["entries"]]
    return log_of(change(entries, study.name))


def without(kind):
    return lambda entries, name: [one for one in entries if (one["kind"], one.get("study")) != (kind, name)]


def twice(kind):
    """Another plan or question beside the one that she is shown."""

    def change(entries, name):
        own = next(one for one in entries if (one["kind"], one.get("study")) == (kind, name))
        return [*entries, {**own, f"{kind}_id": "0" * 64}]

    return change


def test_plan_and_question_stand_in_the_log(guest, one_bit):
    person = guest()
    page = opened(person, one_bit.links[0][0])
    head = page.locator("#log-head").text_content()
    log = call(f"{one_bit.server}/api/v1/log")
    assert head == log["head"]
    assert f"{log['size']} entries" in page.locator("#checked").text_content()
    drawn(page)
    arrived(page)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without("plan"), "The plan of this study is not in the public log"),
        (twice("plan"), "The plan of this study is not in the public log of the service, or not the only one"),
        (without("question"), "Your question is not in the public log"),
        (twice("question"), "Your question is not in the public log of the service, or not the only one"),
    ],
)
def test_what_is_not_in_the_log_is_not_answered(guest, one_bit, change, sentence):
    person = guest()
    person.context.route(LOG, lambda route: route.fulfill(json=altered(one_bit, change)))
    assert sentence in refusal(person.open(one_bit.links[0][0]))
    assert person.sent() == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("head", "0" * 64, "names another last entry"),
        ("size", 10**7, "does not follow the one before it"),
        ("entries", [{"place": 0, "previous": "1" * 64}], "Entry 0 of the service’s public log does not follow"),
        ("entries", None, "cannot be read"),
    ],
)
def test_a_log_that_is_no_chain_is_refused(guest, one_bit, name, value, sentence):
    person = guest()
    log = {**call(f"{one_bit.server}/api/v1/log"), name: value}
    person.context.route(LOG, lambda route: route.fulfill(json=log))
    assert re.search(sentence, refusal(person.open(one_bit.links[0][0])))


def test_a_changed_log_is_noticed_at_the_next_visit(guest, one_bit):
    person = guest()
    opened(person, one_bit.links[0][0]).close()
    told = altered(one_bit, lambda entries, _: [{"kind": "pages", "files": {}}, *entries])
    person.context.route(LOG, lambda route: route.fulfill(json=told))
    assert "is not the one that this browser saw before" in refusal(person.open(one_bit.links[0][0]))


def test_a_log_that_grew_is_the_same_log(guest, one_bit):
    person = guest()
    opened(person, one_bit.links[0][0]).close()
    call(f"{one_bit.server}/api/v1/studies", body={"plan": planned(f"{one_bit.name} too")})
    opened(person, one_bit.links[0][0])


def test_of_two_browsers_at_the_same_moment_one_draws(guest, one_bit):
    """Both have asked before the service answers either: only the one whose claim came first draws."""
    people = [guest(), guest()]
    held = []
    for person in people:
        person.context.route(
            "**/invitation", lambda route: held.append(route) if route.request.method == "PUT" else route.continue_()
        )
    pages = [opened(person, one_bit.links[0][0]) for person in people]
    for page in pages:
        page.fill("#typed", "31 32")
        page.click("#draw")
    while len(held) < len(pages):
        pages[0].wait_for_timeout(50)
    claims = [json.loads(route.request.post_data)["claim"] for route in held]
    assert len(set(claims)) == 2
    for route in held:
        route.continue_()
    for page in pages:
        page.wait_for_selector("#done:not([hidden]), #refusal:not([hidden])")
    assert sorted(page.locator("#done").is_visible() for page in pages) == [False, True]
    assert sorted(len(person.sent()) for person in people) == [0, 1]
    (loser,) = [page for page in pages if page.locator("#refusal").is_visible()]
    assert re.search("has begun to answer|already been sent", loser.inner_text("#refusal-text"))


def test_a_browser_that_was_cut_off_after_its_claim_goes_on(guest, one_bit):
    person, other = guest(), guest()
    person.expect("ERR_FAILED")

    def answered_and_cut(route):
        if route.request.method != "PUT":
            return route.continue_()
        route.fetch()
        return route.abort()

    person.context.route("**/invitation", answered_and_cut)
    page = opened(person, one_bit.links[0][0])
    page.fill("#typed", "31 32")
    page.click("#draw")
    expect(page.locator("#refusal-text")).to_contain_text("does not answer")
    late = opened(other, one_bit.links[0][0])
    late.fill("#typed", "12")
    late.click("#draw")
    assert "has begun to answer with this invitation" in refusal(late)
    person.context.unroute("**/invitation")
    page = opened(person, one_bit.links[0][0])
    drawn(page)
    arrived(page)
