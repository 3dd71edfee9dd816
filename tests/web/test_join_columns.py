"""The page of a participant in a study of several targets: she is asked for one column, and told why."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from dame.device.questions import question_from_json
from dame.device.reports import Report
from tests.web.joining import agree, arrived, opened, refusal
from tests.web.several import GROUPS, MACHINES, link_of, own_file, several
from tests.web.study import Study, name_of
from tests.web.test_accessibility import check

TITLES = {
    "minutes": "Your numbers of “minutes”",
    "late": "Your records of “late”",
    "steps/mean": "Your numbers of “steps”",
    "steps/square": "Your numbers of “steps”",
    "steps/present": "Your answer",
}
ONLY = {
    "minutes": "only for your numbers of “minutes”.",
    "late": "of which your device takes how many are “yes”",
    "steps/mean": "only for your numbers of “steps”.",
    "steps/square": "how far they are from 5, squared",
    "steps/present": "only whether you have any records of “steps”",
}
READ = {
    "minutes": "20 numbers, average 33.65",
    "late": "21 records, 24\u202f% of them “yes”",
    "steps/mean": "20 numbers, average 4.5",
    "steps/square": "20 numbers, average 4.5",
}


@pytest.fixture
def study(server, request, tmp_path) -> Study:
    return several(server, f"several {name_of(request.node.name)}", tmp_path)


@pytest.mark.parametrize("machine", MACHINES)
def test_she_is_asked_for_her_column_and_told_why(guest, study, tmp_path, screenshot, machine):
    dark = machine in MACHINES[::2]
    person = guest(dark=dark, phone=dark)
    page = opened(person, link_of(study, machine))
    why = page.locator("#why").inner_text()
    assert "This study wants to know 3 things:" in why
    assert "public hash of the study and of your invitation’s token. Whoever made the invitation drew the token" in why
    assert "nobody chose" not in page.locator("main").inner_text()
    assert ONLY[machine] in why
    assert page.locator("#why strong").all_inner_texts() == [
        {
            "minutes": "the average of “minutes”, between 0 and 120",
            "late": "the share of records whose “late” is yes",
        }.get(machine, "how much “steps” varies, between 0 and 10")
        + ": this is yours"
    ]
    assert page.locator("#numbers-title").inner_text() == TITLES[machine]
    expect(page.locator("#draw")).to_be_disabled()
    if machine == "steps/present":
        assert page.locator("#entry").is_hidden()
        page.check("#have-yes")
    else:
        assert page.locator("#have").is_hidden()
        page.set_input_files("#file", own_file(tmp_path))
        expect(page.locator("#read")).to_contain_text(READ[machine])
        expect(page.locator("#read")).to_contain_text(f"Only the column “{machine.partition('/')[0]}” of 4 was read")
        assert ("1 line has nothing there" in page.locator("#read").inner_text()) == (machine != "late")
        assert page.locator("#column-field").is_hidden()
    check(page)
    screenshot(page, f"join-column-{machine.replace('/', '-')}")
    agree(page)
    assert page.locator("#meaning rect").count() == (2 if machine == "steps/present" else 41)
    assert page.locator("#meaning rect.chosen").count() == 1
    check(page)
    arrived(page)
    slot = MACHINES.index(machine)
    assert study.call("status")["rounds"][slot]["reports"] == 1
    (sent,) = person.sent()
    question = question_from_json(study.call(f"rounds/{slot}/question")["question"])
    assert Report.decode(question, sent).value in (0, 1)


def test_the_page_says_for_which_group_she_is_counted(guest, study, one_bit):
    for group in GROUPS:
        link = next(link for link in study.links[0] if f"group={group}" in link)
        page = opened(guest(), link)
        assert f"Your answer is counted for your country: “{group}”." in page.locator("#counted").inner_text()
        assert group in page.locator("#facts").inner_text()
    page = opened(guest(), study.links[0][0].partition("&group=")[0])
    assert "for the country that your invitation was made for" in page.locator("#counted").inner_text()
    page = opened(guest(), one_bit.links[0][0])
    assert page.locator("#counted").count() == 0
    assert "names a group" in refusal(guest().open(f"{one_bit.links[0][1]}&group=DE"))


@pytest.mark.parametrize("machine", ["minutes", "late"])
def test_somebody_without_records_is_told_and_sends_a_report_like_anybody(guest, study, machine):
    person = guest()
    page = opened(person, link_of(study, machine))
    page.check("#none")
    told = page.locator("#read").inner_text()
    assert f"You have no {'numbers' if machine == 'minutes' else 'records'} of “{machine}”" in told
    assert "You send a report all the same" in told
    assert person.sent() == []
    page.fill("#typed", "7\n")  # she finds some after all
    expect(page.locator("#none")).not_to_be_checked()
    page.fill("#typed", "")
    expect(page.locator("#draw")).to_be_disabled()
    page.check("#none")
    agree(page)
    assert page.locator("#meaning rect.chosen").count() == 0, "she has no place of her own"
    arrived(page)
    assert [len(body) for body in person.sent()] == [9]


def test_a_file_without_her_column_leaves_the_choice_to_her(guest, study, tmp_path):
    page = opened(guest(), link_of(study, "minutes"))
    path = tmp_path / "other.csv"
    path.write_text("day,time spent\n1,30\n2,50\n")
    page.set_input_files("#file", path)
    expect(page.locator("#read")).to_contain_text("This file has no column “minutes”")
    expect(page.locator("#draw")).to_be_disabled()
    assert page.locator("#column option").all_inner_texts() == ["none of them", "day", "time spent"]
    page.select_option("#column", label="time spent")
    expect(page.locator("#read")).to_contain_text("2 numbers, average 40")
    expect(page.locator("#draw")).to_be_enabled()
    page.select_option("#column", label="none of them")
    expect(page.locator("#draw")).to_be_disabled()


def test_a_file_in_json_is_read(guest, study, tmp_path):
    page = opened(guest(), link_of(study, "late"))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"late": "yes", "minutes": 3}, {"late": "no"}, {"minutes": 4}]))
    page.set_input_files("#file", path)
    expect(page.locator("#read")).to_contain_text("2 records, 50\u202f% of them “yes”")
    expect(page.locator("#read")).to_contain_text("1 line has nothing there and does not count")
    broken = tmp_path / "broken.json"
    broken.write_text("[1, 2")
    page.set_input_files("#file", broken)
    expect(page.locator("#read")).to_contain_text("This file cannot be used")
    expect(page.locator("#draw")).to_be_disabled()


def test_one_report_a_study_whatever_the_target(guest, study):
    person = guest()
    page = opened(person, link_of(study, "minutes"))
    page.fill("#typed", "31 28")
    agree(page)
    assert "already taken part" in refusal(person.open(link_of(study, "steps/present")))


def test_a_question_about_another_column_is_refused_though_it_is_signed(guest, study):
    """The service itself asks for a column that the plan does not have in this slot."""
    person = guest()
    index = MACHINES.index("minutes")

    def answer(route):
        document = json.loads(route.fetch().body())
        document["question"]["statistic"]["column"] = "salary"
        route.fulfill(json=document)

    person.context.route("**/question", answer)
    assert "asks for another column" in refusal(person.open(study.links[index][0]))
