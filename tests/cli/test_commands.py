"""Commands that work: JSON for programs, figures for people, the same again with a seed."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

import dame
from dame.cli.app import app
from dame.device.reports import report_bytes
from dame.protocols import DEFAULT, PROTOCOLS

COMMANDS = [command.callback.__name__ for command in app.registered_commands]
BRIEF = "--alpha 22/35 --sizes two-point:3:100:0.5"

PLAN_KEYS = {
    "protocol", "alpha", "users", "rounds", "predicted_rmse", "failure_probability", "limit_mse", "lower_bound",
    "upper_bound",
}  # fmt: skip
PAPER_KEYS = {"m_tilde", "tau", "bins", "phi"}
SIMULATE_KEYS = {
    "mse", "rmse", "bias", "bias_se", "theta", "limit_mse", "ratio_to_limit", "coverage", "interval_width", "failures",
    "repetitions", "seconds",
}  # fmt: skip
BOUNDS_KEYS = {"lower", "lower_at", "upper", "m_tilde", "phi", "constants"}
ESTIMATE_KEYS = {"estimate", "interval", "standard_error", "users", "true_mean", "records", "seconds"}

MAIN = "from dame.cli import main; main()"
FULL = Path("/dev/full")


def command(*words: str, code: str = MAIN) -> subprocess.CompletedProcess[str]:
    """A call in a process of its own, as the installed entry point makes it."""
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


# --- help


def test_the_commands_of_this_part_exist():
    assert {"demo", "plan", "simulate"} <= set(COMMANDS)


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_of_every_command_works(dame_call, name, flag):
    call = dame_call(f"{name} {flag}")
    assert call.code == 0
    assert "Usage" in call.out
    assert not call.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_seed(dame_call, name):
    text = dame_call(f"{name} --help").out
    assert "--json" in text
    assert "--seed" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_emoji_where_a_colon_was_meant(dame_call, name):
    assert all(ord(letter) < 0x1F000 for letter in dame_call(f"{name} --help").out)


def test_the_version_is_printed(dame_call):
    call = dame_call("--version")
    assert (call.code, call.out, call.err) == (0, f"dame {dame.__version__}\n", "")


def test_no_command_shows_the_help(dame_call):
    call = dame_call("")
    assert call.code == 2
    assert "Usage" in call.out


# --- plan


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plan_prints_one_object_with_the_promised_keys(dame_call, protocol):
    call = dame_call(f"plan --users 1001 {BRIEF} --protocol {protocol} --json")
    assert call.code == 0
    assert not call.err
    assert call.document.keys() >= PLAN_KEYS
    assert call.document["protocol"] == protocol
    assert call.document["users"] == 1001
    assert call.document["alpha"] == 22 / 35
    assert (call.document.keys() >= PAPER_KEYS) == (protocol in ("paper", "kent"))
    assert dame.plan_from_json(call.document)


def test_plan_uses_the_default_protocol(dame_call):
    assert dame_call(f"plan --users 100 {BRIEF} --json").document["protocol"] == DEFAULT


def test_plan_writes_the_same_object_to_a_file(dame_call, tmp_path):
    path = tmp_path / "plan.json"
    call = dame_call(
        f"plan --users 1e3 {BRIEF} --protocol paper --bounds 0 10 --identity sleep --json --out", str(path)
    )
    assert json.loads(path.read_text()) == call.document
    assert call.document["targets"][0]["bounds"] == [0, 10]
    assert call.document["study"] == "sleep"
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"], "no draft is left behind"
    plan = dame.plan_from_json(json.loads(path.read_text()))
    assert dame.first(plan).study == "sleep"


def test_plan_replaces_an_older_file(dame_call, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("old")
    assert dame_call(f"plan --users 10 {BRIEF} --protocol duchi --out", str(path)).code == 0
    assert json.loads(path.read_text())["users"] == 10


def test_plan_with_a_seed_is_the_same_again_and_without_one_is_not(dame_call):
    line = f"plan --users 100 {BRIEF} --protocol one-bit --json"
    assert dame_call(f"{line} --seed 7").document == dame_call(f"{line} --seed 7").document
    assert dame_call(f"{line} --seed 7").document["study"] != dame_call(f"{line} --seed 8").document["study"]
    assert dame_call(line).document["study"] != dame_call(line).document["study"]


@pytest.mark.parametrize("protocol", ["one-bit", "paper"])
def test_plan_finds_the_users_for_a_target_error(dame_call, protocol):
    line = f"plan {BRIEF} --protocol {protocol} --bounds 0 10 --json"
    found = dame_call(f"{line} --target-error 0.2").document
    assert found["predicted_rmse"] <= 0.2
    fewer = dame_call(f"{line} --users {found['users'] - 1}").document
    assert fewer["predicted_rmse_with_failures"] > 0.2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plan_shows_figures_to_people(dame_call, protocol):
    call = dame_call(f"plan --users 1001 {BRIEF} --protocol {protocol}")
    assert call.code == 0
    assert "1,001" in call.out
    assert "two-point:3:100:0.5" in call.out, "sizes are shown as they were typed"
    rounds = dame_call(f"plan --users 1001 {BRIEF} --protocol {protocol} --json").document["rounds"]
    assert all(round_["name"] in call.out for round_ in rounds)
    assert not call.err


def test_numbers_may_be_typed_as_people_do(dame_call):
    line = f"plan {BRIEF} --protocol one-bit --json --seed 1 --users"
    assert (
        dame_call(f"{line} 10000").document == dame_call(f"{line} 1e4").document == dame_call(f"{line} 10_000").document
    )
    assert (
        dame_call("plan --users 10 --sizes constant:1 --protocol one-bit --alpha 1/2 --json").document["alpha"] == 0.5
    )


# --- simulate


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_simulate_prints_one_object_with_the_promised_keys(dame_call, protocol):
    line = f"simulate --users 500 {BRIEF} --data rademacher:0.5 --repetitions 5 --protocol {protocol} --seed 3 --json"
    call = dame_call(line)
    assert call.code == 0
    assert not call.err
    assert call.document.keys() >= SIMULATE_KEYS
    assert call.document["repetitions"] == 5
    assert call.document["theta"] == 0.5
    assert call.document["rmse"] == pytest.approx(math.sqrt(call.document["mse"]))
    again = dame_call(line).document
    assert {**again, "seconds": 0} == {**call.document, "seconds": 0}


def test_simulate_with_another_seed_is_another_run(dame_call):
    line = f"simulate --users 500 {BRIEF} --data beta:2:6 --repetitions 3 --protocol one-bit --json --seed"
    assert dame_call(f"{line} 1").document["mse"] != dame_call(f"{line} 2").document["mse"]


def test_one_repetition_has_no_standard_error_and_still_is_json(dame_call):
    line = f"simulate --users 50 {BRIEF} --data point:0.25 --repetitions 1 --protocol duchi --json"
    assert dame_call(line).document["bias_se"] is None


def test_simulate_shows_figures_to_people(dame_call):
    call = dame_call(f"simulate --users 500 {BRIEF} --data uniform:-0.5:1 --repetitions 3 --protocol duchi")
    assert call.code == 0
    assert "RMSE" in call.out
    assert not call.err


# --- demo


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_demo_prints_one_object_with_the_promised_keys(dame_call, protocol):
    line = f"demo --users 300 --protocol {protocol} --seed 5 --json"
    call = dame_call(line)
    assert call.code == 0
    assert not call.err
    document = call.document
    assert document.keys() >= ESTIMATE_KEYS
    assert 0 <= document["interval"][0] <= document["estimate"] <= document["interval"][1] <= 12
    assert sum(document["users"]) == 300
    assert {**dame_call(line).document, "seconds": 0} == {**document, "seconds": 0}


def test_demo_counts_the_bytes_that_were_sent(dame_call):
    document = dame_call("demo --users 200 --protocol one-bit --seed 1 --json").document
    question = dame.first(dame.plan_from_json(document["plan"]))
    assert document["bytes_sent"] == 200 * report_bytes(question)


def test_demo_shows_the_study_to_people(dame_call):
    call = dame_call("demo --users 300 --protocol paper --seed 1")
    assert call.code == 0
    for words in ("Votes", "estimate", "95 % interval", "true mean", "T truth"):
        assert words in call.out


# --- bounds


def test_bounds_prints_one_object_with_the_promised_keys(dame_call):
    if "bounds" not in COMMANDS:
        pytest.skip("the command comes with another part")
    call = dame_call("bounds --sizes poisson:5 --users 10000 --alpha 0.5 --json")
    assert call.code == 0
    assert call.document.keys() >= BOUNDS_KEYS
    assert call.document["lower"] <= call.document["upper"]


# --- processes


def test_the_entry_point_prints_json_and_nothing_else():
    call = command("simulate", "--users", "50", *BRIEF.split(), "--data", "point:0.5", "--repetitions", "2", "--json")
    assert call.returncode == 0
    assert not call.stderr
    assert json.loads(call.stdout).keys() >= SIMULATE_KEYS


def test_the_entry_point_exits_with_2_and_one_line_on_wrong_input():
    call = command("plan", "--users", "0", *BRIEF.split())
    assert call.returncode == 2
    assert call.stdout == ""
    assert call.stderr == "dame: users must be a whole number from 1 to 1e+12, not 0\n"


HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from dame.cli import main
main()
"""


