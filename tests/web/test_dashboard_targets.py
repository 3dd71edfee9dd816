"""The page of an administrator for a study of several targets: a card for each, one for each group, and the effect."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

from tests.web.several import GROUPS, MACHINES, records_of, several
from tests.web.study import Study, name_of
from tests.web.test_accessibility import check


@pytest.fixture
def study(server, request, tmp_path) -> Study:
    return several(server, name_of(request.node.name), tmp_path)


def watching(person, study):
    page = person.open(f"{study.server}/dashboard#study={study.name}")
    page.wait_for_selector("#enter:not([hidden])")
    page.fill("#key", study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    return page


def shown(page, place: str) -> list[float]:
    return [float(one.get_attribute("data-value")) for one in page.locator(f"{place} .value").all()]


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, True)], ids=["light", "dark-phone"])
def test_a_study_of_three_targets_and_two_groups(guest, study, screenshot, dark, phone):
    name = "dark-phone" if dark else "light"
    page = watching(guest(dark=dark, phone=phone), study)
    assert page.locator("#targets h2").all_inner_texts() == ["minutes", "late", "steps"]
    assert page.locator("#targets li[data-state=open]").count() == len(MACHINES)
    assert "The share of records whose late is yes." in page.locator('[data-target="late"]').first.inner_text()
    assert page.locator('[data-machine="steps/square"] h3').inner_text() == "The squared distance of steps from 5"
    expect(page.locator(".shift").first).to_contain_text("could move this by up to", timeout=60_000)
    assert [one.inner_text() for one in page.locator("#groups h2").all()] == [f"{group} country" for group in GROUPS]
    assert page.locator("#differences").is_hidden()
    check(page)
    screenshot(page, f"dashboard-targets-{name}")

    # One target comes to its end before the others.
    study.answer_all(0, records_of)
    study.close(0)
    page.wait_for_selector('[data-target="minutes"] .value')
    (minutes, *others) = study.call("status")["targets"]
    assert shown(page, "#targets") == [minutes["estimate"]["estimate"]]
    assert "Collecting: round 2." in page.locator('[data-target="late"] .waiting').inner_text()
    assert "round 4 of steps/square" in page.locator('[data-target="steps"] .waiting').inner_text()
    assert all(one["estimate"] is None for one in others)

    # The others are closed together, on the page.
    for index in range(1, len(MACHINES)):
        study.answer_all(index, records_of)
    page.wait_for_selector(f"#lead:has-text('{2 * 40} reports')")
    expect(page.locator("#close")).to_have_text("Close all 4 open rounds")
    page.click("#close")
    assert "Close 4 rounds?" in page.locator("#confirm").inner_text()
    page.click("#confirm button[value=yes]")
    page.wait_for_selector("#differences:not([hidden])")
    result = study.command("result")
    assert shown(page, "#targets") == [one["estimate"] for one in result["targets"]]
    assert shown(page, "#groups") == [one["estimate"] for group in result["groups"] for one in group["targets"]]
    assert page.locator("#differences h2").inner_text() == "Effect: FR against DE"
    assert page.locator("#differences svg").count() == 3
    effect = result["differences"][0]
    assert (effect["group"], effect["than"]) == ("FR", "DE")
    drawn = page.locator("#differences svg").first.get_attribute("aria-label").replace("\u2212", "-")
    assert drawn.startswith(f"minutes: {effect['estimate']:.0f}")
    assert page.locator('[data-target="minutes"] svg').count() == 2, "the estimate, and the groups below each other"
    assert "No round is open" in page.locator("#closing").inner_text()
    check(page)
    screenshot(page, f"dashboard-effect-{name}")


def test_one_of_several_open_rounds_is_closed(guest, study):
    page = watching(guest(), study)
    page.click("text=Close round 2 of late")
    assert "Close round 2 of late?" in page.locator("#confirm").inner_text()
    page.click("#confirm button[value=yes]")
    page.wait_for_selector('#targets li[data-slot="1"][data-state="closed"]')
    assert study.call("status")["open_rounds"] == [0, 2, 3, 4]
    expect(page.locator("#close")).to_have_text("Close all 4 open rounds")


def test_what_was_shut_stays_shut(guest, study):
    page = watching(guest(), study)
    page.click('[data-target="late"] summary')
    study.answer_all(1, records_of)
    page.wait_for_selector('#targets li[data-slot="1"]:not([data-reports="0"])', state="attached")
    assert page.locator('details[data-target="late"]').get_attribute("open") is None
    assert page.locator('details[data-target="minutes"]').get_attribute("open") is not None


def test_people_are_invited_with_their_group(guest, study, tmp_path):
    person = guest()
    page = watching(person, study)
    assert page.locator("#group-name").inner_text() == "Their country"
    page.fill("#number", "3")
    page.click("#invite button")  # the group is required: nothing is sent
    assert page.locator("#group:invalid").count() == 1
    page.fill("#group", 'Îles, "d’or"')
    with page.expect_download() as saving:
        page.click("#invite button")
    saving.value.save_as(tmp_path / "invitations.csv")
    with (tmp_path / "invitations.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["group"] for row in rows] == ['Îles, "d’or"'] * 3
    assert all("group=%C3%8Eles" in row["link"] for row in rows)
    page.wait_for_selector("#groups h2:has-text('Îles')")
    counts = {one["group"]: one["invited"] for one in study.call("status")["groups"]}
    assert counts == {"DE": 40, "FR": 40, 'Îles, "d’or"': 3}


def test_three_groups_have_differences(guest, study, screenshot):
    body = study.call("invitations", body={"count": 20, "group": "IT"})
    study.add_links([one["link"] for one in body["invitations"]])
    for index in range(len(MACHINES)):
        study.answer_all(index, records_of)
        study.close(index)
    page = watching(guest(), study)
    page.wait_for_selector("#differences:not([hidden])")
    assert page.locator("#differences h2").inner_text() == "Differences between groups"
    assert page.locator("#differences h3").all_inner_texts() == ["minutes", "late", "steps"]
    label = page.locator("#differences svg").first.get_attribute("aria-label")
    assert [part.partition(":")[0] for part in label.split("; ")] == ["FR less DE", "IT less DE", "IT less FR"]
    check(page)
    screenshot(page, "dashboard-differences")
