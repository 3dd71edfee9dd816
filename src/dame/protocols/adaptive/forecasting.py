"""What rounds are expected to achieve: the posterior that they would lead to, for each distribution of the family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.planning.brief import Brief
from dame.planning.rounds import Round, moved
from dame.protocols.adaptive.error_path import ErrorState
from dame.protocols.adaptive.locate import state_after
from dame.protocols.adaptive.models import LEANINGS, ROOMS, Models, Spot, a_few
from dame.protocols.adaptive.posterior import HeardBits, HeardCentre, HeardWindow, posterior
from dame.protocols.adaptive.tuning import TUNING

Floats = NDArray[np.float64]

_NODES = np.array([-math.sqrt(3), 0.0, math.sqrt(3)])
_CHANCES = np.array([1 / 6, 2 / 3, 1 / 6])
MOST = tuple(range(0, len(ROOMS), 2))
SOME = (0, 4, 8, 10, 14)
"""Distributions by their places in ROOMS: enough to predict, and enough to compare designs."""


def after_each(brief: Brief, rounds: Sequence[Round], laws: tuple[int, ...] = MOST) -> list[ErrorState]:
    """What to expect after each round, for some of the distributions, if sizes are as assumed."""
    return [_after(brief, tuple(rounds[: count + 1]), laws) for count in range(len(rounds))]


@lru_cache(maxsize=512)
def _after(brief: Brief, rounds: tuple[Round, ...], laws: tuple[int, ...]) -> ErrorState:
    # Remembered, because designs that are compared have their first rounds in common.
    *earlier, last = rounds
    if not earlier or last.lens.bins > 1:
        return state_after(last.lens, last, brief, reporting(brief, last.share), ROOMS)
    return _measured(a_few(brief), brief, last, _after(brief, tuple(earlier), laws), laws)


def reporting(brief: Brief, share: float) -> float:
    """Effective number of users of a round: the hash splits them at random, which costs where there are few."""
    expected = brief.users * share
    return expected / (1 + (1 - share) / expected)


def _measured(models: Models, brief: Brief, round_: Round, before: ErrorState, laws: Sequence[int]) -> ErrorState:
    """The state after one more round around a centre that is off as before it."""
    users, planned = reporting(brief, round_.share), narrowed(Windows, round_.lens)
    channel = narrowed(Bits, round_.channel)
    bias, spread = np.zeros(len(ROOMS)), np.zeros(len(ROOMS))
    for law in laws:
        room = float(ROOMS[law])
        theta = -(1 - room) * (0.5 if room < TUNING.halfway else 1.0)
        errors, variances = np.empty((2, len(_NODES)))
        for node, sigmas in enumerate(_NODES):
            centre = min(max(theta + float(before.bias[law] + sigmas * before.spread[law]), -1.0), 1.0)
            told = HeardCentre(centre=centre, spread=before.spread)
            bits = _answers(models, moved(planned, centre), channel, users, theta, law)
            found = posterior(models, [told, bits], centre, float(before.spread[law]))
            errors[node], variances[node] = found.mean - theta, found.spread**2
        # Where the centre was off, the reading leans back to it; this part of the error is already in its spread.
        bias[law], spread[law] = errors @ _CHANCES, math.sqrt(variances @ _CHANCES)
    for law in set(range(len(ROOMS))) - set(laws):
        near = min(laws, key=lambda other: abs(other - law))
        bias[law], spread[law] = bias[near], spread[near]
    return ErrorState(bias=bias, spread=spread)


def _answers(models: Models, lens: Windows, channel: Bits, users: float, theta: float, law: int) -> HeardBits:
    """What the windows of a round would say without any chance, if one distribution of the family is true."""
    spot = Spot(place=theta, crowds=np.array([0]), leanings=LEANINGS[-1:])
    silent = HeardBits(lens=lens, channel=channel, windows=())
    windows = []
    for window in lens.windows:
        z = models.predicted(lens, np.array([theta]), window.centre, spot)[0, 0, law]
        bit = float(silent.expected_bit(z)[0])
        windows.append(HeardWindow(window.centre, users / len(lens.windows), bit))
    return HeardBits(lens=lens, channel=channel, windows=tuple(windows))
