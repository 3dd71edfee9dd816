"""What every lens promises: readings within its bins, how two of them can differ, and people who differ the most.

A new lens joins `LENS_EXAMPLES` and `LENS_STRATEGIES` and inherits the first half of this file.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dame.device import LENSES
from dame.device.lenses import MOST_BINS, Bins, Lens, SizeClasses, Window, Windows
from dame.device.records import MOST_RECORDS, Summary
from dame.errors import InvalidInput
from tests.device.enumeration import differences_among
from tests.device.examples import (
    BIT,
    BORDERS,
    DITHER,
    LENS_EXAMPLES,
    NOT_FINITE,
    NOT_NUMBERS,
    SEGMENTS,
    STRIPES,
    TOO_LARGE,
    own,
    part_name,
)
from tests.device.mutants import ClosedBins
from tests.device.sources import CountingCoins, replayed
from tests.device.strategies import LENS_STRATEGIES, borders, lenses, means, people, segments, sizes

EXAMPLES = [lens for each in LENS_EXAMPLES.values() for lens in each]
every_lens = pytest.mark.parametrize("lens", EXAMPLES, ids=part_name)
VISITED = 5000
"""Up to so many bins, the extremes differ in every way; beyond, at least in the largest."""


def largest(differences: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those that no other one exceeds in both ways."""
    return {(a, b) for a, b in differences if not any((c, d) != (a, b) and c >= a and d >= b for c, d in differences)}


# --- what every lens promises


def test_the_suite_knows_every_lens():
    assert own(LENSES)
    assert set(own(LENSES)) == set(LENS_EXAMPLES) == set(LENS_STRATEGIES)
    assert all(LENS_EXAMPLES.values())


def check_reading(lens: Lens, person: Summary) -> None:
    for window in range(lens.window_count):
        first, last, mark = lens.reading(person, window)
        assert first > last or 0 <= first <= last < lens.bins
        assert 0.0 <= mark <= 1.0


@given(lenses(), people)
def test_a_reading_is_within_the_bins(lens, person):
    check_reading(lens, person)


@every_lens
def test_extremes_are_people_with_readings_within_the_bins(lens):
    assert lens.extremes()
    for person in lens.extremes():
        assert 1 <= person.size <= MOST_RECORDS
        assert -1.0 <= person.mean <= 1.0
        check_reading(lens, person)


@given(lenses(), people, people)
def test_any_two_people_differ_as_the_lens_says(lens, one, other):
    assert differences_among(lens, [one, other]) <= lens.differences


@given(lenses())
def test_any_two_extremes_differ_as_the_lens_says(lens):
    assert differences_among(lens, lens.extremes()) <= lens.differences


@every_lens
def test_extremes_differ_in_every_way_there_is(lens):
    found = differences_among(lens, lens.extremes())
    assert found <= lens.differences
    assert largest(found) == largest(set(lens.differences))
    if lens.bins <= VISITED:
        assert found == lens.differences


@given(lenses())
def test_who_differs_can_be_exchanged(lens):
    assert (0, 0) in lens.differences
    assert lens.differences == {(lost, gained) for gained, lost in lens.differences}


@given(lenses(), st.integers(0, 2**64 - 1))
def test_the_window_is_the_top_bits_of_the_first_word(lens, word):
    assert lens.window_count == 2**lens.window_bits
    coins = replayed(word, 0)
    assert lens.draw_window(coins) == word * lens.window_count // 2**64
    taken = CountingCoins(1)
    lens.draw_window(taken)
    assert taken.used == (lens.window_count > 1), "no word is taken where there is nothing to draw"


@every_lens
def test_every_window_is_drawn_by_as_many_words(lens):
    share = 2**64 // lens.window_count
    for window in range(lens.window_count):
        for word in (window * share, (window + 1) * share - 1):
            assert lens.draw_window(replayed(word)) == window


@given(lenses())
def test_a_lens_survives_json(lens):
    read = LENSES.from_json(json.loads(json.dumps(lens.to_json(), allow_nan=False)))
    assert read == lens
    assert hash(read) == hash(lens)
    assert lens.to_json()["kind"] == lens.kind


@every_lens
def test_a_lens_says_what_it_asks_in_a_few_words(lens):
    assert 10 < len(lens.words) < 100
    assert lens.words.isprintable()


@every_lens
def test_a_lens_is_frozen(lens):
    for field in dataclasses.fields(lens):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(lens, field.name, getattr(lens, field.name))


# --- fields

