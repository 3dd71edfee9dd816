"""The planner's arithmetic: how the error of the centre shrinks from round to round, for the worst distributions of
records.

The state is the centre error δ = θ - centre, taken as normal with a mean and a spread for each distribution of the
family in `dame.theory.response`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.protocols.adaptive.tuning import TUNING
from dame.theory.response import ROOMS, ResponseTable

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorState:
    """The error of the centre between two rounds: its mean and its spread for each distribution."""

    bias: Floats
    spread: Floats

    @property
    def worst(self) -> float:
        """The largest mean squared error over the distributions."""
        return float(np.max(self.bias**2 + self.spread**2))

    @property
    def score(self) -> float:
        """What the planner minimises: the largest mean squared error, with bias counted more than variance."""
        return float(np.max(TUNING.bias_disliked * self.bias**2 + self.spread**2))

    @property
    def nodes(self) -> Floats:
        """Centre errors to average over, by distribution and node."""
        return self.bias[:, None] + self.spread[:, None] * _NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDesign:
    """A measuring round that the planner considers, by its places in the table, and the state after it."""

    cap: int
    clip: int
    after: ErrorState

    def saturation(self, table: ResponseTable, distance: float) -> float:
        """How far out in the window people are on average, if θ is so far away: 1 is at its end."""
        response = table.response[self.cap, self.clip, -1]
        return min(float(np.interp(distance, table.deltas, response)) / float(table.clips[self.clip]), 1.0)


def known_within(privacy: float, users: float, rooms: Floats = ROOMS) -> ErrorState:
    """The state after plain one-bit reports over the whole range: unbiased, with variance (B² - θ²) / users."""
    variance = np.maximum(privacy**2 - (1 - rooms) ** 2, 0.0) / users
    return ErrorState(bias=np.zeros(len(rooms)), spread=np.sqrt(variance))


def best_measure(table: ResponseTable, before: ErrorState, privacy: float, users: float) -> MeasureDesign:
    """The round around the present centre that leaves the least worst-case error; `privacy` is B."""
    caps = _useful_caps(table, before)
    designs = [_best_plain(table, caps, before, privacy, users)]
    # The bits in two windows differ by less than the dither: with few users none of the clips could see it.
    if TUNING.apart * math.sqrt(users) >= TUNING.clearest * privacy:
        designs.append(_best_dithered(table, caps, before, privacy, users))
    return min(designs, key=lambda design: design.after.score)


def _useful_caps(table: ResponseTable, before: ErrorState) -> Ints:
    """The places of caps with some window that is neither much wider nor much narrower than the centre is unsure."""
    error, roots = math.sqrt(before.worst), np.sqrt(table.caps)
    narrow_enough = table.clips[0] <= TUNING.too_wide * error * roots
    wide_enough = table.clips[-1] >= TUNING.too_narrow * error * roots
    useful = narrow_enough & (wide_enough | np.isinf(table.caps))
    return np.flatnonzero(useful) if useful.any() else np.arange(1)


def _best_plain(table: ResponseTable, caps: Ints, before: ErrorState, privacy: float, users: float) -> MeasureDesign:
    """The best round that assumes a slope."""
    delta = before.nodes
    response, weight = table.at(delta, caps), table.mean[caps]
    # The error is δ - step·response: its mean and its square follow from these, whatever the step.
    at_first, first = delta @ _WEIGHTS, response @ _WEIGHTS
    at_both, both = (delta * delta) @ _WEIGHTS, (response * response) @ _WEIGHTS
    mixed = (delta * response) @ _WEIGHTS
    step = 1 / (np.array(TUNING.slopes)[:, None] * weight[:, :, None])
    bias = at_first - step * first[:, :, None]
    square = at_both - 2 * step * mixed[:, :, None] + step**2 * both[:, :, None]
    model = np.maximum(square - bias**2, 0.0)
    noise = step**2 * (table.clips**2 * privacy**2 / users)[None, :, None, None]
    worst = (TUNING.bias_disliked * bias**2 + model + noise).max(axis=-1)
    cap, clip, _ = best = np.unravel_index(int(worst.argmin()), worst.shape)
    return MeasureDesign(
        cap=int(caps[cap]),
        clip=int(clip),
        after=ErrorState(bias=bias[best], spread=np.sqrt((model + noise)[best])),
    )


def _best_dithered(table: ResponseTable, caps: Ints, before: ErrorState, privacy: float, users: float) -> MeasureDesign:
    """The best round with two windows, whose difference tells the slope."""
    delta, weight = before.nodes, table.mean[caps]
    # One shift for all clips of a cap: the mean weight without the lift of small users.
    shift = TUNING.apart / weight[:, 0, -1]
    right, left = (table.at(delta + sign * shift[:, None, None], caps) for sign in (1, -1))
    width = shift[:, None, None, None]
    middle, gain = (right + left) / 2, (right - left) / (2 * width)
    gain = np.maximum(gain, 0.05 * weight[..., None])
    answer = middle / gain
    coin = (table.clips * privacy / math.sqrt(users))[None, :, None, None] / gain
    error = delta - answer
    bias = error @ _WEIGHTS
    model = np.maximum((error * error) @ _WEIGHTS - bias**2, 0.0)
    noise = (coin**2 * (1 + (answer / width) ** 2)) @ _WEIGHTS
    worst = (TUNING.bias_disliked * bias**2 + model + noise).max(axis=-1)
    unclear = (width / coin).min(axis=(2, 3)) < TUNING.clearest
    best = np.unravel_index(int(np.where(unclear, np.inf, worst).argmin()), worst.shape)
    ruined = bool(unclear[best])
    return MeasureDesign(
        cap=int(caps[best[0]]),
        clip=int(best[1]),
        after=ErrorState(bias=bias[best], spread=np.sqrt((model + noise)[best]) + (math.inf if ruined else 0.0)),
    )
