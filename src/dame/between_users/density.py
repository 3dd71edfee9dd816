"""Densities of people by penalised likelihood: of all smooth ones, the one that best explains the bits of a study.

The logarithm of the density on cells has a prior that likes small third differences: the smoother, the likelier. How
smooth is decided by the evidence, the probability of the bits under each strength of that prior (Laplace's
approximation). Beside the cells there may be atoms: points where a share of the people is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.between_users.tuning import DENSITY
from dame.device.channels import Channel
from dame.tally import Tally
from dame.vectorised.lenses import read

Floats = NDArray[np.float64]
_ROWS = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bitwise:
    """Bits on a distribution: for each window of each question how many were sent, and how many were 1.

    `never` and `slope` give the chance of a 1: never + slope·(the mark of the person).
    """

    tallies: tuple[Tally, ...]
    ones: Floats
    reports: Floats
    never: Floats
    slope: Floats

    def marks(self, points: Floats) -> Floats:
        """How strongly people at some points mark, in each window that somebody answered in."""
        return np.vstack([_marks(tally, points) for tally in self.tallies])

    def chances(self, marks: Floats) -> Floats:
        """The chance of a 1 for people with these marks, in each window."""
        return self.never[:, None] + self.slope[:, None] * marks


def _marks(tally: Tally, points: Floats) -> Floats:
    """The marks of people at some points: a row for each window that somebody answered in."""
    windows = np.array([window for window, told in enumerate(tally.windows) if told.reports], np.intp)
    everywhere = np.tile(points, len(windows))
    sizes = np.ones(len(everywhere), np.int64)
    marks = read(tally.question.lens, sizes, everywhere, np.repeat(windows, len(points))).mark_on(0)
    return marks.reshape(len(windows), len(points))


def bits_of(history: Sequence[Tally]) -> Bitwise:
    """The bits of all rounds of a study; each of its questions has single bits as its channel."""
    told = [(tally.question.channel, window) for tally in history for window in tally.windows if window.reports]
    # The mark is the debiased entry, which is linear: where it is 0 and 1 gives the chances.
    zero = [_chance(channel, 0.0) for channel, _ in told]
    one = [_chance(channel, 1.0) for channel, _ in told]
    return Bitwise(
        tallies=tuple(history),
        ones=np.array([window.sums[0] for _, window in told], np.float64),
        reports=np.array([window.reports for _, window in told], np.float64),
        never=np.array(zero),
        slope=np.array(one) - np.array(zero),
    )


def _chance(channel: Channel, mark: float) -> float:
    offset, end = channel.debias(0.0), channel.debias(1.0)
    return (mark - offset) / (end - offset)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Where people may be: in cells between edges, evenly within each, and at atoms."""

    edges: Floats
    atoms: tuple[float, ...] = ()

    def chances(self, bits: Bitwise) -> Floats:
        """The chance of a 1 in each window, for people of each cell and at each atom."""
        left, width = self.edges[:-1, None], np.diff(self.edges)[:, None]
        inside = (np.arange(DENSITY.points_in_cell) + 0.5) / DENSITY.points_in_cell
        marks = bits.marks((left + width * inside).ravel())
        cells = marks.reshape(len(marks), -1, DENSITY.points_in_cell).mean(axis=2)
        return bits.chances(np.hstack([cells, bits.marks(np.array(self.atoms))]) if self.atoms else cells)

    def cumulated(self, shares: Floats, points: Floats) -> Floats:
        """The share of people at or below some points, for each column of shares."""
        cells = len(self.edges) - 1
        sums = np.vstack([np.zeros(shares.shape[1]), np.cumsum(shares[:cells], axis=0)])
        cell = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, cells - 1)
        part = np.clip((points - self.edges[cell]) / (self.edges[cell + 1] - self.edges[cell]), 0.0, 1.0)[:, None]
        below = sums[cell] * (1 - part) + sums[cell + 1] * part
        for place, atom in enumerate(self.atoms):
            below += (points >= atom)[:, None] * shares[cells + place]
        return below


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """The likeliest shares of a shape at one strength of the prior, how curved the posterior is there, the evidence."""

    shape: Shape
    strength: float
    evidence: float
    heights: Floats
    shares: Floats
    curvature: Floats

    def drawn(self, points: Floats, count: int, rng: np.random.Generator) -> Floats:
        """So many draws from the posterior of the share of people at or below each point."""
        factor = np.linalg.cholesky(self.curvature)
        moved = np.linalg.solve(factor.T, rng.standard_normal((len(self.shares), count)))
        # To first order in the logarithm: where nobody seems to be, an exponential would invent crowds.
        change = self.shares[:, None] * (moved - self.shares @ moved)
        return self.cdf(points)[:, None] + self.shape.cumulated(change, points)

    def cdf(self, points: Floats) -> Floats:
        """The share of people at or below each point."""
        return self.shape.cumulated(self.shares[:, None], points)[:, 0]


