"""Hypothesis strategies: valid questions of every kind, values of their reports, people, and JSON of any shape."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

from dame.device.questions import MOST_PLACES, PARTS, Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.reports import value_range

alphas = st.one_of(st.floats(1e-6, 32.0), st.sampled_from([1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0]))
studies = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).filter(str.isprintable)
sizes = st.one_of(st.integers(1, 200), st.integers(1, 2**62))
means = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0]))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=10,
)


@st.composite
def bounds(draw: st.DrawFn) -> tuple[float, float]:
    low = draw(st.one_of(st.just(-1.0), st.just(0.0), st.floats(-1e6, 1e6)))
    return low, low + draw(st.floats(1e-3, 1e6))


@st.composite
def asked(draw: st.DrawFn, alpha: float) -> dict[str, Any]:
    """What every question names."""
    low, high = draw(bounds())
    return {"study": draw(studies), "round": draw(st.integers(0, 63)), "alpha": alpha, "low": low, "high": high}


@st.composite
def votes(draw: st.DrawFn, most_bins: int = 70) -> Vote:
    alpha, neighbours = draw(alphas), draw(st.integers(0, 3))
    optimised = neighbours == 0 and draw(st.booleans())
    return Vote(
        **draw(asked(alpha)),
        bins=draw(st.integers(1, most_bins)),
        width=draw(st.one_of(st.floats(1e-3, 4.0), st.sampled_from([2.0**-k for k in range(8)]))),
        origin=draw(st.one_of(st.just(-1.0), st.floats(-1.0, 1.0))),
        neighbours=neighbours,
        min_size=draw(st.one_of(st.integers(1, 200), st.integers(1, 2**62))),
        code=UnaryCode.optimised(alpha) if optimised else UnaryCode.symmetric(alpha, marks=2 * neighbours + 1),
    )


@st.composite
def size_votes(draw: st.DrawFn, most_bins: int = 70) -> SizeVote:
    alpha = draw(alphas)
    return SizeVote(
        **draw(asked(alpha)),
        bins=draw(st.integers(1, most_bins)),
        code=draw(st.sampled_from([UnaryCode.optimised(alpha), UnaryCode.symmetric(alpha, marks=1)])),
    )


@st.composite
def windows(draw: st.DrawFn) -> Measure:
    alpha = draw(alphas)
    left = draw(st.floats(-100, 100))
    steps = draw(st.one_of(st.just(2**20), st.integers(1, 2**24)))
    one_bit = draw(st.booleans())
    dither = draw(st.one_of(st.just(0.0), st.floats(0.0, 2.0))) if one_bit else 0.0
    return Measure(
        **draw(asked(alpha)),
        centre=draw(means),
        left=left,
        right=left + draw(st.floats(1e-2, 100)),
        cap=draw(st.one_of(st.none(), st.just(1.0), st.floats(1e-3, 1e6))),
        between_sd=draw(st.one_of(st.just(0.0), st.floats(0.0, 1.0))),
        least_weight=draw(st.one_of(st.just(0.0), st.floats(0.0, 100.0))),
        dither=dither,
        noise=OneBit.spending(alpha) if one_bit else DiscreteLaplace.spending(alpha, steps=steps),
    )


def _apart(places: list[float]) -> bool:
    return all(right - left >= 1e-12 for left, right in itertools.pairwise(places))


@st.composite
def place_votes(draw: st.DrawFn, most_places: int = MOST_PLACES) -> PlaceVote:
    alpha = draw(alphas)
    places = draw(st.lists(means, min_size=2, max_size=most_places, unique=True).map(sorted).filter(_apart))
    return PlaceVote(
        **draw(asked(alpha)),
        places=tuple(places),
        code=OneOfMany.spending(alpha, len(places)),
    )


@st.composite
def part_measures(draw: st.DrawFn) -> PartMeasure:
    alpha, count = draw(alphas), draw(st.sampled_from(PARTS)) + 1
    borders = draw(st.lists(means, min_size=count, max_size=count, unique=True).map(sorted).filter(_apart))
    return PartMeasure(**draw(asked(alpha)), borders=tuple(borders), noise=OneBit.spending(alpha))


def measures() -> st.SearchStrategy[Measure]:
    return st.one_of(windows(), part_measures())


def questions() -> st.SearchStrategy[Question]:
    return st.one_of(votes(), size_votes(), place_votes(), measures())


def values_of(question: Question) -> st.SearchStrategy[int]:
    """Values of reports that a device could send."""
    if isinstance(question, PlaceVote):
        return st.integers(0, question.bins - 1).map(lambda place: 1 << place)
    low, high = value_range(question)
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0]))
