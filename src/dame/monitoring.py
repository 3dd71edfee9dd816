"""What can be watched while a study runs: the histogram behind a vote with the bins that it elected, and windows.

Everything here is in the study's own units, and follows from tallies and questions: pure functions for any shell. A
lens has a picture if a function is registered for its type; any other has none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

from dame.device.lenses import Bins, Lens, Windows
from dame.device.questions import Question
from dame.estimates import to_units
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import mean_weight
from dame.protocols import protocol_named
from dame.protocols.location import voting_share, window_totals
from dame.tally import Tally

MOST_BARS = 256
"""Bars of a histogram; neighbouring bins share one where a vote has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteHistogram:
    """The debiased share of the voters in each bar, the standard error of a share, and the ends of what was elected.

    Shares are unbiased, so that some of them are below 0.
    """

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    standard_error: float
    chosen: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRange:
    """What a round looks at: from the lowest to the highest end of its windows, and the middle between the two."""

    centre: float
    low: float
    high: float


def vote_histogram(plan: MachinePlan, votes: Tally) -> VoteHistogram | None:
    """What a vote says about where people's means lie; None when nobody voted, or not for that."""
    return histogram_through(votes.question.lens, plan, votes) if votes.reports else None


def window_ends(brief: Brief, question: Question) -> WatchedRange | None:
    """The ends of what a question looks at, for a person of the mean weight; None for a lens without windows."""
    return range_through(question.lens, brief)


@singledispatch
def histogram_through(lens: Lens, plan: MachinePlan, votes: Tally) -> VoteHistogram | None:
    """The histogram of people's means that a lens shows: none, unless a function is registered for its type."""
    del lens, plan, votes
    return None


@histogram_through.register
def _of_bins(lens: Bins, plan: MachinePlan, votes: Tally) -> VoteHistogram:
    """A bar for each bin, or for a few neighbouring ones."""
    channel, voters = votes.question.channel, _voters(plan, votes)
    each = [channel.debias(votes.mean(bin_)) / voters for bin_ in range(lens.bins)]
    together = -(-lens.bins // MOST_BARS)
    starts = range(0, lens.bins, together)
    return VoteHistogram(
        edges=_in_units(plan.brief, [*(lens.edges(bin_)[0] for bin_ in starts), lens.edges(lens.bins - 1)[1]]),
        shares=tuple(sum(each[start : start + together]) for start in starts),
        standard_error=math.sqrt(channel.variance(0.0) * together / votes.reports) / voters,
        chosen=_elected(plan, votes, lens),
    )


@singledispatch
def range_through(lens: Lens, brief: Brief) -> WatchedRange | None:
    """The range that a lens looks at: none, unless a function is registered for its type."""
    del lens, brief
    return None


@range_through.register
def _of_windows(lens: Windows, brief: Brief) -> WatchedRange:
    """All windows together."""
    weight = mean_weight(lens, brief.sizes)
    left = min(window.centre + window.left / weight for window in lens.windows)
    right = max(window.centre + window.right / weight for window in lens.windows)
    centre, low, high = _in_units(brief, ((left + right) / 2, left, right))
    return WatchedRange(centre=centre, low=low, high=high)


def _voters(plan: MachinePlan, votes: Tally) -> float:
    """The share of the users that votes, if the vote is as planned; after a survey of sizes all users are counted."""
    planned = plan.rounds[plan.slots.index(votes.question.slot)]
    return voting_share(votes, plan.brief.sizes) or 1.0 if votes.question.lens == planned.lens else 1.0


def _elected(plan: MachinePlan, votes: Tally, lens: Bins) -> tuple[float, float]:
    """The ends of the bins that the protocol elects together."""
    run = protocol_named(plan.protocol).elected
    totals = window_totals(votes, run)
    first = totals.index(max(totals))
    low, high = _in_units(plan.brief, (lens.edges(first)[0], lens.edges(min(first + run, lens.bins) - 1)[1]))
    return low, high


def _in_units(brief: Brief, places: Sequence[float]) -> tuple[float, ...]:
    return tuple(to_units(min(max(place, -1.0), 1.0), brief.low, brief.high) for place in places)