def fits(bits: Bitwise, shape: Shape, strengths: Sequence[float], log_prior: float = 0.0) -> list[Fit]:
    """A fit for each strength of the prior, the strongest first; the shape itself has a prior probability."""
    chances = shape.chances(bits)
    cells, atoms = len(shape.edges) - 1, len(shape.atoms)
    base = np.append(np.full(cells, -math.log(cells)), np.full(atoms, math.log(DENSITY.atom_share)))
    heights = np.zeros(cells + atoms)
    found = []
    for strength in strengths:
        prior, log_det = _prior(cells, atoms, strength)
        heights, shares, curvature, likelihood = _climbed(bits, chances, base, heights, prior)
        evidence = likelihood - heights @ prior @ heights / 2 + (log_det - np.linalg.slogdet(curvature)[1]) / 2
        found.append(
            Fit(
                shape=shape,
                strength=strength,
                evidence=float(evidence) + log_prior,
                heights=heights,
                shares=shares,
                curvature=curvature,
            )
        )
    return found


def _climbed(
    bits: Bitwise, chances: Floats, base: Floats, heights: Floats, prior: Floats
) -> tuple[Floats, Floats, Floats, float]:
    """The heights with the largest posterior, by Newton's method: with their shares, its curvature, the likelihood."""
    ones, zeros = bits.ones, bits.reports - bits.ones
    for _ in range(DENSITY.most_steps):
        shares = _shares(base + heights)
        expected = chances @ shares
        slopes = shares * (chances - expected[:, None])
        curvature = _weighed_squares(slopes, bits.reports / (expected * (1 - expected))) + prior
        uphill = slopes.T @ (ones / expected - zeros / (1 - expected)) - prior @ heights
        step = np.linalg.solve(curvature, uphill)
        size = float(np.max(np.abs(step)))
        heights = heights + step * min(1.0, DENSITY.longest_step / max(size, 1e-300))
        # By what the logarithm of the posterior still gains: where nobody is, heights could sink for ever.
        if uphill @ step < DENSITY.close:
            break
    shares = _shares(base + heights)
    expected = chances @ shares
    likelihood = float(ones @ np.log(expected) + zeros @ np.log1p(-expected))
    return heights, shares, curvature, likelihood


def _weighed_squares(slopes: Floats, weights: Floats) -> Floats:
    """The sum of the squares of the rows, each with its weight."""
    # By a few rows at a time: a product this small takes longer if a library shares it among processors that are busy.
    total = np.zeros((slopes.shape[1], slopes.shape[1]))
    for start in range(0, len(slopes), _ROWS):
        rows = slopes[start : start + _ROWS]
        total += (rows.T * weights[start : start + _ROWS]) @ rows
    return total


def _shares(logarithms: Floats) -> Floats:
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def _prior(cells: int, atoms: int, strength: float) -> tuple[Floats, float]:
    """The precision of the prior of heights, and the logarithm of its determinant."""
    third, eigenvalues = _third_differences(cells)
    precision = np.zeros((cells + atoms, cells + atoms))
    precision[:cells, :cells] = strength * third
    precision[np.diag_indices(cells + atoms)] += np.append(np.full(cells, DENSITY.ridge), np.full(atoms, DENSITY.atom))
    log_det = float(np.sum(np.log(strength * eigenvalues + DENSITY.ridge))) + atoms * math.log(DENSITY.atom)
    return precision, log_det


@lru_cache(maxsize=4)
def _third_differences(cells: int) -> tuple[Floats, Floats]:
    rows = np.diff(np.eye(cells), 3, axis=0)
    squares = rows.T @ rows
    return squares, np.maximum(np.linalg.eigvalsh(squares), 0.0)
