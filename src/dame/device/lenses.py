"""Lenses: what of a person a channel may see.

A lens turns a person's size and mean into a `Reading`: marks on some bins. `Bins` and `SizeClasses` mark the bin that
she belongs to; `Windows` have a single bin, marked as strongly as she is far through a window, which fair coins of her
device draw where there are several. `dame.device.stripes` has another one.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

from dame import checks
from dame.device.coins import Coins
from dame.device.parts import Kinds, Part
from dame.device.records import HALF_GRID, MOST_RECORDS, Summary
from dame.errors import InvalidInput

MOST_BINS = 2**20
MOST_WINDOWS = 128
NARROWEST = 1e-12
THIN = 2.0**-32
"""The width of a threshold: a quarter of a step of the grid of values, so that no single record is within it."""
"""A window is at least so wide, and borders of segments are as far apart."""

Differences = frozenset[tuple[int, int]]
"""How two readings can differ: (marks only in the first, marks only in the second)."""


class Reading(NamedTuple):
    """Marks on the bins first … last, each as strong as `mark` in [0, 1]; on none of them where first > last."""

    first: int
    last: int
    mark: float = 1.0

    def mark_on(self, bin_: int) -> float:
        """How strongly a bin is marked."""
        return self.mark if self.first <= bin_ <= self.last else 0.0


NOTHING = Reading(1, 0)
"""The reading of somebody who marks nothing."""


class Lens(Part):
    """What of a person a channel may see."""

    __slots__ = ()

    @property
    @abstractmethod
    def bins(self) -> int:
        """On how many bins a reading has marks."""

    @property
    def window_count(self) -> int:
        """How many windows there are, one of which fair coins of the device draw: a power of two."""
        return 1

    @property
    def window_bits(self) -> int:
        """How many coins draw the window."""
        return self.window_count.bit_length() - 1

    def draw_window(self, coins: Coins) -> int:
        """The window that fair coins draw: the first bits of a word, which is not taken where there is no choice."""
        return coins.words(1)[0] >> 64 - self.window_bits if self.window_bits else 0

    @abstractmethod
    def reading(self, person: Summary, window: int) -> Reading:
        """What the channel sees of a person, in one of the windows."""

    @property
    @abstractmethod
    def differences(self) -> Differences:
        """How two people's readings can differ, partial marks counted as whole ones."""

    @abstractmethod
    def extremes(self) -> list[Summary]:
        """People of whom two differ as much as any two can, and others around them: for audits and attackers."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is asked, in a few words."""


LENSES: Kinds[Lens] = Kinds("lens")


# --- marks on bins


@LENSES.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Bins(Lens):
    """Which bin holds your mean? The bins are [origin + j·width, origin + (j+1)·width), the outer ones open-ended.

    A person with at least `min_size` records marks the bin of her mean and `neighbours` bins on either side; anybody
    else marks nothing. In the paper: equations (Vuj) and (privatization scheme), neighbours = 1.
    """

    kind = "bins"
    bins: int = field()
    width: float
    origin: float = -1.0
    neighbours: int = 0
    min_size: int = 1

    def __post_init__(self) -> None:
        self._set_whole("bins", 1, MOST_BINS)
        self._set_real("width", 1e-12, 1e12)
        self._set_real("origin", -1.0, 1.0)
        self._set_whole("neighbours", 0, 16)
        self._set_whole("min_size", 1, MOST_RECORDS)

    def bin_of(self, mean: float) -> int:
        """The one bin that a mean belongs to."""
        return min(max(math.floor((mean - self.origin) / self.width), 0), self.bins - 1)

    def reading(self, person: Summary, window: int = 0) -> Reading:
        """Marks on the bins around a person's mean; none if she has too few records."""
        # Everybody takes the same steps: neither the number of words nor the time may tell who votes.
        around = self.around(self.bin_of(person.mean))
        return around if person.size >= self.min_size else NOTHING

    def around(self, bin_: int) -> Reading:
        """Marks on a bin and its neighbours."""
        return Reading(max(bin_ - self.neighbours, 0), min(bin_ + self.neighbours, self.bins - 1))

    def edges(self, bin_: int) -> tuple[float, float]:
        """The borders of a bin, cut at -1 and 1."""
        left = self.origin + bin_ * self.width
        return max(left, -1.0), min(left + self.width, 1.0)

    @property
    def differences(self) -> Differences:
        """Marks that two people do not share; somebody may have too few records for any."""
        return _differences(self.bins, self.neighbours, self.min_size > 1)

    def extremes(self) -> list[Summary]:
        """Somebody in the middle of each bin, on its border and right beside it, and people with too few records."""
        means = sorted({min(max(mean, -1.0), 1.0) for mean in self._telling_means()})
        people = [Summary(size=self.min_size, mean=mean) for mean in means]
        people.append(Summary(size=min(3 * self.min_size, MOST_RECORDS), mean=means[0]))
        if self.min_size > 1:
            people += [Summary(size=self.min_size - 1, mean=mean) for mean in (means[0], means[-1])]
            people.append(Summary(size=1, mean=means[0]))
        return people

    def _telling_means(self) -> Iterator[float]:
        yield from (-1.0, 1.0)
        for bin_ in self.telling_bins():
            border = self.origin + bin_ * self.width
            yield border + self.width / 2
            if self.bins <= _MANY_BINS:
                yield from (border, math.nextafter(border, -2.0), math.nextafter(border, 2.0))

    def telling_bins(self) -> Sequence[int]:
        """Bins among which two people differ in every way that there is; where bins are many, at least in the largest.

        How two runs of marks differ depends on how far they are apart, up to twice their length, and on what the first
        and the last bin cut off.
        """
        reach = 4 * self.neighbours + 3
        if self.bins <= max(_FEW_BINS, 2 * reach + 1):
            return range(self.bins)
        middle = self.bins // 2
        if self.bins > _MANY_BINS:
            return (0, max(self.neighbours, 1), middle, self.bins - 1)
        return sorted({*range(reach), middle, *range(self.bins - reach, self.bins)})

    @property
    def words(self) -> str:
        """What is asked, in a few words."""
        who = "" if self.min_size <= 1 else f", from {self.min_size:,} records on"
        return f"which of {self.bins:,} bins?{who}"


