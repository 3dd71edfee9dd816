"""The device loads the standard library and this package, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIST_FOREIGN_MODULES = """
import sys
before = set(sys.modules)
{action}
foreign = {{name.partition(".")[0] for name in set(sys.modules) - before}} - set(sys.stdlib_module_names) - {{"dame"}}
print(*sorted(foreign))
"""
ANSWER = """
import dame
from dame.device import *
question = Question(
    study="s", round=0, alpha=1.0, lens=Bins(bins=8, width=0.25), channel=Bits.optimised(1.0, bins=8)
)
question = question_from_json(question.to_json())
Ledger(":memory:").answer(question, [0.5])
Report.decode(question, dame.device.answer(question, [0.5]).encode(question))
slot_of("s", [0.5, 0.5], "me")
"""


def foreign_modules(action: str) -> str:
    """Third-party modules that an action loads in a fresh interpreter without site packages of its own choosing."""
    code = LIST_FOREIGN_MODULES.format(action=action)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


@pytest.mark.parametrize("action", ["import dame", "import dame.device", "from dame import device", ANSWER])
def test_the_device_loads_no_third_party_module(action):
    assert foreign_modules(action) == ""


def test_the_test_would_notice_a_third_party_module():
    assert "numpy" in foreign_modules("import dame.device, numpy").split()


def test_the_device_loads_no_other_room_of_this_package():
    code = "import sys, dame.device; print(*sorted(n for n in sys.modules if n.startswith('dame.')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert {name for name in out.split() if not name.startswith("dame.device")} == {"dame.checks", "dame.errors"}
