"""scripts/browsers: it installs what is missing, and only that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.web.needs import ROOT


def run(folder: Path, *there: str) -> tuple[int, list[str]]:
    """The script in a world that has only these programs, and what it asked apt-get for."""
    for name in ("sh", "id", "env"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    for name in there:
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/asked\n')
        program.chmod(0o755)
    command = [str(folder / "sh"), str(ROOT / "scripts" / "browsers")]
    done = subprocess.run(command, env={"PATH": str(folder)}, check=False, capture_output=True)
    asked = folder / "asked"
    return done.returncode, asked.read_text().splitlines() if asked.exists() else []


OTHERS = ("firefox-esr", "npm", "tsc")


@pytest.mark.parametrize("names", [("chromium", "node"), ("chromium-browser", "nodejs")])
def test_nothing_is_installed_where_all_is_there(tmp_path, names):
    assert run(tmp_path, *names, *OTHERS, "apt-get", "sudo") == (0, [])


@pytest.mark.parametrize(
    ("there", "packages"),
    [
        (("node", *OTHERS), ["chromium"]),
        (("chromium", *OTHERS), ["nodejs"]),
        (OTHERS, ["chromium", "nodejs"]),
        (("chromium", "node", "npm", "tsc"), ["firefox-esr"]),
        (("chromium", "node", "firefox-esr"), ["npm", "node-typescript"]),
        ((), ["chromium", "nodejs", "firefox-esr", "npm", "node-typescript"]),
    ],
)
def test_what_is_missing_is_installed(tmp_path, there, packages):
    code, asked = run(tmp_path, *there, "apt-get", "sudo")
    assert code == 0
    assert [line.split()[-len(packages) :] for line in asked if " install " in line] == [packages]
    assert any(" update" in line for line in asked)


def test_without_apt_it_says_what_to_install(tmp_path):
    assert run(tmp_path) == (1, [])