_FEW_BINS = 24
"""Up to so many bins, each is visited by `extremes`."""
_MANY_BINS = 5000
"""Beyond so many bins, only the ends and the middle are visited: a single report costs a noticeable time."""


@lru_cache(maxsize=256)
def _differences(bins: int, neighbours: int, some_silent: bool) -> Differences:
    # Two full runs fit apart in 4·neighbours + 2 bins; more bins add no new difference.
    few = min(bins, 4 * neighbours + 2)
    marks = [frozenset(range(max(j - neighbours, 0), min(j + neighbours, few - 1) + 1)) for j in range(few)]
    if some_silent:
        marks.append(frozenset())
    return frozenset((len(one - other), len(other - one)) for one, other in itertools.product(marks, repeat=2))


@LENSES.register
@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClasses(Lens):
    """How many records have you? The class [2^j, 2^(j+1)) of sizes that holds yours; the last is open-ended.

    Everybody marks exactly one class, whatever her records say.
    """

    kind = "size-classes"
    classes: int

    def __post_init__(self) -> None:
        self._set_whole("classes", 1, MOST_BINS)

    @property
    def bins(self) -> int:
        """A bin for each class."""
        return self.classes

    def reading(self, person: Summary, window: int = 0) -> Reading:
        """A mark on the class of a person's number of records."""
        own = min(person.size.bit_length(), self.classes) - 1
        return Reading(own, own)

    @property
    def differences(self) -> Differences:
        """A mark each, the same or not."""
        return _differences(self.classes, 0, False)

    def extremes(self) -> list[Summary]:
        """Somebody at either end of each class, at both bounds; and somebody with more records than anybody."""
        starts = [2**class_ for class_ in range(min(self.classes + 1, MOST_RECORDS.bit_length()))]
        sizes = sorted({*starts, *(start - 1 for start in starts[1:]), MOST_RECORDS})
        return [Summary(size=size, mean=mean) for size in sizes for mean in (-1.0, 1.0)]

    @property
    def words(self) -> str:
        """What is asked, in a few words."""
        return f"how many records? One of {self.classes} classes, each twice as large as the one before"


# --- a position in a window


class Window(NamedTuple):
    """A window for z = weight·(mean - centre), from left to right."""

    centre: float
    left: float
    right: float


def effective_records(size: Any, between_sd: float) -> Any:
    """1 / (1/size + b²), for a number or an array: so many records of different people tell as much as these of one."""
    return size / (1.0 + size * (between_sd * between_sd)) if between_sd else size


