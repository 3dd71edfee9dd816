"""The reader of stripes: first which stripe is meant, from all levels together; then where in it θ lies.

On each level, the bits of its phases tell the characteristic function of user means, an angle and an amplitude. The
stripe is where all angles fit best, as if amplitudes were those of fair signs; within it, every level counts as much as
its own amplitude says. Of the bias that skewed records cause, half of that of signs with the same mean is taken away:
that is the middle of what is possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dame.device.parts import narrowed
from dame.device.stripes import Level, Stripes
from dame.estimates import Estimate, Measured, estimate_from, know_nothing, normal_quantile
from dame.planning.brief import Brief
from dame.protocols.one_round.certificate import grid_step
from dame.protocols.one_round.responses import (
    HARMONIC,
    Complexes,
    Floats,
    Responses,
    frequencies,
    frequency_of,
    grouped,
    information,
    signs,
)
from dame.protocols.one_round.tuning import TUNING
from dame.sizes import Sizes
from dame.tally import Tally, WindowTally
from dame.theory import privacy_factor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeardLevels:
    """What the levels of a tally say: E e^{iωX̄} on each, the reports that this is worth, and B."""

    levels: tuple[Level, ...]
    told: Complexes
    reports: Floats
    expected: Floats
    enough: Floats
    privacy: float

    @property
    def omegas(self) -> Floats:
        """ω of each level."""
        return frequencies(self.levels)

    @property
    def noise(self) -> Floats:
        """The variance of either part of what each level told."""
        return (math.pi / 2 * self.privacy) ** 2 / (2 * self.reports)

    def turned(self, theta: float) -> Complexes:
        """What was told, seen from θ: real numbers, were it not for chance."""
        return np.asarray(self.told * np.exp(-1j * self.omegas * theta))


def read_stripes(brief: Brief, tally: Tally) -> Estimate:
    """What a tally of bits on stripes says of the mean."""
    heard = hear(tally, brief.sizes)
    if not heard.levels:
        return know_nothing([tally.reports], "too few reports on stripes: nothing was learnt")
    grid, chances = stripe_chances(heard)
    best = float(grid[chances.argmax()])
    reach = min(level.wavelength for level in heard.levels) / 2
    doubt = float(chances[np.abs(grid - best) > reach].sum())
    estimate = estimate_from(_measured(heard, brief.sizes, _peak(heard, best, reach)), [tally.reports])
    estimate = replace(estimate, failure_probability=min(doubt, 1.0))
    if doubt <= TUNING.doubt:
        return estimate
    low, high = _hull(grid, chances)
    interval = (min(estimate.interval[0], low - reach), max(estimate.interval[1], high + reach))
    note = f"several stripes remain possible (chance of a wrong one {doubt:.2g}): the interval holds all of them"
    return replace(estimate, interval=(max(interval[0], -1.0), min(interval[1], 1.0)), notes=(*estimate.notes, note))


# --- from bits to angles and amplitudes


def hear(tally: Tally, sizes: Sizes) -> HeardLevels:
    """What each level says on which enough phases have reports."""
    lens = narrowed(Stripes, tally.question.lens)
    privacy, debias = privacy_factor(tally.question.alpha), tally.question.channel.debias
    fair = Responses(signs(np.zeros(1)), grouped(sizes))
    kept = []
    for level, windows in _by_level(lens, tally):
        reports = np.array([window.reports for window in windows], np.float64)
        sides = np.array([2 * debias(window.sums[0] / max(window.reports, 1)) - 1 for window in windows])
        found = _first_harmonic(level, reports, sides)
        expected = abs(fair.of(frequency_of(level), level.min_size)[0])
        if found is not None and expected > 0:
            kept.append((level, *found, expected))
    levels, told, worth, expected_of_all = zip(*kept, strict=True) if kept else ((), (), (), ())
    return HeardLevels(
        levels=tuple(levels),
        told=np.array(told, np.complex128),
        reports=np.array(worth, np.float64),
        expected=np.array(expected_of_all, np.float64),
        enough=fair.enough(levels),
        privacy=privacy,
    )


def _by_level(lens: Stripes, tally: Tally) -> Iterator[tuple[Level, Sequence[WindowTally]]]:
    first = 0
    for level in lens.levels:
        yield level, tally.windows[first : first + level.phases]
        first += level.phases


def _first_harmonic(level: Level, reports: Floats, sides: Floats) -> tuple[complex, float] | None:
    """E e^{iωX̄} by least squares from the mean sides of all phases, and the evenly spread reports that it is worth."""
    angles = 2 * math.pi * np.array([level.offset(phase) for phase in range(level.phases)]) / level.wavelength
    # A side is (4/π)·Im(c·e^{-i·angle}), but for the other harmonics.
    waves = HARMONIC * np.stack((-np.sin(angles), np.cos(angles)), axis=1)
    weighed = waves.T * reports
    matrix = weighed @ waves
    if not np.linalg.det(matrix) > (_UNCLEAR * HARMONIC**2 * reports.sum()) ** 2:
        return None
    real, imaginary = np.linalg.solve(matrix, weighed @ sides)
    covariance = np.linalg.inv(matrix)
    return complex(real, imaginary), 2 * (math.pi / 4) ** 2 * 2 / float(np.trace(covariance))


_UNCLEAR = 0.05
"""If the phases that have reports see so little of one direction, a level is not read."""


# --- which stripe


def stripe_chances(heard: HeardLevels) -> tuple[Floats, Floats]:
    """The places of a grid over the range, and the chance of each, if all were as likely before."""
    step = grid_step(heard.levels)
    grid = np.clip(np.arange(-1.0, 1.0 + step, step), -1.0, 1.0)
    score = np.zeros(len(grid))
    for omega, told, expected, noise in zip(heard.omegas, heard.told, heard.expected, heard.noise, strict=True):
        score += expected / noise * (told * np.exp(-1j * omega * grid)).real
    chances = np.exp(score - score.max())
    return grid, chances / chances.sum()


def _hull(grid: Floats, chances: Floats) -> tuple[float, float]:
    """The ends of the places that are likely enough to be taken in."""
    order = np.argsort(chances)[::-1]
    count = int(np.searchsorted(np.cumsum(chances[order]), 1 - TUNING.doubt_left)) + 1
    kept = grid[order[:count]]
    return float(kept.min()), float(kept.max())


# --- where in it


def _peak(heard: HeardLevels, best: float, reach: float) -> float:
    """Where near the best place of the grid all levels fit best, each with the amplitude that it has."""
    theta, width = best, reach
    for _ in range(_REFINEMENTS):
        places = theta + width * np.linspace(-1, 1, 2 * _POINTS + 1)
        seen = np.maximum((heard.told * np.exp(-1j * np.outer(places, heard.omegas))).real, 0.0)
        theta = float(places[((seen**2) / heard.noise).sum(axis=1).argmax()])
        width /= _POINTS / 2
    return theta


_REFINEMENTS, _POINTS, _STEPS = 4, 16, 4


def _measured(heard: HeardLevels, sizes: Sizes, theta: float) -> Measured:
    for _ in range(_STEPS):
        amplitudes = np.maximum(heard.turned(theta).real, TUNING.least_amplitude * heard.expected)
        worth = information(heard.levels, amplitudes, heard.reports, heard.enough, heard.privacy)
        theta += float(worth @ (heard.turned(theta).imag / amplitudes / heard.omegas) / worth.sum())
    bias, doubt = _skewed(heard, sizes, theta, worth / worth.sum())
    error = math.sqrt(1 / worth.sum() + TUNING.skew_variance * doubt**2)
    value = theta - bias
    half = normal_quantile() * error
    return Measured(value=value, standard_error=error, low=value - half, high=value + half)


def _skewed(heard: HeardLevels, sizes: Sizes, theta: float, weights: Floats) -> tuple[float, float]:
    """The bias to take away, and how large the rest may be: half of that of signs, and what others can add."""
    theta = min(max(theta, -1.0), 1.0)
    # Signs at 0.4 and at θ: the first are skewed as much as any records with a mean near 0 can be, after halving.
    means = np.array([theta, _TELLING])
    angles = np.angle(Responses(signs(means), grouped(sizes)).at(heard.levels))
    here, there = (angles / heard.omegas) @ weights / 2
    return float(here), max(abs(float(here)), abs(float(there)) * (1 - abs(theta)))


_TELLING = 0.3
"""Half of the skewness of signs with this mean is about that of the most skewed records with mean 0."""
