"""The people between whom a question's reports could differ most: both ends of every window, every kind of vote."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from dame.device.questions import MOST_RECORDS, Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote
from dame.device.records import Summary

FEW_BINS = 24
"""Up to so many bins, each is visited."""
MANY_BINS = 5000
"""Beyond so many bins, only the ends and the middle are visited: a single report costs a noticeable time."""


def extreme_people(question: Question) -> list[Summary]:
    """People of whom two attain the largest likelihood ratio, and others around them who must not exceed it."""
    if isinstance(question, SizeVote):
        return sized(question)
    if isinstance(question, PlaceVote):
        return placed(question.places)
    if isinstance(question, PartMeasure):
        return placed(question.borders)
    return voters(question) if isinstance(question, Vote) else measured(question)


def voters(vote: Vote) -> list[Summary]:
    """Somebody in the middle of each bin, on its border and right beside it, and people with too few records."""
    means = sorted({min(max(mean, -1.0), 1.0) for mean in _means(vote)})
    people = [Summary(size=vote.min_size, mean=mean) for mean in means]
    people.append(Summary(size=min(3 * vote.min_size, MOST_RECORDS), mean=means[0]))
    if vote.min_size > 1:
        people += [Summary(size=vote.min_size - 1, mean=mean) for mean in (means[0], means[-1])]
        people.append(Summary(size=1, mean=means[0]))
    return people


def sized(vote: SizeVote) -> list[Summary]:
    """Somebody at either end of each class of sizes, at both bounds; and somebody with more records than anybody."""
    starts = [2**class_ for class_ in range(min(vote.bins + 1, MOST_RECORDS.bit_length()))]
    sizes = sorted({*starts, *(start - 1 for start in starts[1:]), MOST_RECORDS})
    return [Summary(size=size, mean=mean) for size in sizes for mean in (-1.0, 1.0)]


def placed(places: Sequence[float]) -> list[Summary]:
    """Somebody at each place, right beside it, between any two and at both bounds, with few records and with many."""
    between = [left + part * (right - left) for left, right in itertools.pairwise(places) for part in (0.5, 0.8)]
    beside = [math.nextafter(place, side) for place in places for side in (-2.0, 2.0)]
    means = sorted({-1.0, 1.0, *places, *between, *(mean for mean in beside if -1 <= mean <= 1)})
    return [Summary(size=size, mean=mean) for size in (1, MOST_RECORDS) for mean in means]


def _means(vote: Vote) -> Iterable[float]:
    yield from (-1.0, 1.0)
    for bin_ in bins_to_visit(vote):
        border = vote.origin + bin_ * vote.width
        yield border + vote.width / 2
        if vote.bins <= MANY_BINS:
            yield from (border, math.nextafter(border, -2.0), math.nextafter(border, 2.0))


def bins_to_visit(vote: Vote) -> Sequence[int]:
    """Bins among which every difference between two votes occurs that occurs at all.

    How two windows differ depends on how far they are apart, up to twice their width, and on what the first and the
    last bin cut off.
    """
    reach = 4 * vote.neighbours + 3
    if vote.bins <= max(FEW_BINS, 2 * reach + 1):
        return range(vote.bins)
    if vote.bins > MANY_BINS:
        return (0, 1, vote.bins // 2, vote.bins - 1)
    middle = vote.bins // 2
    return sorted({*range(reach), middle, *range(vote.bins - reach, vote.bins)})


def measured(measure: Measure) -> list[Summary]:
    """People at both bounds with one record and with more than anybody has, and some between.

    The weight rises with the size and the place rises with the mean, so nobody is farther out than these.
    """
    means = [-1.0, 1.0, measure.centre, math.nextafter(measure.centre, 2.0), 0.0, -0.37]
    sizes = [1, 2, 30, MOST_RECORDS, *([] if measure.cap is None else [max(int(measure.cap), 1)])]
    inside = [mean for mean in means if -1 <= mean <= 1]
    return [Summary(size=size, mean=mean) for size in sorted(set(sizes)) for mean in inside]