@LENSES.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Windows(Lens):
    """Where in this window is your mean? The position of z = sqrt(size ∧ cap)·(mean - centre) between left and right.

    Fair coins of the device draw one of the windows, and the report says which: two windows with centres a little apart
    tell how strongly the answers react to the mean (a dither), segments side by side tell where people are.

    `cap` None stands for no cap. With `between_sd` b > 0 the size m counts as the effective size 1/(1/m + b²). A cap
    of 1 gives every person the same weight. In the paper: the shrunk, projected mean, with cap m̃ and z =
    sqrt(m̃)·(x̂ - s). Nobody weighs less than `least_weight`: with half the window over the distance that a mean can
    have from the centre, people with few records use all of the window, and still never leave it.
    """

    kind = "windows"
    windows: tuple[Window, ...]
    cap: float | None = None
    between_sd: float = 0.0
    least_weight: float = 0.0
    bins: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", tuple(_windows(self.windows)))
        if self.cap is not None:
            self._set_real("cap", 1e-12, float(MOST_RECORDS))
        self._set_real("between_sd", 0.0, 1.0)
        self._set_real("least_weight", 0.0, 1e12)

    @classmethod
    def whole_range(cls) -> Self:
        """The whole range, in which everybody counts once."""
        return cls(windows=(Window(0.0, -1.0, 1.0),), cap=1.0)

    @classmethod
    def segments(cls, borders: Sequence[float]) -> Self:
        """The segments between borders, in which everybody counts once; a mean beyond one counts as its nearer end.

        Each is seen from its left border: so a position in it costs no rounding but the division's.
        """
        if not isinstance(borders, (tuple, list)):
            raise InvalidInput("borders", borders, "a list of numbers")
        each = list(itertools.pairwise(checks.real("border", border, -1.0, 1.0) for border in borders))
        if not all(right - left >= NARROWEST for left, right in each):
            raise InvalidInput("borders", borders, "different numbers, the smaller ones first")
        return cls(windows=tuple(Window(left, 0.0, right - left) for left, right in each), cap=1.0)

    @classmethod
    def thresholds(cls, places: Sequence[float]) -> Self:
        """Thresholds: is your mean above this one? Windows that are too thin for anybody to be within."""
        each = [(2 * round(place * HALF_GRID) + 1) / (2 * HALF_GRID) for place in places]
        return cls(windows=tuple(Window(place, -THIN / 2, THIN / 2) for place in each), cap=1.0)

    @property
    def thin(self) -> bool:
        """Whether all windows are thresholds."""
        return all(window.right - window.left <= THIN for window in self.windows)

    @property
    def window_count(self) -> int:
        """How many windows there are, one of which the device draws."""
        return len(self.windows)

    def weight(self, size: float) -> float:
        """The weight sqrt(size ∧ cap) of a person with so many records, but at least the least weight."""
        records = effective_records(float(size), self.between_sd)
        return max(math.sqrt(records if self.cap is None else min(records, self.cap)), self.least_weight)

    def position(self, person: Summary, window: int = 0) -> float:
        """The position of a person in a window, 0 at its left and 1 at its right end, cut to [0, 1]."""
        centre, left, right = self.windows[window]
        z = self.weight(person.size) * (person.mean - centre)
        return min(max((z - left) / (right - left), 0.0), 1.0)

    def reading(self, person: Summary, window: int = 0) -> Reading:
        """One bin, marked as strongly as the person is far through the window."""
        return Reading(0, 0, self.position(person, window))

    @property
    def differences(self) -> Differences:
        """A whole mark more or less: from one end of the window to the other."""
        return frozenset({(0, 0), (0, 1), (1, 0)})

    def extremes(self) -> list[Summary]:
        """People at both bounds and around every window, with one record, with some, and with more than anybody has.

        The weight rises with the size and the position with the mean, so nobody is farther out than these.
        """
        centres = [window.centre for window in self.windows]
        beside = [math.nextafter(centre, side) for centre in centres for side in (-2.0, 2.0)]
        ends = [window.centre + window.right / self.weight(1) for window in self.windows]
        means = sorted({-1.0, -0.37, 0.0, 1.0, *(mean for mean in (*centres, *beside, *ends) if -1 <= mean <= 1)})
        sizes = {1, 2, 30, MOST_RECORDS, *([] if self.cap is None else [max(int(self.cap), 1)])}
        return [Summary(size=size, mean=mean) for size in sorted(sizes) for mean in means]

    @property
    def words(self) -> str:
        """What is asked, in a few words."""
        if self.cap == 1:  # so that z is the distance from the centre itself
            if self.thin:
                return f"above or below one of {self.window_count} thresholds? everybody counts once"
            where = f"one of {self.window_count} segments of the range" if self.window_bits else "the range"
            return f"where in {where}? everybody counts once"
        several = f"one of {self.window_count} windows" if self.window_bits else "a window"
        where = f"{several} of ±{self.windows[0].right:.3g} standard deviations"
        who = "all records count" if self.cap is None else f"up to {self.cap:,.6g} records count"
        return f"where in {where}? {who}"

    def to_json(self) -> dict[str, object]:
        """The lens as a JSON object: a window is a list of centre, left and right."""
        return {**Part.to_json(self), "windows": [list(window) for window in self.windows]}


def _windows(windows: object) -> Iterator[Window]:
    if not isinstance(windows, (tuple, list)):
        raise InvalidInput("windows", windows, "a list of windows")
    if not 1 <= len(windows) <= MOST_WINDOWS or len(windows).bit_count() != 1:
        raise InvalidInput("windows", len(windows), f"1, 2, 4 … or {MOST_WINDOWS} windows: fair coins draw one")
    for window in windows:
        if not isinstance(window, (tuple, list)) or len(window) != 3:
            raise InvalidInput("window", window, "a centre, a left and a right end")
        ends = zip(("centre", "left", "right"), window, (3.0, 1e12, 1e12), strict=True)
        centre, left, right = (checks.real(name, value, -most, most) + 0.0 for name, value, most in ends)
        if not right - left >= NARROWEST:
            raise InvalidInput("window", (left, right), "two different numbers, the smaller one first")
        yield Window(centre, left, right)
