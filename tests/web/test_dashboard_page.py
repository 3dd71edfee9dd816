"""The page of an administrator: whom it lets in, what it keeps, what it shows of hostile names."""

from __future__ import annotations

import json
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.web.study import call, planned
from tests.web.test_accessibility import check

POLICY = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
}  # fmt: skip


@pytest.mark.parametrize(
    "path", ["", "dashboard", "join", "static/join.js", "static/device/index.js", "static/style.css"]
)
def test_pages_come_with_a_strict_policy(server, path):
    with urllib.request.urlopen(f"{server}/{path}") as answer:
        assert {part.strip() for part in answer.headers["Content-Security-Policy"].split(";")} == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Set-Cookie"] is None


def test_the_policy_is_in_force(guest, server):
    """The watch on the policy is no dead letter: a script and a style that were slipped in are stopped, and noticed."""
    person = guest()
    page = person.open(f"{server}/join")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.bad = 1'}))"
    )
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("fetch('https://example.com/').catch(() => 0)")
    assert page.evaluate("window.bad") is None
    page.wait_for_timeout(200)
    found = " ".join(person.complaints)
    assert "policy script-src" in found
    assert "policy style-src" in found
    assert "policy connect-src" in found
    person.complaints.clear()
    person.requests.clear()


def enter(page, study, key):
    page.click(f'#list a:has-text("{study.name}")')
    page.wait_for_selector("#enter:not([hidden])")
    page.fill("#key", key)
    page.keyboard.press("Enter")


def test_only_the_key_opens_a_study(guest, study):
    person = guest()
    person.expect("403")
    page = person.open(f"{study.server}/dashboard")
    enter(page, study, "0" * 64)
    expect(page.locator("#news")).to_contain_text("not the administrator key")
    assert page.locator("#inside").is_hidden()
    assert page.evaluate("sessionStorage.length") == 0
    page.fill("#key", study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    assert page.locator("#facts").inner_text().count("300") == 1
    # The key is in this tab, in a header, and nowhere else.
    assert study.key in page.evaluate("JSON.stringify(sessionStorage)")
    assert page.evaluate("localStorage.length") == 0
    assert person.context.cookies() == []
    assert not any(study.key in one.url for one in person.requests)
    keyed = [one for one in person.requests if study.key in one.headers.get("authorization", "")]
    assert {one.url.rpartition("/")[2] for one in keyed} == {"status"}
    page.reload()
    page.wait_for_selector("#inside:not([hidden])")
    other = person.open(page.url)
    other.wait_for_selector("#enter:not([hidden])")
    page.click("#leave")
    page.wait_for_selector("#enter:not([hidden])")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_study_that_is_not_there(guest, server):
    page = guest().open(f"{server}/dashboard#study=nothing")
    expect(page.locator("#news")).to_contain_text("There is no study “nothing”")


def test_a_hostile_title_stays_a_text(guest, server):
    title = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    made = call(f"{server}/api/v1/studies", body={"plan": planned("hostile title"), "title": title})
    person = guest()
    page = person.open(f"{server}/dashboard")
    page.wait_for_selector("#list a")
    assert title in page.locator("#list").inner_text()
    page.click('#list a:has-text("hostile title")')
    page.fill("#key", made["administrator_key"])
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    assert page.locator("h1:visible").inner_text() == title
    assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("no JSON", "is no plan"), ("[]", "is no plan"), ('{"study": "x"}', "with the key")],
)
def test_a_file_that_is_no_plan_is_refused_in_one_sentence(guest, server, tmp_path, text, sentence):
    (tmp_path / "plan.json").write_text(text)
    person = guest()
    person.expect("422")
    page = person.open(f"{server}/")
    page.set_input_files("#plan", tmp_path / "plan.json")
    page.click("#create button")
    expect(page.locator("#news")).to_contain_text(sentence)
    assert page.locator("#created").is_hidden()


def test_a_study_is_not_created_twice(guest, server, tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(planned("only once")))
    person = guest()
    person.expect("409")
    page = person.open(f"{server}/")
    for _ in range(2):
        page.set_input_files("#plan", tmp_path / "plan.json")
        page.click("#create button")
        page.wait_for_selector("#administrator-key")
    expect(page.locator("#news")).not_to_be_empty()


def test_keeping_a_round_open(guest, study):
    page = guest().open(f"{study.server}/dashboard")
    enter(page, study, study.key)
    page.wait_for_selector("#inside:not([hidden])")
    page.click("#close")
    assert "cannot be opened again" in page.locator("#confirm").inner_text()
    page.keyboard.press("Escape")
    page.click("#close")
    page.click("#confirm button[value=no]")
    page.wait_for_timeout(300)
    assert study.call("status")["rounds"][0]["state"] == "open"


def test_the_dashboard_waits_for_a_server_that_went_away(guest, study):
    person = guest()
    person.expect("ERR_FAILED")
    page = person.open(f"{study.server}/dashboard")
    enter(page, study, study.key)
    page.wait_for_selector("#inside:not([hidden])")
    person.context.route("**/status", lambda route: route.abort())
    expect(page.locator("#live")).to_have_text("waiting for the server")
    assert page.locator("#inside").is_visible()
    person.context.unroute("**/status")
    expect(page.locator("#live")).to_have_text("live", timeout=15_000)
    expect(page.locator("#news")).to_be_empty()


def test_rounds_say_around_what_they_look_and_how_far(guest, study):
    person = guest()

    def answer(route):
        document = json.loads(route.fetch().body())
        document["rounds"][1].update(window={"centre": 30.0, "low": 15.0, "high": 45.0})
        document["rounds"][2].update(window={"centre": 31.25, "low": -5.0, "high": 67.5})
        route.fulfill(json=document)

    person.context.route("**/status", answer)
    page = person.open(f"{study.server}/dashboard")
    enter(page, study, study.key)
    expect(page.locator("#targets .rounds li").nth(1)).to_contain_text("looks around 30, from 15 to 45")
    expect(page.locator("#targets .rounds li").nth(2)).to_contain_text("looks around 31.25, from 0 to 60")
    expect(page.locator("#targets .rounds li").nth(0)).not_to_contain_text("looks")


HISTOGRAM = {
    "edges": [0.0, 22.5, 33.75, 60.0],
    "shares": [0.25, 0.8, -0.05],
    "standard_error": 0.1,
    "chosen": [22.5, 33.75],
}


def test_votes_are_drawn_with_what_they_chose(guest, study):
    person = guest()

    def answer(route):
        document = json.loads(route.fetch().body())
        document["rounds"][0].update(reports=40, histogram=HISTOGRAM)
        route.fulfill(json=document)

    person.context.route("**/status", answer)
    page = person.open(f"{study.server}/dashboard")
    enter(page, study, study.key)
    figure = page.locator("#targets figure.votes")
    expect(figure.locator("figcaption")).to_contain_text("where the averages of 40 people lie")
    expect(figure.locator("figcaption")).to_contain_text("Chosen: 22.5 to 33.75.")
    assert figure.locator("rect").count() == 3
    assert figure.locator("rect.chosen").count() == 1
    page.click("#targets figure.votes summary")
    assert page.locator("#targets figure.votes th").all_inner_texts() == ["Average", "People", "Chosen"]
    assert page.locator("#targets figure.votes tbody tr").all_inner_texts()[1] == "22.5 to 33.75\t80.0\u202f%\tyes"
    check(page)
