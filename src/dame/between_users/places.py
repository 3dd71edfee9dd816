"""Which places to ask about next: those whose marks leave the least error, in bad cases as well as on average.

A round asks everybody for one of a few places. Two of them close together tell where the many are, with little noise;
places at the ends of the range, in the same question, tell how many are far away. Without these the question is
sharper still, but those beyond its places are missed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dame.device.exact import WORD
from dame.device.randomisers import OneOfMany
from dame.between_users.beliefs import Beliefs, Features, Outlook, identity
from dame.between_users.family import CROWD
from dame.between_users.grid import GRID, on_grid

Floats = NDArray[np.float64]
Places = tuple[float, ...]
Chooser = Callable[[int], OneOfMany]
"""The randomised choice among so many places."""

_HALF_WIDTHS = (0.05, 0.08, 0.11, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
_ASIDE = (-0.5, 0.0, 0.5)
"""Where the two inner places may lie: so far to either side of a middle, which may be so many half-widths off."""
_NARROWEST = 4 / GRID
_ELSEWHERE = 0.06
"""The many are looked for by themselves where their middle is so far from everybody's."""
_WHOLE = ((-1.0, 1.0), (-1.0, 0.0, 1.0), (-1.0, -0.5, 0.5, 1.0))
MOST = 4
"""More places were never worth asking about, for α up to 2."""
_LEAST_SHARE = 1e-3
"""Shares are taken as no smaller where the noise is worked out."""
_STAND_INS = 150
"""So many populations stand for all when places are compared."""
_CAUTION = 3.0
"""Places are compared by this power mean of the squared error over populations: 1 would be the expected error, which
may be small although a minority is missed that is quite possible."""


def marked(*rows: Places) -> Features:
    """The part of a mean that falls to each place but the first; of several rows, first the second places of all."""
    places = np.array(rows).T

    def features(values: Floats) -> Floats:
        # How far each value is on the way from each place to the next, cut to [0, 1].
        passed = np.clip((values[..., None, None] - places[:-1]) / np.diff(places, axis=0), 0.0, 1.0)
        passed[..., :-1, :] -= passed[..., 1:, :]
        return np.asarray(passed.reshape(*values.shape, -1))

    return features


def noise_of(code: OneOfMany, shares: Floats, reports: float) -> Floats:
    """The covariance of the debiased shares of all places but the first, which are given along the last axis."""
    own = np.concatenate([1 - shares.sum(axis=-1, keepdims=True), shares], axis=-1)
    own = np.maximum(own, _LEAST_SHARE)
    own /= own.sum(axis=-1, keepdims=True)
    rise = (code.yes - code.no) / WORD
    chances = (code.no / WORD + rise * own)[..., 1:]
    apart = np.eye(chances.shape[-1]) * chances[..., None] - chances[..., :, None] * chances[..., None, :]
    return np.asarray(apart / (rise**2 * reports))


def best_places(beliefs: Beliefs, choose: Chooser, reports: float) -> tuple[Places, float]:
    """The places to ask so many users about, and the squared error that is then expected."""
    few = beliefs.thinned(_STAND_INS)
    weights = np.exp(few.log_weights)
    mean, found = few.outlook(identity, sampled=True), []
    for count, rows in itertools.groupby(sorted(_candidates(few, weights), key=len), key=len):
        candidates = list(rows)
        errors = _errors(few, weights, mean, candidates, choose(count), reports)
        bad = weights @ errors**_CAUTION
        best = int(np.argmin(bad))
        found.append((float(bad[best]), candidates[best], float(weights @ errors[:, best])))
    _, places, error = min(found)
    return places, error


def _errors(
    few: Beliefs, weights: Floats, mean: Outlook, candidates: list[Places], code: OneOfMany, reports: float
) -> Floats:
    """The squared error by population and row of places, if the mean is read off all marks by the best linear rule."""
    seen = [mean, *few.outlook(marked(*candidates)).split(len(candidates[0]) - 1)]
    shifts = np.stack(np.broadcast_arrays(*(one.means - weights @ one.means for one in seen)))
    expected = np.stack([weights @ one.means for one in seen[1:]], axis=-1)
    within = np.empty((len(seen), len(seen), *shifts.shape[1:]))
    for i, j in itertools.combinations_with_replacement(range(len(seen)), 2):
        within[i, j] = within[j, i] = few.together(seen[i], seen[j])
    within[1:, 1:] += noise_of(code, expected, reports).transpose(1, 2, 0)[:, :, None, :]
    total = np.einsum("p,ijpc->cij", weights, within) + np.einsum("p,ipc,jpc->cij", weights, shifts, shifts)
    rule = np.linalg.solve(total[:, 1:, 1:], total[:, 1:, :1])[:, :, 0].T
    signed = np.concatenate([np.ones((1, len(candidates))), -rule])
    bias = np.einsum("ic,ipc->pc", signed, shifts)
    spread = np.einsum("ic,ijpc,jc->pc", signed, within, signed, optimize=True)
    return np.asarray(np.maximum(bias**2 + spread, 0.0))


def _candidates(few: Beliefs, weights: Floats) -> list[Places]:
    """Two or three places around where the many may be, alone or with either end of the range; and the whole range."""
    family = few.family
    crowd = family.shares[:, CROWD]
    everybody = float(weights @ np.sum(family.shares * family.values, axis=1))
    many = float(weights @ (np.sum(crowd * family.values[:, CROWD], axis=1) / crowd.sum(axis=1)))
    middles = (everybody, many) if abs(everybody - many) > _ELSEWHERE else (everybody,)
    rows = [places for middle in middles for places in _around(middle)]
    return list(dict.fromkeys([*_WHOLE, *rows]))


def _around(middle: float) -> Iterator[Places]:
    for half, aside in itertools.product(_HALF_WIDTHS, _ASIDE):
        left, right = (on_grid(middle + (aside + side) * half) for side in (-1, 1))
        if right - left < _NARROWEST:
            continue
        for between, ends in itertools.product(((), ((left + right) / 2,)), ((), (-1.0,), (1.0,), (-1.0, 1.0))):
            places = tuple(sorted({left, *between, right, *ends}))
            if len(places) <= MOST:
                yield places
