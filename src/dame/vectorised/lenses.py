"""Lenses for many people at once: the same steps as in `dame.device.lenses`, on numpy arrays.

Every step is one IEEE operation, in the same order as on the device, so that many people together and one by one come
to the same readings, bit for bit (tested).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dame.device.lenses import NOTHING, Bins, Lens, SizeClasses, Windows, effective_records
from dame.device.stripes import UNDECIDED, Stripes
from dame.vectorised.forms import Forms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.intp]

MOST_SIZE_CLASSES = 63
"""Classes [2^j, 2^(j+1)) of sizes that 64-bit integers hold."""

L = TypeVar("L", bound=Lens)
Numbers = TypeVar("Numbers", Ints, Floats)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """The readings of many people: person i marks the bins first[which[i]] … last[which[i]].

    `first` and `last` have an entry for each run of bins that anybody may mark. `marks` says how strongly each person
    marks them; None where everybody's marks are whole.
    """

    which: Places
    first: Ints
    last: Ints
    marks: Floats | None = None

    def __len__(self) -> int:
        return len(self.which)

    def mark_on(self, bin_: int) -> Floats:
        """How strongly each person marks a bin."""
        inside = (self.first <= bin_) & (bin_ <= self.last)
        if self.marks is None:
            return inside.astype(np.float64)[self.which]
        return self.marks if inside.all() else np.where(inside[self.which], self.marks, 0.0)

    def marked(self, by_run: Numbers, bins: int) -> Numbers:
        """How much each bin is marked, from how much each run is."""
        used = self.first <= self.last
        ends = np.zeros(bins + 1, by_run.dtype)
        # Added where a run of marks starts and taken away behind its end, summed up over the bins.
        np.add.at(ends, self.first[used], by_run[used])
        np.subtract.at(ends, self.last[used] + 1, by_run[used])
        return np.cumsum(ends)[:-1]


class LensForm(ABC, Generic[L]):
    """A lens on arrays."""

    @abstractmethod
    def read(self, lens: L, sizes: Ints, means: Floats, windows: Places | int) -> Readings:
        """The reading of each person, given the window that each (or everybody) is in."""


LENS_FORMS: Forms[LensForm[Lens]] = Forms("lens")


def read(lens: Lens, sizes: Ints, means: Floats, windows: Places | int = 0) -> Readings:
    """The reading of each person, given the window that each (or everybody) is in."""
    return LENS_FORMS.of(lens).read(lens, sizes, means, windows)


class _BinsForm(LensForm[Bins]):
    def read(self, lens: Bins, sizes: Ints, means: Floats, windows: Places | int) -> Readings:
        own = np.floor((means - lens.origin) / lens.width)
        which = np.clip(own, 0, lens.bins - 1).astype(np.intp)
        if lens.min_size > 1:
            which[sizes < lens.min_size] = lens.bins
        runs = np.arange(lens.bins)
        first, last = np.maximum(runs - lens.neighbours, 0), np.minimum(runs + lens.neighbours, lens.bins - 1)
        return Readings(which=which, first=np.append(first, NOTHING.first), last=np.append(last, NOTHING.last))


class _SizeClassesForm(LensForm[SizeClasses]):
    def read(self, lens: SizeClasses, sizes: Ints, means: Floats, windows: Places | int) -> Readings:
        starts = np.left_shift(np.int64(1), np.arange(min(lens.classes, MOST_SIZE_CLASSES), dtype=np.int64))
        own = np.arange(lens.classes)
        return Readings(which=np.searchsorted(starts, sizes, side="right") - 1, first=own, last=own)


class _WindowsForm(LensForm[Windows]):
    def read(self, lens: Windows, sizes: Ints, means: Floats, windows: Places | int) -> Readings:
        centre, left, right = (np.array(column)[windows] for column in zip(*lens.windows, strict=True))
        z = weights(lens, sizes)
        z *= means - centre
        z -= left
        z /= right - left
        np.clip(z, 0.0, 1.0, out=z)
        return _on_one_bin(z)


class _StripesForm(LensForm[Stripes]):
    def read(self, lens: Stripes, sizes: Ints, means: Floats, windows: Places | int) -> Readings:
        patterns = [lens.pattern(window) for window in range(lens.window_count)]
        offsets = np.array([level.offset(phase) for level, phase in patterns])
        wavelengths = np.array([level.wavelength for level, _ in patterns])
        place = means - offsets[windows]
        place /= wavelengths[windows]
        place -= np.floor(place)
        marks = np.less(place, 0.5).astype(np.float64)
        fewest = np.array([level.min_size for level, _ in patterns])
        if fewest.max() > 1:
            marks[sizes < fewest[windows]] = UNDECIDED
        return _on_one_bin(marks)


def _on_one_bin(marks: Floats) -> Readings:
    only = np.zeros(1, np.int64)
    return Readings(which=np.broadcast_to(np.intp(0), len(marks)), first=only, last=only, marks=marks)


LENS_FORMS.register(Bins, _BinsForm())  # type: ignore[arg-type]  # each form is asked about its own lens only
LENS_FORMS.register(SizeClasses, _SizeClassesForm())  # type: ignore[arg-type]
LENS_FORMS.register(Windows, _WindowsForm())  # type: ignore[arg-type]
LENS_FORMS.register(Stripes, _StripesForm())  # type: ignore[arg-type]


def weights(lens: Windows, sizes: NDArray[np.int64] | Floats) -> Floats:
    """The weight of each person: sqrt(size ∧ cap), but at least the least weight."""
    worth = effective_records(sizes.astype(np.float64), lens.between_sd)
    if lens.cap is not None:
        np.minimum(worth, lens.cap, out=worth)
    np.sqrt(worth, out=worth)
    return np.asarray(np.maximum(worth, lens.least_weight, out=worth))
