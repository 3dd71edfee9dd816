"""How people's answers respond to stripes: the characteristic function of user means, for distributions of records.

On stripes of wavelength λ all phases together tell E e^{iωX̄} with ω = 2π/λ: its angle is ωθ, its amplitude says how far
means of users are apart on the scale of the stripes. Skewed records turn the angle a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.device.stripes import Level
from dame.protocols.one_round.tuning import TUNING
from dame.sizes import Sizes
from dame.theory.response import SizeGroups, group_sizes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

HARMONIC = 4 / math.pi
"""The amplitude of the first harmonic of a square wave."""
_LESS_NOISE = (HARMONIC / 2) ** 2
"""By so much of the squared amplitude the variance of a bit falls short of B², on average over phases, as far as it
turns the angle."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """Distributions of records with two values each: the lower ones, the upper ones, and the chances of the upper."""

    low: Floats
    high: Floats
    chance: Floats

    @property
    def means(self) -> Floats:
        """The mean of each distribution."""
        return self.low + (self.high - self.low) * self.chance


def signs(means: Floats) -> Records:
    """Records of -1 and 1 with these means."""
    return Records(low=np.full(len(means), -1.0), high=np.ones(len(means)), chance=(1 + means) / 2)


@lru_cache(maxsize=1)
def feared() -> Records:
    """The distributions that a plan must be good for: as wide as possible, as skewed as possible, and all alike.

    The first is that of fair signs.
    """
    fair, leaning = signs(np.array(TUNING.fair)), np.array(TUNING.leaning)
    return Records(
        low=np.concatenate((fair.low, np.full(len(leaning), -1.0), [0.0])),
        high=np.concatenate((fair.high, (leaning + 1 / 3) * 1.5, [0.0])),
        chance=np.concatenate((fair.chance, np.full(len(leaning), 2 / 3), [0.5])),
    )


@lru_cache(maxsize=1)
def suspects() -> Records:
    """Those of the feared distributions for which a stripe is mistaken most easily; the first is that of fair signs."""
    every, chosen = feared(), np.array(TUNING.suspects)
    return Records(low=every.low[chosen], high=every.high[chosen], chance=every.chance[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """E 1{m ≥ min_size}·e^{iω(X̄ - θ)} for distributions of records and sizes as in M, remembered."""

    records: Records
    groups: SizeGroups
    _known: dict[tuple[float, float], Complexes] = field(default_factory=dict)

    def of(self, frequency: float, min_size: float) -> Complexes:
        """The response of each distribution at a frequency."""
        key = (frequency, min_size)
        if key not in self._known:
            self._known[key] = _response(self.records, self.groups, frequency, min_size)
        return self._known[key]

    def enough(self, levels: Sequence[Level]) -> Floats:
        """The share of the people who have enough records for each level."""
        sizes, shares = self.groups.sizes, self.groups.shares
        return np.array([max(shares[sizes >= level.min_size].sum(), 1e-12) for level in levels])

    def at(self, levels: Sequence[Level]) -> Complexes:
        """The response of each distribution (row) at each level (column)."""
        return np.stack([self.of(frequency_of(level), level.min_size) for level in levels], axis=1)


def _response(records: Records, groups: SizeGroups, frequency: float, min_size: float) -> Complexes:
    enough = groups.sizes >= min_size
    sizes, shares = groups.sizes[enough], groups.shares[enough]
    steps = frequency / sizes
    left, right = (np.exp(1j * np.outer(values - records.means, steps)) for values in (records.low, records.high))
    chance = records.chance[:, None]
    return np.asarray(np.exp(np.log((1 - chance) * left + chance * right) * sizes) @ shares)


@lru_cache(maxsize=64)
def grouped(sizes: Sizes) -> SizeGroups:
    """M in groups."""
    return group_sizes(sizes, count=TUNING.size_groups)


def frequency_of(level: Level) -> float:
    """ω = 2π/λ."""
    return 2 * math.pi / level.wavelength


def frequencies(levels: Sequence[Level]) -> Floats:
    """ω of each level."""
    return np.array([frequency_of(level) for level in levels])


def sectors(phases: int) -> int:
    """Into how many parts the borders of all phases cut a wavelength."""
    return phases * (2 if phases % 2 else 1)


def information(levels: Sequence[Level], amplitudes: Floats, reports: Floats, enough: Floats, privacy: float) -> Floats:
    """1 over the mean squared error of what each level (last axis) says of θ, given B as `privacy`.

    Amplitudes are those of everybody; `enough` is the share of the people who have enough records.
    """
    noise = (math.pi / 2) ** 2 * (privacy**2 - _LESS_NOISE * np.minimum(amplitudes, 1.0) ** 2) / 2
    variance = noise / (reports * np.maximum(amplitudes, 1e-12) ** 2)
    return np.asarray(frequencies(levels) ** 2 / (variance + _strays(levels, amplitudes / enough) ** 2 / 2))


def _strays(levels: Sequence[Level], amplitudes: Floats) -> Floats:
    """By how much the other harmonics may turn an angle, where phases are few: for normal user means."""
    sharp, count = np.clip(amplitudes, 1e-12, 1.0), np.array([sectors(level.phases) for level in levels], np.float64)
    return sum((sharp ** (k**2 - 1) / k for k in (np.maximum(count - 1, 1), count + 1)), np.zeros(()))
