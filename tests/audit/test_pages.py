"""The pages on privacy and limits: figures that are still true, and no promise without its page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from dame.audit.poisoning import largest_shift
from tests.audit.broken import broken
from tests.audit.test_poisoning import planned

DOCS = Path(__file__).parents[2] / "docs"
LIMITS = (DOCS / "limits.md").read_text(encoding="utf-8")
PRIVACY = (DOCS / "privacy.md").read_text(encoding="utf-8")
ALPHAS = (0.1, 0.5, 1.0, 3.0)
CLOSE = 1.6
"""By what factor a figure of the adaptive planner may move before the page must be written again."""


def rows(text: str, first: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith(f"| {first}")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(
    ("row", "protocol", "sizes"),
    [
        ("`adaptive`, 100 ", "adaptive", "constant:100"),
        ("`adaptive`, 100,000", "adaptive", "constant:100000"),
        ("`one-bit`", "one-bit", "constant:100"),
        ("`duchi`", "duchi", "constant:100"),
        ("`paper` and `kent`, 100 ", "paper", "constant:100"),
        ("`paper` and `kent`, 100,000", "paper", "constant:100000"),
    ],
)
def test_the_shifts_on_the_page_are_those_that_are_computed(row, protocol, sizes):
    ((_, *cells),) = rows(LIMITS, row)
    for alpha, cell in zip(ALPHAS, cells, strict=True):
        stated, computed = float(cell.split()[0]), largest_shift(planned(protocol, alpha, sizes))
        factor = CLOSE if protocol == "adaptive" else 1.05
        assert stated / factor <= computed <= stated * factor, (alpha, stated, computed)


def test_what_a_report_reveals_is_calculated_right():
    table = [row for row in rows(PRIVACY, "") if re.fullmatch(r"[0-9.]+", row[0]) and len(row) == 4]
    assert len(table) == 5
    for alpha, odds, even, rare in table:
        ratio = math.exp(float(alpha))
        assert float(odds.replace(",", "")) == pytest.approx(ratio, rel=0.01)
        for cell, prior in ((even, 0.5), (rare, 0.01)):
            assert float(cell.rstrip(" %")) / 100 == pytest.approx(prior * ratio / (1 + prior * (ratio - 1)), rel=0.006)


def test_the_table_of_known_mistakes_has_the_declared_numbers():
    for mutant in broken():
        if mutant.draws is not None:
            assert f"{mutant.draws:,}" in PRIVACY
        if math.isfinite(mutant.epsilon) and mutant.epsilon < 100:
            assert f"| {mutant.epsilon / mutant.question.alpha:.3g} |" in PRIVACY
    assert len(
        [line for line in PRIVACY.splitlines() if line.endswith(("both audits |", "both |", "audit only |"))]
    ) == len(broken())


def test_both_pages_lead_to_each_other_and_neither_is_empty():
    assert "limits.md" in PRIVACY
    assert "privacy.md" in LIMITS
    assert len(LIMITS.splitlines()) > 40


@pytest.mark.parametrize(
    "word", ["sybil", "malicious", "ledger", "local variables", "paper", "edge site", "intervals", "clamped", "names"]
)
def test_the_page_of_limits_names_what_is_not_protected(word):
    assert word in LIMITS.lower()
