"""What is watched: histograms that add up, what was elected, windows in the study's units."""

from __future__ import annotations

from itertools import pairwise

import pytest

import dame
from dame.device.questions import Measure, PartMeasure, PlaceVote, Vote
from dame.device.randomisers import OneBit
from dame.protocols import next as next_step
from dame.tally import Tally
from dame.monitoring import MOST_BARS, vote_histogram, window_ends


def voted(protocol: str, users: int, sizes: str, place: float) -> tuple[dame.Plan, Tally]:
    """A plan, and the tally of a vote in which everybody marked the bin of one place and no coin was tossed."""
    plan = dame.plan(
        users=users, alpha=2.0, sizes=dame.Sizes.parse(sizes), protocol=protocol, bounds=(0.0, 24.0), study="w"
    )
    vote = dame.first(plan)
    assert isinstance(vote, Vote)
    sums = [0] * vote.bins
    sums[vote.bin_of(place / 12 - 1)] = 100
    return plan, Tally(question=vote, reports=100, sums=tuple(sums))


def test_the_elected_place_is_marked_for_each_protocol() -> None:
    for protocol in ("paper", "adaptive"):
        plan, tally = voted(protocol, 20_000, "constant:400", 7.0)
        histogram = vote_histogram(plan, tally)
        assert histogram is not None
        low, high = histogram.chosen
        assert low <= 7.0 <= high
        assert histogram.edges[0] == 0.0
        assert histogram.edges[-1] == 24.0
        assert list(histogram.edges) == sorted(histogram.edges)
        assert len(histogram.shares) == len(histogram.edges) - 1
        top = histogram.shares.index(max(histogram.shares))
        assert histogram.edges[top] <= 7.0 <= histogram.edges[top + 1]
        step = next_step(plan, [tally])
        assert isinstance(step, Measure)
        centre, left, right = window_ends(plan.brief, step)
        assert 0.0 <= left <= centre <= right <= 24.0
        assert abs(centre - 7.0) <= high - low


def test_the_window_of_parts_is_all_of_them() -> None:
    sizes = dame.Sizes.parse("uniform:1:60")
    plan = dame.plan(users=4000, alpha=2.0, sizes=sizes, bounds=(0.0, 24.0), between_sd="learn", study="w")
    parts = PartMeasure(**plan.brief.asked(0), borders=(-0.5, 0.5, 0.75), noise=OneBit.spending(2.0))
    assert window_ends(plan.brief, parts) == pytest.approx((13.5, 6.0, 21.0))


def test_many_bins_share_bars_and_nothing_is_lost() -> None:
    plan, tally = voted("adaptive", 3_000_000, "constant:40000", 7.0)
    vote = tally.question
    assert isinstance(vote, Vote)
    assert vote.bins > MOST_BARS
    histogram = vote_histogram(plan, tally)
    assert histogram is not None
    assert len(histogram.shares) <= MOST_BARS
    each = [vote.code.debias(tally.mean(bin_)) for bin_ in range(vote.bins)]
    assert abs(sum(histogram.shares) - sum(each)) < 1e-6 * vote.bins


def test_places_have_bars_halfway_to_their_neighbours() -> None:
    sizes = dame.Sizes.parse("constant:4")
    plan = dame.plan(users=4000, alpha=2.0, sizes=sizes, bounds=(0.0, 24.0), between_sd="learn", study="w")
    question = dame.first(plan)
    assert isinstance(question, PlaceVote)
    histogram = vote_histogram(plan, Tally(question=question, reports=100, sums=(10, 70, 10, 10)))
    assert histogram is not None
    places = [12 + 12 * place for place in question.places]
    assert histogram.chosen == (0.0, 24.0)
    assert list(histogram.edges) == [0.0, *((left + right) / 2 for left, right in pairwise(places)), 24.0]
    assert abs(sum(histogram.shares) - 1) < 1e-12
    assert histogram.shares.index(max(histogram.shares)) == 1


def test_no_votes_no_histogram() -> None:
    plan, tally = voted("paper", 20_000, "constant:400", 7.0)
    assert vote_histogram(plan, Tally.zero(tally.question)) is None
