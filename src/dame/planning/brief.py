"""What people ask of a study, before anybody has planned how."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from dame import checks
from dame.device.lenses import effective_records
from dame.device.questions import MEAN
from dame.device.statistics import Statistic, Value
from dame.errors import InvalidInput
from dame.sizes import Sizes

MOST_USERS = 10**12
WEIGHTS = ("equal", "precision")
SCALES = ("linear", "log")
MOST_LEVELS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a machine is asked to do: the mean of a statistic over so many users, α each, sizes as in M.

    `between_sd` is the standard deviation of users' own means on the inner scale: 0 where all records share one
    distribution, None where it is to be learnt. `weights` says whose mean is wanted: that of all users alike ("equal"),
    or with more weight on users who know theirs better ("precision", the square root of the effective size). `target`
    is the name of the machine in its study.

    Where the quantiles of people are wanted instead of their mean, `levels` says which; `scale` is that on which people
    are spread most evenly.
    """

    users: int
    alpha: float
    sizes: Sizes
    statistic: Statistic = field(default_factory=Value)
    weights: str = WEIGHTS[0]
    between_sd: float | None = 0.0
    levels: tuple[float, ...] = ()
    scale: str = SCALES[0]
    target: str = MEAN
    study: str = field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        object.__setattr__(self, "users", checks.whole("users", self.users, 1, MOST_USERS))
        object.__setattr__(self, "alpha", checks.alpha(self.alpha))
        checks.text("study", self.study, 128)
        checks.text("target", self.target, 64)
        checks.one_of("weights", self.weights, WEIGHTS)
        if self.between_sd is not None:
            object.__setattr__(self, "between_sd", checks.real("between_sd", self.between_sd, 0.0, 1.0) + 0.0)
        elif self.weights != WEIGHTS[0]:
            raise InvalidInput("between_sd", "learn", "a number from 0 to 1 with weights by precision")
        object.__setattr__(self, "levels", _levels(self.levels))
        checks.one_of("scale", self.scale, SCALES)
        if self.scale == "log" and not self.low > 0:
            raise InvalidInput("scale", self.scale, f"linear where values may be as low as {self.low:g}")
        if not isinstance(self.sizes, Sizes):
            raise InvalidInput("sizes", self.sizes, "a dame.Sizes, such as dame.Sizes.parse('poisson:5')")

    @property
    def low(self) -> float:
        """What -1 on the inner scale stands for."""
        return self.statistic.range[0]

    @property
    def high(self) -> float:
        """What 1 on the inner scale stands for."""
        return self.statistic.range[1]

    @property
    def half_range(self) -> float:
        """Units of the study per unit of the inner scale."""
        return (self.high - self.low) / 2

    @property
    def spread(self) -> float:
        """The standard deviation between users that weights by size count with."""
        return self.between_sd or 0.0

    def effective(self, size: Any) -> Any:
        """What so many records of one user are worth in this study."""
        return effective_records(size, self.spread)

    @property
    def users_vary(self) -> bool:
        """Whether every user must count alike, since users' own means vary."""
        return self.weights == WEIGHTS[0] and self.between_sd != 0.0


def _levels(levels: object) -> tuple[float, ...]:
    if not isinstance(levels, (tuple, list)) or len(levels) > MOST_LEVELS:
        raise InvalidInput("levels", levels, f"a list of at most {MOST_LEVELS} numbers between 0 and 1")
    given = tuple(checks.real("level", level, 0.001, 0.999) for level in levels)
    if any(left >= right for left, right in pairwise(given)):
        raise InvalidInput("levels", levels, "different numbers, the smaller ones first")
    return given
