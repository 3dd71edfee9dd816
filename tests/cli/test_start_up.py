"""Commands load what they use: SciPy's parts, pandas and Matplotlib would take longer than most commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

SLOW = ("scipy.special", "scipy.optimize", "scipy.stats", "pandas", "matplotlib")

COMMAND = """
import atexit, sys
from dame.cli import main
atexit.register(lambda: print(*[name for name in {slow!r} if name in sys.modules]))
sys.argv[0] = "dame"
main()
"""

ALL_MODULES = """
import pkgutil, sys
from importlib import import_module
import dame
names = [found.name for found in pkgutil.walk_packages(dame.__path__, "dame.") if found.name != "dame.__main__"]
assert len(names) > 100, names
for name in names:
    import_module(name)
print(*[name for name in ("scipy", "pandas") if name in sys.modules])
"""

PILOT = "pilot records.parquet --user user --value value --bounds 0 1 --seed 1 --json"


@pytest.fixture
def call(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a command in a process of its own, in a folder with a small table."""
    records = 'SELECT range % 3000 AS "user", 0.4 + 0.1 * (range % 3) AS value FROM range(9000)'
    duckdb.execute(f"COPY ({records}) TO '{tmp_path / 'records.parquet'}' (FORMAT parquet)").fetchall()

    def called(line: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", COMMAND.format(slow=SLOW), *line.split()]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    return called


def loaded(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The slow modules that were there when a process ended."""
    return set(done.stdout.splitlines()[-1].split())


def test_no_module_loads_scipy_or_pandas_when_it_is_imported():
    done = subprocess.run([sys.executable, "-c", ALL_MODULES], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        "plan --help",
        "bounds --users 10000 --alpha 1 --sizes poisson:5",
        PILOT + " --alpha 1",
        PILOT + " --alpha 1 --protocol one-bit",
    ],
)
def test_these_commands_load_none_of_them(call, line: str):
    assert loaded(call(line)) == set()


def test_a_study_by_files_loads_none_of_them(call):
    call("plan --users 3000 --alpha 1 --sizes constant:3 --protocol one-bit --bounds 0 1 --no-compare --out plan.json")
    lines = (
        "ask plan.json --out question.json",
        "answer question.json records.parquet --user user --value value --out reports.parquet",
        "tally question.json reports.parquet --out tally.json",
        "ask plan.json tally.json",
    )
    for line in lines:
        assert loaded(call(line)) == set(), line


@pytest.mark.parametrize("more", ["", " --protocol one-bit"])
def test_a_plan_loads_special_functions_only(call, more: str):
    assert loaded(call("plan --users 10000 --alpha 1 --sizes poisson:5" + more)) == {"scipy.special"}


def test_a_pilot_with_special_functions_ends_without_complaints_of_its_libraries(call):
    done = call(PILOT + " --alpha 1 --protocol duchi")
    assert loaded(done) == {"scipy.special"}
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())
