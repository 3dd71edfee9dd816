"""The pages in Firefox, as Debian ships it: taking part, refusing, the dashboard.

Its driver shows less than Chromium's (no bodies of requests, no downloads): what was sent is read off the service.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from dame.device.questions import question_from_json
from dame.device.reports import Report
from tests.web.joining import agree, arrived, drawn, opened, refusal
from tests.web.study import Guest

pytestmark = pytest.mark.xdist_group("firefox")


@pytest.fixture
def fox(firefox: Browser, server: str) -> Iterator[Callable[[], Guest]]:
    """New profiles of Firefox; at the end no page may have broken its policy, failed, or asked another origin."""
    with contextlib.ExitStack() as stack:
        guests: list[Guest] = []

        def new() -> Guest:
            context = firefox.new_context(viewport={"width": 1100, "height": 900}, locale="en-GB")
            stack.callback(context.close)
            context.set_default_timeout(30_000)
            guests.append(Guest(context, server))
            return guests[-1]

        yield new
        for one in guests:
            one.check()


def test_it_is_firefox(firefox: Browser, fox, server) -> None:
    page = fox().open(f"{server}/dashboard")
    assert "Firefox/" in page.evaluate("navigator.userAgent")
    assert firefox.browser_type.name == "firefox"


def test_taking_part(fox, one_bit) -> None:
    page = opened(fox(), one_bit.links[0][0])
    terms = page.locator("#terms").inner_text()
    assert "at most 1.65 times (e^α) more sure of anything" in terms
    assert page.locator("#report").is_hidden()
    shown = drawn(page)
    arrived(page)
    question = question_from_json(one_bit.call("rounds/0/question")["question"])
    assert Report.decode(question, shown).value in (0, 1)
    assert one_bit.call("status")["rounds"][0]["reports"] == 1
    page.reload()
    arrived(page)
    assert bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", "")) == shown
    assert one_bit.call("status")["rounds"][0]["reports"] == 1
    assert one_bit.call("status")["rejected"] == {}


def test_taking_part_with_a_file(fox, study, tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("day;minutes\n" + "".join(f"{day};{30 + day % 5},5\n" for day in range(500)))
    page = opened(fox(), study.links[0][0])
    page.set_input_files("#file", path)
    page.select_option("#column", label="minutes")
    expect(page.locator("#read")).to_contain_text("500 numbers")
    agree(page)
    arrived(page)
    assert page.locator("#bits li").count() == study.plan["rounds"][0]["lens"]["bins"]
    assert study.call("status")["rounds"][0]["reports"] == 1


def test_one_link_in_two_profiles_is_drawn_once(fox, one_bit) -> None:
    first, second = (opened(fox(), one_bit.links[0][0]) for _ in range(2))
    drawn(first)
    arrived(first)
    second.fill("#typed", "12")
    second.click("#draw")
    assert "already been sent with this invitation" in refusal(second)
    assert one_bit.call("status")["rejected"] == {}


@pytest.mark.parametrize(
    ("part", "other", "sentence"),
    [
        ("plan=", "plan=" + "0" * 64 + "&was=", "not the one that your invitation names"),
        ("key=", "key=" + "0" * 64 + "&was=", "another key than your invitation names"),
        ("alpha=0.5", "alpha=0.25", "your invitation says α = 0.25"),
        ("token=", "token=abc", "token of this invitation is damaged"),
        ("&plan=", "&no-plan=", "no invitation"),
    ],
)
def test_refusing(fox, one_bit, part, other, sentence) -> None:
    assert sentence in refusal(fox().open(one_bit.links[0][0].replace(part, other)))


def test_a_question_that_is_not_signed_is_refused(fox, one_bit) -> None:
    """The browser's own Ed25519 is what checks it: the same question with another signature."""
    person = fox()
    document = one_bit.call("rounds/0/question")
    document["signature"] = "00" * 64
    person.context.route("**/question", lambda route: route.fulfill(json=document))
    assert "not signed" in refusal(person.open(one_bit.links[0][0]))


def test_somebody_who_is_early(fox, study) -> None:
    person = fox()
    person.expect("409")
    assert "round 2 of 3" in refusal(person.open(study.links[1][0]))


def test_the_dashboard(fox, study) -> None:
    page = fox().open(f"{study.server}/dashboard")
    page.click(f'#list a:has-text("{study.name}")')
    page.fill("#key", study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    number = study.answer_all(0)
    page.wait_for_selector(f'#targets li[data-slot="0"][data-reports="{number}"]')
    expect(page.locator("#close")).to_have_text("Close round 1")
    page.click("#close")
    page.click("#confirm button[value=yes]")
    page.wait_for_selector('#targets li[data-slot="0"][data-state="closed"]')
    expect(page.locator("figure.votes rect").first).to_be_visible()
