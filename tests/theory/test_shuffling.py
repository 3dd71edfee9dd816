"""Amplification by shuffling: published numbers, exact sums for small studies, and what must hold for any."""

from __future__ import annotations

import json
import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import dame
from dame.cli.app import run
from dame.errors import InvalidInput
from dame.theory import shuffling
from dame.theory.shuffling import CentralPrivacy, central_epsilon


@pytest.mark.parametrize(("alpha", "published"), [(0.5, 0.018), (1.0, 0.043), (2.0, 0.115)])
def test_one_bit_among_ten_thousand(alpha: float, published: float) -> None:
    """Figures of a tighter analysis for one bit, n = 1e4, δ = 1e-6."""
    assert central_epsilon(alpha, 10_000, 1e-6) == pytest.approx(published, rel=0.012)


def test_the_clones_of_the_first_paper() -> None:
    """apple/ml-shuffling-amplification, README: n = 1e5, ε₀ = 4, δ = 1e-6 gives 0.168 to 0.173, with chance e^-ε₀."""
    first = shuffling._epsilon(4.0, 100_000, 1e-6, math.exp(-4.0))
    assert 0.168 <= first <= 0.173
    assert central_epsilon(4.0, 100_000, 1e-6) < first, "the stronger clones are more"


def exact_delta(alpha: float, reports: int, epsilon: float, ones: int) -> float:
    """δ of one exact bit in a sum: two cases of her value, others of whom so many have the value 1 and the rest 0."""
    yes = math.exp(alpha) / (1 + math.exp(alpha))
    zeros = reports - 1 - ones
    others = np.convolve(binom.pmf(range(ones + 1), ones, yes), binom.pmf(range(zeros + 1), zeros, 1 - yes))
    one, other = np.convolve(others, [1 - yes, yes]), np.convolve(others, [yes, 1 - yes])
    factor = math.exp(epsilon)
    return max(np.maximum(one - factor * other, 0).sum(), np.maximum(other - factor * one, 0).sum())


@settings(max_examples=60, deadline=None)
@given(
    alpha=st.floats(0.05, 4.0),
    reports=st.integers(1, 400),
    delta=st.sampled_from([1e-3, 1e-6, 1e-9]),
    share=st.floats(0, 1),
)
def test_no_sum_of_bits_tells_more_than_the_bound(alpha: float, reports: int, delta: float, share: float) -> None:
    epsilon = central_epsilon(alpha, reports, delta)
    ones = round(share * (reports - 1))
    assert exact_delta(alpha, reports, epsilon, ones) <= delta * (1 + 1e-6) + 1e-14


def test_the_bound_is_close_for_bits() -> None:
    """Where the others are divided evenly it is not much above what the sum tells."""
    alpha, reports, delta = 1.0, 400, 1e-6
    epsilon = central_epsilon(alpha, reports, delta)
    assert exact_delta(alpha, reports, 0.5 * epsilon, 200) > delta


def test_a_bound_for_less_than_it_claims_is_found_out() -> None:
    """The test of sums can fail: with as many clones as there are others, the bound would be too small."""
    found = shuffling._epsilon(2.0, 300, 1e-6, 1.0)
    assert max(exact_delta(2.0, 300, found, ones) for ones in (0, 150, 299)) > 1e-6


@settings(max_examples=40, deadline=None)
@given(alpha=st.floats(1e-3, 8.0), reports=st.integers(1, 10**9))
def test_more_people_and_smaller_budgets_tell_less(alpha: float, reports: int) -> None:
    found = central_epsilon(alpha, reports)
    assert 0 < found <= alpha
    assert central_epsilon(alpha, 4 * reports) <= found * 1.001
    assert central_epsilon(alpha / 2, reports) <= found * 1.001
    assert central_epsilon(alpha, reports, 1e-9) >= found / 1.001


def test_blocks_are_on_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = central_epsilon(1.5, 30_000)
    monkeypatch.setattr(shuffling, "MOST_BLOCKS", 100_000)
    shuffling._epsilon.cache_clear()
    fine = central_epsilon(1.5, 30_000)
    shuffling._epsilon.cache_clear()
    assert fine <= coarse * 1.0002
    assert coarse <= fine * 1.01


def test_it_is_quick() -> None:
    started = time.process_time()
    for reports in (10_001, 100_001, 1_000_001):
        central_epsilon(1.0, reports)
    assert time.process_time() - started < 0.6


@pytest.mark.parametrize("given_", [(0.0, 10, 1e-6), (1.0, 0, 1e-6), (1.0, 10, 0.0), (1.0, 10, math.nan)])
def test_what_cannot_be_computed_is_refused(given_: tuple[float, int, float]) -> None:
    with pytest.raises(InvalidInput):
        central_epsilon(*given_)


# --- where it is told


def test_a_plan_tells_it_for_its_smallest_round(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--users", "10000", "--alpha", "1", "--sizes", "poisson:5", "--protocol", "one-bit"]
    assert run([*words, "--json", "--no-compare"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["central_epsilon"], told["central_delta"]) == (central_epsilon(1.0, 10_000), 1e-6)
    assert dame.plan_from_json(told).central.reports == 10_000
    assert run([*words, "--no-compare"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "central epsilon 0.0432 at delta 1e-06" in shown
    assert "sees no single upload" in shown
    plan = dame.plan(users=10_000, alpha=1.0, sizes="poisson:5")
    assert plan.central.reports == round(10_000 * min(plan.shares))


def test_a_result_tells_it_for_its_smallest_set() -> None:
    plan = dame.plan(users=300, alpha=1.0, sizes="poisson:5", protocol="one-bit")
    (question,) = dame.questions(plan)
    tally = dame.Tally.zero(question)
    for _ in range(40):
        tally = tally.add(dame.device.answer(question, [0.3]))
    found = dame.result(plan, [tally])
    assert found.privacy == CentralPrivacy(alpha=1.0, reports=40)
    assert found.to_json()["privacy"]["central_epsilon"] == central_epsilon(1.0, 40)


def test_the_table_on_the_page_is_computed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text(encoding="utf-8")
    section = page.partition("## What a reader of the result learns")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if re.match(r"\| [0-9]", line)]
    assert len(rows) == 4
    for reports, *cells in rows:
        for alpha, cell in zip((0.5, 1.0, 2.0, 3.0), cells, strict=True):
            assert float(cell) == pytest.approx(central_epsilon(alpha, int(reports.replace(",", ""))), rel=0.01)
    assert "does not see single uploads" in section
