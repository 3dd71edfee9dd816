"""Channels for many people at once: exact draws, sums of what was drawn, and both as simulations draw them.

A *code* is a channel's value counted from its smallest, as few bytes as hold it, the lowest first. Draws with
`ManyCoins` use the same integers as the device; simulations follow the same distribution with a fast generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.random import Generator

from dame.device.channels import MARK_STEPS, Bits, Channel, Choice, Comparing, Laplace
from dame.device.exact import WORD
from dame.vectorised.coins import ManyCoins
from dame.vectorised.forms import Forms
from dame.vectorised.lenses import Floats, Ints, Numbers, Readings
from dame.vectorised.unary import Ballots, Bytes, count_rows
from dame.vectorised.words import WordArray

C = TypeVar("C", bound=Channel)
W = TypeVar("W", bound=Comparing)

_PEOPLE_AT_ONCE = 2**17


class ChannelForm(ABC, Generic[C]):
    """A channel on arrays."""

    @abstractmethod
    def codes(self, channel: C, readings: Readings, coins: ManyCoins) -> Bytes:
        """The code that each person's coins lead to, a row of bytes each."""

    @abstractmethod
    def count(self, channel: C, codes: Bytes) -> Ints | Sequence[int]:
        """The sum of each entry over all codes."""

    def drawn_sums(self, channel: C, readings: Readings, coins: ManyCoins) -> Ints | Sequence[int]:
        """The sum of each entry over what each person's coins lead to."""
        return self.count(channel, self.codes(channel, readings, coins))

    @abstractmethod
    def simulated_sums(
        self, channel: C, readings: Readings, chances: Floats | None, people: int, rng: Generator
    ) -> Ints | Sequence[int]:
        """The sum of each entry over simulated draws of these people, or of so many whose reading has these chances."""

    @abstractmethod
    def expected(self, channel: C, readings: Readings, chances: Floats) -> Floats:
        """The expectation of each entry for a person whose reading has these chances."""


CHANNEL_FORMS: Forms[ChannelForm[Channel]] = Forms("channel")


# --- a bit for each bin


class _BitsForm(ChannelForm[Bits]):
    def codes(self, channel: Bits, readings: Readings, coins: ManyCoins) -> Bytes:
        if readings.marks is None:
            return coins.vote_rows(_ballots(channel, readings))
        bits = [coins.each() < ends for ends in _thresholds(channel, readings, readings.marks)]
        return bits[0].view(np.uint8)[:, None] if len(bits) == 1 else np.packbits(bits, axis=0, bitorder="little").T

    def drawn_sums(self, channel: Bits, readings: Readings, coins: ManyCoins) -> Ints | Sequence[int]:
        if readings.marks is None:
            return coins.vote_counts(_ballots(channel, readings))
        return ChannelForm.drawn_sums(self, channel, readings, coins)

    def count(self, channel: Bits, codes: Bytes) -> Ints | Sequence[int]:
        return [int(np.count_nonzero(codes))] if channel.bins == 1 else count_rows(codes, channel.bins)

    def simulated_sums(
        self, channel: Bits, readings: Readings, chances: Floats | None, people: int, rng: Generator
    ) -> Ints | Sequence[int]:
        if readings.marks is None:
            marked = readings.marked(_runs(readings, chances, people, rng), channel.bins)
            yes, no = channel.yes / WORD, channel.no / WORD
            return np.asarray(rng.binomial(marked, yes) + rng.binomial(people - marked, no))
        coins = (ends / WORD for ends in _thresholds(channel, readings, readings.marks))
        if chances is None:
            return [int(np.count_nonzero(rng.random(people) < coin)) for coin in coins]
        if channel.bins == 1:  # people drawn from one distribution toss one coin, whose chance is the mean of theirs
            return [rng.binomial(people, min(float(chances @ next(coins)), 1.0))]
        own = rng.multinomial(people, chances)  # whoever somebody is, she is it on all bins
        return [int(rng.binomial(own, coin).sum()) for coin in coins]

    def expected(self, channel: Bits, readings: Readings, chances: Floats) -> Floats:
        strength = chances if readings.marks is None else chances * readings.marks
        by_run = np.bincount(readings.which, strength, len(readings.first))
        return np.asarray(channel.probability(readings.marked(by_run, channel.bins).clip(0, 1)))  # type: ignore[arg-type]


