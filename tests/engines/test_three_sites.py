"""The example of three sites, run as it stands: by files alone to the same numbers as a pilot on all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dame
from tests.engines.calls import Call, document

SCRIPT = Path(__file__).parents[2] / "examples" / "three_sites.sh"
PACKAGES = Path(dame.__file__).parents[1]
SEED = "5"


def test_the_example_equals_a_pilot_on_the_union(tmp_path: Path, call: Call) -> None:
    """Every sum of every tally and every bit of the estimate."""
    here = {"DAME": f"{sys.executable} -m dame", "PYTHON": sys.executable, "PYTHONPATH": str(PACKAGES)}
    folder = tmp_path / "study"
    words = ["sh", str(SCRIPT), str(folder), SEED]
    done = subprocess.run(words, env={**os.environ, **here}, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "95% interval" in done.stdout
    columns = ["--user", "person", "--value", "minutes"]
    pilot = document(call, "pilot", folder / "*.csv", *columns, "--plan", folder / "plan.json", "--seed", SEED)
    estimate = json.loads((folder / "estimate.json").read_text())
    (found,) = pilot["targets"]
    # What a reader of the result learns of a person is said of the whole study, and a pilot has no readers.
    alone = {"targets", "privacy"}
    assert {name: found[name] for name in estimate.keys() - alone} == {
        name: estimate[name] for name in estimate.keys() - alone
    }
    tallies = [json.loads(path.read_text()) for path in sorted(folder.glob("tally-*.json"))]
    assert len(tallies) == len(pilot["rounds"]) > 1
    for tally, round_ in zip(tallies, pilot["rounds"], strict=True):
        assert {name: tally[name] for name in round_["tally"]} == round_["tally"]
        assert (tally["files"], tally["rejected"]) == (3, {})
    assert sum(sum(tally["reports"]) for tally in tallies) == pilot["users"] == 3000
