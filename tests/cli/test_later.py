"""Modules that are loaded at their first use."""

from __future__ import annotations

import subprocess
import sys

POSTPONED = """
import sys
from dame.cli import later
later.postpone()
import dame.cli.app
from scipy import special, optimize
names = ("scipy.special._ufuncs", "scipy.optimize._optimize")
assert not any(name in sys.modules for name in names), "importing loads nothing"
{use}
print(*[name in sys.modules for name in names])
"""


def loaded_after(use: str) -> list[str]:
    """Whether parts of both modules are loaded after some code."""
    done = subprocess.run(
        [sys.executable, "-c", POSTPONED.format(use=use)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_commands_start_without_the_slow_parts():
    assert loaded_after("") == ["False", "False"]


def test_the_first_use_loads_them():
    assert loaded_after("assert abs(special.ndtri(0.975) - 1.96) < 1e-4") == ["True", "False"]
    assert loaded_after("assert abs(optimize.brentq(lambda x: x - 1, 0, 3) - 1) < 1e-9") == ["True", "True"]


def test_submodules_and_other_imports():
    assert loaded_after("import scipy.special; assert scipy.special.gamma(5) == 24")[0] == "True"
    assert loaded_after("from scipy.special import gamma; assert gamma(5) == 24")[0] == "True"
    assert loaded_after("from scipy import stats; assert stats.poisson(3).pmf(0) < 0.05") == ["True", "True"]


def test_loading_meanwhile():
    use = "later.load_meanwhile('scipy.special'); assert special.gamma(5) == 24"
    assert loaded_after(use)[0] == "True"
