"""The command line without the extras that only some commands need."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from dame.cli.app import run
sys.exit(run({words!r}))
"""


def call_without(names: list[str], words: list[str]) -> subprocess.CompletedProcess[str]:
    script = BLOCKED.format(names=names, words=words)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("extra", ["matplotlib", "pyspark", "fastapi", "sqlalchemy", "uvicorn"])
def test_commands_start_without(extra):
    done = call_without([extra], ["--version"])
    assert done.returncode == 0, done.stderr


def test_the_demo_needs_no_plots_and_no_service():
    done = call_without(
        ["matplotlib", "pyspark", "fastapi", "sqlalchemy", "uvicorn"], ["demo", "--json", "--seed", "1"]
    )
    assert done.returncode == 0, done.stderr


def test_a_picture_names_the_extra_that_it_needs(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("who,what\n1,2\n2,3\n")
    words = ["pilot", str(table), "--user", "who", "--value", "what", "--bounds", "0", "5", "--alpha", "1"]
    done = call_without(["matplotlib"], [*words, "--plot", str(tmp_path / "p.png")])
    assert done.returncode == 1
    assert "plots" in done.stderr
    assert "Traceback" not in done.stderr
