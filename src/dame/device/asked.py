"""What every question names, and how its fields are checked at birth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from dame import checks
from dame.errors import InvalidInput

VERSION = 1
APART = 1e-12
"""Neighbours in a list of places or borders are at least this far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What every question names: the study, the round, the budget and the bounds to which records are clipped."""

    study: str
    round: int
    alpha: float
    low: float = -1.0
    high: float = 1.0

    def _check(self) -> None:
        checks.text("study", self.study, 128)
        self._set_whole("round", 0, 63)
        self._set_real("alpha", *checks.ALPHA_RANGE)
        checks.bounds(self.low, self.high)
        self._set_real("low", -math.inf, math.inf)
        self._set_real("high", -math.inf, math.inf)

    def _set_real(self, name: str, low: float, high: float) -> None:
        # An integer where a float is meant becomes one, and -0.0 becomes 0.0, or equal questions would have different
        # identities.
        object.__setattr__(self, name, checks.real(name, getattr(self, name), low, high) + 0.0)

    def _set_whole(self, name: str, low: int, high: int) -> None:
        object.__setattr__(self, name, checks.whole(name, getattr(self, name), low, high))

    def _set_rising(self, name: str) -> None:
        values = tuple(checks.real(name, value, -1.0, 1.0) + 0.0 for value in getattr(self, name))
        if not all(right - left >= APART for left, right in itertools.pairwise(values)):
            raise InvalidInput(name, values, "different numbers, the smaller ones first")
        object.__setattr__(self, name, values)

    def _plain(self, own: Iterable[str]) -> dict[str, object]:
        """What a document says of a question before its randomiser: what all name, and what is its own."""
        names = (name for name in (*Asked.__slots__, *own) if name not in ("code", "noise"))
        return {"version": VERSION, **{name: getattr(self, name) for name in names}}
