"""Taking part in the page, step by step, as the tests of it do."""

from __future__ import annotations

NUMBERS = "31.25 28.5\n44 12 99"


def opened(guest, link):
    page = guest.open(link)
    page.wait_for_selector("#numbers:not([hidden])")
    return page


def drawn(page, numbers=NUMBERS):
    page.fill("#typed", numbers)
    page.click("#draw")
    page.wait_for_selector("#report:not([hidden])")
    return bytes.fromhex(page.locator("#bytes").inner_text().replace(" ", ""))


def refusal(page):
    page.wait_for_selector("#refusal:not([hidden])")
    assert page.locator("#numbers").is_hidden()
    assert page.locator("#send").is_hidden()
    return page.locator("#refusal-text").inner_text()
