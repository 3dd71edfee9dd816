"""What votes say of θ: how likely they are, whatever θ is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.planning.brief import Brief
from dame.protocols.adaptive.models import ROOMS, Models, Spot
from dame.protocols.adaptive.posterior import Heard, Promising, log_density
from dame.protocols.adaptive.tuning import TUNING
from dame.sizes import Sizes
from dame.tally import Tally
from dame.theory.response import SizeGroups, group_sizes, record_variance

Floats = NDArray[np.float64]

PAIR = 2
"""At first sight places are pairs of neighbouring bins: a mean near a border then loses no votes."""
_SHARPEST = 1e-3
"""Means that do not vary are taken to vary by so much of a bin, so that nothing is divided by 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeardVotes(Heard):
    """The mean bit of every bin, and who voted."""

    lens: Bins
    channel: Bits
    reports: int
    means: Floats
    voters: SizeGroups
    between_sd: float

    @classmethod
    def of(cls, lens: Bins, tally: Tally, brief: Brief) -> HeardVotes:
        """What a tally of votes says, if sizes are as a brief assumes."""
        return cls(
            lens=lens,
            channel=narrowed(Bits, tally.question.channel),
            reports=tally.reports,
            means=np.array(tally.sums) / tally.reports,
            voters=voters_of(brief.sizes, lens.min_size),
            between_sd=brief.spread,
        )

    def fit(self, models: Models, theta: Floats, spot: Spot) -> Floats:
        """The normal log density of the votes around θ, compared with bins for which nobody votes.

        By sizes and leaning it is the same: votes are read for the sizes that were assumed, as those of large users.
        """
        del models, spot
        middle = np.floor((theta - self.lens.origin) / self.lens.width)
        bins = middle[:, None] + np.arange(-TUNING.beside, TUNING.beside + 1.0)
        inside = (bins >= 0) & (bins < self.lens.bins)
        heard = self.means[np.clip(bins, 0, self.lens.bins - 1).astype(np.intp)]
        blank, step = self.channel.probability(0.0), self.channel.probability(1.0) - self.channel.probability(0.0)
        marks = step * self._shares(theta, bins)
        rates = blank + marks
        noise = rates * (1 - rates) / self.reports + (0.5 / self.reports) ** 2 + (misfit(self.lens) * marks) ** 2
        silence = blank * (1 - blank) / self.reports + (0.5 / self.reports) ** 2
        gains = log_density(heard - rates, noise) - log_density(heard - blank, np.asarray(silence))
        return np.asarray(np.where(inside, gains, 0.0).sum(axis=-1))[None, None]

    def promising(self) -> Iterator[Promising]:
        """The borders of bins with the most votes on their two sides, and how far each speaks for θ being there."""
        blank, step = self.channel.probability(0.0), self.channel.probability(1.0) - self.channel.probability(0.0)
        pairs = self.means[:-1] + self.means[1:]
        sharpness = self.reports * self.voters.shares.sum() * step / (PAIR * blank * (1 - blank))
        best = np.argsort(-pairs, kind="stable")[: TUNING.promising]
        borders = self.lens.origin + self.lens.width * (1.0 + best.astype(np.float64))
        yield Promising(theta=borders, chances=sharpness * pairs[best], width=self.lens.width)

    def _shares(self, theta: Floats, bins: Floats) -> Floats:
        """The expected share of all users who mark each bin, by distribution, θ and bin."""
        left = bins - (theta[:, None] - self.lens.origin) / self.lens.width
        edges = np.concatenate((left, left[:, -1:] + 1), axis=1)
        # The outer bins are open-ended.
        edges[:, :-1][bins <= 0] = -math.inf
        edges[:, 1:][bins >= self.lens.bins - 1] = math.inf
        return marked_shares(self.voters, self.lens.width, self.between_sd, ROOMS, edges)


_NOBODY = SizeGroups(sizes=np.ones(1), roots=np.ones(1), shares=np.zeros(1))


def misfit(lens: Bins) -> float:
    """Relative error of the expected share of votes in a bin: means of few records lie on a lattice."""
    return TUNING.vote_misfit + TUNING.lattice / math.sqrt(lens.min_size)


@lru_cache(maxsize=256)
def voters_of(sizes: Sizes, min_size: int) -> SizeGroups:
    """Those who vote, with their shares of all users."""
    share = sizes.survival(min_size)
    if not share:
        return _NOBODY
    groups = group_sizes(sizes, smallest=min_size, count=TUNING.voting_groups)
    return SizeGroups(sizes=groups.sizes, roots=groups.roots, shares=groups.shares * share)


def marked_shares(voters: SizeGroups, width: float, between_sd: float, rooms: Floats, edges: Floats) -> Floats:
    """The shares of users who mark bins with edges so many bins away from θ, by distribution, θ and bin."""
    from scipy import special  # slow to load

    variances = record_variance(rooms) / voters.sizes[:, None] + between_sd**2
    deviations = np.maximum(np.sqrt(variances) / width, _SHARPEST)
    below = special.ndtr(edges / deviations[:, :, None, None])
    return np.asarray((voters.shares[:, None, None, None] * np.diff(below, axis=-1)).sum(axis=0))
