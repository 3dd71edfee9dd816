"""The page of a participant: agree, then draw; once for an invitation; at a moment that her records do not decide."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from tests.web.joining import agree, arrived, drawn, opened, refusal

PACE = 3.0
ALLOWED = 0.4
"""The largest difference between two pages on a busy machine, in seconds."""


def gaps(person, link, path):
    """The times of what the page asks for with her token, counted from when it had its question."""
    times = {}

    def heard(response):
        times["question" if response.url.endswith("/question") else ""] = time.monotonic()

    def asked(request):
        if request.url.endswith("/invitation") and "question" in times:
            times["invitation"] = time.monotonic()
        if request.method == "POST":
            times["report"] = time.monotonic()

    page = person.context.new_page()
    page.on("response", heard)
    page.on("request", asked)
    page.goto(link)
    page.wait_for_selector("#numbers:not([hidden])")
    page.set_input_files("#file", path)
    expect(page.locator("#draw")).to_be_enabled()
    agree(page)
    arrived(page)
    return times["invitation"] - times["question"], times["report"] - times["invitation"]


def test_the_number_of_records_does_not_show_in_the_times_of_requests(guest, one_bit, tmp_path):
    found = []
    for place, records in enumerate((3, 300_000)):
        path = tmp_path / f"{records}.csv"
        path.write_text("minutes\n" + "30.5\n" * records)
        found.append(gaps(guest(patient=True), one_bit.links[0][place], path))
    for asked, sent in found:
        assert asked > PACE - ALLOWED
        assert min(asked % PACE, PACE - asked % PACE) < ALLOWED, "a whole number of paces after it was heard"
        assert sent < ALLOWED
    assert abs(found[0][1] - found[1][1]) < ALLOWED


def test_nothing_is_drawn_before_she_agrees(guest, one_bit):
    """Whoever saw her report before she decides could withhold it for what it says."""
    person = guest()
    person.context.add_init_script(
        "const draw = crypto.getRandomValues.bind(crypto); globalThis.draws = 0;"
        "crypto.getRandomValues = (words) => { globalThis.draws += 1; return draw(words); }"
    )
    page = opened(person, one_bit.links[0][0])
    page.fill("#typed", "31 32")
    expect(page.locator("#draw")).to_be_enabled()
    assert page.locator("#draw").inner_text() == "I agree: draw my report and send it"
    assert "sends it at once" in page.locator("#agreement-text").inner_text()
    assert page.locator("#report").is_hidden()
    assert page.evaluate("globalThis.draws") == 0
    agree(page)
    arrived(page)
    assert page.evaluate("globalThis.draws") > 0
    assert page.locator("#send").is_hidden(), "there is nothing left to decide"
    assert len(person.sent()) == 1


def test_what_was_drawn_is_sent_even_if_the_page_is_closed_meanwhile(guest, one_bit):
    person = guest()
    person.expect("ERR_FAILED")
    person.context.route("**/reports", lambda route: route.abort())
    page = opened(person, one_bit.links[0][0])
    shown = drawn(page)
    page.close()
    person.context.unroute("**/reports")
    arrived(person.open(one_bit.links[0][0]))
    assert set(person.sent()) == {shown}


def test_one_link_in_six_browsers_is_drawn_once(guest, one_bit):
    """Six new browsers, which remember nothing of each other: two open before anybody has answered, four after."""
    link = one_bit.links[0][0]
    people = [guest() for _ in range(6)]
    first, second = opened(people[0], link), opened(people[1], link)
    drawn(first)
    arrived(first)
    second.fill("#typed", "12")
    second.click("#draw")
    assert "already been sent with this invitation" in refusal(second)
    for person in people[2:]:
        assert "already been sent with this invitation" in refusal(person.open(link))
    assert [len(person.sent()) for person in people] == [1, 0, 0, 0, 0, 0]
    assert all("Nothing was sent" in person.context.pages[0].inner_text("#refusal") for person in people[1:])


def test_the_browser_is_asked_to_remember(guest, one_bit):
    person = guest()
    person.context.add_init_script(
        "globalThis.asked = 0; if (globalThis.StorageManager)"
        " StorageManager.prototype.persist = async () => { globalThis.asked += 1; return false; }"
    )
    page = opened(person, one_bit.links[0][0])
    assert page.evaluate("globalThis.asked") == 0
    drawn(page)
    assert page.evaluate("globalThis.asked") == 1


def test_a_browser_that_never_answers_whether_it_will_remember_is_no_obstacle(guest, one_bit):
    person = guest()
    person.context.add_init_script(
        "if (globalThis.StorageManager) StorageManager.prototype.persist = () => new Promise(() => {})"
    )
    page = opened(person, one_bit.links[0][0])
    drawn(page)
    arrived(page)


def test_the_page_says_what_a_private_window_means(guest, one_bit):
    page = opened(guest(), one_bit.links[0][0])
    assert "A private window forgets it when it is closed" in page.locator("#agreement").inner_text()


def test_a_budget_above_three_has_to_be_accepted(guest, study):
    person = guest()
    page = opened(person, study.links[0][0])
    page.fill("#typed", "31 32")
    expect(page.locator("#draw")).to_be_disabled()
    assert "α = 4, although a suspicion of 50\u202f% about me can become 98.2\u202f%" in page.inner_text("#weak-text")
    page.check("#weak")
    expect(page.locator("#draw")).to_be_enabled()
    page.uncheck("#weak")
    expect(page.locator("#draw")).to_be_disabled()


def test_a_small_budget_asks_for_no_such_word(guest, one_bit):
    page = opened(guest(), one_bit.links[0][0])
    assert page.locator("#weak").is_hidden()


@pytest.mark.parametrize("name", ["plan", "alpha", "key"])
def test_an_invitation_must_say_what_it_is_for(guest, one_bit, name):
    link = one_bit.links[0][0].replace(f"&{name}=", f"&no-{name}=")
    assert "no invitation" in refusal(guest().open(link))
