"""Bad input: exit code 2, one line on standard error, no traceback, nothing on standard output, no file."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

GOOD = {
    "demo": {"--users": "100", "--alpha": "1", "--protocol": "one-bit"},
    "plan": {"--users": "100", "--alpha": "1", "--sizes": "poisson:5", "--protocol": "one-bit", "--bounds": "0 10"},
    "simulate": {
        "--users": "100", "--alpha": "1", "--sizes": "poisson:5", "--data": "rademacher:0.5", "--protocol": "one-bit",
        "--repetitions": "2",
    },
    "bounds": {"--users": "100", "--alpha": "1", "--sizes": "poisson:5"},
}  # fmt: skip

BAD = {
    "--alpha": ["0", "-1", "nan", "inf", "-inf", "1e6", "33", "1e-7", "one", "''", "1/0", "0/5", "1,5", "0x1", "1e999"],
    "--users": ["0", "-5", "1.5", "nan", "inf", "many", "''", "1e13", "1e400", "1/3", "0x10", "9" * 5000],
    "--sizes": [
        "''", ":", "poisson", "poisson:", "poisson:-3", "poisson:0", "poisson:nan", "poisson:inf", "poisson:x",
        "poisson:1:2", "constant:0", "constant:-4", "constant:1.5", "constant:nan", "uniform:0:5", "uniform:5:1",
        "uniform:1", "uniform:-3:5", "binomial:10:2", "binomial:10:-0.1", "binomial:0:0.5", "binomial:1.5:0.5",
        "geometric:0", "geometric:2", "geometric:-1", "zipf:1.5", "zipf:-1:0", "zipf:nan:10", "zipf:1.5:0",
        "two-point:0:5:0.5", "two-point:1:5:2", "two-point:1:5:-1", "two-point:1:5", "two-point:1:5:nan",
        "counts:", "counts:/nowhere/at/all", "counts:.", "normal:0:1", "Poisson:5", "histogram:1=-1", "histogram:0=1",
        "histogram:", "histogram:1=0", "5",
    ],
    "--data": [
        "''", "rademacher", "rademacher:", "rademacher:2", "rademacher:nan", "beta:0:1", "beta:1", "uniform:1:0",
        "point:2", "point:nan", "two-point:0:1:2", "normal:0:1", "beta:1:2:3",
    ],
    "--protocol": ["''", "dame", "PAPER", "paper,kent", "5"],
    "--bounds": ["1 1", "2 1", "nan 1", "0 nan", "0 inf", "-inf 0", "a b", "0 ''", "-1e300 1e300", "1e-320 2e-320"],
    "--repetitions": ["0", "-1", "1.5", "nan", "inf", "x", "''", "1e10"],
    "--seed": ["-1", "1.5", "nan", "x", "''", "1e30"],
}  # fmt: skip


def line_of(command: str, **changes: str) -> list[str]:
    options = {**GOOD[command], **{f"--{name.replace('_', '-')}": value for name, value in changes.items()}}
    return [command, *(word for name, value in options.items() for word in (name, *shlex.split(value)))]


FEW = 8
"""All wrong values go to `plan`, or to the one command that has the option; so many of each to every other command."""
CASES = [
    (command, option, value)
    for command, options in GOOD.items()
    for option, values in BAD.items()
    for value in (values if command == "plan" or option in ("--data", "--repetitions") else values[:FEW])
    if option in options or option == "--seed"
]


def check_refusal(call) -> None:
    assert call.code == 2
    assert call.out == ""
    assert call.err.count("\n") == 1
    assert call.err.endswith("\n")
    assert call.err.startswith("dame: ")
    assert "Traceback" not in call.err
    assert len(call.err) < 600


@pytest.mark.parametrize("command", GOOD)
def test_the_good_lines_are_good(dame_call, command):
    assert dame_call("", *line_of(command)).code == 0


@pytest.mark.parametrize(("command", "option", "value"), CASES, ids=[f"{c} {o} {v}"[:60] for c, o, v in CASES])
def test_a_wrong_value_is_one_line_and_exit_code_2(dame_call, command, option, value):
    check_refusal(dame_call("", *line_of(command, **{option[2:].replace("-", "_"): value})))


@pytest.mark.parametrize("command", GOOD)
def test_wrong_input_prints_no_json_either(dame_call, command):
    check_refusal(dame_call("", *line_of(command, alpha="nan"), "--json"))


@pytest.mark.parametrize("option", ["--alpha", "--users", "--sizes", "--protocol", "--bounds", "--seed"])
def test_no_file_is_written_when_the_input_is_wrong(dame_call, tmp_path, option):
    for value in BAD[option][:4]:
        path = tmp_path / "plan.json"
        check_refusal(dame_call("", *line_of("plan", **{option[2:]: value}), "--out", str(path)))
        assert list(tmp_path.iterdir()) == []


def test_an_older_file_survives_wrong_input(dame_call, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("precious")
    check_refusal(dame_call("", *line_of("plan", users="0"), "--out", str(path)))
    assert path.read_text() == "precious"


@pytest.mark.parametrize("place", ["missing/plan.json", ".", "..", "", "/", "file/plan.json"])
def test_a_place_that_cannot_be_written_is_one_line(dame_call, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("not a folder")
    check_refusal(dame_call("", *line_of("plan"), "--out", place))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "line",
    [
        "plan --alpha 1 --sizes poisson:5",
        "plan --alpha 1 --sizes poisson:5 --users 10 --target-error 0.1",
        "plan --users 10 --sizes poisson:5",
        "plan --users 10 --alpha 1",
        "simulate --users 10 --alpha 1 --sizes poisson:5",
        "simulate --alpha 1 --sizes poisson:5 --data point:0",
        "plan --users",
        "plan --surprise",
        "plan extra words --users 10",
        "surprise",
        "--surprise",
        "demo extra",
        "demo --users 1000001",
        "plan --users 10 --alpha 1 --sizes poisson:5 --bounds 1",
        "bounds --sizes poisson:5",
        "bounds --sizes poisson:5 --users 5",
        "bounds --sizes poisson:5 --users 5 --alpha 1 --n-alpha2 5",
        "bounds --sizes poisson:5 --n-alpha2 nan",
        "bounds --sizes poisson:5 --n-alpha2 -5",
        "bounds --sizes poisson:5 --n-alpha2 0",
        "bounds --sizes poisson:5 --n-alpha2 inf",
        "bounds --sizes poisson:5 --n-alpha2 5 --constants printed",
    ],
)
def test_wrong_usage_is_one_line(dame_call, line):
    check_refusal(dame_call(line))


@pytest.mark.parametrize("target", ["0", "-1", "nan", "inf", "x", "", "1e-12"])
def test_a_wrong_target_error_is_one_line(dame_call, target):
    check_refusal(dame_call("plan --alpha 1 --sizes constant:1 --protocol one-bit --target-error", target))


@pytest.mark.parametrize("study", ["", "x" * 129, "two\nlines", "\x00"])
def test_a_wrong_study_is_one_line(dame_call, study):
    check_refusal(dame_call("", *line_of("plan"), "--identity", study))


@pytest.mark.parametrize("content", ["", "0\n", "-1\n5\n", "1.5\n", "a\nb\nc\n", "nan\n", "1,2\n3,4,5\n"])
def test_a_file_of_wrong_counts_is_one_line(dame_call, tmp_path, content):
    path = tmp_path / "counts.txt"
    path.write_text(content)
    check_refusal(dame_call("", *line_of("plan", sizes=f"counts:{path}")))


def test_a_binary_file_of_counts_is_one_line(dame_call, tmp_path):
    path = tmp_path / "counts.bin"
    path.write_bytes(bytes(range(256)))
    check_refusal(dame_call("", *line_of("plan", sizes=f"counts:{path}")))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    command=st.sampled_from(["plan", "simulate"]),
    option=st.sampled_from(["--users", "--alpha", "--sizes", "--protocol", "--seed"]),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
def test_any_text_in_any_option_is_done_or_refused_in_one_line(dame_call, command, option, text):
    words = line_of(command)
    call = dame_call("", *words, f"{option}={text}", "--json")
    if call.code != 0:
        check_refusal(call)
