"""Both pages for everybody: axe's rules in every state, by keyboard alone, on a phone, in the dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.study import Study

LOOKS = [(False, False), (True, True)]
look = pytest.mark.parametrize(("dark", "phone"), LOOKS, ids=["light", "dark-phone"])


def check(page) -> None:
    """No violation of axe's rules (WCAG 2 A and AA, best practice), and nothing to scroll sideways."""
    found = Axe().run(page).response
    assert found["passes"]
    broken = [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found["violations"]]
    assert broken == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_would_notice(guest, server):
    """Light grey on white, and a field without a label."""
    page = guest().open(f"{server}/dashboard")
    page.wait_for_selector("#list li")
    page.evaluate("document.querySelector('.lead').style.color = '#bbb'; document.querySelector('label').remove()")
    found = {one["id"] for one in Axe().run(page).response["violations"]}
    assert {"color-contrast", "label"} <= found


@look
def test_the_page_of_a_participant(guest, study: Study, screenshot, dark, phone):
    person = guest(dark=dark, phone=phone)
    name = "dark-phone" if dark else "light"
    page = person.open(study.links[0][0])
    page.wait_for_selector("#numbers:not([hidden])")
    check(page)
    page.fill("#typed", "31 many 99")
    page.wait_for_selector("#read .error")
    check(page)
    screenshot(page, f"join-numbers-{name}")
    page.fill("#typed", " ".join(str(30 + day % 9) for day in range(500)))
    page.click("#checks summary")
    page.check("#weak")
    check(page)
    screenshot(page, f"join-agreement-{name}")
    page.click("#draw")
    page.wait_for_selector("#done:not([hidden])")
    check(page)
    screenshot(page, f"join-done-{name}")
    refused = person.open(f"{study.server}/join")
    refused.wait_for_selector("#refusal:not([hidden])")
    check(refused)
    screenshot(refused, f"join-refused-{name}")


@look
def test_the_page_of_an_administrator(guest, study: Study, screenshot, dark, phone):
    name = "dark-phone" if dark else "light"
    page = guest(dark=dark, phone=phone).open(f"{study.server}/")
    page.wait_for_selector("#list a")
    check(page)
    screenshot(page, f"dashboard-home-{name}")
    page.click(f'#list a:has-text("{study.name}")')
    page.wait_for_selector("#enter:not([hidden])")
    check(page)
    study.answer_all(0)
    study.close(0)
    page.fill("#key", study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("figure.votes svg")
    page.click("figure.votes summary")
    check(page)
    screenshot(page, f"dashboard-votes-{name}")
    page.click("#close")
    check(page)
    screenshot(page, f"dashboard-confirm-{name}")
    page.click("#confirm button[value=no]")
    for index in (1, 2):
        study.answer_all(index)
        study.close(index)
    page.wait_for_selector("#targets .value")
    check(page)
    screenshot(page, f"dashboard-result-{name}")


def focused(page) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.className")


def tab_to(page, wanted: str) -> None:
    """Presses the tabulator until an element has the focus, which one must be able to see."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if focused(page) == wanted:
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"the focus on {wanted} is invisible"
            return
    raise AssertionError(f"{wanted} cannot be reached by keyboard")


def test_taking_part_by_keyboard_alone(guest, study: Study):
    page = guest().open(study.links[0][0])
    page.wait_for_selector("#numbers:not([hidden])")
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    page.keyboard.press("Enter")
    assert focused(page) == "main"
    assert "token=" in page.url
    tab_to(page, "typed")
    page.keyboard.type("31 32 33")
    tab_to(page, "weak")
    page.keyboard.press("Space")
    tab_to(page, "draw")
    page.keyboard.press("Enter")
    page.wait_for_selector("#done:not([hidden])")
    assert focused(page) == "done"


def test_administering_by_keyboard_alone(guest, study: Study):
    page = guest().open(f"{study.server}/dashboard#study={study.name}")
    page.wait_for_selector("#enter:not([hidden])")
    tab_to(page, "key")
    page.keyboard.type(study.key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside:not([hidden])")
    tab_to(page, "close")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector('#targets li[data-slot="0"][data-state="closed"]')


def test_nothing_moves_for_whoever_asked_for_calm(browser, server):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{server}/dashboard")
    assert page.evaluate("document.getAnimations().length") == 0
    rules = page.evaluate(
        """[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => /transition|animation/.test(rule.cssText)).map((rule) => rule.conditionText ?? '')"""
    )
    assert rules
    assert set(rules) == {"(prefers-reduced-motion: no-preference)"}
    context.close()
