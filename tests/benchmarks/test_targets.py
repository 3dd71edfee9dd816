"""The piecewise mechanism of the benchmark is the published one, and the benchmark prints what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import targets


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.6])
def test_piecewise_reports_have_the_published_mean_variance_and_range(alpha, value):
    draws = 400_000
    reports = targets.piecewise_reports(np.full(draws, value), alpha, np.random.default_rng(1))
    variance = targets.piecewise_variance(value, alpha)
    reach = (math.exp(alpha / 2) + 1) / (math.exp(alpha / 2) - 1)
    assert np.abs(reports).max() <= reach
    assert abs(reports.mean() - value) < 4 * math.sqrt(variance / draws)
    assert reports.var() == pytest.approx(variance, rel=0.02)


def test_the_outside_setting_is_measured(capsys):
    targets.main(["outside", "--studies", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["d", "2", "4", "8"]
