"""Where people are: what the protocols for quantiles and for the whole distribution have in common.

Every round asks for single bits: first on which side of stripes people are, then above or below which thresholds. All
rounds are read together, as one likelihood (`dame.between_users.curve`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from dame import checks
from dame.between_users.curve import Curve, Roundest, Scale, read_curve, read_quickly
from dame.between_users.density import Floats
from dame.curves import Distribution, Quantile
from dame.device.channels import Bits
from dame.device.lenses import Lens, Windows
from dame.device.questions import Question
from dame.device.stripes import Level, Stripes
from dame.errors import InvalidInput
from dame.estimates import LEVEL, Estimate, know_nothing
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.planning.rounds import Round
from dame.protocols.base import Protocol
from dame.tally import Tally

STRIPES = Stripes(levels=(Level(4.0, 64), Level(2.0, 32), Level(1.0, 18), Level(0.5, 14)))
"""Half of the people are asked about thresholds all over the range, the others about finer and finer digits."""
_THRESHOLDS = 64
_SHIFT = 0.37
"""Thresholds of a first round are this part of a step beside round places, where people often are."""
EDGES = 64
"""Cells in which a distribution is told."""


class OfPeople(Protocol):
    """A protocol that tells the distribution of people, or its quantiles."""

    choices = frozenset({"max_rounds"})
    names: tuple[str, ...]
    """What rounds are called."""
    round_shares: tuple[tuple[float, ...], ...]
    """The shares of people of each round, for studies of one round, of two and so on."""

    @abstractmethod
    def thresholds(self, plan: MachinePlan, curve: Curve, error: float) -> Sequence[float]:
        """The thresholds of the next round, after a curve whose shares have about this error."""

    @abstractmethod
    def told(self, brief: Brief) -> Sequence[float]:
        """The levels of the quantiles that are told."""

    @abstractmethod
    def in_shares(self, brief: Brief, people: float) -> float:
        """The predicted standard error of the share below a quantile, with so many people."""

    @abstractmethod
    def forecast(self, brief: Brief, error: float) -> Forecast:
        """The forecast for a predicted error in shares."""

    def plan(self, brief: Brief, **choices: Any) -> MachinePlan:
        """As many rounds as may be asked."""
        most = checks.whole("max_rounds", choices.get("max_rounds", len(self.round_shares)), 1, 6)
        shares = self.round_shares[min(most, len(self.round_shares)) - 1]
        channel, lens = Bits.single(brief.alpha), _first_lens(brief)
        asked = [lens, *([Windows.thresholds([0.0] * self._threshold_count(brief))] * (len(shares) - 1))]
        rounds = [
            Round(
                name=self.names[place],
                share=share,
                lens=asked[place],
                channel=channel,
                error_after=self.in_shares(brief, max(brief.users * sum(shares[: place + 1]), 1.0)),
            )
            for place, share in enumerate(shares)
        ]
        return MachinePlan(
            protocol=self.name,
            protocol_version=self.version,
            brief=brief,
            rounds=tuple(rounds),
            forecast=self.forecast(brief, self.in_shares(brief, brief.users)),
        )

    @abstractmethod
    def _threshold_count(self, brief: Brief) -> int:
        """How many thresholds a later round has: a power of two."""

    def counts_everybody(self, plan: MachinePlan) -> bool:
        """Yes: wherever they are."""
        del plan
        return True

    def known_shift(self, plan: MachinePlan, share: float) -> float | None:
        """Whoever always says the same moves the share below a threshold from q by share·(its debiased bit - q)."""
        farthest = max(max(level, 1 - level) for level in self.told(plan.brief))
        return share * (Bits.single(plan.alpha).debias(1.0) - 1 + farthest) * self.unit(plan.brief)

    @abstractmethod
    def unit(self, brief: Brief) -> float:
        """What an error of a whole share is in units of the predicted error."""

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """Stripes all over the range, or thresholds that follow from what was heard."""
        round_ = plan.rounds[len(history)]
        heard = [tally for tally in history if tally.reports]
        if not heard:
            return round_.ask(plan.brief, len(history), _first_lens(plan.brief))
        reports = sum(tally.reports for tally in heard)
        error = math.sqrt(heard[0].question.channel.variance(0.5) / reports)
        places = self.thresholds(plan, read_quickly(heard, scale_of(plan.brief)), error)
        return round_.ask(plan.brief, len(history), Windows.thresholds(places))

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds together say of the people."""
        curve = read_curve(history, scale_of(plan.brief))
        quantiles = _in_order([curve.told(at, LEVEL, _roundest(plan.brief)) for at in self.told(plan.brief)])
        middle = min(quantiles, key=lambda quantile: abs(quantile.at - 0.5))
        return Estimate(
            value=middle.value,
            standard_error=middle.standard_error,
            interval=middle.interval,
            users=tuple(tally.reports for tally in history),
            quantiles=tuple(quantiles),
            distribution=_distribution(curve, plan.brief),
        )

    def nothing(self, plan: MachinePlan, users: Sequence[int], note: str) -> Estimate:
        """Anything may be true: every quantile anywhere."""
        nothing = know_nothing(users, note)
        quantiles = tuple(
            Quantile(at=at, value=0.0, standard_error=1.0, interval=nothing.interval, share_error=1.0)
            for at in self.told(plan.brief)
        )
        edges = tuple(scale_of(plan.brief).inner(np.linspace(0.0, 1.0, EDGES + 1)).tolist())
        flat = tuple(np.linspace(0.0, 1.0, EDGES + 1).tolist())
        band = {"low": (*[0.0] * EDGES, 1.0), "high": (1.0,) * (EDGES + 1)}
        curve = Distribution(edges=edges, cdf=flat, level=LEVEL, **band)
        return Estimate(
            value=0.0,
            standard_error=1.0,
            interval=nothing.interval,
            users=nothing.users,
            notes=nothing.notes,
            quantiles=quantiles,
            distribution=curve,
        )


