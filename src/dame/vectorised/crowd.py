"""The device's arithmetic for many people at once: the same steps as in `dame.device`, on numpy arrays.

Every step is one IEEE operation, in the same order as on the device, so that a crowd and its members one by one come
to the same bins and places, bit for bit (tested).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import Measure, PlaceVote, SizeVote, Vote
from dame.device.randomisers import POSITION_STEPS
from dame.sizes import Sizes, effective

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZE_CLASSES = 63
"""Classes [2^j, 2^(j+1)) of sizes that 64-bit integers hold."""


def bins_of(vote: Vote, means: Floats) -> Ints:
    """The bin of each mean."""
    index = np.floor((means - vote.origin) / vote.width)
    return np.clip(index, 0, vote.bins - 1).astype(np.int64)


def own_bins(vote: Vote, sizes: Ints, means: Floats) -> Ints:
    """The bin that each person belongs to: by her mean, or by her number of records."""
    if not isinstance(vote, SizeVote):
        return bins_of(vote, means)
    starts = np.left_shift(np.int64(1), np.arange(min(vote.bins, SIZE_CLASSES), dtype=np.int64))
    return np.searchsorted(starts, sizes, side="right").astype(np.int64) - 1


def between_places(vote: PlaceVote, means: Floats) -> tuple[Ints, Ints]:
    """The place before each person, and how far she is on the way to the next, in steps of 2^-32."""
    places = np.array(vote.places)
    first = np.searchsorted(places[1:-1], means, side="right")
    left, right = places[first], places[first + 1]
    return first, grid_points(np.clip((means - left) / (right - left), 0.0, 1.0), POSITION_STEPS)


def ballots(vote: Vote, sizes: Ints, means: Floats) -> Ints:
    """How many people marked each bin, before any coin is tossed."""
    votes = sizes >= vote.min_size
    own = np.bincount(own_bins(vote, sizes[votes], means[votes]), minlength=vote.bins)
    return with_neighbours(vote, own)


def with_neighbours(vote: Vote, own: Ints) -> Ints:
    """How many people marked each bin, from how many have their own mean in it."""
    below = np.concatenate(([0], np.cumsum(own)))
    places = np.arange(vote.bins)
    upper = np.minimum(places + vote.neighbours + 1, vote.bins)
    return np.asarray(below[upper] - below[np.maximum(places - vote.neighbours, 0)], dtype=np.int64)


def marks(vote: Vote, sizes: Ints, means: Floats) -> tuple[Ints, Ints]:
    """The first and the last bin that each person votes for; (1, 0) when for none."""
    bins = own_bins(vote, sizes, means)
    votes = sizes >= vote.min_size
    first = np.where(votes, np.maximum(bins - vote.neighbours, 0), 1)
    last = np.where(votes, np.minimum(bins + vote.neighbours, vote.bins - 1), 0)
    return first, last


def weights(measure: Measure, sizes: NDArray[np.int64] | Floats) -> Floats:
    """The weight of each person: sqrt(size ∧ cap), but at least the least weight."""
    worth = sizes.astype(np.float64)
    if measure.between_sd:
        worth = effective(worth, measure.between_sd)
    if measure.cap is not None:
        np.minimum(worth, measure.cap, out=worth)
    np.sqrt(worth, out=worth)
    return np.maximum(worth, measure.least_weight, out=worth)


def mean_weight(measure: Measure, sizes: Sizes) -> float:
    """The expected weight of a user under M; E sqrt(m ∧ cap) in the plainest case."""
    if measure.between_sd or measure.least_weight:
        return sizes.expectation(lambda points: weights(measure, points))
    return sizes.mean_sqrt(math.inf if measure.cap is None else measure.cap)


def positions(measure: Measure, sizes: Ints, means: Floats, arms: NDArray[np.intp] | int = 0) -> Floats:
    """The place of each person in the window, in [0, 1], given the arm that each (or everybody) is in."""
    ends = np.array([measure.window(arm) for arm in range(measure.arms)]).T
    centre, left, right = (column[arms] for column in ends)
    z = weights(measure, sizes)
    z *= means - centre
    z -= left
    z /= right - left
    return np.clip(z, 0.0, 1.0, out=z)


def grid_points(places: Floats, steps: int) -> Ints:
    """The nearest of the grid points 0 … steps to each place in [0, 1]."""
    return np.floor(places * steps + 0.5).astype(np.int64)


def sum_of_squares(values: Ints) -> int:
    """The exact sum of squares of integers below 2^52 in magnitude, without overflow."""
    # With v = a·2^26 + b, every sum of up to 2^10 products of halves stays below 2^63.
    upper, lower = values >> 26, values & (2**26 - 1)
    starts = np.arange(0, len(values), 2**10)
    parts = (np.add.reduceat(product, starts) for product in (upper * upper, upper * lower, lower * lower))
    high, cross, low = (sum(map(int, part)) for part in parts) if len(values) else (0, 0, 0)
    return (high << 52) + (cross << 27) + low
