"""The best shares: the lowest point of a convex quadratic function among shares, which are not negative and sum to 1.

An active set, as in the method of Lawson and Hanson for least squares that are not negative. Unlike what libraries
offer, it can start from the shares that were best for a neighbouring function, and is done after a step or two then:
whoever follows a likelihood along its profile asks for many neighbours. And a process that needs nothing else of such
a library starts in half the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_FLAT = 1e-11
"""Slopes that differ by less than this part of the largest term are the same: rounding is a thousandth of it."""
_STIFF = 1e-13
"""The least curvature that any exchange of shares is taken to have, as a part of the largest."""
_MOST_STEPS = 2000


def best_shares(curvature: Floats, cost: Floats, start: Floats | None = None) -> Floats:
    """The shares x with the lowest x·Cx/2 + cost·x, for a curvature C without negative eigenvalues.

    `start` are any shares; the nearer to the best, the sooner these are found.
    """
    shares = _corner(curvature, cost) if start is None else start.copy()
    used = np.flatnonzero(shares)
    unit = float(np.max(np.diagonal(curvature))) or 1.0
    flat = _FLAT * (unit + float(np.max(np.abs(cost))))
    equations, values = _equations(curvature, cost, unit)
    for _ in range(_MOST_STEPS):
        # Where shares could be exchanged at no curvature, but at a lower cost, what is wanted is far away.
        unknowns = np.append(used, len(cost))
        wanted = np.linalg.solve(equations[unknowns[:, None], unknowns], values[unknowns])[:-1]
        if wanted.min() >= 0:
            shares[used] = wanted
            slopes = curvature @ shares + cost
            steepest = int(np.argmin(slopes))
            if slopes[steepest] >= slopes[used].max() - flat:
                break
            used = np.append(used, steepest)
        else:
            emptied = _move(shares, used, wanted)
            if emptied is None:
                break
            used = np.delete(used, emptied)
    return shares


def _corner(curvature: Floats, cost: Floats) -> Floats:
    """Everybody at the best single place."""
    shares = np.zeros(len(cost))
    shares[np.argmin(np.diagonal(curvature) / 2 + cost)] = 1.0
    return shares


def _equations(curvature: Floats, cost: Floats, unit: float) -> tuple[Floats, Floats]:
    """Linear equations for what is lowest of all that sums to 1, negative or not: one a place, and last the sum.

    Those of some places, and the last, are the equations for shares of these places alone.
    """
    count = len(cost)
    equations, values = np.full((count + 1, count + 1), unit), np.append(-cost, unit)
    equations[:count, :count] = curvature
    np.fill_diagonal(equations, np.append(np.diagonal(curvature) + _STIFF * unit, 0.0))
    return equations, values


def _move(shares: Floats, used: Places, wanted: Floats) -> int | None:
    """Moves the shares towards what is wanted, until one of them is 0: which of the places used.

    None if that is the place that was added last, before it had any share: its slope was rounding.
    """
    now = shares[used]
    falling = np.flatnonzero(wanted < 0)
    parts = now[falling] / (now[falling] - wanted[falling])
    emptied = int(falling[np.argmin(parts)])
    if emptied == len(used) - 1 and now[emptied] == 0:
        return None
    now += parts.min() * (wanted - now)
    now[emptied] = 0.0
    shares[used] = np.maximum(now, 0.0)
    return emptied