def _ballots(channel: Bits, readings: Readings) -> Ballots:
    first, last = readings.first[readings.which], readings.last[readings.which]
    return Ballots(yes=channel.yes, no=channel.no, bins=channel.bins, first=first, last=last)


def _thresholds(channel: Bits, readings: Readings, marks: Floats) -> Iterator[WordArray]:
    """The integer thresholds of everybody's bit on each bin, exactly as on the device."""
    steps = grid_points(marks, MARK_STEPS).astype(np.uint64)
    marked = np.uint64(channel.no) + _shifted(channel.yes - channel.no, steps)
    for bin_ in range(channel.bins):
        inside = (readings.first <= bin_) & (bin_ <= readings.last)
        yield marked if inside.all() else np.where(inside[readings.which], marked, np.uint64(channel.no))


def _shifted(span: int, steps: WordArray) -> WordArray:
    """(span · steps) >> 32 without leaving 64 bits: the upper half of the span times steps needs no shift."""
    high, low = divmod(span, MARK_STEPS)
    return np.uint64(high) * steps + (np.uint64(low) * steps >> np.uint64(32))


def _runs(readings: Readings, chances: Floats | None, people: int, rng: Generator) -> Ints:
    """How many people have each of the runs of marks."""
    if chances is None:
        return np.bincount(readings.which, minlength=len(readings.first))
    shares = np.bincount(readings.which, chances, len(readings.first))
    return np.asarray(rng.multinomial(people, shares / shares.sum()))


# --- one word for each person


class OneWordForm(ChannelForm[W]):
    """A comparing channel that takes a single word: all follows from the numbers at which its outcome goes up."""

    @abstractmethod
    def ends(self, channel: W, readings: Readings) -> Iterator[WordArray]:
        """The rising numbers for each person, exactly as `ends` of the channel gives them on the device."""

    def codes(self, channel: W, readings: Readings, coins: ManyCoins) -> Bytes:
        """The code that each person's word leads to."""
        words = coins.each()
        outcomes = np.zeros(len(words), np.intp)
        for ends in self.ends(channel, readings):
            outcomes += words >= ends
        return code_rows(channel, self._values(channel)[outcomes])

    def count(self, channel: W, codes: Bytes) -> Ints | Sequence[int]:
        """The sum of each entry over all codes, by how often each value occurs."""
        low, high = channel.values
        often = np.bincount(code_values(channel, codes) - low, minlength=high - low + 1)
        return self._sums(channel, often, np.arange(low, high + 1))

    def simulated_sums(
        self, channel: W, readings: Readings, chances: Floats | None, people: int, rng: Generator
    ) -> Ints | Sequence[int]:
        """The sum of each entry over simulated draws."""
        outcomes = self._chances(channel, readings)
        if chances is None:
            drawn = (rng.random(len(readings)) >= np.cumsum(outcomes[:-1], axis=0)).sum(axis=0)
            often = np.bincount(drawn, minlength=len(outcomes))
        else:
            shares = outcomes @ chances
            often = rng.multinomial(people, shares / shares.sum())
        return self._sums(channel, often, self._values(channel))

    def expected(self, channel: W, readings: Readings, chances: Floats) -> Floats:
        """The expectation of each entry."""
        return np.asarray(self._sums(channel, self._chances(channel, readings) @ chances, self._values(channel)))

    def _chances(self, channel: W, readings: Readings) -> Floats:
        """The chance of each outcome, by person."""
        people = np.full(len(readings), 1.0)
        borders = [np.zeros(len(readings)), *(ends / WORD for ends in self.ends(channel, readings)), people]
        return np.diff(borders, axis=0)

    def _values(self, channel: W) -> Ints:
        low, high = channel.values
        return np.array([channel.value_of([outcome]) for outcome in range(high - low + 1)], np.int64)

    def _sums(self, channel: W, often: Numbers, values: Ints) -> Numbers:
        """The sum of each entry over values that occur so often."""
        return often @ np.array([channel.entries(int(value)) for value in values], often.dtype)


class _ChoiceForm(OneWordForm[Choice]):
    def ends(self, channel: Choice, readings: Readings) -> Iterator[WordArray]:
        own, extra = readings.first[readings.which], np.uint64(channel.yes - channel.no)
        for bin_ in range(channel.bins - 1):
            yield np.uint64((bin_ + 1) * channel.no) + np.where(own <= bin_, extra, np.uint64(0))

    def _sums(self, channel: Choice, often: Numbers, values: Ints) -> Numbers:
        return often  # a bin that is drawn is its own entry: no need for a square of all bins


