"""What can be watched while a study runs: the histogram behind a vote with the place that it elected, and windows.

Everything here is in the study's own units, and follows from tallies and questions: pure functions for any shell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from dame.crowd import mean_weight
from dame.device.questions import Measure, PartMeasure, PlaceVote, SizeVote, Vote
from dame.estimate import to_units
from dame.plans import Brief, Plan, SizeRound, VoteRound
from dame.protocols import protocol_named
from dame.protocols.adaptive import Adaptive
from dame.protocols.adaptive.locate import PAIR
from dame.protocols.location import window_totals
from dame.tally import Tally

MOST_BARS = 256
"""Bars of a histogram; neighbouring bins share one where a vote has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """The debiased share of the voters in each bar, the standard error of a share, and the ends of what was elected.

    Shares are unbiased, so that some of them are below 0.
    """

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    standard_error: float
    chosen: tuple[float, float]


def vote_histogram(plan: Plan, votes: Tally) -> Histogram | None:
    """What a vote says about where people's means lie; None when nobody voted, or not for that."""
    vote = votes.question
    if not isinstance(vote, Vote) or isinstance(vote, SizeVote) or not votes.reports:
        return None
    if isinstance(vote, PlaceVote):
        return _places_histogram(plan.brief, votes, vote)
    voters = _voters(plan, vote.round)
    each = [vote.code.debias(votes.mean(bin_)) / voters for bin_ in range(vote.bins)]
    together = -(-vote.bins // MOST_BARS)
    starts = range(0, vote.bins, together)
    error = math.sqrt(vote.code.variance(0.0) * together / votes.reports) / voters
    return Histogram(
        edges=_in_units(plan.brief, [*(vote.edges(bin_)[0] for bin_ in starts), vote.edges(vote.bins - 1)[1]]),
        shares=tuple(sum(each[start : start + together]) for start in starts),
        standard_error=error,
        chosen=_elected(plan, votes, vote),
    )


def _places_histogram(brief: Brief, votes: Tally, vote: PlaceVote) -> Histogram:
    """A bar around each place, from half the way to its neighbours; the elected ones are all that were asked about."""
    middles = [(left + right) / 2 for left, right in itertools.pairwise(vote.places)]
    low, high = _in_units(brief, (vote.places[0], vote.places[-1]))
    return Histogram(
        edges=_in_units(brief, [-1.0, *middles, 1.0]),
        shares=tuple(vote.code.debias(votes.mean(place)) for place in range(vote.bins)),
        standard_error=math.sqrt(vote.code.variance(1 / vote.bins) / votes.reports),
        chosen=(low, high),
    )


def window_ends(brief: Brief, question: Measure) -> tuple[float, float, float]:
    """The centre of a window and its ends, for a person of the mean weight; of parts, those of all of them."""
    weight, middle = mean_weight(question, brief.sizes), question.centre
    ends = middle + question.left / weight, middle + question.right / weight
    centre, low, high = _in_units(brief, (sum(ends) / 2 if isinstance(question, PartMeasure) else middle, *ends))
    return centre, low, high


def _voters(plan: Plan, index: int) -> float:
    """The part of the users that votes, as planned; after a survey of sizes it is another, and all are counted."""
    round_ = plan.rounds[index]
    return round_.voters if isinstance(round_, VoteRound) and not isinstance(plan.rounds[0], SizeRound) else 1.0


def _elected(plan: Plan, votes: Tally, vote: Vote) -> tuple[float, float]:
    """The ends of the bins that the protocol elects: the best pair of neighbours, or the best bin."""
    run = PAIR if isinstance(protocol_named(plan.protocol), Adaptive) else 1
    totals = window_totals(votes, run)
    first = totals.index(max(totals))
    low, high = _in_units(plan.brief, (vote.edges(first)[0], vote.edges(min(first + run, vote.bins) - 1)[1]))
    return low, high


def _in_units(brief: Brief, places: Sequence[float]) -> tuple[float, ...]:
    return tuple(to_units(min(max(place, -1.0), 1.0), brief.low, brief.high) for place in places)