REFUSED = [
    (Bins(bins=8, width=0.25), "bins", [0, -1, MOST_BINS + 1, 2.0, *NOT_NUMBERS]),
    (Bins(bins=8, width=0.25), "width", [0, -0.1, 1e-13, 1e13, *NOT_NUMBERS]),
    (Bins(bins=8, width=0.25), "origin", [-1.01, 1.01, *NOT_NUMBERS]),
    (Bins(bins=8, width=0.25), "neighbours", [-1, 17, 1.0, *NOT_NUMBERS]),
    (Bins(bins=8, width=0.25), "min_size", [0, -5, MOST_RECORDS + 1, 7.0, *NOT_NUMBERS]),
    (SizeClasses(classes=8), "classes", [0, -1, MOST_BINS + 1, 2.0, *NOT_NUMBERS]),
    (STRIPES.lens, "levels", [[(wrong, 4, 1)] for wrong in (0, -0.1, 9e-7, 8.1, *NOT_NUMBERS, *NOT_FINITE)]),
    (STRIPES.lens, "levels", [[(0.5, wrong, 1)] for wrong in (0, -1, 3, 12, 65, 129, 256, 2.0, *NOT_NUMBERS)]),
    (STRIPES.lens, "levels", [[(0.5, 4, wrong)] for wrong in (0, -5, MOST_RECORDS + 1, 7.0, *NOT_NUMBERS)]),
    (STRIPES.lens, "levels", [(), "abc", {(0.5, 4, 1)}, [(0.5, 4)], [(0.5, 4, 1, 1)], *NOT_NUMBERS]),
    (STRIPES.lens, "levels", [[(0.5, 4, 1), (0.2, 3, 1)], [(0.5, 64, 1)] * 4, [(0.5, 1, 1)] * 129]),
    (BIT.lens, "cap", [0, -1.0, 1e-13, 2.0**63, *(wrong for wrong in NOT_NUMBERS if wrong is not None)]),
    (BIT.lens, "between_sd", [-0.1, 1.1, *NOT_NUMBERS]),
    (BIT.lens, "least_weight", [-0.1, 1.1e12, *NOT_NUMBERS]),
    (BIT.lens, "windows", [(), "abc", {Window(0, -1, 1)}, (Window(0, -1, 1),) * 3, (Window(0, -1, 1),) * 256]),
    (BIT.lens, "windows", [*NOT_NUMBERS, *([wrong] for wrong in NOT_NUMBERS), "ab", [(0, -1)], [(0, -1, 1, 2)]]),
    (BIT.lens, "windows", [[(centre, -1.0, 1.0)] for centre in (-3.01, 3.01, *NOT_NUMBERS, *NOT_FINITE)]),
    (BIT.lens, "windows", [[(0.0, left, 2.0)] for left in (-1e13, 2.0, 3.0, 2.0 - 1e-13, *NOT_NUMBERS, *NOT_FINITE)]),
    (BIT.lens, "windows", [[(0.0, -1.0, right)] for right in (1e13, -1.0, -2.0, *NOT_NUMBERS, *NOT_FINITE)]),
]


@pytest.mark.parametrize(("lens", "field", "values"), REFUSED)
def test_fields_out_of_range_are_refused(lens, field, values):
    for value in (*values, *NOT_FINITE, TOO_LARGE):
        with pytest.raises(InvalidInput) as caught:
            dataclasses.replace(lens, **{field: value})
        assert "\n" not in str(caught.value)


def test_every_field_of_every_lens_is_checked():
    fields = {(kind, field.name) for kind in own(LENSES) for field in dataclasses.fields(kind)}
    assert {(type(lens), field) for lens, field, _ in REFUSED} == fields


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Bins(bins=8, width=1.0, origin=0.0), Bins(bins=np.int64(8), width=1, origin=-0.0, min_size=np.uint8(1))),
        (SizeClasses(classes=8), SizeClasses(classes=np.int32(8))),
        (
            Windows(windows=(Window(0.0, 0.0, 1.0),), cap=7.0, between_sd=0.0, least_weight=0.0),
            Windows(windows=[[np.float64(-0.0), -0.0, 1]], cap=7, between_sd=-0.0, least_weight=0),
        ),
    ],
)
def test_numbers_of_any_kind_make_the_same_lens(one, other):
    assert one == other
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())


# --- bins


@given(st.integers(1, 2**10), st.integers(0, 2**10))
def test_bins_are_half_open(count, border):
    count = 2 ** count.bit_length()  # a power of two: borders are exact
    border = border % count
    lens = Bins(bins=count, width=2 / count)
    assert lens.bin_of(-1 + border * lens.width) == border
    assert border == 0 or lens.bin_of(-1 + border * lens.width - 2**-52) == border - 1
    assert lens.bin_of(1.0) == count - 1
    assert lens.edges(border) == (-1 + border * lens.width, -1 + (border + 1) * lens.width)


