"""The lens `Stripes`: on which side of periodic patterns a mean lies. Wide stripes are thresholds, narrow ones digits.

Its steps are a few IEEE operations and a floor, in an order that every implementation keeps: so Python, numpy and
JavaScript agree to the last bit. A cosine would not be the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from dame import checks
from dame.device.lenses import LENSES, MOST_WINDOWS, Differences, Lens, Reading
from dame.device.parts import Part
from dame.device.records import MOST_RECORDS, Summary
from dame.errors import InvalidInput

SHIFT = 0.37
"""Of a step between two phases: so that means which people often have, such as 0 and the bounds, are on no border."""
UNDECIDED = 0.5
"""The mark of somebody with too few records: with a single bit, a fair coin."""
SHORTEST, LONGEST = 1e-6, 8.0
_BESIDE = 2.0**-46
"""So far beside a border, no rounding takes anybody to the other side."""


class Level(NamedTuple):
    """Stripes of one width, at `phases` many places; whoever has fewer than `min_size` records is on neither side."""

    wavelength: float
    phases: int
    min_size: int = 1

    def offset(self, phase: int) -> float:
        """Where a dark stripe begins, in one of the phases."""
        return (phase + SHIFT) * self.wavelength / self.phases


@LENSES.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Stripes(Lens):
    """Is your mean on a dark stripe or on a light one? Dark are [o + k·wavelength, o + (k + 1/2)·wavelength).

    There are patterns of one or several wavelengths, the levels. Fair coins of the device draw one pattern, which is a
    level and the offset o, a phase apart from the next, and the report says which: the window. A level is drawn as
    often as it has phases, so these are its share of the people. There is a single bin; whoever is on a dark stripe
    marks it, whoever has fewer records than her level wants marks half of it. A wavelength of 4, twice the range, gives
    thresholds all over the range; shorter ones give finer and finer digits.
    """

    kind = "stripes"
    levels: tuple[Level, ...]
    bins: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(_levels(self.levels)))
        if self.window_count.bit_count() != 1 or self.window_count > MOST_WINDOWS:
            raise InvalidInput("phases", self.window_count, f"1, 2, 4 … or {MOST_WINDOWS} in all: fair coins draw one")

    @classmethod
    def single(cls, wavelength: float, phases: int = 16, min_size: int = 1) -> Self:
        """Stripes of one wavelength."""
        return cls(levels=(Level(wavelength, phases, min_size),))

    @property
    def window_count(self) -> int:
        """How many patterns there are, one of which the device draws."""
        return sum(level.phases for level in self.levels)

    def pattern(self, window: int) -> tuple[Level, int]:
        """The level and the phase that a window stands for: the phases of the first level come first."""
        for level in self.levels:
            if window < level.phases:
                return level, window
            window -= level.phases
        raise InvalidInput("window", window, f"a whole number below {self.window_count}")

    def reading(self, person: Summary, window: int = 0) -> Reading:
        """One bin, marked by whoever is on a dark stripe; half of it by whoever has too few records."""
        level, phase = self.pattern(window)
        # Everybody takes the same steps: the time must not tell who has enough records.
        place = (person.mean - level.offset(phase)) / level.wavelength
        mark = 1.0 if place - math.floor(place) < 0.5 else 0.0
        return Reading(0, 0, mark if person.size >= level.min_size else UNDECIDED)

    @property
    def differences(self) -> Differences:
        """A whole mark more or less: from a light stripe to a dark one."""
        return frozenset({(0, 0), (0, 1), (1, 0)})

    def extremes(self) -> list[Summary]:
        """People at both bounds, half a wavelength apart, and on both sides of borders; some with too few records."""
        people = {person: None for level in self.levels for person in _telling_people(level)}
        return list(people)

    @property
    def words(self) -> str:
        """What is asked, in a few words."""
        widths = [level.wavelength / 4 for level in self.levels]
        if len(widths) > 1:
            return f"a dark stripe or a light one? each from {min(widths):.3g} to {max(widths):.3g} of the range"
        (level,) = self.levels
        who = "" if level.min_size <= 1 else f", from {level.min_size:,} records on"
        return f"a dark stripe or a light one? each {widths[0]:.3g} of the range{who}"

    def to_json(self) -> dict[str, object]:
        """The lens as a JSON object: a level is a list of its wavelength, its phases and its least size."""
        return {**Part.to_json(self), "levels": [list(level) for level in self.levels]}


def _levels(levels: object) -> Iterator[Level]:
    if not isinstance(levels, (tuple, list)) or not 1 <= len(levels) <= MOST_WINDOWS:
        raise InvalidInput("levels", levels, f"a list of 1 to {MOST_WINDOWS} levels")
    for level in levels:
        if not isinstance(level, (tuple, list)) or len(level) != 3:
            raise InvalidInput("level", level, "a wavelength, a number of phases and a least size")
        wavelength, phases, min_size = level
        yield Level(
            checks.real("wavelength", wavelength, SHORTEST, LONGEST),
            checks.whole("phases", phases, 1, MOST_WINDOWS),
            checks.whole("min_size", min_size, 1, MOST_RECORDS),
        )


# --- people of whom two differ as much as any two can


def _telling_people(level: Level) -> Iterator[Summary]:
    for mean in sorted({mean for mean in _telling_means(level) if -1.0 <= mean <= 1.0}):
        yield Summary(size=level.min_size, mean=mean)
    yield from (Summary(size=MOST_RECORDS, mean=mean) for mean in (-1.0, 1.0))
    if level.min_size > 1:
        few = {1, level.min_size - 1}
        yield from (Summary(size=size, mean=mean) for size in few for mean in (-1.0, 0.0, 1.0))


def _telling_means(level: Level) -> Iterator[float]:
    yield from (-1.0, 0.0, 1.0, -level.wavelength / 4, level.wavelength / 4)
    for phase in sorted({0, 1, level.phases // 2, level.phases - 1} & set(range(level.phases))):
        for border in {_border(level, phase, near) for near in (-1.0, 0.0, 1.0)}:
            yield from (border, math.nextafter(border, -2.0), math.nextafter(border, 2.0))
            yield from (border - _BESIDE, border + _BESIDE)


def _border(level: Level, phase: int, near: float) -> float:
    """The border of a stripe that is the next to some mean, seen from there towards the middle of the range."""
    half, offset = level.wavelength / 2, level.offset(phase)
    steps = (near - offset) / half
    return offset + half * (math.ceil(steps) if near < 0 else math.floor(steps))
