"""Which parts of the range to ask about next, and the mean that all answers together tell.

The parts always cover the whole range, so that every round by itself tells the mean without bias, whoever the users
are. Narrow parts where the many are found (the *window*) measure these with little noise; few wide parts watch over
the tails, and more of them once somebody seems to be there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dame.device.randomisers import OneBit
from dame.between_users.grid import on_grid
from dame.between_users.likeliest import Likeliest, Part, likeliest

Borders = tuple[float, ...]
Widths = tuple[float, float]

COUNT = 8
EIGHTHS: Borders = tuple(-1 + part / 4 for part in range(COUNT + 1))

_GATHERED = 0.5
"""What a mean distance of one standard error of plain bits costs, where the many are looked for."""
_NEAR = 0.6
"""The many are within this distance of the median: others have no part in the width of the window."""
_REACH, _LOCATED = 1.5, 0.6
"""Half the window, in widths of the many, and the error of their place in standard errors of plain bits."""
_WIDEST = 0.6
_END = 0.1
"""A window that comes so close to an end of the range reaches to it."""
_LEAST_WATCH, _CLEAR = 0.2, 4.0
"""The weight of a tail's error where nobody seems to be there: nearly all of it is cut off. It grows to 1 for an
excess of so many standard errors."""
_TRIM = 0.45
"""At most so much of a tail's excess is taken for noise, in standard errors of plain bits: with a variance of a tail
that is below theirs, the whole error stays within 1.05 of theirs."""
_SURELY_NOISE, _SURELY_SOMEBODY = 2.0, 5.0
"""Between so many standard errors of the excess, less and less is taken for noise."""
_LONG, _TOO_LONG = 1.1, 1.7
"""So is less of a tail that is longer: there its own variance is nearly all there is, and leaves no room for a bias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """One side of the window: its length, the excess of users there, and the standard error of that."""

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
        return min(_LEAST_WATCH + (1 - _LEAST_WATCH) * self.clarity / _CLEAR, 1.0)

    def trimmed(self, plain: float) -> float:
        """How much of the excess is taken for noise, where plain bits would have this standard error."""
        doubt = _falling(self.clarity, _SURELY_NOISE, _SURELY_SOMEBODY) * _falling(self.length, _LONG, _TOO_LONG)
        return min(self.excess, _TRIM * doubt * plain)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight:
    """What was seen of the users: the likeliest population, and the window that holds the many.

    `gathered` is the population whose users are as close together as what was heard allows. `tail` is the standard
    error of an excess in a tail of length 1/2, with all users of the study: parts have their users in proportion to
    their lengths, so that it grows with the root of the length.
    """

    population: Likeliest
    gathered: Likeliest
    left: float
    right: float
    tail: float

    @property
    def plain(self) -> float:
        """The standard error of plain bits from all users, if these are at the ends of the range."""
        return 2 * self.tail

    def tails(self, population: Likeliest) -> tuple[Tail, Tail]:
        """Both sides of the window, with the excess of some population."""
        return (
            self._tail(1 + self.left, population.below(self.left)),
            self._tail(1 - self.right, population.above(self.right)),
        )

    def _tail(self, length: float, excess: float) -> Tail:
        return Tail(length=length, excess=excess, error=math.sqrt(2 * length) * self.tail)


def sight(parts: Sequence[Part], noise: OneBit, users: float, widths: Widths) -> Sight:
    """What was seen by what was heard of some parts, in a study of so many users.

    The many are spread by no less and no more than the `widths`.
    """
    error = 2 * math.sqrt(noise.variance(0.5) / sum(part.reports for part in parts))
    population = likeliest(parts, noise)
    many = population.gathered(_GATHERED / error)
    middle = many.median
    width = min(max(many.width_around(middle, _NEAR), widths[0]), widths[1])
    half = min(_REACH * math.hypot(width, _LOCATED * error), _WIDEST)
    return Sight(
        population=population,
        gathered=many,
        left=-_cut(half - middle),
        right=_cut(half + middle),
        tail=math.sqrt(noise.variance(0.0) / users),
    )


def next_borders(seen: Sight) -> Borders:
    """The borders of the parts to ask about, after what was seen."""
    left, right = seen.tails(seen.gathered)
    lengths = (left.length, seen.right - seen.left, right.length)
    counts = min(_counts(lengths), key=lambda counts: _error(counts, lengths, (left.watch, 1.0, right.watch)))
    ends = (-1.0, seen.left, seen.right, 1.0)
    stretches = [np.linspace(ends[i], ends[i + 1], count + 1)[:-1] for i, count in enumerate(counts) if count]
    return tuple(on_grid(border) for border in np.concatenate([*stretches, [1.0]]))


def trimmed_mean(seen: Sight) -> float:
    """The mean of the likeliest population, less what of its tails is taken for noise."""
    left, right = (tail.trimmed(seen.plain) for tail in seen.tails(seen.population))
    return seen.population.mean + left - right


def _counts(lengths: tuple[float, float, float]) -> Iterator[tuple[int, int, int]]:
    """All ways to share the parts among left tail, window and right tail: none for an empty one, and no other."""
    for left in range(COUNT):
        for right in range(COUNT - left):
            counts = (left, COUNT - left - right, right)
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
    """The right end of a window: that of the range if it comes close to it, and never too close to the other."""
    return 1.0 if end > 1 - _END else on_grid(max(end, _END - 1))
