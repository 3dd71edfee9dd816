"""A whole study as people run it: created, invited, answered, watched, closed and read in the browser."""

from __future__ import annotations

import csv
import json
import math
import random
import re

from playwright.sync_api import expect

from tests.web.joining import agree, arrived
from tests.web.study import Study, planned

ABOUT = {
    "asker": "The sports institute of Example University",
    "purpose": "To learn how long people are active on working days",
    "contact": "sport@example.org",
    "consent": "I am at least 18 years old.\nI agree that my device sends one report.",
}
"""What the administrator tells people, and what their page shows."""


def own_file(folder, seed):
    """A person's file: 500 days, one of them without a number, one beyond the bounds."""
    draw = random.Random(seed)
    lines = [f"{day};{draw.gauss(33, 8):.1f}".replace(".", ",") for day in range(1, 501)]
    path = folder / "my sport.csv"
    path.write_text("\n".join(["day;minutes", *lines, "501;n/a", "502;75", ""]))
    return path


def take_part_with_file(page, path):
    page.wait_for_selector("#numbers:not([hidden])")
    page.set_input_files("#file", path)
    page.select_option("#column", label="minutes")
    page.check("#leave")
    agree(page)


def take_part_by_typing(page, numbers):
    page.wait_for_selector("#numbers:not([hidden])")
    page.fill("#typed", " ".join(map(str, numbers)))
    agree(page)


def watched(page, index):
    return page.locator(f'#targets li[data-slot="{index}"]')


def wait_for_reports(page, index, number):
    page.wait_for_selector(f'#targets li[data-slot="{index}"][data-reports="{number}"]')


def close_round(page, index):
    page.wait_for_function(f"document.querySelector('#close').textContent === 'Close round {index + 1}'")
    page.click("#close")
    page.click("#confirm button[value=yes]")
    page.wait_for_selector(f'#targets li[data-slot="{index}"][data-state="closed"]')


def test_a_study_from_plan_to_result(guest, server, tmp_path, screenshot):
    administrator = guest()
    page = administrator.open(f"{server}/")
    plan = planned("sport & <b>sleep ½")
    (tmp_path / "plan.json").write_text(json.dumps(plan))

    # She creates the study from its plan. The key is shown once, and saved as the file that the commands read.
    page.set_input_files("#plan", tmp_path / "plan.json")
    page.fill("#name", "Minutes of sport on a weekday")
    for field, words in ABOUT.items():
        page.fill(f"#{field}", words)
    screenshot(page, "dashboard-create")
    page.click("#create button")
    expect(page.locator("#administrator-key")).to_be_visible()
    key = page.locator("#administrator-key").inner_text()
    assert re.fullmatch("[0-9a-f]{64}", key)
    with page.expect_download() as saving:
        page.click("text=Save it as a file")
    saving.value.save_as(tmp_path / "access.json")
    screenshot(page, "dashboard-created")

    # She invites 300 people; the links come as a file.
    page.click("text=Open the study")
    page.wait_for_selector("#inside:not([hidden])")
    page.fill("#number", "300")
    with page.expect_download() as saving:
        page.click("#invite button")
    saving.value.save_as(tmp_path / "invitations.csv")
    with (tmp_path / "invitations.csv").open(newline="") as file:
        links = [row["link"] for row in csv.DictReader(file)]
    assert len(set(links)) == 300
    study = Study(server=server, name=plan["study"], key=key, plan=plan, access=tmp_path / "access.json", links={})
    study.add_links(links)
    assert study.call("")["about"] == ABOUT
    unused = study.links[0].pop()

    # Round after round people take part: one with her file, one by typing, the others with the Python device.
    for index, _ in enumerate(plan["rounds"]):
        with_file = guest(dark=index == 1, phone=index == 1)
        participant = with_file.open(study.links[index].pop())
        participant.wait_for_selector("#numbers:not([hidden])")
        told = participant.inner_text("#about") + participant.inner_text("#consent")
        assert all(line in told for words in ABOUT.values() for line in words.splitlines())
        screenshot(participant, f"join-open-{index + 1}")
        take_part_with_file(participant, own_file(tmp_path, index))
        arrived(participant)
        screenshot(participant, f"join-report-{index + 1}")
        typing = guest()
        other = typing.open(study.links[index].pop())
        take_part_by_typing(other, [30 + day % 7 for day in range(500)])
        arrived(other)
        wait_for_reports(page, index, 2)
        number = study.answer_all(index) + 2
        wait_for_reports(page, index, number)
        screenshot(page, f"dashboard-round-{index + 1}")
        close_round(page, index)
        for one in (with_file, typing):
            (report,) = one.sent()
            # The question's mark, and a bit for each bin of the vote or a single one.
            assert len(report) == 8 + math.ceil(plan["rounds"][index]["channel"]["bins"] / 8)

    # The votes, the windows and the result are on the page, and the command says the same.
    result = study.command("result")
    assert float(page.locator("#targets .value").get_attribute("data-value")) == result["estimate"]
    shown = page.locator("#targets .value").inner_text()
    digits = len(shown.partition(".")[2])
    assert shown == f"{result['estimate']:.{digits}f}"
    low, high = result["interval"]
    assert f"{low:.{digits}f} to {high:.{digits}f}" in page.locator("#targets").inner_text()
    assert abs(result["estimate"] - 31) < 3
    assert page.locator("figure.votes rect").count() == plan["rounds"][0]["lens"]["bins"]
    assert page.locator("figure.votes rect.chosen").count() in (1, 2)
    assert "looks around" in watched(page, 2).inner_text()
    assert "malicious" in page.locator("#targets .shift").inner_text()
    status = study.command("status")
    assert [one["reports"] for one in status["rounds"]] == result["reports"]
    assert page.locator("#lead").inner_text().endswith("finished.")
    screenshot(page, "dashboard-finished")

    # Who comes now is too late.
    late = guest()
    late.expect("410", "409")
    page = late.open(unused)
    page.wait_for_selector("#refusal:not([hidden])")
    assert "is over" in page.locator("#refusal-text").inner_text()


def test_the_dashboard_counts_what_was_refused(guest, study, screenshot):
    """Reports with a foreign token, damaged reports, and reports that come again in other bytes."""
    page = guest().open(f"{study.server}/dashboard")
    page.click(f'#list a:has-text("{study.name}")')
    page.fill("#key", study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    assert "None so far" in page.locator("#rejected").inner_text()
    token = study.links[0][0].split("token=")[1][:32]
    good = "00" * 11
    damaged = [{"token": token, "report": good}, {"token": token, "report": "00"}, {"token": "ab" * 16, "report": good}]
    results = study.call("reports/batch", body={"reports": damaged})["results"]
    assert "accepted" not in results
    page.wait_for_selector('#rejected tr[data-reason="unknown-token"]')
    assert page.locator('#rejected tr[data-reason="malformed"] td').inner_text() == "2"
    screenshot(page, "dashboard-refused")
