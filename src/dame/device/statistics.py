"""Statistics: public, bounded functions of a record, which a device averages over its records.

Each maps a record to an integer grid, so that sums are exact: a phone, a browser, numpy and a database engine all
arrive at the same mean, bit for bit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from dame import checks
from dame.device.parts import Kinds, Part
from dame.device.records import HALF_GRID, Summary, numbers, summary


class Statistic(Part):
    """What a device averages over its records, on a scale from -1 to 1."""

    __slots__ = ()

    @abstractmethod
    def summarise(self, records: Iterable[object]) -> Summary:
        """The number of records, and the mean of the statistic over them; BadRecords where there is none."""


STATISTICS: Kinds[Statistic] = Kinds("statistic")


@STATISTICS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Value(Statistic):
    """The record itself, a number, clipped to [low, high]."""

    kind = "value"
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        checks.bounds(self.low, self.high)
        self._set_real("low", -math.inf, math.inf)
        self._set_real("high", -math.inf, math.inf)

    def summarise(self, records: Iterable[object]) -> Summary:
        """The number of records, and the mean of the clipped records, rescaled to [-1, 1]."""
        low, high, scale = self.low, self.high, 2 * HALF_GRID / (self.high - self.low)
        total = size = 0
        for record in numbers(records):
            total += math.floor((min(max(record, low), high) - low) * scale + 0.5) - HALF_GRID
            size += 1
        return summary(total, size)
