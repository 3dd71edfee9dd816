"""Discrete Laplace noise from each user's own words: the device's sampler, step by step, for many users at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dame.vectorised.keyed import Lanes

Ints = NDArray[np.int64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


def discrete_laplace(lanes: Lanes, scale: int, taken: int = 0) -> Ints:
    """One integer k for each user with probability proportional to exp(-|k|/scale), after so many words of hers.

    Word for word what `dame.device.coins.discrete_laplace` draws (Canonne, Kamath, Steinke 2020, algorithm 2): users
    who are at the same step take it together, and those who are refused start again.
    """
    reader = _Reader(lanes, taken)
    values = np.zeros(len(lanes), np.int64)
    left = np.arange(len(lanes))
    while left.size:
        accepted, drawn = reader.attempt(left, scale)
        values[left[accepted]] = drawn[accepted]
        left = left[~accepted]
    return values


class _Reader:
    """Steps of the sampler; keeps how many words each user has read."""

    def __init__(self, lanes: Lanes, taken: int) -> None:
        self._lanes = lanes
        self._read = np.full(len(lanes), taken, np.uint64)

    def attempt(self, users: Places, scale: int) -> tuple[Flags, Ints]:
        """For each user, whether her attempt gave a value, and which."""
        accepted, values = np.zeros(len(users), np.bool_), np.zeros(len(users), np.int64)
        fractions = self.below(users, scale)
        going = np.flatnonzero(self.exponential(users, fractions, scale))
        magnitudes = fractions[going].astype(np.int64) + scale * self.wholes(users[going])
        negative = self.below(users[going], 2) == 1
        values[going] = np.where(negative, -magnitudes, magnitudes)
        accepted[going] = ~(negative & (magnitudes == 0))
        return accepted, values

    def wholes(self, users: Places) -> Ints:
        """How often in a row a coin of probability 1/e comes up."""
        counts = np.zeros(len(users), np.int64)
        going = np.arange(len(users))
        while going.size:
            going = going[self.exponential(users[going], np.ones(going.size, np.uint64), 1)]
            counts[going] += 1
        return counts

    def exponential(self, users: Places, numerators: NDArray[np.uint64], denominator: int) -> Flags:
        """True with probability exp(-numerator/denominator), the quotient being in [0, 1]."""
        odd = np.zeros(len(users), np.bool_)
        going, flips = np.arange(len(users)), 1
        while going.size:
            more = self.below(users[going], denominator * flips) < numerators[going]
            odd[going[~more]] = flips % 2 == 1
            going, flips = going[more], flips + 1
        return odd

    def below(self, users: Places, limit: int) -> NDArray[np.uint64]:
        """A uniform integer in [0, limit) for each user."""
        values = np.zeros(len(users), np.uint64)
        shift = 64 - (limit - 1).bit_length()
        left = np.arange(len(users))
        while left.size:
            words = self._next(users[left])
            drawn = words >> np.uint64(shift) if shift < 64 else np.zeros_like(words)
            fits = drawn < np.uint64(limit) if limit < 2**64 else np.ones(len(drawn), np.bool_)
            values[left[fits]] = drawn[fits]
            left = left[~fits]
        return values

    def _next(self, users: Places) -> NDArray[np.uint64]:
        words = self._lanes.each(users, self._read[users])
        self._read[users] += np.uint64(1)
        return words