@given(st.floats(-1, 1), st.integers(0, 4))
def test_a_person_with_few_records_marks_nothing(mean, size):
    first, last, _ = Bins(bins=8, width=0.25, neighbours=1, min_size=5).reading(Summary(size=size, mean=mean))
    assert first > last


@example(size=5)
@given(st.integers(5, 10**30))
def test_a_person_with_just_enough_records_marks_her_bin_and_its_neighbours(size):
    lens = Bins(bins=8, width=0.25, neighbours=1, min_size=5)
    assert lens.reading(Summary(size=size, mean=0.1)) == (3, 5, 1.0)


@given(st.one_of(st.floats(1e-3, 5.0), st.sampled_from([2.0**-k for k in range(10)])), st.data())
def test_no_mean_marks_more_than_three_bins_with_one_neighbour(tau, data):
    """Bins as the paper makes them, ⌈1/τ⌉ of width 2τ, and with borders that are exact floats."""
    lens = Bins(bins=math.ceil(1 / tau), width=2 * tau, neighbours=1, min_size=5)
    border = lens.origin + data.draw(st.integers(0, lens.bins)) * lens.width
    mean = data.draw(
        st.one_of(
            st.floats(-1, 1),
            st.sampled_from([-1.0, 1.0, 0.0, -0.0, 5e-324, -5e-324]),
            st.sampled_from([border, math.nextafter(border, 2), math.nextafter(border, -2)]),
        )
    )
    first, last, mark = lens.reading(Summary(size=5, mean=min(max(mean, -1.0), 1.0)))
    assert 0 <= first <= last <= lens.bins - 1
    assert last - first + 1 <= 3
    assert mark == 1.0


@pytest.mark.parametrize("min_size", [1, 2])
@pytest.mark.parametrize("neighbours", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 10, 11, 14, 15, 30, 31, 70])
def test_differences_are_those_of_all_pairs_of_bins(count, neighbours, min_size):
    lens = Bins(bins=count, width=2 / count, neighbours=neighbours, min_size=min_size)
    marks = [set(range(max(j - neighbours, 0), min(j + neighbours, count - 1) + 1)) for j in range(count)]
    marks += [set()] * (min_size > 1)
    assert lens.differences == {(len(one - other), len(other - one)) for one in marks for other in marks}


def test_bins_that_are_closed_would_be_noticed():
    for count in (8, 64):
        lens = ClosedBins(bins=count, width=2 / count, neighbours=1)
        assert not differences_among(lens, lens.extremes()) <= lens.differences


# --- classes of sizes


@given(st.integers(1, 70), st.integers(1, MOST_RECORDS), means)
def test_a_size_marks_the_one_class_that_holds_it(classes, size, mean):
    first, last, mark = SizeClasses(classes=classes).reading(Summary(size=size, mean=mean))
    assert first == last
    assert mark == 1.0
    assert 2**first <= size
    assert size < 2 ** (first + 1) or first == classes - 1


# --- windows


@given(lenses(Windows), people)
def test_a_position_is_cut_to_the_window(lens, person):
    for number, (centre, left, right) in enumerate(lens.windows):
        position = lens.position(person, number)
        z = lens.weight(person.size) * (person.mean - centre)
        assert 0.0 <= position <= 1.0
        assert position == min(max((z - left) / (right - left), 0.0), 1.0)
        assert lens.reading(person, number) == (0, 0, position)


@given(
    means, st.floats(-3, 3), st.integers(1, 2**62), st.floats(0, 1), st.floats(-1e12, 1e12),
    st.floats(1e-12, 1e12), st.one_of(st.none(), st.floats(1e-12, 2.0**62)), st.floats(0, 1e12),
)  # fmt: skip
def test_a_position_is_cut_in_the_strangest_windows_too(mean, centre, size, between_sd, left, width, cap, least):
    right = left + width
    if not (right - left >= 1e-12 and right <= 1e12):
        return
    lens = Windows(windows=(Window(centre, left, right),), cap=cap, between_sd=between_sd, least_weight=least)
    assert 0.0 <= lens.position(Summary(size=size, mean=mean)) <= 1.0


@given(lenses(Windows), people)
def test_nobody_is_farther_out_than_the_extremes(lens, person):
    for window in range(lens.window_count):
        positions = [lens.position(extreme, window) for extreme in lens.extremes()]
        assert min(positions) - 1e-12 <= lens.position(person, window) <= max(positions) + 1e-12