def scale_of(brief: Brief) -> Scale:
    """The scale on which people are looked at."""
    return Scale(ratio=brief.high / brief.low) if brief.scale == "log" else Scale()


def squared_noise(alpha: float) -> float:
    """The variance of the share below a threshold that a single bit tells, where half of the people are below."""
    return Bits.single(alpha).variance(0.5)


def _first_lens(brief: Brief) -> Lens:
    """Stripes; on a scale of its own, where stripes of one width would not help, thresholds all over the range."""
    if brief.scale == "linear":
        return STRIPES
    places = (np.arange(_THRESHOLDS) + _SHIFT) / _THRESHOLDS
    return Windows.thresholds(scale_of(brief).inner(places).tolist())


def _roundest(brief: Brief) -> Roundest:
    """The number with the fewest digits between two, in the units of the study."""

    def within(low: float, high: float) -> float:
        first, last = (brief.low + (end + 1) * brief.half_range for end in (low, high))
        if not first < last:
            return low
        step = 10.0 ** math.floor(math.log10(last - first))
        # The coarsest step of which a multiple lies between them: the multiple next to the middle.
        for unit in (10 * step, 5 * step, 2 * step, step):
            multiple = unit * round((first + last) / 2 / unit)
            if first <= multiple <= last:
                return min(max((multiple - brief.low) / brief.half_range - 1, low), high)
        return (low + high) / 2

    return within


def _in_order(quantiles: Sequence[Quantile]) -> list[Quantile]:
    """The quantiles, each not before the one before it: round numbers are chosen for each by itself."""
    values = accumulate((quantile.value for quantile in quantiles), max)
    lows = accumulate((quantile.interval[0] for quantile in quantiles), max)
    highs = accumulate((quantile.interval[1] for quantile in quantiles), max)
    return [
        replace(quantile, value=value, interval=(low, high))
        for quantile, value, low, high in zip(quantiles, values, lows, highs, strict=True)
    ]


def _distribution(curve: Curve, brief: Brief) -> Distribution:
    edges = scale_of(brief).inner(np.linspace(0.0, 1.0, EDGES + 1))
    low, high = curve.band(LEVEL)

    def at_edges(values: Floats) -> tuple[float, ...]:
        return tuple(np.clip(np.interp(edges, curve.points, values), 0.0, 1.0).tolist())

    return Distribution(
        edges=tuple(edges.tolist()),
        cdf=at_edges(np.maximum.accumulate(curve.cdf)),
        low=at_edges(low),
        high=at_edges(high),
        level=LEVEL,
    )


def need_levels(brief: Brief) -> tuple[float, ...]:
    """The levels of a brief that must have some."""
    if not brief.levels:
        raise InvalidInput("levels", [], "at least one number between 0 and 1, such as 0.5 for the median")
    return brief.levels
