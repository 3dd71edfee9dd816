"""Statistics with a declared false-alarm rate, and their power against a named mutant.

A test draws with a fixed seed and rejects when its p-value is below `FALSE_ALARM`. Each test also shows that it would
notice: `power` is the chance, before any draw, of rejecting a given wrong law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-6
POWER = 0.999
FEWEST_EXPECTED = 8.0
"""Cells of a chi-square test with fewer expected draws are put together."""


def cells(law: Mapping[int, float], draws: int) -> list[frozenset[int]]:
    """Groups of neighbouring outcomes, each expected at least `FEWEST_EXPECTED` times; the last one takes the rest."""
    groups: list[frozenset[int]] = []
    current: list[int] = []
    for outcome in sorted(law):
        current.append(outcome)
        if sum(law[one] for one in current) * draws >= FEWEST_EXPECTED:
            groups.append(frozenset(current))
            current = []
    if current and groups:
        groups[-1] |= frozenset(current)
    assert len(groups) >= 2, "too few draws to test this law"
    return groups


def p_value(observed: Sequence[int], law: Mapping[int, float]) -> float:
    """The p-value of a chi-square test that the observed outcomes follow the law; impossible outcomes give 0."""
    if not set(observed) <= law.keys():
        return 0.0
    groups = cells(law, len(observed))
    place = {outcome: index for index, group in enumerate(groups) for outcome in group}
    counts = np.bincount([place[outcome] for outcome in observed], minlength=len(groups))
    expected = np.array([sum(law[one] for one in group) for group in groups])
    return float(stats.chisquare(counts, expected / expected.sum() * len(observed)).pvalue)


def power(law: Mapping[int, float], mutant: Mapping[int, float], draws: int) -> float:
    """The chance that `p_value` of so many draws from the mutant falls below `FALSE_ALARM`."""
    groups = cells(law, draws)
    right, wrong = (np.array([sum(one.get(x, 0.0) for x in group) for group in groups]) for one in (law, mutant))
    distance = draws * float(np.sum((wrong - right) ** 2 / right))
    threshold = stats.chi2.isf(FALSE_ALARM, len(groups) - 1)
    return float(stats.ncx2.sf(threshold, len(groups) - 1, distance))


def normal_p_value(mean: float, expected: float, standard_error: float) -> float:
    """The two-sided p-value of a mean that is normal with a known standard error."""
    return float(2 * stats.norm.sf(abs(mean - expected) / standard_error))
