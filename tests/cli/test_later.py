"""Modules that are loaded at their first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb

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


PILOT = """
import atexit, sys
from dame.cli import main
slow = ("pandas", "scipy.special._ufuncs", "scipy.optimize._nnls")
atexit.register(lambda: print(*[name in sys.modules for name in slow]))
words = "--user user --value value --bounds 0 1 --seed 1 --json --alpha".split()
sys.argv = ["dame", "pilot", sys.argv[1], *words, sys.argv[2]]
main()
"""


def pilot(table: Path, alpha: str) -> subprocess.CompletedProcess[str]:
    records = 'SELECT range % 3000 AS "user", 0.4 + 0.1 * (range % 3) AS value FROM range(9000)'
    duckdb.execute(f"COPY ({records}) TO '{table}' (FORMAT parquet)").fetchall()
    return subprocess.run([sys.executable, "-c", PILOT, table, alpha], capture_output=True, text=True, check=True)


def test_a_pilot_on_a_clean_table_does_without_pandas_and_scipy(tmp_path: Path):
    assert pilot(tmp_path / "records.parquet", "1").stdout.splitlines()[-1] == "False False False"


def test_a_pilot_with_them_ends_without_complaints_of_its_libraries(tmp_path: Path):
    done = pilot(tmp_path / "records.parquet", "2")
    assert done.stdout.splitlines()[-1] == "False True False"
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())
