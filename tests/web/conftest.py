"""A real server, a real browser, and people who use both."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

import dame
from dame.studies.codec import plan_to_json
from tests.web.needs import ROOT, program
from tests.web.study import FLAGS, Guest, Study, name_of, planned

SCREENSHOTS = ROOT / "build" / "screenshots"
# A server that makes a study checks its plan, which takes seconds on a busy machine.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of `dame serve`, on a free port and a new database."""
    folder = tmp_path_factory.mktemp("server")
    command = [
        sys.executable,
        "-m",
        "dame",
        "serve",
        "--database",
        str(folder / "dame.sqlite"),
        "--port",
        "0",
        "--json",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "DAME_REFUSAL_LIMIT": "0"}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process,
    ):
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["listening"]
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(driver: Playwright) -> Iterator[Browser]:
    browser = driver.chromium.launch(executable_path=program("chromium", "chromium-browser"), args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def firefox(driver: Playwright) -> Iterator[Browser]:
    """Debian's Firefox, driven by WebDriver BiDi."""
    browser = driver.firefox.launch(channel="moz-firefox", executable_path=program("firefox-esr"))
    yield browser
    browser.close()


@pytest.fixture
def guest(browser: Browser, server: str) -> Iterator[Callable[..., Guest]]:
    """New browser profiles; at the end no page may have broken its policy, failed, or asked another origin."""
    with contextlib.ExitStack() as stack:
        guests: list[Guest] = []

        def new(*, dark: bool = False, phone: bool = False, patient: bool = False) -> Guest:
            size = {"width": 390, "height": 844} if phone else {"width": 1100, "height": 900}
            scheme = "dark" if dark else "light"
            context = browser.new_context(viewport=size, color_scheme=scheme, has_touch=phone, locale="en-GB")
            stack.callback(context.close)
            context.set_default_timeout(10_000)
            guests.append(Guest(context, server, patient=patient))
            return guests[-1]

        yield new
        for one in guests:
            one.check()


@pytest.fixture
def study(server: str, request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    """A study with a vote and two measurements, and 60 invitations, made by an administrator's program."""
    return Study.create(server, planned(name_of(request.node.name)), tmp_path)


@pytest.fixture(scope="session")
def screenshot() -> Callable[..., None]:
    """Keeps what a page looks like, for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def keep(page, name: str) -> None:
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    return keep


@pytest.fixture
def one_bit(server, request, tmp_path):
    """A study of a single round with a single bit."""
    plan = dame.plan(users=40, alpha=0.5, sizes=dame.Sizes.parse("poisson:5"), protocol="one-bit", bounds=(0, 60))
    return Study.create(server, {**plan_to_json(plan), "study": name_of(request.node.name)}, tmp_path, invitations=4)
