"""Exact draws from random words: the only source of randomness on a device.

Every draw compares integers, so its law is known exactly. Coins come in by argument; `SystemCoins` are the ones that
people's reports are drawn with, `ReplayCoins` repeat given words for tests and test vectors.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Protocol

from dame.device.exact import WORD
from dame.errors import Mismatch

WORD_BYTES = 8


class Coins(Protocol):
    """A source of independent, uniform 64-bit words."""

    def words(self, count: int) -> Sequence[int]:
        """The next `count` words."""


class SystemCoins:
    """Words from the operating system's cryptographic generator."""

    def words(self, count: int) -> Sequence[int]:
        """The next `count` words, each 8 bytes of `os.urandom`, most significant byte first."""
        return struct.unpack(f">{count}Q", os.urandom(WORD_BYTES * count))


class ReplayCoins:
    """The words of given bytes, in order, for tests and test vectors, never for reports that leave a device."""

    def __init__(self, stored: bytes) -> None:
        self._stored = stored
        self._used = 0

    def words(self, count: int) -> Sequence[int]:
        """The next `count` stored words."""
        end = self._used + WORD_BYTES * count
        if end > len(self._stored):
            raise Mismatch(f"the stored coins end after {len(self._stored) // WORD_BYTES} words")
        taken = self._stored[self._used : end]
        self._used = end
        return struct.unpack(f">{count}Q", taken)

    @property
    def exhausted(self) -> bool:
        """Whether every stored word was used."""
        return self._used == len(self._stored)


def uniform_below(coins: Coins, limit: int) -> int:
    """A uniform integer in [0, limit), 1 ≤ limit ≤ 2^64, by rejection: no modulo, no bias."""
    assert 1 <= limit <= WORD
    shift = 64 - (limit - 1).bit_length()
    while True:
        (word,) = coins.words(1)
        if word >> shift < limit:
            return word >> shift


def bernoulli_exp(coins: Coins, numerator: int, denominator: int) -> bool:
    """True with probability exp(-numerator/denominator), for a quotient in [0, 1].

    Reference: Canonne, Kamath, Steinke (2020), algorithm 1: flip coins of probability γ/1, γ/2, γ/3 … until one
    fails; the number of flips is odd with probability e^-γ.
    """
    flips = 1
    while uniform_below(coins, denominator * flips) < numerator:
        flips += 1
    return flips % 2 == 1


def discrete_laplace(coins: Coins, scale: int) -> int:
    """An integer k with probability proportional to exp(-|k| / scale), for a whole scale.

    Reference: Canonne, Kamath, Steinke (2020), algorithm 2. The number of words it uses varies with the noise that it
    draws, never with anybody's data.
    """
    while True:
        fraction = uniform_below(coins, scale)
        if not bernoulli_exp(coins, fraction, scale):
            continue
        wholes = 0
        while bernoulli_exp(coins, 1, 1):
            wholes += 1
        magnitude = fraction + scale * wholes
        negative = uniform_below(coins, 2) == 1
        if not (negative and magnitude == 0):  # else zero would be drawn twice as often
            return -magnitude if negative else magnitude
