"""The sums that theory asks of a distribution of sizes, over a table of atoms or over a long smooth tail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Density = Callable[[Floats], Floats]
"""A smooth positive function of the size that, at whole numbers, is proportional to the probability M(i)."""

TABLE_LIMIT = 2**21
"""The largest number of atoms that is held in memory."""
HEAD = 2**20
"""Atoms that a long tail sums one by one: beyond them a sum and its integral differ by less than 1e-13."""
NODES_HEAD = 2**17
"""Atoms that stand for themselves among the nodes of an expectation."""
TAIL_END = 1e15
"""No size is larger: all whole numbers up to here are floats."""

_BLOCK = 2**10
_PANEL_RATIO = 2.0**0.5
_GAUSS_POINTS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(24)
_QUERIES_AT_ONCE = 2**14


def running_sums(terms: Floats) -> Floats:
    """0 and all partial sums of `terms`, summed in blocks so that rounding does not add up over millions of terms."""
    padding = -len(terms) % _BLOCK
    blocks = np.pad(terms, (0, padding)).reshape(-1, _BLOCK)
    inside = np.cumsum(blocks, axis=1)
    before = np.concatenate(([0.0], np.cumsum(inside[:, -1])[:-1]))
    inside += before[:, None]
    return np.concatenate(([0.0], inside.ravel()[: len(terms)]))


class Sums(ABC):
    """P(m ≥ a), E[sqrt(m)·1{m ≤ a}], E m, and nodes for any smooth expectation."""

    mean: float

    @abstractmethod
    def survival(self, a: Floats) -> Floats:
        """P(m ≥ a) for each a."""

    @abstractmethod
    def sqrt_below(self, a: Floats) -> Floats:
        """E[sqrt(m)·1{m ≤ a}] for each a."""

    @abstractmethod
    def nodes(self) -> tuple[Floats, Floats]:
        """Sizes and weights with Σ weight·f(size) = E f(m) for smooth f."""

    @abstractmethod
    def support(self) -> Floats | None:
        """All atoms in increasing order, or None where they are too many to hold."""


class Table(Sums):
    """Sums over atoms that are all held in memory: exact up to rounding."""

    def __init__(self, atoms: Floats, weights: Floats) -> None:
        used = weights > 0
        self.atoms: Floats = atoms[used]
        self.probabilities: Floats = weights[used] / weights[used].sum()
        self.total = float(weights[used].sum())
        self.mean = float(self.atoms @ self.probabilities)

    @cached_property
    def _above(self) -> Floats:
        sums = running_sums(self.probabilities[::-1])[::-1]
        # The first entry is exactly one, whatever rounding did: "P(m ≥ smallest) = 1" decides m̃.
        return np.concatenate(([1.0], np.minimum(sums[1:], 1.0)))

    @cached_property
    def _sqrt_below(self) -> Floats:
        return running_sums(np.sqrt(self.atoms) * self.probabilities)

    @cached_property
    def cumulative(self) -> Floats:
        """P(m ≤ atom) for each atom, with 1 at the end: what sampling by inversion searches."""
        return 1.0 - self._above[1:]

    def survival(self, a: Floats) -> Floats:
        """P(m ≥ a) for each a."""
        return self._above[np.searchsorted(self.atoms, a, side="left")]

    def sqrt_below(self, a: Floats) -> Floats:
        """E[sqrt(m)·1{m ≤ a}] for each a."""
        return self._sqrt_below[np.searchsorted(self.atoms, a, side="right")]

    def nodes(self) -> tuple[Floats, Floats]:
        """All atoms with their probabilities."""
        return self.atoms, self.probabilities

    def support(self) -> Floats:
        """All atoms."""
        return self.atoms


class Bell(Table):
    """A table of consecutive atoms under a smooth bell (Poisson, binomial), which needs few nodes when it is wide."""

    def nodes(self) -> tuple[Floats, Floats]:
        """All atoms, or every h-th of a wide bell, where the rectangle rule is exact to rounding.

        The step h is odd, so that functions that differ between even and odd sizes keep their average.
        """
        if len(self.atoms) <= NODES_HEAD:
            return self.atoms, self.probabilities
        peak = self.probabilities.max()
        inner = np.flatnonzero(self.probabilities > 1e-40 * peak)
        step = len(inner) // 4096 | 1
        chosen = slice(inner[0], inner[-1] + 1, step)
        weights = self.probabilities[chosen]
        return self.atoms[chosen], weights / weights.sum()


def bell(mode: int, first: int, last: int, ratio: Callable[[Floats], Floats]) -> Bell:
    """The bell on first..last with ratio(i) = M(i+1)/M(i), built outwards from its mode.

    Ratios keep the digits that a difference of logarithms of factorials would lose.
    """
    rising = np.arange(first, mode, dtype=np.float64)
    falling = np.arange(mode, last, dtype=np.float64)
    with np.errstate(under="ignore"):
        left = np.cumprod(1.0 / ratio(rising[::-1]))[::-1]
        right = np.cumprod(ratio(falling))
    return Bell(np.arange(first, last + 1, dtype=np.float64), np.concatenate((left, [1.0], right)))


def panels(start: float, end: float) -> Floats:
    """Edges from `start` to `end` that grow by a constant ratio."""
    count = max(1, int(np.ceil(np.log(end / start) / np.log(_PANEL_RATIO))))
    edges = start * (end / start) ** (np.arange(count + 1) / count)
    edges[0], edges[-1] = start, end
    return edges


def gauss(density: Density, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Nodes and weights (one row for each interval) of the integral of `density` from low to high."""
    half = (high - low)[:, None] / 2
    at = (high + low)[:, None] / 2 + half * _GAUSS_POINTS
    return at, half * _GAUSS_WEIGHTS * density(at)


