"""`dame audit` and the shift in `dame plan`: one object for programs, a table for people, exit code 1 on failure."""

from __future__ import annotations

import dataclasses

import pytest

import dame
from dame.audit import Check, Finding
from dame.audit.runs import kinds
from dame.cli import audit as command
from tests.cli.conftest import dame_call  # noqa: F401

KEYS = {"name", "epsilon_claimed", "epsilon_exact", "tight", "passed"}
CHECK = Check(name="one-bit alpha=1 users=1", epsilon_claimed=1.0, epsilon_exact=1.0, tight=True, passed=True)
FINDING = Finding(
    epsilon_claimed=1.0, epsilon_lower=0.9, pair=("one", "other"), event="bit", draws=100, false_alarm=1e-6
)


@pytest.fixture
def found(monkeypatch):
    """Lets the command find given checks and findings."""

    def give(checks, findings=()):
        monkeypatch.setattr(command, "run_audit", lambda *_: iter(checks))
        monkeypatch.setattr(command, "sampled", lambda *_: iter([("bit", finding) for finding in findings]))

    return give


def test_the_document_lists_the_checks(dame_call):  # noqa: F811
    call = dame_call("audit --protocol one-bit --protocol duchi --alpha 22/35 --alpha 3 --json")
    assert call.code == 0
    checks = call.document["checks"]
    assert [check["name"].split(" users")[0] for check in checks] == [
        "one-bit alpha=0.6286",
        "one-bit alpha=3",
        "duchi alpha=0.6286",
        "duchi alpha=3",
    ]
    for check in checks:
        assert check.keys() == KEYS
        assert check["passed"] is True
        assert 0.999 * check["epsilon_claimed"] <= check["epsilon_exact"] <= check["epsilon_claimed"]
    assert call.document["failed"] == 0
    assert call.document["sampled"] == []


def test_people_see_a_table_and_a_verdict(dame_call):  # noqa: F811
    call = dame_call("audit --protocol one-bit --alpha 1")
    assert call.code == 0
    assert "one-bit alpha=1" in call.out
    assert "1 questions, none failed" in call.out


def test_samples_from_the_outside_are_reported(dame_call):  # noqa: F811
    call = dame_call("audit --protocol one-bit --alpha 3 --samples 300 --json")
    assert call.code == 0
    assert len(call.document["sampled"]) == len(kinds(3.0)) == 9
    assert all(finding["passed"] and finding["draws"] == 300 for finding in call.document["sampled"])


def test_a_failed_check_is_exit_code_one(dame_call, found):  # noqa: F811
    bad = dataclasses.replace(CHECK, passed=False, problem="it spends more than it claims", epsilon_exact=1.5)
    found([CHECK, bad])
    shown, document = dame_call("audit"), dame_call("audit --json")
    assert shown.code == document.code == 1
    assert "FAILED" in shown.out
    assert "it spends more than it claims" in shown.out
    assert document.document["failed"] == 1


def test_an_infinite_loss_is_null(dame_call, found):  # noqa: F811
    found([dataclasses.replace(CHECK, passed=False, problem="unreadable", epsilon_exact=float("inf"))])
    assert dame_call("audit --json").document["checks"][0]["epsilon_exact"] is None
    assert "inf" in dame_call("audit").out


def test_a_refuted_claim_is_exit_code_one(dame_call, found):  # noqa: F811
    found([CHECK], [dataclasses.replace(FINDING, epsilon_lower=1.2)])
    call = dame_call("audit --samples 100")
    assert call.code == 1
    assert "at least 1.2" in call.out
    found([CHECK], [FINDING])
    assert dame_call("audit --samples 100").code == 0


@pytest.mark.parametrize(
    "line",
    ["--protocol nonsense", "--alpha 0", "--alpha 1e9", "--alpha x", "--alpha nan", "--samples -1", "--samples 2.5"],
)
def test_bad_input_is_one_line_and_exit_code_two(dame_call, line):  # noqa: F811
    call = dame_call(f"audit {line}")
    assert call.code == 2
    assert call.err.count("\n") == 1
    assert not call.out


# --- the shift beside a plan


@pytest.mark.parametrize("protocol", ["one-bit", "paper"])
def test_a_plan_prints_the_shift_of_malicious_users(dame_call, protocol, tmp_path):  # noqa: F811
    line = f"plan --users 20000 --alpha 1 --sizes constant:50 --protocol {protocol} --bounds 0 10"
    document = dame_call(f"{line} --json --out {tmp_path / 'plan.json'}").document
    assert 0 < document["shift_by_1_percent"] <= 10
    assert f"{document['shift_by_1_percent']:.3g}" in dame_call(line).out
    assert dame.plan_from_json(document).only.protocol == protocol, "a printed plan can be read back"


def test_a_shift_that_is_no_number_is_refused():
    document = dame.plan_to_json(dame.plan(users=10, alpha=1.0, sizes=dame.Sizes.constant(5), protocol="one-bit"))
    assert dame.plan_from_json(document | {"shift_by_1_percent": 0.5})
    with pytest.raises(dame.InvalidInput):
        dame.plan_from_json(document | {"shift_by_1_percent": "much"})
