"""The constants c1 … c5 of Theorems 1 and 2 as one frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dame import checks
from dame.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The constants of Theorem 1 (c1, c2) and Theorem 2 (c3, c4, c5) under a name."""

    name: str
    c1: float
    c2: float
    c3: float
    c4: float
    c5: float

    def __post_init__(self) -> None:
        for field in ("c1", "c2", "c3", "c5"):
            checks.positive(field, getattr(self, field), 1e9)
        # Below e, x/ln(x) falls first, φ is not monotone, and bisection would not find m̃.
        checks.real("c4", self.c4, math.e, 1e9)

    @staticmethod
    def named(name: str) -> Constants:
        """The constants called `paper` (as printed) or `unit` (all one, but for c4)."""
        if name not in _NAMED:
            raise InvalidInput("constants", name, "one of " + ", ".join(_NAMED))
        return _NAMED[name]


PAPER = Constants(name="paper", c1=math.exp(-9) / 16, c2=24.0, c3=1570.0, c4=8.0, c5=868.5)
"""The constants of the proofs, as printed."""
UNIT = Constants(name="unit", c1=1.0, c2=1.0, c3=1.0, c4=8.0, c5=1.0)
"""Constants that show the shape of the bounds; they are not proven."""

_NAMED = {constants.name: constants for constants in (PAPER, UNIT)}
