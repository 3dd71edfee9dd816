"""Broken lenses, channels and coins, which the tests must convict."""

from __future__ import annotations

import math

from dame.device.lenses import NOTHING, Bins, Reading
from dame.device.records import Summary


class ClosedBins(Bins):
    """The mutant of the authors' code: a mean on a border belongs to both bins, and marks four."""

    def reading(self, person: Summary, window: int = 0) -> Reading:
        if person.size < self.min_size:
            return NOTHING
        place = (person.mean - self.origin) / self.width
        left, right = max(math.ceil(place) - 1, 0), min(math.floor(place), self.bins - 1)
        return Reading(max(left - self.neighbours, 0), min(right + self.neighbours, self.bins - 1))
