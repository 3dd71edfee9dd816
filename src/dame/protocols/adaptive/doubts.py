"""How likely the planner thinks it that θ is looked for in a wrong place, from round to round.

A reader who weighs places by their likelihoods takes a rival for the right one where all reports together speak for it.
How unlikely that is follows from Bhattacharyya's distance between what either would make of a report, added up over the
reports: exp(-distance) is Chernoff's bound, and half of erfc(sqrt(distance)) the chance itself where sums of coins are
normal. Votes count where they fall, at worst over distributions and places of θ in its bin; bits count because a window
in a wrong place is saturated. The chances of all rivals are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.adaptive.votes import marked_shares, voters_of
from dame.theory.response import ROOMS

Floats = NDArray[np.float64]

WHOLE_RANGE = 4 / 3
"""The mean squared error of a place anywhere in the range, if θ is at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """The chance of a wrong place: rivals, all at least so far away, and how strongly the reports speak against each.

    `votes` is what the vote said, `bits` what `windows` rounds after it say if they look at the right place or at the
    rival. `cost` is the squared error of a wrong place.
    """

    rivals: float = 0.0
    distance: float = 2.0
    votes: float = 0.0
    bits: float = 0.0
    windows: int = 0
    cost: float = 0.0

    @property
    def wrong(self) -> float:
        """The chance of a wrong place, where the coins of each rival are as good as normal."""
        if not self.windows:
            return self._elected(self.votes)
        # If every window so far was at a third place, bits said nothing about the two.
        elected = self._elected(self.votes)
        always_elsewhere = elected * min(TUNING.elsewhere * elected, 1.0) ** self.windows
        return min(self._elected(self.votes + self.bits) + always_elsewhere, 1.0)

    def _elected(self, evidence: float) -> float:
        return min(self.rivals * math.erfc(math.sqrt(evidence)) / 2, 1.0)

    @property
    def risk(self) -> float:
        """What a wrong place adds to the mean squared error."""
        return self.wrong * self.cost

    def heard(self, evidence: float) -> Doubt:
        """What is left of it after a further round."""
        return replace(self, bits=self.bits + evidence, windows=self.windows + 1)


NO_DOUBT = Doubt()


def doubt_after_vote(brief: Brief, vote: Round, clarity: float, known: float) -> Doubt:
    """The doubt after a vote whose reports say so much each, when θ was known up to an error before it."""
    lens = narrowed(Bins, vote.lens)
    rivals = min(float(lens.bins), 1 + TUNING.rival_reach * known / lens.width) * TUNING.rivals_per_bin
    return Doubt(
        rivals=rivals if lens.bins > 2 * TUNING.beside else 0.0,
        distance=TUNING.rival_distance * lens.width,
        votes=evidence_of(brief, vote.share, clarity),
        cost=min(WHOLE_RANGE, (2 * known) ** 2),
    )


def evidence_of(brief: Brief, share: float, clarity: float) -> float:
    """What a round says against a rival, if each of its reports says so much: the hash draws who is asked."""
    return -brief.users * math.log1p(share * math.expm1(-clarity))


def vote_clarity(brief: Brief, lens: Bins, channel: Bits) -> float:
    """How much a vote says against a rival: for the worst distribution and place of θ, and rivals anywhere in a bin."""
    voters = voters_of(brief.sizes, lens.min_size)
    offsets = np.linspace(0.0, 0.5, TUNING.offsets)
    bins = np.broadcast_to(np.arange(-TUNING.beside, TUNING.beside + 1.0), (len(offsets), 2 * TUNING.beside + 1))
    left = bins - offsets[:, None]
    marks = marked_shares(voters, lens.width, brief.spread, ROOMS, np.concatenate((left, left[:, -1:] + 1), axis=1))
    blank = channel.probability(0.0)
    rates = blank + (channel.probability(1.0) - blank) * marks
    each = _apart(rates, blank).sum(axis=-1)
    return float((each.min(axis=-1) + each.mean(axis=-1)).min())


def bit_clarity(saturation: float, privacy: float) -> float:
    """How much a bit says, if people are so far out in a wrong window on average, and in the middle of a right one."""
    return TUNING.bits_trusted * float(_apart((1 + saturation / privacy) / 2, 0.5))


def _apart(rate: Any, other: float) -> Any:
    """Bhattacharyya's distance of two coins."""
    return -np.log(np.sqrt(rate * other) + np.sqrt((1 - rate) * (1 - other)))
