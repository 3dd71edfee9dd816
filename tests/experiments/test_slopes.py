"""Item 4 of the reproduction: slopes of the bounds, and measured risks between them."""

from __future__ import annotations

import numpy as np
import pytest

from dame.experiments import figure_1_bottom, figure_1_top
from dame.experiments.bound_rows import between
from dame.experiments.slopes import slope, slope_error
from dame.experiments.tidy import TidyTable

DISTRIBUTIONS = list(figure_1_top.DISTRIBUTIONS)


def table_of(module, quick: bool = True) -> TidyTable:
    return TidyTable.of(row for task in module.tasks(quick) for row in task.rows(0))


@pytest.fixture(scope="module")
def top() -> TidyTable:
    return table_of(figure_1_top, quick=False)


def columns(table: TidyTable, *names: str) -> list[np.ndarray]:
    return [table.column(name) for name in names]


def test_slope_of_a_power_is_its_exponent() -> None:
    x = np.array([1.0, 3.0, 20.0, 50.0])
    assert slope(x, 7 * x**-1.5) == pytest.approx(-1.5)


def test_slope_error_is_the_spread_of_slopes() -> None:
    x, rng = np.array([1.0, 3.0, 20.0, 50.0]), np.random.default_rng(3)
    y, error = 7 / x, 0.01 * 7 / x
    slopes = [slope(x, y + error * rng.standard_normal(4)) for _ in range(2000)]
    assert np.std(slopes) == pytest.approx(slope_error(x, y, error), rel=0.1)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_both_bounds_fall_like_the_mean_size(top: TidyTable, distribution: str) -> None:
    part = between(top.where(distribution=distribution, constants="unit"), "lambda", *figure_1_top.STRAIGHT)
    means, lower, upper, logarithm = columns(part, "lambda", "lower", "upper", "logarithm")
    assert slope(means, lower) == pytest.approx(-1, abs=0.05)
    assert slope(means, upper / logarithm) == pytest.approx(-1, abs=0.05)
    # The logarithm itself grows, which makes the upper bound as such a little flatter.
    assert -1 < slope(means, upper) < -0.9


@pytest.mark.parametrize("distribution", ["poisson", "binomial"])
def test_the_upper_bound_is_straight_without_more_ado_for_narrow_distributions(
    top: TidyTable, distribution: str
) -> None:
    part = between(top.where(distribution=distribution, constants="unit"), "lambda", 5, 50)
    assert slope(*columns(part, "lambda", "upper")) == pytest.approx(-1, abs=0.05)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_ratio_of_the_bounds_is_constant_up_to_the_logarithm(top: TidyTable, distribution: str) -> None:
    part = between(top.where(distribution=distribution, constants="unit"), "lambda", *figure_1_top.STRAIGHT)
    lower, upper, logarithm = columns(part, "lower", "upper", "logarithm")
    ratio = upper / lower / logarithm
    assert ratio.max() / ratio.min() < 1.2


def test_printed_constants_say_nothing_at_500(top: TidyTable) -> None:
    printed = top.where(constants="paper")
    assert (printed.column("upper") == 4).all()
    assert (printed.column("m_tilde") == 1).all()


def test_both_bounds_fall_like_the_number_of_users() -> None:
    part = between(table_of(figure_1_bottom).where(constants="unit"), "n_alpha2", *figure_1_bottom.STRAIGHT)
    n, lower, upper, logarithm = columns(part, "n_alpha2", "lower", "upper", "logarithm")
    assert slope(n, lower) == pytest.approx(-1, abs=0.02)
    assert slope(n, upper / logarithm) == pytest.approx(-1, abs=0.02)
