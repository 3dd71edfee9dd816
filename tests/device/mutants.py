"""Broken lenses and channels, which the tests must convict: each claims what the sound one may claim."""

from __future__ import annotations

import math
from dataclasses import fields

from dame.device import channels
from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.coins import Coins
from dame.device.exact import WORD, Loss
from dame.device.lenses import NOTHING, Bins, Reading, Windows
from dame.device.records import Summary
from dame.device.stripes import Stripes


def free_of_charge(channel: Channel) -> Channel:
    """The same channel, but claiming that it costs nothing: no question refuses it."""
    lying = type(f"Lying{type(channel).__name__}", (type(channel),), {"loss": lambda self, differences: Loss()})
    return lying(**{field.name: getattr(channel, field.name) for field in fields(channel)})


class ClosedBins(Bins):
    """The mutant of the authors' code: a mean on a border belongs to both bins, and marks four."""

    def reading(self, person: Summary, window: int = 0) -> Reading:
        if person.size < self.min_size:
            return NOTHING
        place = (person.mean - self.origin) / self.width
        left, right = max(math.ceil(place) - 1, 0), min(math.floor(place), self.bins - 1)
        return Reading(max(left - self.neighbours, 0), min(right + self.neighbours, self.bins - 1))


class UncutWindows(Windows):
    """Positions that are not cut to the window."""

    def position(self, person: Summary, window: int = 0) -> float:
        centre, left, right = self.windows[window]
        return (self.weight(person.size) * (person.mean - centre) - left) / (right - left)


class NumberedStripes(Stripes):
    """The mark says which stripe it is, not which side: one more for each stripe to the right."""

    def reading(self, person: Summary, window: int = 0) -> Reading:
        level, phase = self.pattern(window)
        return Reading(0, 0, float(math.floor(2 * (person.mean - level.offset(phase)) / level.wavelength)))


class UncutBits(Bits):
    """A bit whose threshold follows any mark, however far outside."""

    def threshold(self, mark: float) -> int:
        return min(max(self.no + int((self.yes - self.no) * mark), 1), WORD - 1)


class UncutLaplace(Laplace):
    """Noise on any mark, however far outside."""

    def draw(self, reading: Reading, coins: Coins) -> int:
        return self.noisy(math.floor(reading.mark * self.steps + 0.5), channels.discrete_laplace(coins, self.scale))


class OutwardLaplace(Laplace):
    """Marks that are rounded outwards, after a scale was chosen for the width before: one step too many."""

    def draw(self, reading: Reading, coins: Coins) -> int:
        point = -1 if reading.mark == 0 else math.ceil(reading.mark * self.steps)
        return self.noisy(point, channels.discrete_laplace(coins, self.scale))


class ChoiceOfNeighbours(Choice):
    """Noise between the own bin and the next one only."""

    def ends(self, reading: Reading) -> list[list[int]]:
        before = min(reading.first, self.bins - 2)
        chance = self.yes if reading.first == before else WORD - self.yes
        return [[0] * before + [chance] + [WORD] * (self.bins - 2 - before)]
