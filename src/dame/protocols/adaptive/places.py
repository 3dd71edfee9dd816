"""Where θ may be, after votes: places that are some bins wide, and what all rounds say in each.

Mostly a single place is left. Where votes are few, others stay possible; the bits of later rounds decide between them,
since a window in a wrong place is saturated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dame.protocols.adaptive.models import EITHER_WAY, Models, Spot, distribution_chances
from dame.protocols.adaptive.posterior import Heard, Posterior, Promising, posterior
from dame.protocols.adaptive.tuning import TUNING

Floats = NDArray[np.float64]


class Place(NamedTuple):
    """From low to high, about in the middle; and the logarithm of its chance, up to a constant."""

    low: float
    middle: float
    high: float
    log_chance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Located:
    """What is believed in each place that is left, the likeliest first, with its chance among all places."""

    places: tuple[Posterior, ...]
    chances: Floats

    @property
    def best(self) -> Posterior:
        """What is believed in the likeliest place."""
        return self.places[0]

    @property
    def doubt(self) -> float:
        """The chance that θ is in another place than the likeliest."""
        return max(1.0 - float(self.chances[0]), 0.0)

    def interval(self) -> tuple[float, float]:
        """The ends of the fewest places that hold as much of the chance as an interval should."""
        low, high = math.inf, -math.inf
        held = 0.0
        for place, chance in zip(self.places, self.chances, strict=True):
            ends = place.interval()
            low, high, held = min(low, ends[0]), max(high, ends[1]), held + float(chance)
            if held >= TUNING.belief:
                return low, high
        return -1.0, 1.0


def located(models: Models, told: Sequence[Heard], centres: Sequence[float], scale: float) -> Located:
    """What is believed after all that was heard, in every place that it leaves.

    `centres` are those of the windows so far, the last one first: near the last one in a place θ is expected within a
    few times `scale`.
    """
    finest = [look for item in told for look in item.promising()][-1:]
    if not finest:
        return Located(places=(posterior(models, told, [*centres, 0.0][0], scale),), chances=np.ones(1))
    places = _places_left(models, told, finest[0])
    found = []
    for place in places[: TUNING.most_places]:
        near = next((centre for centre in centres if place.low <= centre <= place.high), place.middle)
        found.append(posterior(models, told, near, scale, (place.low, place.high)))
    logs = np.array([each.log_evidence for each in found])
    # Places beyond the most are counted as they seemed at first sight.
    rest = [place.log_chance - places[0].log_chance + logs[0] for place in places[TUNING.most_places :]]
    chances = np.exp(np.array([*logs, *rest]) - logs.max())
    chances /= chances.sum()
    order = np.argsort(-chances[: len(found)], kind="stable")
    return Located(places=tuple(found[place] for place in order), chances=chances[order])


def _places_left(models: Models, told: Sequence[Heard], finest: Promising) -> list[Place]:
    """The places that all rounds together leave, the likeliest first."""
    theta = _worth_a_look(models, told, finest)
    chances = np.logaddexp.reduce(_fit(models, told, theta), axis=0)
    reach = TUNING.place_reach * finest.width
    places: list[Place] = []
    while len(theta):
        middle = float(theta[int(chances.argmax())])
        near = np.abs(theta - middle) <= reach
        chance = float(np.logaddexp.reduce(chances[near]))
        if places and chance < places[0].log_chance + math.log(TUNING.hopeless_place):
            break
        places.append(Place(max(middle - reach, -1.0), middle, min(middle + reach, 1.0), chance))
        theta, chances = theta[~near], chances[~near]
    return places


def _worth_a_look(models: Models, told: Sequence[Heard], finest: Promising) -> Floats:
    """Borders and middles of the bins for which most speaks at first sight."""
    others = [item for item in told if not list(item.promising())]
    theta = np.clip(finest.theta, -1.0, 1.0)
    seems = finest.chances + _fit(models, others, theta).max(axis=0)
    best = finest.theta[np.argsort(-seems, kind="stable")[: TUNING.first_places]]
    halves = finest.width * np.array([-0.5, 0.0, 0.5])
    return np.unique(np.clip(best[:, None] + halves, -1.0, 1.0))


def _fit(models: Models, told: Sequence[Heard], theta: Floats) -> Floats:
    """The log density of what was heard, by distribution and θ, if sizes are as assumed."""
    spot = Spot(place=0.0, crowds=np.array([0]), leanings=EITHER_WAY)
    fit = distribution_chances(theta)
    for item in told:
        fit = fit + item.fit(models, theta, spot)[0, 0]
    return fit
