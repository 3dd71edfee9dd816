"""One reader for all bits on a distribution: thresholds, stripes and segments of all rounds, read together.

Several descriptions of the people compete: densities on the range itself and on scales that are finer at either end
or where the people are, with and without people exactly at the ends or at some point. Each has the weight that the
evidence gives it; what is told is their average, and how far they and their posteriors disagree is the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dame.between_users.density import Bitwise, Fit, Floats, Shape, bits_of, fits
from dame.between_users.tuning import DENSITY
from dame.curves import Quantile
from dame.tally import Tally

Roundest = Callable[[float, float], float]
"""The number with the fewest digits between two others, all on the inner scale."""

_FINE = 256
"""The curve is told at so many steps of the scale, and at the cells of the best description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A public map between the inner scale [-1, 1] and [0, 1]: even, or by the logarithm of the value.

    `ratio` is the quotient of the bounds of a study on a logarithmic scale, and 1 on an even one.
    """

    ratio: float = 1.0

    def inner(self, places: Floats) -> Floats:
        """The inner values at places between 0 and 1."""
        if self.ratio == 1:
            return 2 * np.asarray(places) - 1
        return 2 * (self.ratio ** np.asarray(places) - 1) / (self.ratio - 1) - 1

    def places(self, inner: Floats) -> Floats:
        """The places between 0 and 1 of inner values."""
        half = (np.asarray(inner) + 1) / 2
        return half if self.ratio == 1 else np.log1p(half * (self.ratio - 1)) / math.log(self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """The share of people at or below each point of the inner scale, and draws of it from the posterior."""

    points: Floats
    cdf: Floats
    draws: Floats
    edges: Floats
    """Edges of the cells of the best description: hardly anything finer is told."""

    def quantile(self, at: float) -> float:
        """The point that such a share of people lies below."""
        return float(_inverse(self.cdf, self.points, at))

    def told(self, at: float, level: float, roundest: Roundest) -> Quantile:
        """A quantile with its errors and interval; where many people sit at one number, the roundest in reach."""
        value, tail = self.quantile(at), (1 - level) / 2
        drawn = np.array([_inverse(column, self.points, at) for column in self.draws.T])
        low, below, above, high = np.quantile(drawn, [tail, 0.16, 0.84, 1 - tail])
        error = float(above - below) / 2
        share_error = float(np.std([np.interp(value, self.points, column) for column in self.draws.T]))
        if share_error > DENSITY.jump * self._slope(value) * error:
            reach = DENSITY.resolved * self._cell(value)
            value = roundest(max(value - reach - error, -1.0), min(value + reach + error, 1.0))
            low, high = low - reach, high + reach
        return Quantile(
            at=at,
            value=value,
            standard_error=error,
            interval=(max(min(float(low), value), -1.0), min(max(float(high), value), 1.0)),
            share_error=share_error,
        )

    def _slope(self, point: float) -> float:
        """The density of people around a point, as coarsely as bits tell it without looking for a jump."""
        step = 1 / DENSITY.slope_steps
        around = np.clip([point - step, point + step], -1.0, 1.0)
        low, high = np.interp(around, self.points, np.maximum.accumulate(self.cdf))
        return float((high - low) / (around[1] - around[0]))

    def _cell(self, point: float) -> float:
        """The width of the cell of a point in the best description."""
        cell = int(np.clip(np.searchsorted(self.edges, point, side="right") - 1, 0, len(self.edges) - 2))
        return float(self.edges[cell + 1] - self.edges[cell])

    def band(self, level: float) -> tuple[Floats, Floats]:
        """The lower and the upper end of a simultaneous band."""
        apart = self.draws - self.cdf[:, None]
        error = np.std(apart, axis=1)
        error = np.maximum(error, DENSITY.band_floor * error.max())
        reach = DENSITY.band_inflation * np.quantile((np.abs(apart) / error[:, None]).max(axis=0), level)
        low = np.maximum.accumulate(np.clip(self.cdf - reach * error, 0.0, 1.0))
        high = np.minimum.accumulate(np.clip(self.cdf + reach * error, 0.0, 1.0)[::-1])[::-1]
        # Whether somebody is at the first point or just beside it, the bits hardly tell; nobody is beyond the last.
        high[0], low[0], low[-1], high[-1] = high[min(1 + len(high) // _FINE, len(high) - 1)], 0.0, 1.0, 1.0
        return low, high


def _inverse(cdf: Floats, points: Floats, at: float) -> float:
    rising = np.maximum.accumulate(cdf)
    place = int(np.searchsorted(rising, at))
    if place == 0 or place == len(points):
        return float(points[min(place, len(points) - 1)])
    left, right = rising[place - 1], rising[place]
    return float(points[place - 1] + (points[place] - points[place - 1]) * (at - left) / (right - left))


def read_quickly(history: Sequence[Tally], scale: Scale) -> Curve:
    """The curve by the best of a few descriptions, without its errors: for the next thresholds."""
    bits = bits_of(history)
    best = max(_smooth(bits, scale, DENSITY.quick_strengths), key=lambda fit: fit.evidence)
    points = _points(best, scale)
    cdf = best.cdf(points)
    return Curve(points=points, cdf=cdf, draws=cdf[:, None], edges=best.shape.edges)


def read_curve(history: Sequence[Tally], scale: Scale) -> Curve:
    """The curve by all descriptions, each with the weight that the evidence gives it."""
    bits = bits_of(history)
    found = _smooth(bits, scale, DENSITY.strengths)
    if len(history) > 1:
        found += fits(bits, Shape(edges=_own_scale(_best(found), scale)), DENSITY.strengths)
    found += fits(bits, Shape(edges=_best(found).shape.edges, atoms=(-1.0, 1.0)), DENSITY.strengths)
    found += _with_atom(bits, _best(found))
    return _averaged(found, scale)


def _best(found: Sequence[Fit]) -> Fit:
    return max(found, key=lambda fit: fit.evidence)


def _smooth(bits: Bitwise, scale: Scale, strengths: Sequence[float]) -> list[Fit]:
    return [fit for places in _scales() for fit in fits(bits, Shape(edges=scale.inner(places)), strengths)]


@lru_cache(maxsize=1)
def _scales() -> tuple[Floats, ...]:
    """Even places, and places that are denser at the left and at the right end."""
    even = np.linspace(0.0, 1.0, DENSITY.cells + 1)
    left = DENSITY.skew * ((1 + 1 / DENSITY.skew) ** even - 1)
    left[-1] = 1.0
    return even, left, 1 - left[::-1]


def _own_scale(fit: Fit, scale: Scale) -> Floats:
    """Edges between which there are about as many people, by what was seen so far."""
    places = np.linspace(0.0, 1.0, 4 * _FINE + 1)
    people = fit.cdf(scale.inner(places))
    mixed = (1 - DENSITY.own_scale) * (people - people[0]) / max(people[-1] - people[0], 1e-12)
    edges = np.interp(np.linspace(0.0, 1.0, DENSITY.cells + 1), mixed + DENSITY.own_scale * places, places)
    edges[0], edges[-1] = 0.0, 1.0
    return scale.inner(edges)


def _with_atom(bits: Bitwise, fit: Fit) -> list[Fit]:
    """Fits with an atom more, where the bits would gain most by one."""
    expected = fit.shape.chances(bits) @ fit.shares
    places = (fit.shape.edges[1:] + fit.shape.edges[:-1]) / 2
    change = bits.chances(bits.marks(places)) - expected[:, None]
    slope = bits.ones / expected - (bits.reports - bits.ones) / (1 - expected)
    noise = np.sqrt((change**2).T @ (bits.reports / (expected * (1 - expected))))
    score = (change.T @ slope) / np.maximum(noise, 1e-12)
    tried = [int(place) for place in np.argsort(-score)[: DENSITY.atom_places] if score[place] > DENSITY.atom_score]
    strengths = [strength for strength in DENSITY.strengths if strength >= fit.strength][-3:]
    return [
        one
        for place in tried
        for one in fits(
            bits,
            Shape(edges=fit.shape.edges, atoms=(*fit.shape.atoms, float(places[place]))),
            strengths,
            math.log(DENSITY.atom_odds),
        )
    ]


def _averaged(found: Sequence[Fit], scale: Scale) -> Curve:
    best = _best(found)
    weights = np.exp([fit.evidence - best.evidence for fit in found])
    kept = [place for place in np.argsort(-weights) if weights[place] >= DENSITY.least_weight * weights.sum()]
    weights = weights[kept] / weights[kept].sum()
    points = _points(best, scale)
    rng = np.random.default_rng(1)  # the same draws for everybody: a result can be computed again
    counts = np.maximum(np.round(weights * DENSITY.draws).astype(int), 1)
    cdf = sum(weight * found[place].cdf(points) for weight, place in zip(weights, kept, strict=True))
    drawn = [found[place].drawn(points, count, rng) for count, place in zip(counts, kept, strict=True)]
    draws = cdf[:, None] + DENSITY.inflation * (np.hstack(drawn) - cdf[:, None])
    return Curve(points=points, cdf=np.asarray(cdf), draws=draws, edges=best.shape.edges)


def _points(fit: Fit, scale: Scale) -> Floats:
    return np.union1d(scale.inner(np.linspace(0.0, 1.0, _FINE + 1)), fit.shape.edges)
