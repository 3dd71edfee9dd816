"""A crowd equals its members, one by one, bit for bit: numpy and the device do the same arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.vectorised import crowd
from dame.device.questions import Measure, PartMeasure, PlaceVote, Vote
from dame.device.randomisers import OneBit, grid_point
from dame.device.records import Summary
from dame.sizes import Sizes
from tests.device.strategies import means, measures, place_votes, sizes, votes


@st.composite
def people(draw: st.DrawFn, question: Vote | Measure) -> list[Summary]:
    """People anywhere, and people exactly on the borders that the question has."""
    special = [0.0, -1.0, 1.0]
    if isinstance(question, PlaceVote):
        near = [math.nextafter(place, side) for place in question.places for side in (-2.0, 2.0)]
        special += [*question.places, *(mean for mean in near if -1 <= mean <= 1)]
    elif isinstance(question, Vote):
        borders = [question.origin + bin_ * question.width for bin_ in range(min(question.bins, 20) + 1)]
        special += [border for border in borders if -1 <= border <= 1]
    elif isinstance(question, PartMeasure):
        near = [math.nextafter(border, side) for border in question.borders for side in (-2.0, 2.0)]
        special += [*question.borders, *(mean for mean in near if -1 <= mean <= 1)]
    else:
        special.append(question.centre)
    places = st.one_of(means, st.sampled_from(special))
    counts = st.one_of(sizes, st.sampled_from([1, 2, question.min_size if isinstance(question, Vote) else 3]))
    return [Summary(size=size, mean=mean) for size, mean in draw(st.lists(st.tuples(counts, places), max_size=20))]


def arrays(group: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p.size for p in group], dtype=np.int64), np.array([p.mean for p in group], dtype=np.float64)


@given(votes(), st.data())
def test_bins_marks_and_ballots_are_those_of_the_device(question, data):
    group = data.draw(people(question))
    counts, places = arrays(group)
    assert crowd.bins_of(question, places).tolist() == [question.bin_of(person.mean) for person in group]
    first, last = crowd.marks(question, counts, places)
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [question.marks(person) for person in group]
    expected = [0] * question.bins
    for person in group:
        begin, end = question.marks(person)
        for bin_ in range(begin, end + 1):
            expected[bin_] += 1
    assert crowd.ballots(question, counts, places).tolist() == expected


@given(place_votes(), st.data())
def test_places_are_those_of_the_device_bit_for_bit(question, data):
    group = data.draw(people(question))
    first, part = crowd.between_places(question, arrays(group)[1])
    assert first.tolist() == [question.own_bin(person) for person in group]
    assert part.tolist() == [question.part(person) for person in group]


@given(measures(), st.data())
def test_weights_and_places_are_those_of_the_device_bit_for_bit(question, data):
    group = data.draw(people(question))
    counts, places = arrays(group)
    assert crowd.weights(question, counts).tolist() == [question.weight(person.size) for person in group]
    assert crowd.positions(question, counts, places).tolist() == [question.position(person) for person in group]
    numbers = st.lists(st.integers(0, question.arms - 1), min_size=len(group), max_size=len(group))
    arms = np.array(data.draw(numbers), dtype=np.intp)
    expected = [question.position(person, int(arm)) for person, arm in zip(group, arms, strict=True)]
    assert crowd.positions(question, counts, places, arms).tolist() == expected


@given(measures(), st.data())
def test_reading_a_crowd_does_not_change_it(question, data):
    counts, places = arrays(data.draw(people(question)))
    before = counts.copy(), places.copy()
    crowd.positions(question, counts, places)
    crowd.weights(question, places + 2.0)
    assert (counts == before[0]).all()
    assert (places == before[1]).all()


@given(st.lists(st.floats(0, 1), max_size=50), st.one_of(st.integers(1, 2**24), st.just(2**32)))
def test_grid_points_are_those_of_the_device(places, steps):
    expected = [grid_point(place, steps) for place in places]
    assert crowd.grid_points(np.array(places, dtype=np.float64), steps).tolist() == expected


@pytest.mark.parametrize("cap", [None, 1.0, 7.0, 30.0])
@pytest.mark.parametrize("between_sd", [0.0, 0.2])
@pytest.mark.parametrize("least_weight", [0.0, 2.5])
def test_the_mean_weight_is_the_expectation_of_the_device_weight(cap, between_sd, least_weight):
    question = Measure(
        study="s", round=0, alpha=1.0, centre=0.0, left=-1.0, right=1.0, cap=cap, between_sd=between_sd,
        least_weight=least_weight, noise=OneBit.spending(1.0),
    )  # fmt: skip
    law = {3: 0.5, 10: 0.3, 40: 0.2}
    expected = sum(chance * question.weight(size) for size, chance in law.items())
    sizes_ = Sizes.from_weights(law)
    assert crowd.mean_weight(question, sizes_) == pytest.approx(expected, rel=1e-12)