@pytest.mark.parametrize("lens", LENS_EXAMPLES[Windows])
def test_extremes_reach_both_ends_of_every_window(lens):
    for window in range(lens.window_count):
        assert {0.0, 1.0} <= {lens.position(person, window) for person in lens.extremes()}


@given(sizes, st.floats(1e-3, 1e6), st.floats(0, 1), st.floats(0, 10))
def test_the_weight_is_the_root_of_the_capped_effective_size(size, cap, between_sd, least):
    lens = Windows(windows=(Window(0.0, -1.0, 1.0),), cap=cap, between_sd=between_sd, least_weight=least)
    root = math.sqrt(min(1 / (1 / size + between_sd**2), cap))
    assert lens.weight(size) == pytest.approx(max(root, least), rel=1e-12)


def test_two_windows_of_a_dither_stand_as_far_from_the_centre_on_either_side():
    assert DITHER.lens.windows == ((0.125 - 0.25, -1.0, 2.0), (0.125 + 0.25, -1.0, 2.0))
    person = Summary(size=4, mean=0.2)
    assert [DITHER.lens.position(person, window) for window in (0, 1)] == pytest.approx(
        [(2 * (0.2 + 0.125) + 1) / 3, (2 * (0.2 - 0.375) + 1) / 3]
    )


# --- segments


@pytest.mark.parametrize(
    ("mean", "positions"),
    [
        (-1.0, (0, 0, 0, 0)),
        (-0.75, (0.5, 0, 0, 0)),
        (-0.5, (1, 0, 0, 0)),
        (0.0, (1, 0.8, 0, 0)),
        (0.125, (1, 1, 0, 0)),
        (0.1875, (1, 1, 0.5, 0)),
        (0.25, (1, 1, 1, 0)),
        (0.625, (1, 1, 1, 0.5)),
        (1.0, (1, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 10**6])
def test_a_person_is_somewhere_in_a_segment_or_at_its_nearer_end(mean, positions, size):
    person = Summary(size=size, mean=mean)
    assert tuple(SEGMENTS.lens.position(person, window) for window in range(4)) == positions


@given(borders(), means, sizes)
def test_a_position_in_a_segment_is_one_difference_over_another(ends, mean, size):
    lens = Windows.segments(ends)
    for window, (left, right) in enumerate(itertools.pairwise(ends)):
        expected = min(max((mean - left) / (right - left), 0.0), 1.0)
        assert lens.position(Summary(size=size, mean=mean), window) == expected


@given(borders(), means)
def test_everybody_is_the_sum_of_what_she_has_of_each_segment(ends, mean):
    person, exact = Summary(size=3, mean=mean), [Fraction(border) for border in ends]
    widths = [right - left for left, right in itertools.pairwise(exact)]
    lens = Windows.segments(ends)
    shares = [Fraction(lens.position(person, window)) * width for window, width in enumerate(widths)]
    inside = min(max(Fraction(mean), exact[0]), exact[-1])
    assert abs(exact[0] + sum(shares) - inside) <= Fraction(2**-50)


@given(segments())
def test_everybody_counts_once_in_segments(lens):
    assert all(lens.weight(size) == 1 for size in (1, 7, 2**62))


@pytest.mark.parametrize(
    "given_borders",
    [
        *(tuple(border / 64 for border in range(count)) for count in (0, 1, 4, 6, 7, 8, 10, 16, 18)),
        (0.0, 0.0, 0.5),
        (0.0, -0.0, 0.5),
        (0.5, 0.0, 0.25),
        (0.5, 0.25, 0.0),
        (0.0, 1e-13, 0.5),
        (-1.01, 0.0, 0.5),
        (-0.5, 0.0, 1.01),
        *((-0.5, wrong, 0.25) for wrong in (*NOT_NUMBERS, *NOT_FINITE, TOO_LARGE)),
        *((-0.5, 0.0, wrong) for wrong in (*NOT_NUMBERS, *NOT_FINITE, TOO_LARGE)),
        *NOT_NUMBERS,
        {-0.5, 0.0, 0.25},
        "abc",
    ],
    ids=lambda wrong: "borders",
)
def test_borders_that_are_no_rising_list_are_refused(given_borders):
    with pytest.raises(InvalidInput) as caught:
        Windows.segments(given_borders)
    assert "\n" not in str(caught.value)


def test_borders_of_any_kind_of_numbers_make_the_same_segments():
    for other in (list(BORDERS), [-1, *BORDERS[1:-1], 1], tuple(np.array(BORDERS))):
        assert Windows.segments(other) == SEGMENTS.lens
    assert Windows.segments((-1, -0.0, 1)).to_json() == Windows.segments((-1.0, 0.0, 1.0)).to_json()
