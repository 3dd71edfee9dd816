"""Measured risks lie between the bounds, over more than forty settings: Theorem 1 for all, Theorem 2 where it holds."""

from __future__ import annotations

import itertools

import pytest
from scipy import stats

from dame.experiments.risk import ALPHA, PROTOCOLS, RiskTask
from dame.experiments.style import AUTHORS
from dame.experiments.tidy import TidyTable
from dame.sizes import Sizes
from dame.theory import bounds

SIZES = (
    "constant:1",
    "constant:100",
    "constant:1000000",
    "poisson:5",
    "uniform:1:99",
    "geometric:0.001",
    "zipf:1.5:10000",
    "two-point:100000:1000000:0.3",
)
STUDIES = {300: 30, 3_000: 20, 60_000: 4}
"""Numbers of users, and how many studies are played with so many."""
THETAS = (0.0, 0.5, 0.9)
SETTINGS = list(itertools.product(SIZES, STUDIES))
FALSE_ALARM = 1e-6
"""Chance that a risk equal to the bound is called larger, for each row: errors are sums over thousands of people."""


def risks(sizes: str, users: int, protocol: str) -> TidyTable:
    task = RiskTask(
        index=0,
        point=(),
        sizes=sizes,
        users=users,
        protocol=protocol,
        thetas=THETAS,
        repetitions=STUDIES[users],
    )
    return TidyTable.of(task.rows(11))


def covered(sizes: str, users: int) -> bool:
    """Whether the assumptions of Theorem 2 hold, the one that it does not name included."""
    return not bounds(Sizes.parse(sizes), users * ALPHA**2).warnings(ALPHA)


def larger(row) -> bool:
    """Whether the measured risk is larger than the upper bound, beyond what chance explains."""
    count = row["repetitions"]
    return row["mean"] > row["upper_bound"] * stats.chi2.isf(FALSE_ALARM, count) / count


def test_there_are_more_than_forty_settings() -> None:
    assert len(SETTINGS) * len(THETAS) >= 40
    assert sum(covered(*setting) for setting in SETTINGS) * len(THETAS) >= 40


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "adaptive"])
def test_no_risk_is_below_the_lower_bound(protocol: str) -> None:
    for setting in SETTINGS:
        for row in risks(*setting, protocol).rows:
            assert row["lower_bound"] <= row["mean"]
            assert protocol != "paper" or not covered(*setting) or not larger(row), row


def test_no_risk_of_adaptive_is_below_the_lower_bound() -> None:
    for setting in SETTINGS[::7]:  # its planner takes a second for each
        assert all(row["lower_bound"] <= row["mean"] for row in risks(*setting, "adaptive").rows)


@pytest.mark.slow
def test_no_risk_of_adaptive_is_below_the_lower_bound_anywhere() -> None:
    for setting in SETTINGS:
        assert all(row["lower_bound"] <= row["mean"] for row in risks(*setting, "adaptive").rows)


def test_theorem_2_fails_as_printed_where_phi_is_above_one() -> None:
    assert not covered("constant:1000000", 300)
    for row in risks("constant:1000000", 300, "paper").rows:
        assert larger(row)
        assert row["mean"] > 100 * row["upper_bound"]
        assert row["failures"] > 5


def test_the_same_plan_has_the_same_risk() -> None:
    one, other = (risks("constant:1000000", 3000, name) for name in ("paper", "kent"))
    assert [row["mean"] for row in one.rows] == [row["mean"] for row in other.rows]


def test_wrong_divisor_shrinks_the_estimate() -> None:
    sizes = "two-point:100000:100000000:0.8"
    task = RiskTask(index=0, point=(), sizes=sizes, users=10**5, protocol="paper", repetitions=4, reread=True)
    table = TidyTable.of(task.rows(1))
    right, wrong = (table.one("mean_estimate", theta=0.5, protocol=name) for name in ("paper", AUTHORS))
    assert right == pytest.approx(0.5, abs=1e-3)
    # E sqrt(min(m, m̃)) / E min(m, sqrt(m̃)) with m̃ = m2: (0.2·sqrt(1e5) + 0.8·1e4) / 1e4.
    assert wrong == pytest.approx(0.5 * (0.2 * 10**-1.5 + 0.8), abs=1e-3)
    assert table.one("mean_estimate", theta=0.0, protocol=AUTHORS) == pytest.approx(0, abs=1e-3)
