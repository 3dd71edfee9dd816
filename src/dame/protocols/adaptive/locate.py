"""The locating round: votes for bins of a few standard deviations of a user's mean, one mark each, at the full α; or
plain bits over the whole range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import MOST_BINS, Bins, Lens, Windows
from dame.device.parts import narrowed
from dame.device.records import MOST_RECORDS
from dame.errors import Mismatch
from dame.estimates import Estimate, Measured, estimate_from
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.protocols.adaptive.error_path import ErrorState, known_within
from dame.protocols.location import missed_vote_bound, voting_share, window_totals, wrong_winner_chance
from dame.protocols.whole_range import read_alone
from dame.sizes import Sizes
from dame.tally import Tally
from dame.theory import privacy_factor
from dame.theory.response import ROOMS, group_sizes, mean_atoms, record_variance

Floats = NDArray[np.float64]

PAIR = 2
"""Bins are elected in pairs of neighbours: a mean near a border then loses no votes."""


def vote_round(brief: Brief, min_size: int, spacing: float, share: float) -> Round:
    """Votes among bins of `spacing` standard deviations of a mean of `min_size` records."""
    width = max(spacing / math.sqrt(brief.effective(min_size)), 2 / MOST_BINS)
    bins = max(math.ceil(2 / width), PAIR)
    lens = Bins(bins=bins, width=width, min_size=min(min_size, MOST_RECORDS))
    return Round(name="locate", share=share, lens=lens, channel=Bits.optimised(brief.alpha, bins))


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSplit:
    """Where voters mark, at worst over distributions and places of θ: in the pair of bins nearest to θ, or a rival."""

    right: float
    near: float
    far: float


def vote_split(brief: Brief, min_size: int, spacing: float) -> VoteSplit:
    """The worst split of the marks between the right pair and its rivals, two bins away (near) or more (far)."""
    groups = group_sizes(brief.sizes, smallest=min_size)
    offsets = np.linspace(-spacing / 2, spacing / 2, 9)
    root, right, near, far = math.sqrt(brief.effective(min_size)), 1.0, 0.0, 0.0
    for room in ROOMS:
        inside, beside, beyond = np.zeros((3, len(offsets)))
        for size, share in zip(groups.sizes, groups.shares, strict=True):
            values, chances = mean_atoms(float(room), int(size), brief.spread)
            places = (values[:, None] * root + offsets) / spacing
            inside += share * (chances @ ((places >= -1) & (places < 1)))
            beside += share * (chances @ ((places >= 1) & (places < 3)))
            beyond += share * (chances @ (places >= 2))
        right, near, far = min(right, inside.min()), max(near, beside.max()), max(far, beyond.max())
    return VoteSplit(right=float(right), near=float(near), far=float(far))


def missed_bound(brief: Brief, vote: Round, split: VoteSplit) -> float:
    """An upper bound on the chance that a pair of bins apart from the right one is elected."""
    bins = vote.lens.bins
    near, far = min(max(bins - 3, 0), 2), max(bins - 5, 0)
    beside = missed_vote_bound(brief, vote, split.right, split.near, near, window=PAIR)
    return min(beside + missed_vote_bound(brief, vote, split.right, split.far, far, window=PAIR), 1.0)


# --- what the first round is expected to leave, and what it said: for votes, and for plain bits


@singledispatch
def state_after(lens: Lens, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    """The error of the centre that is expected after the first round, by distribution."""
    raise Mismatch(f"adaptive does not begin with {lens.kind}")


@state_after.register
def _after_vote(lens: Bins, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    spread = centre_error(lens, narrowed(Bits, round_.channel), brief.sizes, users, rooms)
    return ErrorState(bias=np.zeros(len(rooms)), spread=spread)


@state_after.register
def _after_bits(lens: Windows, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    return known_within(privacy_factor(brief.alpha), users, rooms)


@singledispatch
def centre_after(lens: Lens, tally: Tally, brief: Brief) -> Estimate:
    """What a first round with a single window says by itself."""
    raise Mismatch(f"adaptive does not begin with {lens.kind}")


@centre_after.register
def _centre_of_votes(lens: Bins, tally: Tally, brief: Brief) -> Estimate:
    """The elected centre; how far it may be off is not read from the votes, and the interval is the whole range."""
    centre = elected_centre(tally, brief.sizes)
    return estimate_from(Measured(value=centre, standard_error=1.0, low=-1.0, high=1.0), [tally.reports])


@centre_after.register
def _centre_of_bits(lens: Windows, tally: Tally, brief: Brief) -> Estimate:
    return read_alone(brief, tally)


@singledispatch
def wrong_window_chance(lens: Lens, tally: Tally, sizes: Sizes) -> float:
    """The chance that the first round led to a wrong window, judged from its answers: none where bits cannot."""
    del lens, tally, sizes
    return 0.0


@wrong_window_chance.register
def _wrong_pair_chance(lens: Bins, tally: Tally, sizes: Sizes) -> float:
    return wrong_winner_chance(tally, sizes, apart=PAIR + 1, window=PAIR)


@singledispatch
def middle_of(lens: Lens) -> float:
    """About where a lens looks: in the middle, unless its windows have centres."""
    del lens
    return 0.0


@middle_of.register
def _middle_of_windows(lens: Windows) -> float:
    return sum(window.centre for window in lens.windows) / len(lens.windows)


def centre_error(lens: Bins, channel: Bits, sizes: Sizes, users: float, rooms: Floats) -> Floats:
    """How far the centre may be off after the vote, by distribution: coins on the four bins of the centroid, and the
    grain of the bins."""
    shares = np.array([-1.5, -0.5, 0.5, 1.5])
    voters = sizes.survival(lens.min_size)
    coins = channel.variance(0.0) / (users * voters**2) * float(shares @ shares)
    deviation = np.sqrt(record_variance(rooms)) / (lens.width * math.sqrt(lens.min_size))
    # A distribution as wide as a bin is spread smoothly over several, and its centroid is right; a narrow one sits in
    # one bin, at worst half a bin away from its middle.
    grain = np.exp(-2 * (math.pi * deviation) ** 2) / 4
    return np.asarray(lens.width * np.sqrt(coins + grain))


def elected_centre(votes: Tally, sizes: Sizes) -> float:
    """Where the votes say θ is: the centroid of the elected pair and the bin on either side of it."""
    lens, debias = narrowed(Bins, votes.question.lens), votes.question.channel.debias
    totals, voters = window_totals(votes, PAIR), voting_share(votes, sizes)
    border = totals.index(max(totals)) + 1
    near = range(max(border - PAIR, 0), min(border + PAIR, lens.bins))
    shares = [debias(votes.mean(bin_)) / voters for bin_ in near]
    shift = sum(share * (bin_ + 0.5 - border) for bin_, share in zip(near, shares, strict=True))
    centre = lens.origin + lens.width * (border + min(max(shift, -1.0), 1.0))
    return min(max(centre, -1.0), 1.0)
