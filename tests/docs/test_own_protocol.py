"""A protocol of one's own: the example of the guide registers itself and passes the conformance suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dame
from dame.errors import InvalidInput
from dame.protocols import PROTOCOLS, plan_mean, register

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "two_looks.py"


def run_python(*words: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT / "src"), str(EXAMPLE.parent)])
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_the_example_has_at_most_60_lines():
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 60


def test_the_example_passes_the_conformance_suite():
    words = [
        "tests/core/test_protocols.py",
        "tests/core/test_plans_from_elsewhere.py",
        "-p",
        "two_looks",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
    ]
    done = run_python("-m", "pytest", *words, "-k", "two-looks or suite_covers")
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 50


def test_the_example_beats_one_bit_where_people_have_many_records():
    code = """
import dame, two_looks
sizes = dame.Sizes.parse("poisson:500")
people = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.4"))
for name in ("two-looks", "one-bit"):
    plan = dame.plan(users=20_000, alpha=1, sizes=sizes, protocol=name)
    print(dame.simulate(plan, people, 200, seed=1).mse)
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    two_looks, one_bit = map(float, done.stdout.split())
    assert two_looks < one_bit / 3


@pytest.mark.parametrize("wrong", [PROTOCOLS["one-bit"], "one-bit", None])
def test_names_that_are_taken_and_things_that_are_no_protocols_are_refused(wrong):
    with pytest.raises(InvalidInput, match="protocol must be"):
        register(wrong)
    assert plan_mean(users=10, alpha=1.0, sizes=dame.Sizes.constant(1), protocol="one-bit")
