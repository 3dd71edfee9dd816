"""`dame bounds` and `dame reproduce` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dame.cli.app import run
from dame.cli.reproduce import NAMES
from dame.experiments.registry import ALL, EXPERIMENTS
from dame.sizes import Sizes
from dame.theory import limit

KEYS = {"lower", "lower_at", "upper", "m_tilde", "phi", "constants", "warnings"}


def answer(capsys, *arguments: str) -> tuple[dict, str]:
    assert run([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


@pytest.mark.parametrize(
    ("constants", "lower", "upper", "m_tilde"),
    [("paper", "3.2292e-09", "4.0000e+00", 1), ("unit", "4.2058e-04", "2.6554e-03", 8)],
)
def test_bounds_for_orientation(capsys, constants: str, lower: str, upper: str, m_tilde: int) -> None:
    found, notes = answer(capsys, "bounds", "--sizes", "poisson:5", "--n-alpha2", "500", "--constants", constants)
    assert found.keys() >= KEYS
    assert (f"{found['lower']:.4e}", f"{found['upper']:.4e}", found["m_tilde"]) == (lower, upper, m_tilde)
    assert found["constants"] == constants
    assert found["warnings"] == []
    assert notes == ""


def test_users_and_alpha_give_the_limit_too(capsys) -> None:
    both, _ = answer(capsys, "bounds", "--sizes", "constant:64", "--users", "1e4", "--alpha", "1/2")
    alone, _ = answer(capsys, "bounds", "--sizes", "constant:64", "--n-alpha2", "2500")
    assert both.pop("limit_mse") == limit(10**4, 0.5, Sizes.constant(64))
    assert both == alone


def test_violated_assumptions_are_notes_on_standard_error(capsys) -> None:
    found, notes = answer(capsys, "bounds", "--sizes", "constant:64", "--users", "1e4", "--alpha", "1")
    assert len(found["warnings"]) == 2
    assert [f"note: {warning}" for warning in found["warnings"]] == notes.splitlines()


def test_bounds_for_people(capsys) -> None:
    assert run(["bounds", "--sizes", "poisson:5", "--users", "10000", "--alpha", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("lower bound", "upper bound", "information limit", "poisson:5"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--n-alpha2", "5", "--users", "3"],
        ["--users", "3"],
        ["--alpha", "3"],
        [],
        ["--n-alpha2", "nan"],
        ["--n-alpha2", "-1"],
        ["--n-alpha2", "inf"],
        ["--users", "0", "--alpha", "0.5"],
        ["--users", "10", "--alpha", "0"],
        ["--n-alpha2", "5", "--constants", "mine"],
        ["--n-alpha2", "5", "--seed", "x"],
    ],
)
def test_wrong_usage_of_bounds_is_one_line(capsys, arguments: list[str]) -> None:
    assert run(["bounds", "--sizes", "poisson:5", *arguments, "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("dame: ")
    assert captured.err.count("\n") == 1


def test_help_names_every_experiment() -> None:
    assert NAMES.split() == [*EXPERIMENTS, ALL]


def test_reproduce_answers_with_its_files(capsys, tmp_path: Path) -> None:
    found, _ = answer(capsys, "reproduce", "figure-1-bottom", "--quick", "--out", str(tmp_path), "--seed", "3")
    (experiment,) = found["experiments"]
    assert experiment["name"] == "figure-1-bottom"
    assert all(Path(name).exists() for name in [*experiment["files"], found["report"]])
    assert (found["seed"], found["quick"]) == (3, True)


def test_reproduce_for_people(capsys, tmp_path: Path) -> None:
    assert run(["reproduce", "figure-1-bottom", "--quick", "--out", str(tmp_path)]) == 0
    assert "report.md" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["figure-3"], ["all", "--seed", "-1"], ["all", "--seed", "half"]])
def test_wrong_usage_of_reproduce_leaves_nothing(capsys, tmp_path: Path, arguments: list[str]) -> None:
    assert run(["reproduce", *arguments, "--quick", "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.startswith("dame: ")
    assert not (tmp_path / "new").exists()


def test_reproduce_refuses_a_file_as_directory(capsys, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run(["reproduce", "all", "--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith("dame: out must be a directory")
