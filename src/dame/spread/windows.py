"""Which two windows to measure next: those whose bits leave the least error, in bad cases as well as on average.

A round of bits has two arms: half of its users say where in the one window their mean is, half where in the other.
Side by side, two windows of width w take in as much as one of width 2w, and are never noisier; and they tell
more: how many users are on either side. Both arms may also ask about the same window: one side of the range.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dame.spread.beliefs import Beliefs, Features, Outlook, identity

Floats = NDArray[np.float64]
Window = tuple[float, float]
Pair = tuple[Window, Window]
PlaceVariance = Callable[[float], float]
"""The variance of one debiased bit, in squared window widths, by its expected place in the window."""

HALVES: Pair = ((-1.0, 0.0), (0.0, 1.0))
GRID = 512
"""Ends of windows are multiples of 1/512, so that every machine asks the very same question."""
_WIDTHS = (0.08, 0.11, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0)
_ASIDE = (-0.3, 0.0, 0.3)
"""Where two windows may meet beside the expected mean, in widths."""
_TAILS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9)
_SIDES = tuple(round(tenth / 10, 1) for tenth in range(-8, 9))
"""Where one side of the range may end."""
_STAND_INS = 150
"""So many populations stand for all when windows are compared."""
_CAUTION = 3.0
"""Windows are compared by this power mean of the squared error over populations: 1 would be the expected error, which
a narrow window may have although it cuts off a minority that is quite possible."""


def clipped(*windows: Window) -> Features:
    """Where in each window a mean is, cut to its ends."""
    lefts, rights = np.array(windows).T

    def features(values: Floats) -> Floats:
        return np.clip(values[..., None], lefts, rights)

    return features


def best_pair(beliefs: Beliefs, variance: PlaceVariance, reports: float) -> tuple[Pair, float]:
    """The two windows to ask so many users about, and the squared error that is then expected."""
    few = beliefs.thinned(_STAND_INS)
    weights = np.exp(few.log_weights)
    mean = few.outlook(identity, sampled=True)
    pairs = _pairs(float(weights @ mean.means[:, 0]))
    arms = [few.outlook(clipped(*(pair[arm] for pair in pairs))) for arm in (0, 1)]
    noises = [
        noise_within(weights @ arms[arm].means, [pair[arm] for pair in pairs], variance, reports / 2) for arm in (0, 1)
    ]
    errors = _errors(few, weights, mean, arms, noises)
    best = int(np.argmin(weights @ errors**_CAUTION))
    return pairs[best], float(weights @ errors[:, best])


def noise_within(means: Floats, windows: Sequence[Window], variance: PlaceVariance, reports: float) -> Floats:
    """The variance of what an arm says of the average within each window."""
    lefts, rights = np.array(windows).T
    places = np.clip((means - lefts) / (rights - lefts), 0.0, 1.0)
    return np.asarray([variance(float(place)) for place in places] * (rights - lefts) ** 2 / reports)


def _errors(
    beliefs: Beliefs, weights: Floats, mean: Outlook, arms: list[Outlook], noises: list[Floats]
) -> NDArray[np.float64]:
    """The squared error by population and pair, if the mean is read off both arms by the best linear rule."""
    shifts = [seen.means - weights @ seen.means for seen in (mean, *arms)]
    seen = [mean, *arms]
    within = {
        (i, j): beliefs.together(seen[i], seen[j]) for i, j in itertools.combinations_with_replacement(range(3), 2)
    }
    within[1, 1], within[2, 2] = within[1, 1] + noises[0], within[2, 2] + noises[1]
    total = {(i, j): weights @ (value + shifts[i] * shifts[j]) for (i, j), value in within.items()}
    volume = total[1, 1] * total[2, 2] - total[1, 2] ** 2
    one = (total[2, 2] * total[0, 1] - total[1, 2] * total[0, 2]) / volume
    other = (total[1, 1] * total[0, 2] - total[1, 2] * total[0, 1]) / volume
    bias = shifts[0] - one * shifts[1] - other * shifts[2]
    spread = (
        within[0, 0]
        + one**2 * within[1, 1]
        + other**2 * within[2, 2]
        + 2 * (one * other * within[1, 2] - one * within[0, 1] - other * within[0, 2])
    )
    return np.asarray(np.maximum(bias**2 + spread, 0.0))


def _pairs(mean: float) -> list[Pair]:
    """Windows side by side around an expected mean, windows at both ends of the range, and one side alone."""
    pairs: list[Pair] = []
    for width, aside in itertools.product(_WIDTHS, _ASIDE):
        step = round(width * GRID) / GRID
        middle = round(min(max(mean + aside * width, step - 1), 1 - step) * GRID) / GRID
        pairs.append(((middle - step, middle), (middle, middle + step)))
    for width in _TAILS:
        step = round(width * GRID) / GRID
        pairs.append(((-1.0, step - 1), (1 - step, 1.0)))
    for place in _SIDES:
        end = round(place * GRID) / GRID
        pairs += [((-1.0, end), (-1.0, end)), ((end, 1.0), (end, 1.0))]
    return list(dict.fromkeys(pairs))
