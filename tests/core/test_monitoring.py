"""What is watched: histograms that add up, what was elected, windows in the study's units."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dame
from dame.device.channels import Bits
from dame.device.lenses import Bins, SizeClasses, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.monitoring import MOST_BARS, vote_histogram, window_ends
from dame.planning.machines import MachinePlan
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.tally import Tally


def voted(protocol: str, users: int, sizes: str, place: float) -> tuple[MachinePlan, Tally]:
    """A plan, and the tally of a vote in which everybody marked the bin of one place and no coin was tossed."""
    plan = plan_mean(
        users=users, alpha=2.0, sizes=dame.Sizes.parse(sizes), protocol=protocol, bounds=(0.0, 24.0), study="w"
    )
    vote = next_step(plan, [])
    lens = narrowed(Bins, vote.lens)
    sums = [0] * lens.bins
    sums[lens.bin_of(place / 12 - 1)] = 100
    return plan, Tally.of(vote, [(100, sums)])


def measured(lens: Windows) -> tuple[MachinePlan, Question]:
    """A plan, and a question of its study with another lens."""
    sizes = dame.Sizes.parse("constant:4")
    plan = plan_mean(users=4000, alpha=2.0, sizes=sizes, protocol="one-bit", bounds=(0.0, 24.0), study="w")
    return plan, replace(next_step(plan, []), lens=lens)


def test_the_elected_bins_are_marked_for_each_protocol() -> None:
    for protocol, bins in (("paper", 1), ("adaptive", 2)):
        plan, tally = voted(protocol, 20_000, "constant:400", 7.0)
        histogram = vote_histogram(plan, tally)
        assert histogram is not None
        low, high = histogram.chosen
        assert low <= 7.0 <= high
        assert high - low == pytest.approx(bins * 12 * narrowed(Bins, tally.question.lens).width)
        assert histogram.edges[0] == 0.0
        assert histogram.edges[-1] == 24.0
        assert list(histogram.edges) == sorted(histogram.edges)
        assert len(histogram.shares) == len(histogram.edges) - 1
        top = histogram.shares.index(max(histogram.shares))
        assert histogram.edges[top] <= 7.0 <= histogram.edges[top + 1]
        step = next_step(plan, [tally])
        assert isinstance(step, Question)
        window = window_ends(plan.brief, step)
        assert window is not None
        assert 0.0 <= window.low <= window.centre <= window.high <= 24.0
        assert abs(window.centre - 7.0) <= high - low


def test_shares_are_those_of_the_people_who_vote_as_planned() -> None:
    """Half of the people have too few records: the other half are all voters; after a survey nobody knows how many."""
    plan, tally = voted("paper", 20_000, "two-point:3:400:0.5", 7.0)
    lens = narrowed(Bins, tally.question.lens)
    voters = plan.brief.sizes.survival(lens.min_size)
    assert voters == 0.5
    histogram = vote_histogram(plan, tally)
    other = Tally.of(replace(tally.question, lens=replace(lens, min_size=5)), tally.windows)
    unplanned = vote_histogram(plan, other)
    assert histogram is not None
    assert unplanned is not None
    assert histogram.shares == pytest.approx([share / voters for share in unplanned.shares])
    assert histogram.standard_error == pytest.approx(unplanned.standard_error / voters)


def test_the_range_of_segments_is_all_of_them() -> None:
    plan, question = measured(Windows.segments((-0.5, 0.5, 0.75)))
    window = window_ends(plan.brief, question)
    assert window is not None
    assert (window.centre, window.low, window.high) == pytest.approx((13.5, 6.0, 21.0))


def test_windows_are_those_of_a_person_of_the_mean_weight() -> None:
    # Four records weigh 2: from 0.25 - 1/2 to 0.25 + 3/2, cut at the bounds; the middle of two windows is between them.
    plan, question = measured(Windows(windows=((0.2, -1.0, 3.0), (0.3, -1.0, 3.0))))
    window = window_ends(plan.brief, question)
    assert window is not None
    assert (window.low, window.high) == pytest.approx((12 + 12 * -0.3, 24.0))
    assert window.centre == pytest.approx(12 + 12 * 0.75)


def test_many_bins_share_bars_and_nothing_is_lost() -> None:
    plan, tally = voted("adaptive", 3_000_000, "constant:40000", 7.0)
    channel, bins = tally.question.channel, tally.question.lens.bins
    assert bins > MOST_BARS
    histogram = vote_histogram(plan, tally)
    assert histogram is not None
    assert len(histogram.shares) <= MOST_BARS
    each = [channel.debias(tally.mean(bin_)) for bin_ in range(bins)]
    assert abs(sum(histogram.shares) - sum(each)) < 1e-6 * bins


def test_no_votes_no_histogram() -> None:
    plan, tally = voted("paper", 20_000, "constant:400", 7.0)
    assert vote_histogram(plan, Tally.zero(tally.question)) is None


def test_a_lens_without_a_picture_has_none() -> None:
    plan, tally = voted("paper", 20_000, "constant:400", 7.0)
    channel = Bits.optimised(2.0, 6)
    survey = replace(tally.question, lens=SizeClasses(classes=6), channel=channel)
    assert vote_histogram(plan, Tally.of(survey, [(9, [1, 2, 3, 1, 1, 1])])) is None
    assert window_ends(plan.brief, survey) is None
    assert window_ends(plan.brief, tally.question) is None, "bins have a histogram, and no window"