@pytest.mark.parametrize("hidden", [{"typer"}, {"rich"}, {"typer", "rich", "click"}], ids=sorted)
def test_without_its_extra_the_command_says_what_to_install(hidden):
    call = command("demo", code=HIDE.format(names=hidden))
    assert call.returncode == 1
    assert call.stdout == ""
    assert call.stderr == "dame: the command line needs the extra 'cli': pip install 'dame-ldp[cli]'\n"


def plan_written_to(where: int | IO[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A plan as JSON, on a standard output of its own."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, "plan", "--users", "10", *BRIEF.split(), "--protocol", "one-bit", "--json"],
        stdout=where,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_no_error(unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    process = plan_written_to(writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    assert process.stderr == ""


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, a disk that is always full, of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_a_full_disk_loses_is_an_error(unbuffered):
    with FULL.open("w") as full:
        process = plan_written_to(full, PYTHONUNBUFFERED=unbuffered)
    assert process.stderr == "dame: file: No space left on device\n"
    assert process.returncode == 1


def test_interrupting_a_command_leaves_no_traceback(dame_call, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dame.cli.simulate.simulate_targets", interrupted)
    call = dame_call(f"simulate --users 50 {BRIEF} --data point:0.5 --protocol one-bit")
    assert call.code == 130
    assert call.out == ""
    assert "Traceback" not in call.err
