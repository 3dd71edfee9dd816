"""Many people equal one by one, bit for bit: every registered lens does the device's arithmetic on arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.channels import grid_point
from dame.device.lenses import LENSES, Lens, Reading, Windows
from dame.device.records import Summary
from dame.errors import InvalidInput
from dame.vectorised.channels import grid_points
from dame.vectorised.lenses import LENS_FORMS, Readings, read, weights
from tests.device.strategies import LENS_STRATEGIES, people

each_lens = pytest.mark.parametrize("kind", list(LENSES), ids=lambda kind: kind.kind)


def arrays(group: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p.size for p in group], dtype=np.int64), np.array([p.mean for p in group], dtype=np.float64)


def one_by_one(readings: Readings) -> list[Reading]:
    """The reading of each person, as a device has it."""
    marks = np.ones(len(readings)) if readings.marks is None else readings.marks
    first, last = readings.first[readings.which], readings.last[readings.which]
    return [Reading(*each) for each in zip(first.tolist(), last.tolist(), marks.tolist(), strict=True)]


@st.composite
def groups(draw: st.DrawFn, kind: type[Lens]) -> tuple[Lens, list[Summary]]:
    """A lens, people anywhere, and people who differ most through it."""
    lens = draw(LENS_STRATEGIES[kind])
    return lens, draw(st.lists(st.one_of(people, st.sampled_from(lens.extremes())), max_size=20))


def test_every_lens_has_a_form():
    assert [kind for kind in LENSES if kind not in LENS_FORMS] == []


@each_lens
@given(data=st.data())
def test_readings_are_those_of_the_device_bit_for_bit(kind, data):
    lens, group = data.draw(groups(kind))
    numbers = st.lists(st.integers(0, lens.window_count - 1), min_size=len(group), max_size=len(group))
    windows = data.draw(numbers)
    found = read(lens, *arrays(group), np.array(windows, dtype=np.intp))
    assert one_by_one(found) == [lens.reading(person, own) for person, own in zip(group, windows, strict=True)]
    last = lens.window_count - 1
    assert one_by_one(read(lens, *arrays(group), last)) == [lens.reading(person, last) for person in group]


@each_lens
@given(data=st.data())
def test_all_who_differ_most_are_read_as_on_the_device(kind, data):
    lens = data.draw(LENS_STRATEGIES[kind])
    for window in range(lens.window_count):
        expected = [lens.reading(person, window) for person in lens.extremes()]
        assert one_by_one(read(lens, *arrays(lens.extremes()), window)) == expected


@each_lens
@given(data=st.data())
def test_marks_on_bins_are_those_of_the_device(kind, data):
    lens, group = data.draw(groups(kind))
    readings, by_device = read(lens, *arrays(group)), [lens.reading(person, 0) for person in group]
    for bin_ in {0, lens.bins // 2, lens.bins - 1}:
        assert readings.mark_on(bin_).tolist() == [reading.mark_on(bin_) for reading in by_device]
    runs = np.bincount(readings.which, minlength=len(readings.first))
    expected = [sum(first <= bin_ <= last for first, last, _ in by_device) for bin_ in range(lens.bins)]
    assert readings.marked(runs, lens.bins).tolist() == expected


@each_lens
@given(data=st.data())
def test_reading_people_does_not_change_them(kind, data):
    lens, group = data.draw(groups(kind))
    sizes, means = arrays(group)
    before = sizes.copy(), means.copy()
    read(lens, sizes, means)
    assert (sizes == before[0]).all()
    assert (means == before[1]).all()


@given(LENS_STRATEGIES[Windows], st.lists(people, max_size=20))
def test_weights_are_those_of_the_device(lens, group):
    sizes, _ = arrays(group)
    assert weights(lens, sizes).tolist() == [lens.weight(person.size) for person in group]
    assert weights(lens, sizes.astype(np.float64)).tolist() == weights(lens, sizes).tolist()


@given(st.lists(st.floats(0, 1), max_size=50), st.one_of(st.integers(1, 2**24), st.just(2**32)))
def test_grid_points_are_those_of_the_device(marks, steps):
    expected = [grid_point(mark, steps) for mark in marks]
    assert grid_points(np.array(marks, dtype=np.float64), steps).tolist() == expected


def test_a_lens_without_a_form_is_refused_in_one_sentence():
    class Unknown(Windows):
        kind = "unknown"

    with pytest.raises(InvalidInput, match="register one"):
        read(Unknown.whole_range(), np.ones(1, np.int64), np.zeros(1))
