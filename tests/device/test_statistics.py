"""Statistics: records are clipped, summed exactly, in any order and of any kind of number, and never shown."""

from __future__ import annotations

import array
import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import STATISTICS
from dame.device.records import HALF_GRID, Summary, grid_mean, summary
from dame.device.statistics import Statistic, Value
from dame.errors import BadRecords, InvalidInput
from tests.device.examples import HIGH, LOW, NOT_FINITE, NOT_NUMBERS, STATISTIC_EXAMPLES, TOO_LARGE, own, part_name
from tests.device.strategies import STATISTIC_STRATEGIES, bounds, records, statistics

VALUE = Value(low=LOW, high=HIGH)
EXAMPLES = [statistic for each in STATISTIC_EXAMPLES.values() for statistic in each]
every_statistic = pytest.mark.parametrize("statistic", EXAMPLES, ids=part_name)


def test_the_suite_knows_every_statistic():
    assert own(STATISTICS)
    assert set(own(STATISTICS)) == set(STATISTIC_EXAMPLES) == set(STATISTIC_STRATEGIES)


# --- what every statistic promises


@given(statistics(), records())
def test_a_summary_counts_the_records_and_has_a_mean_between_the_bounds(statistic, values):
    person = statistic.summarise(values)
    assert person.size == len(values)
    assert -1.0 <= person.mean <= 1.0


@given(statistics(), records(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(statistic, values, shuffler):
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert statistic.summarise(values) == statistic.summarise(shuffled)


@given(statistics(), records(longest=5), st.integers(1, 50))
def test_records_that_repeat_change_the_size_only(statistic, values, times):
    one, many = statistic.summarise(values), statistic.summarise(values * times)
    assert many.size == times * one.size
    assert many.mean == pytest.approx(one.mean, abs=1e-15)


@given(statistics())
def test_a_statistic_survives_json(statistic):
    assert STATISTICS.from_json(statistic.to_json()) == statistic
    assert hash(STATISTICS.from_json(statistic.to_json())) == hash(statistic)


@every_statistic
@pytest.mark.parametrize(
    "nobody", [[], (), {}, range(0), np.array([]), iter(())], ids=lambda nobody: type(nobody).__name__
)
def test_a_person_without_records_is_refused(statistic, nobody):
    with pytest.raises(BadRecords, match="there is none"):
        statistic.summarise(nobody)


@every_statistic
@pytest.mark.parametrize("bad", [None, math.nan, math.inf, "text", [], object()], ids=lambda bad: type(bad).__name__)
@given(good=st.lists(st.floats(LOW, HIGH), max_size=5))
def test_the_message_names_the_place_of_a_bad_record_only(statistic, bad, good):
    with pytest.raises(BadRecords) as caught:
        statistic.summarise([*good, bad, 8.7654321])
    assert str(caught.value) == f"record number {len(good) + 1} must be a finite number"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@every_statistic
def test_a_statistic_is_frozen(statistic):
    for field in dataclasses.fields(statistic):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(statistic, field.name, getattr(statistic, field.name))


# --- the value itself


@given(records(), bounds())
def test_the_mean_is_that_of_the_clipped_records_within_half_a_grid_step(values, ends):
    low, high = ends
    person = Value(low=low, high=high).summarise(values)
    exact = sum(Fraction(min(max(value, low), high)) for value in values) / len(values)
    inner = 2 * (exact - Fraction(low)) / (Fraction(high) - Fraction(low)) - 1
    # Half a step of the grid, and the rounding of bounds that are large beside their distance.
    slack = 0.5 / HALF_GRID + 1e-15 * (1 + max(abs(low), abs(high)) / (high - low))
    assert abs(person.mean - inner) <= slack


@given(records(), bounds())
def test_records_outside_the_bounds_count_as_the_bounds(values, ends):
    low, high = ends
    clipped = [min(max(value, low), high) for value in values]
    statistic = Value(low=low, high=high)
    assert statistic.summarise(values) == statistic.summarise(clipped)


@pytest.mark.parametrize("outside", [10.0, 10.1, 1e308])
def test_a_huge_record_is_just_the_upper_bound(outside):
    assert VALUE.summarise([outside] * 3) == Summary(size=3, mean=1.0)
    assert VALUE.summarise([-outside] * 3) == Summary(size=3, mean=-1.0)


@given(st.integers(-HALF_GRID, HALF_GRID), st.integers(1, 2**22))
def test_equal_records_have_their_own_value_as_mean(value, size):
    assert grid_mean(value * size, size) == value / HALF_GRID
    assert summary(value * size, size) == Summary(size=size, mean=value / HALF_GRID)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.5, 2.25, 9.0], dtype=np.float32),
        np.array([1.5, 2.25, 9.0]),
        array.array("d", [1.5, 2.25, 9.0]),
        (1.5, 2.25, 9.0),
        iter([1.5, 2.25, 9.0]),
        [Fraction(3, 2), Decimal("2.25"), np.float16(9)],
    ],
    ids=["float32", "float64", "array", "tuple", "iterator", "mixed"],
)
def test_every_common_kind_of_numbers_is_read_alike(values):
    assert VALUE.summarise(values) == VALUE.summarise([1.5, 2.25, 9.0])


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_])
def test_arrays_of_whole_numbers_are_read(dtype):
    assert VALUE.summarise(np.array([0, 1, 1], dtype=dtype)) == VALUE.summarise([0.0, 1.0, 1.0])


# --- bounds


@pytest.mark.parametrize(
    "ends",
    [(1.0, 1.0), (1.0, 0.0), (0.0, 1e-300), (-1e301, 0.0), (0.0, 1e301), (0.0, TOO_LARGE), (-TOO_LARGE, 0.0)]
    + [(wrong, 1.0) for wrong in (*NOT_NUMBERS, *NOT_FINITE)]
    + [(0.0, wrong) for wrong in (*NOT_NUMBERS, *NOT_FINITE)],
)
def test_bounds_reversed_equal_or_not_finite_are_refused(ends):
    with pytest.raises(InvalidInput) as caught:
        Value(low=ends[0], high=ends[1])
    assert "\n" not in str(caught.value)


def test_bounds_of_any_kind_of_numbers_make_the_same_statistic():
    for low, high in [(0, 10), (-0.0, 10.0), (np.float64(0), np.float64(10))]:
        statistic = Value(low=low, high=high)
        assert statistic == VALUE
        assert repr(statistic.to_json()) == repr(VALUE.to_json()) == "{'kind': 'value', 'low': 0.0, 'high': 10.0}"


# --- privacy of what is kept


@given(st.integers(0, 10**9), st.floats(-1, 1))
def test_a_summary_shows_nothing(size, mean):
    person = Summary(size=size, mean=mean)
    assert repr(person) == str(person) == f"{person}" == "Summary()"


def test_a_statistic_without_a_summary_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        type("Nothing", (Statistic,), {"kind": "nothing"})()