class LongTail(Sums):
    """Sums over more atoms than memory holds: a head of atoms, then Σ g(i) as ∫ g over [a - 1/2, b + 1/2].

    The integral is taken by Gauss–Legendre nodes on panels of growing width; the relative error is about
    g''/(24 g), which is 1e-13 or less beyond the head.
    """

    def __init__(self, density: Density, first: int, last: int) -> None:
        self._density = density
        self._first, self._last = first, last
        self._atoms: Floats = np.arange(first, first + HEAD, dtype=np.float64)
        self._edges = panels(first + HEAD - 0.5, last + 0.5)
        at, weights = gauss(density, self._edges[:-1], self._edges[1:])
        head = density(self._atoms)
        self.total = float(head.sum() + weights.sum())
        self._head: Floats = head / self.total
        self._panel_mass: Floats = weights.sum(axis=1) / self.total
        self._panel_sqrt: Floats = (weights * np.sqrt(at)).sum(axis=1) / self.total
        # What the last panel has of E m: an unbounded law that is cut there must have next to nothing left.
        self.last_share = float((weights[-1] * at[-1]).sum() / ((weights * at).sum() + head @ self._atoms))
        self.mean = float(self._head @ self._atoms + (weights * at).sum() / self.total)

    @cached_property
    def _tail_above(self) -> Floats:
        return running_sums(self._panel_mass[::-1])[::-1]

    @cached_property
    def _head_above(self) -> Floats:
        return running_sums(self._head[::-1])[::-1] + float(self._tail_above[0])

    @cached_property
    def _head_sqrt(self) -> Floats:
        return running_sums(self._head * np.sqrt(self._atoms))

    @cached_property
    def _tail_sqrt(self) -> Floats:
        return running_sums(self._panel_sqrt) + float(self._head_sqrt[-1])

    def survival(self, a: Floats) -> Floats:
        """P(m ≥ a) for each a."""
        a = np.clip(np.ceil(a), self._first, self._last + 1.0)
        in_head = a < self._first + HEAD
        result = np.empty_like(a)
        result[in_head] = self._head_above[(a[in_head] - self._first).astype(np.int64)]
        result[~in_head] = _in_chunks(self._tail_survival, a[~in_head])
        result[a == self._first] = 1.0
        return np.minimum(result, 1.0)

    def sqrt_below(self, a: Floats) -> Floats:
        """E[sqrt(m)·1{m ≤ a}] for each a."""
        a = np.clip(np.floor(a), self._first - 1.0, self._last)
        in_head = a < self._first + HEAD
        result = np.empty_like(a)
        result[in_head] = self._head_sqrt[(a[in_head] - self._first + 1).astype(np.int64)]
        result[~in_head] = _in_chunks(self._tail_sqrt_below, a[~in_head])
        return result

    def nodes(self) -> tuple[Floats, Floats]:
        """The first atoms, then the Gauss–Legendre nodes of the rest."""
        return smooth_nodes(self._density, self._first, self._last)

    def support(self) -> Floats | None:
        """None: the atoms are too many."""
        return None

    def _tail_survival(self, a: Floats) -> Floats:
        cut = a - 0.5
        panel = self._panel_of(cut)
        _, weights = gauss(self._density, cut, self._edges[panel + 1])
        part: Floats = weights.sum(axis=1) / self.total
        return self._tail_above[panel + 1] + part

    def _tail_sqrt_below(self, a: Floats) -> Floats:
        cut = a + 0.5
        panel = self._panel_of(cut)
        at, weights = gauss(self._density, self._edges[panel], cut)
        part: Floats = (weights * np.sqrt(at)).sum(axis=1) / self.total
        return self._tail_sqrt[panel] + part

    def _panel_of(self, cut: Floats) -> NDArray[np.int64]:
        found = np.searchsorted(self._edges, cut, side="right") - 1
        return np.clip(found, 0, len(self._edges) - 2).astype(np.int64)


