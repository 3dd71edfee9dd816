"""The planner of stripes: levels, shares, the finest frequency and least sizes, from exact bias and variance.

The finest level measures; the others, each a few times as wide as the next, tell which of its stripes is meant. A level
has as many people as phases. The search looks for the least risk under the worst of the feared distributions, among
designs whose chance of a wrong stripe is certainly small enough.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dame.device.lenses import MOST_WINDOWS
from dame.device.records import MOST_RECORDS
from dame.device.stripes import SHORTEST, Level, Stripes
from dame.planning.brief import Brief
from dame.protocols.one_round.certificate import most_of_it, wrong_stripe_bound
from dame.protocols.one_round.responses import (
    Floats,
    Responses,
    feared,
    frequencies,
    frequency_of,
    grouped,
    information,
    signs,
    suspects,
)
from dame.protocols.one_round.tuning import TUNING
from dame.sizes import Sizes
from dame.theory import privacy_factor

Levels = tuple[Level, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeDesign:
    """Levels of stripes, their worst mean squared error on the inner scale, and the bound on a wrong stripe."""

    levels: Levels
    risk: float
    failure: float

    @property
    def lens(self) -> Stripes:
        """The lens with these levels."""
        return Stripes(levels=self.levels)


def best_design(brief: Brief, failure: float) -> StripeDesign | None:
    """The design with the least risk whose chance of a wrong stripe is at most `failure`; None if there is none."""
    return _best(brief.sizes, brief.users, privacy_factor(brief.alpha), failure)


@lru_cache(maxsize=64)
def _best(sizes: Sizes, users: int, privacy: float, failure: float) -> StripeDesign | None:
    search = _LevelSearch(sizes, users, privacy, failure)
    for _ in range(TUNING.searches):
        design = _found(search)
        if design is None or (bound := search.certain_bound(design.levels)) <= failure:
            return None if design is None else replace(design, failure=bound)
        # The search adds up most of the bound only: what it left out was too much.
        search.failure *= failure / bound / 2
    return None


def _found(search: _LevelSearch) -> StripeDesign | None:
    found: list[StripeDesign] = []
    for finest in search.finest():
        for levels in search.ladders(finest):
            design = search.with_fewest_phases(levels, TUNING.close * min((each.risk for each in found), default=1.0))
            found += [] if design is None else [design]
    best = sorted(found, key=lambda design: design.risk)[: TUNING.thinned]
    return min(map(search.thinned, best), key=lambda design: design.risk, default=None)


class _LevelSearch:
    """What a search for levels must know, and its steps."""

    def __init__(self, sizes: Sizes, users: int, privacy: float, failure: float) -> None:
        self.users, self.privacy, self.failure = users, privacy, failure
        groups = grouped(sizes)
        self.seen, self.as_signs = Responses(feared(), groups), Responses(signs(feared().means), groups)
        self.suspects = Responses(suspects(), groups)
        self.largest = float(groups.sizes.max())

    # --- the finest level

    def finest(self) -> list[Level]:
        """The finest levels to try, those first whose risk would be the least if they were alone."""
        tried = [self._alone(frequency) for frequency in self._frequencies()]
        best = min(range(len(tried)), key=lambda place: tried[place][0])
        # A lower frequency needs fewer people on the other levels, and may be better in the end; far lower ones are for
        # studies that are too small for a ladder to the best.
        first = max(best + 2 - TUNING.finalists, 0)
        near, far = tried[first : best + 2], tried[: first : TUNING.sparse]
        return [level for risk, level in [*sorted(near), *reversed(far)] if math.isfinite(risk)]

    def _frequencies(self) -> Floats:
        low = 2 * math.pi / TUNING.coarsest[0]
        high = max(TUNING.highest * math.sqrt(self.largest), 2 * low)
        high = min(high, math.pi * TUNING.most_points / TUNING.grid, 2 * math.pi / SHORTEST)
        return np.asarray(low * TUNING.frequency_step ** np.arange(math.log(high / low, TUNING.frequency_step)))

    def _alone(self, frequency: float) -> tuple[float, Level]:
        """The least risk at a frequency, were everybody asked about it alone, and the level with the best size."""
        levels = [_level(frequency, MOST_WINDOWS, factor) for factor in TUNING.fewest]
        return min((self._risk((level,)), level) for level in levels)

    # --- the ladder that leads to it

    def ladders(self, finest: Level) -> Iterator[Levels]:
        """Levels between the widest stripes and the finest, whose phases are still to be found."""
        last = frequency_of(finest)
        yield (finest,)
        for coarsest in TUNING.coarsest:
            first = 2 * math.pi / coarsest
            fewest = max(math.ceil(math.log(last / first, TUNING.largest_ratio)), 1)
            for steps in range(fewest, fewest + TUNING.more_levels):
                omegas = [first * (last / first) ** (step / steps) for step in range(steps)]
                if 1.2 * first < last:
                    yield (*(_level(omega, 1, TUNING.coarse_fewest) for omega in omegas), finest)

    def with_fewest_phases(self, levels: Levels, most: float) -> StripeDesign | None:
        """The design with as few phases on all levels but the finest as are certain enough, if its risk is below."""
        rungs = len(levels) - 1
        able = [count for count in TUNING.phases if rungs * count <= TUNING.most_on_ladder * MOST_WINDOWS]
        each = [with_phases(levels, [count] * rungs) for count in able] if rungs else [levels]
        # More phases: a larger risk, and more certain.
        each = each[: bisect.bisect_left(each, most, key=self._risk)]
        place = bisect.bisect_left(each, True, key=self._is_certain)
        return self._judged(each[place]) if place < len(each) else None

    def thinned(self, design: StripeDesign) -> StripeDesign:
        """The design with fewer phases on those levels that have more than is needed, one step after the other."""
        phases = [level.phases for level in design.levels[:-1]]
        fewer = [_fewer(phases, rung) for rung in range(len(phases)) if phases[rung] > TUNING.phases[0]]
        tried = [self._judged(with_phases(design.levels, each)) for each in fewer]
        certain = [each for each in tried if each.failure <= self.failure]
        return self.thinned(min(certain, key=lambda each: each.failure)) if certain else design

    def _judged(self, levels: Levels) -> StripeDesign:
        return StripeDesign(levels=levels, risk=self._risk(levels), failure=self._bound(levels))

    # --- what levels are worth

    def _is_certain(self, levels: Levels) -> bool:
        return self._bound(levels) <= self.failure

    def _bound(self, levels: Levels) -> float:
        return most_of_it(levels, self.suspects, self.users, self.privacy, self.failure)

    def certain_bound(self, levels: Levels) -> float:
        """The whole bound, for all distributions that are feared."""
        return wrong_stripe_bound(levels, self.seen, self.users, self.privacy)

    def _risk(self, levels: Levels) -> float:
        """The worst mean squared error: what the levels say together, each in its own measure of certainty."""
        omegas, found = frequencies(levels), self.seen.at(levels)
        reports = np.array([level.phases for level in levels]) * (self.users / MOST_WINDOWS)
        told = information(levels, np.abs(found), reports, self.seen.enough(levels), self.privacy)
        total = told.sum(axis=1)
        if not total.min() > 0:
            return math.inf
        # The reader takes away half of the bias that signs would have: see `reading`.
        bias = (np.angle(found) - np.angle(self.as_signs.at(levels)) / 2) / omegas
        return float((((told * bias).sum(axis=1) / total) ** 2 + 1 / total).max())


def with_phases(levels: Levels, phases: list[int]) -> Levels:
    """The levels with so many phases each; the finest has what is left."""
    counts = [*phases, MOST_WINDOWS - sum(phases)]
    return tuple(level._replace(phases=count) for level, count in zip(levels, counts, strict=True))


def _fewer(phases: list[int], rung: int) -> list[int]:
    """Two phases less on one level: their number stays odd."""
    return [count - 2 * (place == rung) for place, count in enumerate(phases)]


def _level(frequency: float, phases: int, fewest: float) -> Level:
    least = min(max(math.ceil(fewest * frequency**2), 1), MOST_RECORDS)
    return Level(2 * math.pi / frequency, phases, least)
