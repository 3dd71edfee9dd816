"""How many reports a round waits for: told to participants, and asked about before it is closed with fewer."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.joining import opened
from tests.web.test_dashboard_page import enter


def test_a_participant_reads_how_many_her_round_waits_for(guest, one_bit):
    page = opened(guest(), one_bit.links[0][0])
    assert "at least 25 reports" in page.locator("#facts").inner_text()


def test_closing_with_too_few_says_so_and_is_asked(guest, one_bit):
    page = guest().open(f"{one_bit.server}/dashboard")
    enter(page, one_bit, one_bit.key)
    page.wait_for_selector("#inside:not([hidden])")
    page.click("#close")
    expect(page.locator("#confirm-text")).to_contain_text("This study waits for 25 reports in each round")
    page.click("#confirm button[value=no]")
    assert one_bit.call("status")["rounds"][0]["state"] == "open"
