"""Estimates: integers in, one number with an honest interval out. On the inner scale the bounds are -1 and 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from dame.device.questions import Measure
from dame.device.randomisers import OneBit
from dame.tally import Tally

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The result of a study, in its own units: value, standard error, interval, and what could have gone wrong.

    `weights` says whose mean it is: of all users alike ("equal"), or with the users' weights ("precision"). `users`
    counts the reports of each round; `failure_probability` is the chance, judged from the votes, that the
    study looked in the wrong place; `notes` are sentences for people.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float = LEVEL
    weights: str = "equal"
    users: tuple[int, ...]
    failure_probability: float = 0.0
    notes: tuple[str, ...] = ()

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
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A study that was played: its estimate, and the tally of every round."""

    estimate: Estimate
    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one round of measuring says about the mean on the inner scale."""

    value: float
    standard_error: float
    low: float
    high: float


def read_measure(tally: Tally, gain: float) -> Reading:
    """The mean θ from the tally of a `Measure` of one arm: centre + mean z / gain, where z = weight·(mean - centre).

    Unbiased as long as nobody's z is cut by the window and the gain is the mean weight: then E z = E weight·(θ -
    centre), whatever the sizes. This is equation (hat theta) of the paper, in which sqrt(m̃) - E sqrt(m ∧ m̃) stands as
    a sum over M.
    """
    question = tally.question
    assert isinstance(question, Measure)
    assert question.arms == 1, "arms are read by the protocol that asked for them"

    def theta(mean_report: float) -> float:
        return question.centre + _mean_z(question, mean_report) / gain

    low, high = _mean_interval(tally)
    noise = math.sqrt(_report_variance(tally) / tally.reports)
    return Reading(
        value=theta(tally.mean()),
        standard_error=(theta(1.0) - theta(0.0)) * noise,
        low=theta(low),
        high=theta(high),
    )


def _mean_z(question: Measure, mean_report: float) -> float:
    return question.left + question.noise.debias(mean_report) * (question.right - question.left)


def saturation(tally: Tally) -> float:
    """How far out in its window the mean z of a measurement lies: 0 in the middle, 1 at either end."""
    question = tally.question
    assert isinstance(question, Measure)
    ones = sum(ones for _, ones in tally.arms)
    return abs(2 * question.noise.debias(ones / tally.reports) - 1)


def normal_quantile() -> float:
    """How many standard errors an interval reaches to either side."""
    return NormalDist().inv_cdf((1 + LEVEL) / 2)


def estimate_from_reading(reading: Reading, users: Sequence[int], notes: Sequence[str] = ()) -> Estimate:
    """The estimate on the inner scale, projected on [-1, 1], where θ is known to lie."""
    return Estimate(
        value=_inside(reading.value),
        standard_error=reading.standard_error,
        interval=(_inside(reading.low), _inside(reading.high)),
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
    half = (high - low) / 2
    lower, upper = (to_units(end, low, high) for end in estimate.interval)
    return replace(
        estimate,
        value=to_units(estimate.value, low, high),
        standard_error=estimate.standard_error * half,
        interval=(lower, upper),
    )


def to_units(inner: float, low: float, high: float) -> float:
    """A number on the inner scale [-1, 1] in a study's own units, never outside its bounds."""
    return min(max(low + (inner + 1) * (high - low) / 2, low), high)  # rounding may pass a bound


def _inside(value: float) -> float:
    return min(max(value, -1.0), 1.0)


def _is_bit(tally: Tally) -> bool:
    return isinstance(tally.question, Measure) and isinstance(tally.question.noise, OneBit)


def _report_variance(tally: Tally) -> float:
    """The variance of one report, from the reports themselves: noise and differences between people together."""
    if _is_bit(tally):
        return tally.mean() * (1 - tally.mean())
    # Integers up to the last division: a difference of two large floats would lose its digits.
    scatter = tally.sums[1] * tally.reports - tally.sums[0] ** 2
    return scatter / (tally.reports * max(tally.reports - 1, 1))


def _mean_interval(tally: Tally) -> tuple[float, float]:
    """A 95 % interval for the expected report: Wilson's for bits, Student's for noisy grid points."""
    n, mean = tally.reports, tally.mean()
    if _is_bit(tally):
        z2 = normal_quantile() ** 2
        middle = (mean + z2 / (2 * n)) / (1 + z2 / n)
        half = math.sqrt(z2 * (mean * (1 - mean) / n + z2 / (4 * n * n))) / (1 + z2 / n)
        return middle - half, middle + half
    if n == 1:
        return -math.inf, math.inf
    from scipy import special  # slow to load

    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * math.sqrt(_report_variance(tally) / n)
    return mean - half, mean + half