class Smooth(Sums):
    """The sums of a smooth law: those of a table or a long tail, few nodes, and an exact survival if known."""

    def __init__(self, inner: Sums, density: Density, first: int, last: int, survival: Density | None) -> None:
        self._inner, self._survival = inner, survival or inner.survival
        self._nodes = (density, first, last)
        self.mean = inner.mean

    def survival(self, a: Floats) -> Floats:
        """P(m ≥ a) for each a."""
        return self._survival(a)

    def sqrt_below(self, a: Floats) -> Floats:
        """E[sqrt(m)·1{m ≤ a}] for each a."""
        return self._inner.sqrt_below(a)

    def nodes(self) -> tuple[Floats, Floats]:
        """The first atoms, then Gauss–Legendre nodes."""
        return smooth_nodes(*self._nodes)

    def support(self) -> Floats | None:
        """All atoms, or None where they are too many."""
        return self._inner.support()


def smooth_nodes(density: Density, first: int, last: int) -> tuple[Floats, Floats]:
    """Nodes of an expectation under a smooth law on first..last: its first atoms, then Gauss–Legendre nodes."""
    head_end = min(last, first + NODES_HEAD - 1)
    atoms = np.arange(first, head_end + 1, dtype=np.float64)
    sizes, weights = [atoms], [density(atoms)]
    if head_end < last:
        edges = panels(head_end + 0.5, last + 0.5)
        at, tail = gauss(density, edges[:-1], edges[1:])
        sizes.append(at.ravel())
        weights.append(tail.ravel())
    together = np.concatenate(weights)
    used = together > 0
    return np.concatenate(sizes)[used], together[used] / together.sum()


def _in_chunks(function: Callable[[Floats], Floats], a: Floats) -> Floats:
    pieces = [function(a[i : i + _QUERIES_AT_ONCE]) for i in range(0, len(a), _QUERIES_AT_ONCE)]
    return np.concatenate(pieces) if pieces else a
