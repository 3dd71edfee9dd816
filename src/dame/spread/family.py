"""Plausible populations: how users' means may be spread over [-1, 1], before anything is known of them.

A population is a typical shape (bell, heavy shoulders, skewed, two clusters, a few far away) of some width around some
place. Real ones follow none of these exactly: `Beliefs` takes each as the middle of a Dirichlet process, from which
populations of every form are drawn, and reports outvote the shapes where there are enough of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Population = tuple[Floats, Floats]

NARROWEST, WIDEST = 0.05, 0.85
"""Widths (standard deviations of users' means) that are told apart; narrower ones are measured as the narrowest."""
_WIDTH_STEP = 1.42
_MOST_APART = 0.1
_TAIL = (0.002, 0.004, 0.008, 0.016, 0.03, 0.05, 0.07)
_SHARES = np.array([*_TAIL, *([0.08] * 8), *_TAIL[::-1]])
_SHARES = _SHARES / _SHARES.sum()


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Populations, one a row: the users' means by atom, their shares, the log prior; and the width of each."""

    values: Floats
    shares: Floats
    log_prior: Floats
    widths: Floats

    def part(self, rows: NDArray[np.bool_]) -> Family:
        """Some of the populations."""
        return Family(self.values[rows], self.shares[rows], self.log_prior[rows], self.widths[rows])


@lru_cache(maxsize=16)
def family(narrowest: float = NARROWEST, widest: float = WIDEST) -> Family:
    """Populations of all shapes with widths from narrowest to widest, at places half a width apart or closer."""
    count = max(round(math.log(widest / narrowest) / math.log(_WIDTH_STEP)), 0) + 1
    values, priors, spreads = [], [], []
    for width in np.geomspace(narrowest, widest, count):
        apart = min(width / 2, _MOST_APART)
        places = np.arange(-1 + apart / 2, 1, apart)
        for shape, chance in _shapes():
            values.append(np.clip(places[:, None] + width * shape, -1.0, 1.0))
            priors.append(np.full(len(places), chance / len(places) / count))
            spreads.append(np.full(len(places), width))
    joined = np.concatenate(values)
    return Family(
        values=joined,
        shares=np.broadcast_to(_SHARES, joined.shape),
        log_prior=np.log(np.concatenate(priors)),
        widths=np.concatenate(spreads),
    )


def bell(width: float) -> Population:
    """A population shaped like a bell in the middle of the range: the users' means by atom, and their shares."""
    shape, _ = _shapes()[0]
    return np.clip(width * shape, -1.0, 1.0), _SHARES


def _shapes() -> list[tuple[Floats, float]]:
    """Typical shapes with mean 0 and standard deviation 1, each with its prior chance; the bell comes first."""
    level = np.cumsum(_SHARES) - _SHARES / 2
    bell, skewed = special.ndtri(level), np.asarray(special.gammaincinv(2.0, level))
    rare = np.where(level < 0.9, -1.0, 3.0) + bell / 10
    shapes = [
        (bell, 0.28),
        (special.stdtrit(3.0, level), 0.28),
        (skewed, 0.08),
        (-skewed[::-1], 0.08),
        (np.sign(bell) + bell / 5, 0.12),
        (rare, 0.08),
        (-rare[::-1], 0.08),
    ]
    return [(_standardised(shape), chance) for shape, chance in shapes]


def _standardised(shape: ArrayLike) -> Floats:
    points = np.asarray(shape, dtype=np.float64)
    centred = points - _SHARES @ points
    return np.asarray(centred / math.sqrt(_SHARES @ centred**2), dtype=np.float64)
