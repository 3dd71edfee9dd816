"""Estimates: integers in, one number with an honest interval out. On the inner scale the bounds are -1 and 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from statistics import NormalDist
from typing import Any, TypeVar

from dame.curves import CURVE, Distribution, Quantile
from dame.device.channels import Bits, Channel, Laplace
from dame.device.lenses import Windows
from dame.errors import InvalidInput, Mismatch
from dame.tally import Tally

LEVEL = 0.95
Number = TypeVar("Number", "Estimate", Quantile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The result of a study, in its own units: value, standard error, interval, and what could have gone wrong.

    `weights` says whose mean it is: of all users alike ("equal"), or with the users' weights ("precision"). `users`
    counts the reports of each round; `failure_probability` is the chance, judged from the votes, that the
    study looked in the wrong place; `notes` are sentences for people.

    `quantiles` and `distribution` tell where people are, in studies that found out.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float = LEVEL
    weights: str = "equal"
    users: tuple[int, ...]
    failure_probability: float = 0.0
    notes: tuple[str, ...] = ()
    quantiles: tuple[Quantile, ...] = ()
    distribution: Distribution | None = None

    def to_json(self) -> dict[str, object]:
        """The estimate as a JSON object."""
        return {
            "estimate": self.value,
            "standard_error": self.standard_error,
            "interval": list(self.interval),
            "level": self.level,
            "weights": self.weights,
            "users": list(self.users),
            "failure_probability": self.failure_probability,
            "notes": list(self.notes),
            **({"values": [quantile.to_json() for quantile in self.quantiles]} if self.quantiles else {}),
            **(self.distribution.to_json() if self.distribution else {}),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Estimate:
        """The estimate that `to_json` gave."""
        given: dict[str, Any] = dict(document)
        curve = {name: given.pop(name) for name in CURVE if name in given}
        given["quantiles"] = tuple(map(Quantile.from_json, given.pop("values", ())))
        given["distribution"] = Distribution.from_json(curve, given["level"]) if curve else None
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(value=given.pop("estimate"), **given | lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A machine that came to its end: what it found, and the tally of every round, of everybody and by group."""

    estimate: Estimate
    tallies: tuple[Tally, ...]
    by_group: tuple[Mapping[str, Tally], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of the mean on the inner scale: a value, its standard error, and an interval."""

    value: float
    standard_error: float
    low: float
    high: float


def read_window(tally: Tally, lens: Windows, gain: float) -> Measured:
    """The mean θ from the tally of a single window: centre + mean z / gain, where z = weight·(mean - centre).

    Unbiased as long as nobody's z is cut by the window and the gain is the mean weight: then E z = E weight·(θ -
    centre), whatever the sizes. This is equation (hat theta) of the paper, in which sqrt(m̃) - E sqrt(m ∧ m̃) stands as
    a sum over M.
    """
    if lens.window_count > 1:
        raise Mismatch(f"a single window was expected here, not {lens.window_count}")
    ((centre, left, right),) = lens.windows
    debias = tally.question.channel.debias

    def theta(mean: float) -> float:
        return centre + (left + debias(mean) * (right - left)) / gain

    variance, (low, high) = scatter(tally.question.channel, tally)
    return Measured(
        value=theta(tally.mean()),
        standard_error=(theta(1.0) - theta(0.0)) * math.sqrt(variance / tally.reports),
        low=theta(low),
        high=theta(high),
    )


def saturation(tally: Tally) -> float:
    """How far out in their windows people are on average: 0 in the middle, 1 at either end."""
    return abs(2 * tally.question.channel.debias(tally.mean()) - 1)


@singledispatch
def scatter(channel: Channel, tally: Tally) -> tuple[float, tuple[float, float]]:
    """The variance of the first entry of a report, and an interval for its expectation, from the reports themselves.

    Noise and differences between people together. Other channels register a function of their own.
    """
    raise InvalidInput("channel", channel.kind, "one whose scatter is known: register one")


@scatter.register
def _bit_scatter(channel: Bits, tally: Tally) -> tuple[float, tuple[float, float]]:
    """Of bits, with Wilson's interval."""
    n, mean, z2 = tally.reports, tally.mean(), normal_quantile() ** 2
    middle = (mean + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (mean * (1 - mean) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return mean * (1 - mean), (middle - half, middle + half)


@scatter.register
def _laplace_scatter(channel: Laplace, tally: Tally) -> tuple[float, tuple[float, float]]:
    """Of noisy grid points, with Student's interval."""
    from scipy import special  # slow to load

    n, (total, squares) = tally.reports, tally.sums
    # Integers up to the last division: a difference of two large floats would lose its digits.
    variance = (squares * n - total**2) / (n * max(n - 1, 1))
    if n == 1:
        return variance, (-math.inf, math.inf)
    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * math.sqrt(variance / n)
    return variance, (tally.mean() - half, tally.mean() + half)


def normal_quantile() -> float:
    """How many standard errors an interval reaches to either side."""
    return NormalDist().inv_cdf((1 + LEVEL) / 2)


def estimate_from(measured: Measured, users: Sequence[int], notes: Sequence[str] = ()) -> Estimate:
    """The estimate on the inner scale, projected on [-1, 1], where θ is known to lie."""
    return Estimate(
        value=_inside(measured.value),
        standard_error=measured.standard_error,
        interval=(_inside(measured.low), _inside(measured.high)),
        users=tuple(users),
        notes=tuple(notes),
    )


def know_nothing(users: Sequence[int], note: str) -> Estimate:
    """The estimate when nothing was learnt: the middle, and the whole range as its interval."""
    return Estimate(value=0.0, standard_error=1.0, interval=(-1.0, 1.0), users=tuple(users), notes=(note,))


def widened(estimate: Estimate, failure_probability: float, note: str) -> Estimate:
    """The estimate with the whole range as its interval: for a study that may have looked in the wrong place."""
    notes = (*estimate.notes, note)
    return replace(estimate, interval=(-1.0, 1.0), failure_probability=failure_probability, notes=notes)


def in_units(estimate: Estimate, low: float, high: float) -> Estimate:
    """The estimate, moved from the inner scale to a study's own bounds."""
    curve = estimate.distribution
    return replace(
        _in_units(estimate, low, high),
        quantiles=tuple(_in_units(quantile, low, high) for quantile in estimate.quantiles),
        distribution=curve and curve.with_edges([to_units(edge, low, high) for edge in curve.edges]),
    )


def _in_units(number: Number, low: float, high: float) -> Number:
    """A number with its error and interval, in a study's own units."""
    lower, upper = (to_units(end, low, high) for end in number.interval)
    return replace(
        number,
        value=to_units(number.value, low, high),
        standard_error=number.standard_error * (high - low) / 2,
        interval=(lower, upper),
    )


def to_units(inner: float, low: float, high: float) -> float:
    """A number on the inner scale [-1, 1] in a study's own units, never outside its bounds."""
    return min(max(low + (inner + 1) * (high - low) / 2, low), high)  # rounding may pass a bound


def _inside(value: float) -> float:
    return min(max(value, -1.0), 1.0)
