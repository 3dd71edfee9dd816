"""Which segments of the range to ask about next, and the mean that all answers together tell.

The segments always cover the whole range, so that every round by itself tells the mean without bias, whoever the users
are. Narrow ones where most people are found (the *middle*) measure these with little noise; few wide ones watch over
the tails, and more of them once somebody seems to be there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dame.between_users.npmle import Npmle, SegmentMean, fit
from dame.between_users.tuning import SEGMENTS
from dame.device.channels import Channel

Borders = tuple[float, ...]
Widths = tuple[float, float]

EVEN: Borders = tuple(-1 + 2 * segment / SEGMENTS.count for segment in range(SEGMENTS.count + 1))
"""Segments of one width, to begin with."""
_GRID = 512
"""Borders are multiples of 1/512, so that every machine asks the very same question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """One side of the middle: its length, the excess of users there, and the standard error of that."""

    length: float
    excess: float
    error: float

    @property
    def clarity(self) -> float:
        """The excess in standard errors."""
        return self.excess / self.error if self.length else 0.0

    @property
    def watch(self) -> float:
        """How much an error in this tail matters, from 0 to 1."""
        return min(SEGMENTS.least_watch + (1 - SEGMENTS.least_watch) * self.clarity / SEGMENTS.clear, 1.0)

    def trimmed(self, plain: float) -> float:
        """How much of the excess is taken for noise, where plain bits would have this standard error."""
        doubt = _falling(self.clarity, SEGMENTS.surely_noise, SEGMENTS.surely_somebody) * _falling(
            self.length, SEGMENTS.long, SEGMENTS.too_long
        )
        return min(self.excess, SEGMENTS.trim * doubt * plain)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overview:
    """What was seen of the users: the NPMLE of their means, and the middle that holds most of them.

    `gathered` is the population whose users are as close together as the answers allow. `tail` is the standard
    error of an excess in a tail of length 1/2, with all users of the study: segments have their users in proportion
    to their lengths, so that it grows with the root of the length.
    """

    population: Npmle
    gathered: Npmle
    left: float
    right: float
    tail: float

    @property
    def plain(self) -> float:
        """The standard error of plain bits from all users, if these are at the ends of the range."""
        return 2 * self.tail

    def tails(self, population: Npmle) -> tuple[Tail, Tail]:
        """Both sides of the middle, with the excess of some population."""
        return (
            self._tail(1 + self.left, population.below(self.left)),
            self._tail(1 - self.right, population.above(self.right)),
        )

    def _tail(self, length: float, excess: float) -> Tail:
        return Tail(length=length, excess=excess, error=math.sqrt(2 * length) * self.tail)


def overview(segments: Sequence[SegmentMean], channel: Channel, users: float, widths: Widths) -> Overview:
    """What was seen by what was reported of some segments, in a study of so many users.

    Most people are spread by no less and no more than the `widths`.
    """
    error = 2 * math.sqrt(channel.variance(0.5) / sum(segment.reports for segment in segments))
    population = fit(segments, channel)
    most = population.gathered(SEGMENTS.gathered / error)
    middle = most.median
    width = min(max(most.width_around(middle, SEGMENTS.near), widths[0]), widths[1])
    half = min(SEGMENTS.reach * math.hypot(width, SEGMENTS.located * error), SEGMENTS.widest_half)
    return Overview(
        population=population,
        gathered=most,
        left=-_cut(half - middle),
        right=_cut(half + middle),
        tail=math.sqrt(channel.variance(0.0) / users),
    )


def next_borders(seen: Overview) -> Borders:
    """The borders of the segments to ask about, after what was seen."""
    left, right = seen.tails(seen.gathered)
    lengths = (left.length, seen.right - seen.left, right.length)
    counts = min(_counts(lengths), key=lambda counts: _error(counts, lengths, (left.watch, 1.0, right.watch)))
    ends = (-1.0, seen.left, seen.right, 1.0)
    stretches = [np.linspace(ends[i], ends[i + 1], count + 1)[:-1] for i, count in enumerate(counts) if count]
    return tuple(on_grid(border) for border in np.concatenate([*stretches, [1.0]]))


def trimmed_mean(seen: Overview) -> float:
    """The mean of the NPMLE, less what of its tails is taken for noise."""
    left, right = (tail.trimmed(seen.plain) for tail in seen.tails(seen.population))
    return seen.population.mean + left - right


def _counts(lengths: tuple[float, float, float]) -> Iterator[tuple[int, int, int]]:
    """All ways to share the segments among left tail, middle and right tail: none for an empty one, and no other."""
    for left in range(SEGMENTS.count):
        for right in range(SEGMENTS.count - left):
            counts = (left, SEGMENTS.count - left - right, right)
            if all((length > 0) == (count > 0) for length, count in zip(lengths, counts, strict=True)):
                yield counts


def _error(counts: Sequence[int], lengths: Sequence[float], weights: Sequence[float]) -> float:
    """The variance of the mean, in units of that of a bit, with weights of what happens where."""
    each = zip(counts, lengths, weights, strict=True)
    return sum(weight * length**2 / count for count, length, weight in each if count)


def _falling(value: float, from_: float, to: float) -> float:
    """1 below the first number, 0 above the second, and a straight line between."""
    return min(max((to - value) / (to - from_), 0.0), 1.0)


def _cut(end: float) -> float:
    """The right end of the middle: that of the range if it comes close to it, and never too close to the other."""
    return 1.0 if end > 1 - SEGMENTS.end else on_grid(max(end, SEGMENTS.end - 1))


def on_grid(point: float) -> float:
    """The nearest multiple of 1/512 within the range."""
    return round(min(max(float(point), -1.0), 1.0) * _GRID) / _GRID
