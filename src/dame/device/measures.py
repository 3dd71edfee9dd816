"""Measures: questions that are answered with a noisy place in a window around some centre."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from dame.device.asked import Asked
from dame.device.exact import within_budget
from dame.device.randomiser_codec import noise_json
from dame.device.randomisers import DiscreteLaplace, OneBit
from dame.device.records import MOST_RECORDS, Summary
from dame.errors import InvalidInput

PARTS = (2, 4, 8)
"""Into how many parts a range can be cut: their number is drawn with whole coins."""


class Window(NamedTuple):
    """A window for z = weight·(mean - centre), from left to right."""

    centre: float
    left: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Asked):
    """Where in this window is your mean? The place of z = sqrt(size ∧ cap)·(mean - centre) in the window [left, right].

    `cap` None stands for no cap. With `between_sd` b > 0 the size m counts as the effective size 1/(1/m + b²). A cap
    of 1 gives every person the same weight. In the paper: the shrunk, projected mean, with cap m̃ and z =
    sqrt(m̃)·(x̂ - s).

    Nobody weighs less than `least_weight`: with half the window over the distance that a mean can have from the
    centre, people with few records use all of the window, and still never leave it.

    With `dither` d > 0 a fair coin of the device moves the centre to centre - d (arm 0) or centre + d (arm 1), and the
    report says which: the two arms together tell how strongly the bits react to the mean.
    """

    centre: float
    left: float
    right: float
    cap: float | None = None
    between_sd: float = 0.0
    least_weight: float = 0.0
    dither: float = 0.0
    noise: OneBit | DiscreteLaplace

    def __post_init__(self) -> None:
        self._check()
        self._set_real("centre", -1.0, 1.0)
        self._set_real("left", -1e12, 1e12)
        self._set_real("right", -1e12, 1e12)
        self._set_real("between_sd", 0.0, 1.0)
        self._set_real("least_weight", 0.0, 1e12)
        self._set_real("dither", 0.0, 2.0)
        if not isinstance(self.noise, (OneBit, DiscreteLaplace)):
            raise InvalidInput("noise", self.noise, "a OneBit or a DiscreteLaplace")
        if self.dither and not isinstance(self.noise, OneBit):
            raise InvalidInput("dither", self.dither, "0 unless the noise is one bit")
        if self.cap is not None:
            self._set_real("cap", 1e-12, float(MOST_RECORDS))
        if not self.right - self.left >= 1e-12:
            raise InvalidInput("window", (self.left, self.right), "two different numbers, the smaller one first")
        if not self._honest():
            raise InvalidInput("noise", self.epsilon(), f"such that the privacy loss is at most alpha = {self.alpha}")

    def _honest(self) -> bool:
        if isinstance(self.noise, DiscreteLaplace):
            return self.noise.loss() <= Fraction(self.alpha)
        return within_budget(self.noise.loss_ratio(), self.alpha)

    def weight(self, size: float) -> float:
        """The weight sqrt(size ∧ cap) of a person with so many records, but at least the least weight."""
        effective = size / (1.0 + size * (self.between_sd * self.between_sd)) if self.between_sd else float(size)
        root = math.sqrt(effective if self.cap is None else min(effective, self.cap))
        return max(root, self.least_weight)

    @property
    def arms(self) -> int:
        """How many windows there are, one of which the device draws: a power of two."""
        return 2 if self.dither else 1

    @property
    def arm_bits(self) -> int:
        """How many coins choose the arm."""
        return self.arms.bit_length() - 1

    def window(self, arm: int = 0) -> Window:
        """The window that goes with an arm."""
        return Window(self.centre + (2 * arm - 1) * self.dither, self.left, self.right)

    def position(self, person: Summary, arm: int = 0) -> float:
        """The place of a person in the window of an arm, 0 at its left and 1 at its right end, cut to [0, 1]."""
        window = self.window(arm)
        z = self.weight(person.size) * (person.mean - window.centre)
        return min(max((z - window.left) / (window.right - window.left), 0.0), 1.0)

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return self.noise.epsilon()

    @property
    def report_bits(self) -> int:
        """Size of a report: a bit (and the arm), or a two's complement integer that holds the noise's whole range."""
        if isinstance(self.noise, OneBit):
            return self.arm_bits + 1
        return (self.noise.steps + self.noise.reach).bit_length() + 1

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object."""
        return {"kind": "measure", **self._plain(Measure.__slots__), "noise": noise_json(self.noise)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartMeasure(Measure):
    """Where in this part of the range is your mean? The parts lie side by side between the `borders`, of any widths.

    Fair coins of the device draw the part, and the report says which. A mean beyond a part counts as its nearer end.
    Everybody is the sum of what she has of each part, and so are the averages: together the parts tell where people
    are. Sizes play no part: everybody counts the same.
    """

    borders: tuple[float, ...]
    noise: OneBit
    # To whoever asks for one window, it is all parts together.
    centre: float = field(default=0.0, init=False)
    left: float = field(default=-1.0, init=False)
    right: float = field(default=1.0, init=False)
    cap: float | None = field(default=1.0, init=False)
    between_sd: float = field(default=0.0, init=False)
    least_weight: float = field(default=0.0, init=False)
    dither: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.borders, (list, tuple)) or len(self.borders) - 1 not in PARTS:
            raise InvalidInput("borders", self.borders, "a list of 3, 5 or 9 numbers")
        self._set_rising("borders")
        if not isinstance(self.noise, OneBit):
            raise InvalidInput("noise", self.noise, "a OneBit")
        object.__setattr__(self, "left", self.borders[0])
        object.__setattr__(self, "right", self.borders[-1])
        Measure.__post_init__(self)

    @property
    def arms(self) -> int:
        """How many parts there are, one of which the device draws."""
        return len(self.borders) - 1

    def window(self, arm: int = 0) -> Window:
        """The part of an arm, seen from its left border: so a place in it costs no rounding but the division's."""
        left, right = self.borders[arm : arm + 2]
        return Window(left, 0.0, right - left)

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object: only what may differ between two such questions."""
        return {
            "kind": "part-measure",
            **self._plain(()),
            "borders": list(self.borders),
            "noise": noise_json(self.noise),
        }
