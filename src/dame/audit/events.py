"""Events by which two people's reports might be told apart, chosen from a pilot sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_BITS = 12
"""Bits in a pattern, at most."""
MOST_VALUES = 4096
"""Up to so many different values, each is looked at by itself."""
QUANTILES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
RATIOS = (1.0, 1.5, 2.5, 5.0, 12.0, 40.0, 200.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A set of reports, with words for it."""

    words: str
    holds: Callable[[Ints], Flags]

    def count(self, values: Ints, times: Ints | int = 1) -> int:
        """How many of the reports are in the set, each value having been heard so many times."""
        return int(np.sum(self.holds(values) * times))


def candidates(one: Ints, other: Ints) -> Iterator[Event]:
    """Events that may be likelier for the first pilot sample than for the second."""
    low, high = int(min(one.min(), other.min())), int(max(one.max(), other.max()))
    if low >= 0:
        yield from _patterns(one, other, max(high.bit_length(), 1))
    yield from _values(one, other)
    yield from _tails(one, other)
    for modulus in (2, 4):
        yield from (_rest(modulus, rest) for rest in range(modulus))


def _patterns(one: Ints, other: Ints, bits: int) -> Iterator[Event]:
    """The bits that differ most in frequency, each at its likelier value: first one of them, then two, and so on."""
    gaps = np.array([np.mean(one >> place & 1) - np.mean(other >> place & 1) for place in range(min(bits, 63))])
    mask = pattern = 0
    for place in np.argsort(-np.abs(gaps))[:MOST_BITS].tolist():
        mask |= 1 << place
        pattern |= int(gaps[place] > 0) << place
        yield _bits(mask, pattern)


def _values(one: Ints, other: Ints) -> Iterator[Event]:
    """The values whose frequencies have at least a certain ratio."""
    values, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    if len(values) > MOST_VALUES:
        return
    here = np.bincount(places[: len(one)], minlength=len(values)) + 0.5
    there = np.bincount(places[len(one) :], minlength=len(values)) + 0.5
    yield from (_among(values[here > ratio * there]) for ratio in RATIOS)


def _tails(one: Ints, other: Ints) -> Iterator[Event]:
    for border in np.unique(np.quantile(np.concatenate([one, other]), QUANTILES).round()).tolist():
        yield _at_most(border)
        yield _at_least(border)


def _at_most(border: float) -> Event:
    return Event(words=f"at most {border:.0f}", holds=lambda values: values <= border)


def _at_least(border: float) -> Event:
    return Event(words=f"at least {border:.0f}", holds=lambda values: values >= border)


def _bits(mask: int, pattern: int) -> Event:
    return Event(words=f"bits {mask:#x} are {pattern:#x}", holds=lambda values: values & mask == pattern)


def _among(chosen: Ints) -> Event:
    return Event(words=f"one of {len(chosen)} values", holds=lambda values: np.isin(values, chosen))


def _rest(modulus: int, rest: int) -> Event:
    return Event(words=f"value mod {modulus} = {rest}", holds=lambda values: values % modulus == rest)
