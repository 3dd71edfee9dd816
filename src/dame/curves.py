"""Distributions as a study tells them: a cumulative curve with a band, and quantiles with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dame.errors import InvalidInput

CURVE = ("edges", "cdf", "low", "high")
"""Keys of a distribution in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The point that a share `at` of people lies below, with its standard error and interval.

    `share_error` is the standard error of the share of people who really lie below that point.
    """

    at: float
    value: float
    standard_error: float
    interval: tuple[float, float]
    share_error: float

    def to_json(self) -> dict[str, object]:
        """The quantile as a JSON object."""
        return {
            "at": self.at,
            "estimate": self.value,
            "standard_error": self.standard_error,
            "interval": list(self.interval),
            "share_error": self.share_error,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Quantile:
        """The quantile that `to_json` gave."""
        given = {**document, "interval": tuple(document["interval"])}
        return cls(value=given.pop("estimate"), **given)


class Bar(NamedTuple):
    """A bar of a histogram: the share of people between two edges, and the least and the most that the band allows."""

    left: float
    right: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Where people are: the share of them at or below each edge, and a band that holds the whole curve.

    The band is simultaneous: with the chance `level`, the true share lies within it at every edge.
    """

    edges: tuple[float, ...]
    cdf: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float

    def __post_init__(self) -> None:
        if len({len(self.edges), len(self.cdf), len(self.low), len(self.high)}) != 1 or len(self.edges) < 2:
            raise InvalidInput("edges", len(self.edges), "as many as shares and ends of the band, at least two")

    def below(self, point: float) -> float:
        """The share of people at or below a point."""
        return float(np.interp(point, self.edges, self.cdf))

    def quantile(self, at: float) -> float:
        """The point that such a share of people lies below."""
        return float(np.interp(at, *_rising(self.cdf, self.edges)))

    def quantile_interval(self, at: float) -> tuple[float, float]:
        """All points whose share the band allows to be `at`."""
        high, low = (np.array(each) for each in (self.high, self.low))
        first = int(np.searchsorted(high, at))  # the curve may already be so high there
        last = int(np.searchsorted(low, at, side="right"))  # it must be higher from there on
        return self.edges[max(min(first, len(high)) - 1, 0)], self.edges[min(last, len(low) - 1)]

    def histogram(self, bars: int = 16, scale: str = "linear") -> tuple[Bar, ...]:
        """The share of people in each of so many bars of one width; on the scale "log", of one ratio of their ends."""
        spaced = np.geomspace if scale == "log" else np.linspace
        edges = spaced(self.edges[0], self.edges[-1], bars + 1)
        cdf, low, high = (np.interp(edges, self.edges, each) for each in (self.cdf, self.low, self.high))
        cdf[0] = low[0] = high[0] = 0.0  # whoever is at the first edge is in the first bar
        return tuple(
            Bar(
                float(edges[i]),
                float(edges[j]),
                float(cdf[j] - cdf[i]),
                max(float(low[j] - high[i]), 0.0),
                min(float(high[j] - low[i]), 1.0),
            )
            for i, j in pairwise(range(bars + 1))
        )

    def density(self, bars: int = 64) -> tuple[tuple[float, float], ...]:
        """Middles of so many bars, and the density of people there: their share per unit."""
        return tuple(((bar.left + bar.right) / 2, bar.share / (bar.right - bar.left)) for bar in self.histogram(bars))

    def with_edges(self, edges: Sequence[float]) -> Distribution:
        """The same curve with its edges in other units."""
        return replace(self, edges=tuple(edges))

    def to_json(self) -> dict[str, object]:
        """The curve as a JSON object."""
        return {name: list(getattr(self, name)) for name in CURVE}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], level: float) -> Distribution:
        """The curve that `to_json` gave."""
        return cls(**{name: tuple(document[name]) for name in CURVE}, level=level)


def _rising(cdf: Sequence[float], edges: Sequence[float]) -> tuple[Any, Any]:
    """Shares and edges without those edges at which nobody was added: a quantile is the first point that reaches it."""
    shares = np.array(cdf)
    keep = np.append(True, np.diff(shares) > 0)
    return shares[keep], np.array(edges)[keep]
