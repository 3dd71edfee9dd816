"""A bound on the chance that the reader takes a wrong stripe, over the distributions that are feared.

The stripe is where the score Σ a·y·cos(ω(o - g)) of all bits y is largest, over a grid of places g. Between the point
of the grid next to θ and another one, the score differs by a sum of independent terms, one for each person, whose tails
are those of bits (Hoeffding); the chances of all points of the grid but those within half a wavelength are added up.
How many people draw which level is taken into account (a mixture), phases within a level count as evenly drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.device.stripes import Level
from dame.protocols.one_round.responses import Floats, Responses, frequencies, frequency_of, sectors
from dame.protocols.one_round.tuning import TUNING

_CHUNK = 2**12
_HARMONICS = 3
_MANY = 60
"""With so many sectors, other harmonics are too weak to matter."""


def grid_step(levels: Sequence[Level]) -> float:
    """How far points of the grid are apart on which a stripe is chosen."""
    return min(level.wavelength for level in levels) / TUNING.grid


def wrong_stripe_bound(levels: Sequence[Level], seen: Responses, users: float, privacy: float) -> float:
    """An upper bound on the chance of a wrong stripe, where B is `privacy`."""
    return _added_up(levels, seen, users, privacy, _distances(levels))


def most_of_it(levels: Sequence[Level], seen: Responses, users: float, privacy: float, enough: float) -> float:
    """The largest part of that bound, for a search; less of it, where this is more than enough already."""
    soon = _added_up(levels, seen, users, privacy, [_suspicious(levels)])
    if soon > enough:
        return soon
    if 2 / grid_step(levels) <= _CHUNK:
        return wrong_stripe_bound(levels, seen, users, privacy)
    return _added_up(levels, seen, users, privacy, (apart[_fits(levels, apart)] for apart in _distances(levels)))


def _added_up(
    levels: Sequence[Level], seen: Responses, users: float, privacy: float, distances: Iterable[Floats]
) -> float:
    omegas, step = frequencies(levels), grid_step(levels)
    shares = np.array([level.phases for level in levels], np.float64)
    shares /= shares.sum()
    found = seen.at(levels)
    amplitudes, turned = np.abs(found), _turned(levels, seen)
    weights = amplitudes[0]  # those of fair signs, which a reader expects
    # θ is at worst in the middle between two points of the grid; whatever turns angles does its worst at every level.
    here = np.cos(np.minimum(turned + omegas * step / 2, math.pi))
    total = np.zeros(len(found))
    for apart in distances:
        angles = np.abs(np.remainder(np.outer(apart, omegas) + math.pi, 2 * math.pi) - math.pi)
        nearest = np.minimum(*(np.cos(np.outer(apart + side, omegas)) for side in (-step / 2, step / 2)))
        proxy = (math.pi / 2 * privacy * weights) ** 2 * (1 - nearest)
        there = np.cos(np.maximum(angles - turned[:, None, :], 0.0))
        lead = weights * amplitudes[:, None, :] * (here[:, None, :] - there)
        total += _tails(lead, proxy, shares, users).sum(axis=1)
    return min(2 * float(total.max()), 1.0)  # to either side


def _distances(levels: Sequence[Level]) -> Iterator[Floats]:
    """Of points of the grid from θ, from half a wavelength of the finest level up to the range, in pieces."""
    step = grid_step(levels)
    last = math.ceil(2 / step)
    for start in range(TUNING.grid // 2, last + 1, _CHUNK):
        yield np.arange(start, min(start + _CHUNK, last + 1), dtype=np.float64) * step + step / 2


def _suspicious(levels: Sequence[Level]) -> Floats:
    """Distances of points of the grid that are one or two wavelengths of some level away from θ."""
    step, lengths = grid_step(levels), np.array([level.wavelength for level in levels])
    apart = np.concatenate([step * (np.floor(lengths * times / step) + 0.5) for times in (1, 2)])
    return np.unique(apart[(apart >= step * (TUNING.grid // 2)) & (apart <= 2)])


def _fits(levels: Sequence[Level], apart: Floats) -> NDArray[np.bool_]:
    """Which of the distances are near a whole number of wavelengths of the finest level."""
    turns = apart / min(level.wavelength for level in levels)
    return np.asarray(np.abs(turns - np.round(turns)) < 1.0 / TUNING.grid)


def _tails(lead: Floats, proxy: Floats, shares: Floats, users: float) -> Floats:
    """A bound on the chance that a sum over people is negative, from means and variance proxies by level (last)."""
    mean, variance = lead @ shares, proxy @ shares
    # The best exponent of Chernoff's bound, were the levels drawn evenly; any exponent gives a bound.
    tilt = (np.maximum(mean, 0.0) / np.maximum(variance, 1e-300))[..., None]
    each = np.exp(tilt * (tilt * proxy / 2 - lead)) @ shares
    return np.asarray(np.exp(np.minimum(users * np.log(each), 0.0)))


def _turned(levels: Sequence[Level], seen: Responses) -> Floats:
    """By how much angles may be turned: by skewed records, and by the other harmonics where phases are few."""
    few = np.stack([_few_phases(level, seen) for level in levels], axis=1)
    return np.asarray(np.abs(np.angle(seen.at(levels))) + few)


@lru_cache(maxsize=1024)
def _few_phases(level: Level, seen: Responses) -> Floats:
    period = sectors(level.phases)
    amplitudes = np.abs(seen.at([level])[:, 0])
    if period >= _MANY:
        return np.zeros(len(amplitudes))
    omega, total = frequency_of(level), np.zeros(len(amplitudes))
    for turn in range(1, _HARMONICS + 1):
        for harmonic in (turn * period - 1, turn * period + 1):
            total += np.abs(seen.of(harmonic * omega, level.min_size)) / harmonic
    # People who are all at one place are seen at the middle of one of `period` sectors.
    return np.asarray(np.minimum(total, math.pi / period) / np.maximum(amplitudes, 1e-9))