# --- a noisy grid point


class _LaplaceForm(ChannelForm[Laplace]):
    def codes(self, channel: Laplace, readings: Readings, coins: ManyCoins) -> Bytes:
        return code_rows(channel, self._drawn(channel, readings, coins))

    def count(self, channel: Laplace, codes: Bytes) -> Sequence[int]:
        return _power_sums(code_values(channel, codes))

    def drawn_sums(self, channel: Laplace, readings: Readings, coins: ManyCoins) -> Sequence[int]:
        return _power_sums(self._drawn(channel, readings, coins))

    def simulated_sums(
        self, channel: Laplace, readings: Readings, chances: Floats | None, people: int, rng: Generator
    ) -> Sequence[int]:
        points = self._points(channel, readings)
        total = squares = 0
        for block in _everybody(points, chances, people, rng):
            sums = _power_sums(np.clip(block + _fast_laplace(channel.scale, len(block), rng), *channel.values))
            total, squares = total + sums[0], squares + sums[1]
        return total, squares

    def expected(self, channel: Laplace, readings: Readings, chances: Floats) -> Floats:
        points = self._points(channel, readings).astype(np.float64)
        noise = channel.variance(0.5) * channel.steps**2
        return np.array([chances @ points, chances @ points**2 + noise])

    def _points(self, channel: Laplace, readings: Readings) -> Ints:
        return grid_points(readings.mark_on(0), channel.steps)

    def _drawn(self, channel: Laplace, readings: Readings, coins: ManyCoins) -> Ints:
        values = self._points(channel, readings) + coins.laplace(channel.scale)
        return np.asarray(values.clip(*channel.values))


def _everybody(points: Ints, chances: Floats | None, people: int, rng: Generator) -> Iterator[Ints]:
    """The point of each person, in blocks of bounded memory."""
    if chances is None:
        yield points
        return
    ends = np.cumsum(rng.multinomial(people, chances))
    for start in range(0, people, _PEOPLE_AT_ONCE):
        places = np.arange(start, min(start + _PEOPLE_AT_ONCE, people))
        yield points[np.searchsorted(ends, places, side="right")]


def _fast_laplace(scale: int, count: int, rng: Generator) -> Ints:
    # The whole part of an exponential variable of mean `scale` is geometric, and the difference of two such is it.
    one, other = np.floor(rng.standard_exponential((2, count)) * scale)
    return np.asarray(one - other, dtype=np.int64)


def _power_sums(values: Ints) -> tuple[int, int]:
    return int(values.sum()), sum_of_squares(values)


CHANNEL_FORMS.register(Bits, _BitsForm())  # type: ignore[arg-type]  # each form is asked about its own channel only
CHANNEL_FORMS.register(Choice, _ChoiceForm())  # type: ignore[arg-type]
CHANNEL_FORMS.register(Laplace, _LaplaceForm())  # type: ignore[arg-type]


# --- arithmetic


def grid_points(marks: Floats, steps: int) -> Ints:
    """The nearest of the grid points 0 … steps to each mark in [0, 1]."""
    return np.floor(marks * steps + 0.5).astype(np.int64)


def sum_of_squares(values: Ints) -> int:
    """The exact sum of squares of integers below 2^52 in magnitude, without overflow."""
    # With v = a·2^26 + b, every sum of up to 2^10 products of halves stays below 2^63.
    upper, lower = values >> 26, values & (2**26 - 1)
    starts = np.arange(0, len(values), 2**10)
    parts = (np.add.reduceat(product, starts) for product in (upper * upper, upper * lower, lower * lower))
    high, cross, low = (sum(map(int, part)) for part in parts) if len(values) else (0, 0, 0)
    return (high << 52) + (cross << 27) + low


def code_rows(channel: Channel, values: Ints) -> Bytes:
    """The codes of values that 64-bit integers hold, a row of bytes each."""
    codes = (values - channel.values[0]).astype("<u8")
    return codes.view(np.uint8).reshape(-1, 8)[:, : (channel.value_bits + 7) // 8]


def code_values(channel: Channel, codes: Bytes) -> Ints:
    """The values of codes, a row of bytes each."""
    wide = np.zeros((len(codes), 8), np.uint8)
    wide[:, : codes.shape[1]] = codes
    return np.asarray(wide.view("<u8").reshape(-1).astype(np.int64) + channel.values[0])
