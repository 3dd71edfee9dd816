"""The locating round: votes for bins of a few standard deviations of a user's mean, one mark each, at the full α."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import MOST_BINS, Vote
from dame.device.randomisers import UnaryCode
from dame.planning.plans import Brief, VoteRound
from dame.protocols.adaptive.error_path import Course
from dame.protocols.location import missed_vote_bound, window_totals
from dame.tally import Tally
from dame.theory.response import ROOMS, group_sizes, mean_atoms, record_variance

Floats = NDArray[np.float64]

PAIR = 2
"""Bins are elected in pairs of neighbours: a mean near a border then loses no votes."""


def vote_round(brief: Brief, min_size: int, spacing: float, share: float) -> VoteRound:
    """Votes among bins of `spacing` standard deviations of a mean of `min_size` records."""
    width = max(spacing / math.sqrt(brief.effective(min_size)), 2 / MOST_BINS)
    return VoteRound(
        name="locate",
        share=share,
        bins=max(math.ceil(2 / width), PAIR),
        width=width,
        neighbours=0,
        min_size=min_size,
        voters=brief.sizes.survival(min_size),
        code=UnaryCode.optimised(brief.alpha),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSplit:
    """Where voters mark, at worst over laws and places of θ: in the pair of bins nearest to θ, or in a rival pair."""

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


def missed_bound(brief: Brief, vote: VoteRound, split: VoteSplit) -> float:
    """An upper bound on the chance that a pair of bins apart from the right one is elected."""
    near, far = min(max(vote.bins - 3, 0), 2), max(vote.bins - 5, 0)
    beside = missed_vote_bound(vote, brief.users, split.right, split.near, near, window=PAIR)
    return min(beside + missed_vote_bound(vote, brief.users, split.right, split.far, far, window=PAIR), 1.0)


def centre_error(vote: VoteRound, users: float, rooms: Floats) -> Floats:
    """How far the centre may be off after the vote, by law: coins on the four bins of the centroid, and the grain of
    the bins."""
    shares = np.array([-1.5, -0.5, 0.5, 1.5])
    coins = vote.code.variance(0.0) / (users * vote.voters**2) * float(shares @ shares)
    deviation = np.sqrt(record_variance(rooms)) / (vote.width * math.sqrt(vote.min_size))
    # A law as wide as a bin is spread smoothly over several, and its centroid is right; a narrow one sits in one bin,
    # at worst half a bin away from its middle.
    grain = np.exp(-2 * (math.pi * deviation) ** 2) / 4
    return np.asarray(vote.width * np.sqrt(coins + grain))


def course_after_vote(vote: VoteRound, users: float, rooms: Floats = ROOMS) -> Course:
    """The course after the vote: unbiased."""
    return Course(bias=np.zeros(len(rooms)), spread=centre_error(vote, users, rooms))


def elected_centre(votes: Tally, vote: VoteRound) -> float:
    """Where the votes say θ is: the centroid of the elected pair and the bin on either side of it."""
    question = votes.question
    assert isinstance(question, Vote)
    totals = window_totals(votes, PAIR)
    border = totals.index(max(totals)) + 1
    near = range(max(border - PAIR, 0), min(border + PAIR, question.bins))
    shares = [question.code.debias(votes.mean(bin_)) / vote.voters for bin_ in near]
    shift = sum(share * (bin_ + 0.5 - border) for bin_, share in zip(near, shares, strict=True))
    centre = question.origin + question.width * (border + min(max(shift, -1.0), 1.0))
    return min(max(centre, -1.0), 1.0)
