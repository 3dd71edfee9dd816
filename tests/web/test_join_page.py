"""The page of a participant: what it refuses, what it remembers, what leaves it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import dame
from dame.device.questions import question_from_json
from dame.device.reports import Report
from dame.studies.codec import plan_to_json
from tests.web.joining import agree, arrived, drawn, opened, refusal
from tests.web.study import Study, name_of

# --- what she sees, and what leaves


def test_all_that_leaves_is_the_report_that_was_shown(guest, one_bit):
    person = guest()
    page = opened(person, one_bit.links[0][0])
    assert page.locator("#agreement").inner_text().count("at once: 1 bit.") == 1
    assert person.sent() == []
    terms = page.locator("#terms").inner_text()
    assert "0 to 60" in terms
    assert "at most 1.65 times (e^α) more sure of anything" in terms
    assert "A suspicion of 50\u202f% becomes at most 62\u202f%." in terms
    assert "Where in the window 0 to 60 is the average of your numbers?" in terms
    assert "about 38 say “high”, on purpose" in terms
    shown = drawn(page)
    text = page.locator("#report").inner_text()
    assert "One single bit." in text
    low, high = sorted(map(int, re.findall(r"about (\d+)", text)))
    assert (low, high) == (38, 62)
    arrived(page)
    assert person.sent() == [shown]
    question = question_from_json(one_bit.call("rounds/0/question")["question"])
    assert Report.decode(question, shown).value in (0, 1)
    # The token stands behind the # and in one header; her numbers stand nowhere.
    token = one_bit.links[0][0].split("token=")[1][:32]
    for request in person.requests:
        assert token not in request.url.partition("#")[0]
        carried = "authorization" in request.headers
        assert carried == (request.method == "POST" or request.url.endswith("/invitation"))
        assert not re.search("31.25|28.5", request.url + str(request.post_data_buffer))
    assert person.context.cookies() == []
    kept = page.evaluate(
        """() => new Promise((done) => { const opening = indexedDB.open('dame'); opening.onsuccess = () => {
        const all = opening.result.transaction('studies').objectStore('studies').getAll();
        all.onsuccess = () => done(all.result); } })"""
    )
    assert len(kept) == 1
    assert kept[0].keys() == {"study", "key", "planId", "alpha", "log", "claim", "report", "sent"}
    assert kept[0]["report"].keys() == {"participant", "id", "question", "hex"}
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0


def test_the_votes_bits_and_their_meaning(guest, study):
    person = guest()
    page = opened(person, study.links[0][0])
    assert "With fewer than" in page.locator("#asked").inner_text()
    report = drawn(page, " ".join(["33"] * 500))
    bits = page.locator("#bits li").all_inner_texts()
    bins = study.plan["rounds"][0]["lens"]["bins"]
    assert len(bits) == bins
    assert [int(bit) for bit in bits] == [int.from_bytes(report[8:], "little") >> j & 1 for j in range(bins)]
    assert page.locator("#meaning rect").count() == bins
    assert page.locator("#meaning rect.chosen").count() == 1
    assert "1.8\u202f%" in page.locator("#meaning-text").inner_text()


def test_numbers_are_checked_by_line_and_clipped_aloud(guest, one_bit, tmp_path):
    page = opened(guest(), one_bit.links[0][0])
    expect(page.locator("#draw")).to_be_disabled()
    page.fill("#typed", "12 abc\n70 x1\n")
    read = page.locator("#read")
    expect(read).to_contain_text("line 1 (“abc”), line 2 (“x1”)")
    expect(read).to_contain_text("1 number lies outside 0 to 60 and counts as the nearer bound")
    expect(page.locator("#draw")).to_be_disabled()
    page.check("#leave")
    expect(page.locator("#draw")).to_be_enabled()
    expect(read).to_contain_text("2 numbers, average 36")
    path = tmp_path / "mine.csv"
    path.write_text("day,minutes\nMon,30\nTue,50\n")
    page.set_input_files("#file", path)
    expect(read).to_contain_text("2 numbers, average 40")
    expect(page.locator("#typed")).to_have_value("")
    assert page.locator("#column option").all_inner_texts() == ["day", "minutes"]
    page.select_option("#column", label="day")
    expect(read).to_contain_text("line 2 (“Mon”), line 3 (“Tue”)")
    expect(page.locator("#draw")).to_be_disabled()


# --- one report, ever


def test_a_report_is_kept_before_it_is_sent_and_sent_again_unchanged(guest, one_bit):
    person = guest()
    person.expect("ERR_FAILED", "503")
    page = opened(person, one_bit.links[0][0])
    attempts = []

    def fail(route):
        attempts.append(route.request.post_data_buffer)
        route.abort() if len(attempts) % 2 else route.fulfill(status=503, body="{}")

    person.context.route("**/reports", fail)
    shown = drawn(page)
    expect(page.locator("#send-error")).to_contain_text(
        "The service answered with status 503. Your report is kept", timeout=20_000
    )
    page.reload()
    page.wait_for_selector("#send:not([hidden])")
    assert page.locator("#numbers").is_hidden()
    assert bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", "")) == shown
    person.context.unroute("**/reports")
    page.click("#send")
    arrived(page)
    assert len(attempts) == 8
    assert set(attempts) | set(person.sent()) == {shown}
    page.reload()
    page.wait_for_selector("#done:not([hidden])")
    assert "α = 0.5 in all" in page.locator("#spent").inner_text()
    assert one_bit.call("status")["rounds"][0]["reports"] == 1


def test_two_tabs_draw_one_report(guest, one_bit):
    person = guest()
    first, second = opened(person, one_bit.links[0][0]), opened(person, one_bit.links[0][0])
    assert drawn(first, "1") == drawn(second, "59")


def test_another_invitation_in_the_same_browser_is_refused(guest, one_bit):
    person = guest()
    drawn(opened(person, one_bit.links[0][0]))
    assert "already taken part" in refusal(person.open(one_bit.links[0][1]))


def test_a_second_question_is_refused(guest, one_bit):
    person = guest()
    person.expect("ERR_FAILED")
    person.context.route("**/reports", lambda route: route.abort())
    page = opened(person, one_bit.links[0][0])
    drawn(page)
    page.evaluate(
        """() => new Promise((done) => { const opening = indexedDB.open('dame'); opening.onsuccess = () => {
        const store = opening.result.transaction('studies', 'readwrite').objectStore('studies');
        store.getAll().onsuccess = ({ target }) => { const [kept] = target.result;
        kept.report.id = '00'.repeat(32); store.put(kept).onsuccess = done; } } })"""
    )
    page.reload()
    assert "second question" in refusal(page)


# --- invitations

WHOLE = "#study=nowhere&token=" + "a" * 32 + "&key=" + "b" * 64 + "&plan=" + "c" * 64 + "&alpha=1.5"


@pytest.mark.parametrize(
    ("fragment", "sentence"),
    [
        ("", "no invitation"),
        ("#study=x", "no invitation"),
        (WHOLE.replace("token=", "token=abc"), "token of this invitation is damaged"),
        (WHOLE.replace("key=", "key=1"), "key of this invitation is damaged"),
        (WHOLE.replace("plan=", "plan=1"), "plan of this invitation is damaged"),
        (WHOLE.replace("alpha=", "alpha=-"), "α of this invitation is damaged"),
        (WHOLE.replace("&plan=", "&other="), "no invitation"),
        (WHOLE.replace("&alpha=", "&other="), "no invitation"),
        (WHOLE.replace("&key=", "&other="), "no invitation"),
        (WHOLE, "no such study"),
    ],
)
def test_a_damaged_invitation_is_refused(guest, server, fragment, sentence):
    person = guest()
    person.expect("404")
    assert sentence in refusal(person.open(f"{server}/join{fragment}"))


def test_an_invitation_that_nobody_sent_is_refused_before_anything_is_drawn(guest, one_bit):
    link = one_bit.links[0][0]
    token = link.split("token=")[1][:32]
    person = guest()
    person.expect("401")
    assert "not known to the study" in refusal(person.open(link.replace(token, "ab" * 16)))
    assert person.sent() == []


def test_who_comes_too_early_is_told_when_and_may_look_again(guest, study, screenshot):
    person = guest()
    person.expect("409")
    page = person.open(study.links[1][0])
    assert "round 2 of 3" in refusal(page)
    assert "not your turn" in page.locator("#refusal-title").inner_text()
    screenshot(page, "join-too-early")
    study.answer_all(0)
    study.close(0)
    page.click("#again")
    page.wait_for_selector("#numbers:not([hidden])")
    assert page.locator("#refusal").is_hidden()


def test_a_round_that_closes_before_the_report_is_sent(guest, one_bit):
    person = guest()
    person.expect("410")
    page = opened(person, one_bit.links[0].pop())
    one_bit.answer_all(0)
    one_bit.close(0)
    drawn(page)
    expect(page.locator("#send-error")).to_contain_text("is over")


def test_an_unreachable_service_is_told(guest, one_bit):
    person = guest()
    person.expect("ERR_FAILED")
    person.context.route("**/api/**", lambda route: route.abort())
    page = person.open(one_bit.links[0][0])
    assert "does not answer" in refusal(page)
    person.context.unroute("**/api/**")
    page.click("#again")
    page.wait_for_selector("#numbers:not([hidden])")


def test_a_noisy_number_is_shown(guest, server, tmp_path, request, screenshot):
    """Laplace noise: no bits to show, a number and its bytes."""
    plan = dame.plan(users=40, alpha=1.0, sizes=dame.Sizes.parse("poisson:5"), protocol="duchi", bounds=(0, 60))
    study = Study.create(server, {**plan_to_json(plan), "study": name_of(request.node.name)}, tmp_path, invitations=1)
    page = opened(guest(), study.links[0][0])
    report = drawn(page)
    question = question_from_json(study.call("rounds/0/question")["question"])
    assert f"One noisy number: {Report.decode(question, report).value} " in page.locator("#report-text").inner_text()
    assert page.locator("#bits li").count() == 0
    screenshot(page, "join-report-laplace")


def test_a_vote_among_very_many_ranges_stays_readable(guest, server, tmp_path, request, screenshot):
    """2^14 ranges: the first bits are listed, the bytes are cut, the drawing has few bars, and all of it is sent."""
    plan = dame.plan(users=40, alpha=1.0, sizes=dame.Sizes.parse("constant:9"), protocol="paper", bounds=(0, 60))
    document = {**plan_to_json(plan), "study": name_of(request.node.name)}
    for rounds in (document["rounds"], document["targets"][0]["machines"][0]["rounds"]):
        rounds[0]["lens"].update(bins=2**14, width=2.0**-13)
        rounds[0]["channel"].update(bins=2**14)
    study = Study.create(server, document, tmp_path, invitations=8)
    person = guest()
    page = opened(person, study.links[0][0])
    page.fill("#typed", "31 " * 9)
    agree(page)
    assert page.locator("#bits li").count() == 256
    assert "16\u202f128 more" in page.locator("#bits").inner_text()
    assert page.locator("#meaning rect").count() <= 200
    assert page.locator("#bytes").inner_text().endswith("…")
    arrived(page)
    assert [len(body) for body in person.sent()] == [8 + 2**11]
    screenshot(page, "join-many-ranges")


def test_who_comes_too_early_is_told_the_time_when_there_is_one(guest, study):
    person = guest()
    person.expect("409")
    problem = {"reason": "too-early", "status": 409, "opens_after": "2031-05-01T12:00:00+00:00"}
    person.context.route("**/question", lambda route: route.fulfill(status=409, json=problem))
    assert "1 May 2031" in refusal(person.open(study.links[1][0]))
