"""Statistics: records are clipped, summed exactly, in any order and of any kind of number, and never shown."""

from __future__ import annotations

import array
import collections
import dataclasses
import math
import types
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import STATISTICS
from dame.device.records import ABSENT, HALF_GRID, Summary, grid_mean, summary
from dame.device.statistics import Indicator, Present, Square, Statistic, Value
from dame.errors import BadRecords, InvalidInput
from tests.device.examples import HIGH, LOW, NOT_FINITE, NOT_NUMBERS, STATISTIC_EXAMPLES, TOO_LARGE, own, part_name
from tests.device.strategies import (
    STATISTIC_STRATEGIES,
    asked_rows,
    bounds,
    columns,
    present_values,
    records,
    statistics,
    takes_texts,
)

VALUE = Value(low=LOW, high=HIGH)
EXAMPLES = [statistic for each in STATISTIC_EXAMPLES.values() for statistic in each]
every_statistic = pytest.mark.parametrize("statistic", EXAMPLES, ids=part_name)
SECRET = "8.7654321"


def test_the_suite_knows_every_statistic():
    assert own(STATISTICS)
    assert set(own(STATISTICS)) == set(STATISTIC_EXAMPLES) == set(STATISTIC_STRATEGIES)


# --- what every statistic promises


@given(asked_rows())
def test_a_summary_is_one_of_somebody_who_could_have_any_mean_between_the_bounds(asked):
    statistic, values = asked
    person = statistic.summarise(values)
    assert type(person.size) is int
    assert type(person.mean) is float
    assert person.size >= 1
    assert -1.0 <= person.mean <= 1.0


@given(statistics(Value, Square, Indicator), records())
def test_a_summary_counts_the_records(statistic, values):
    assert statistic.summarise(values).size == len(values)


@given(asked_rows(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(asked, shuffler):
    statistic, values = asked
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert statistic.summarise(values) == statistic.summarise(shuffled)


@given(statistics(Value, Square, Indicator), records(longest=5), st.integers(1, 50))
def test_records_that_repeat_change_the_size_only(statistic, values, times):
    one, many = statistic.summarise(values), statistic.summarise(values * times)
    assert many.size == times * one.size
    assert many.mean == pytest.approx(one.mean, abs=1e-15)


@given(statistics())
def test_a_statistic_survives_json(statistic):
    assert STATISTICS.from_json(statistic.to_json()) == statistic
    assert hash(STATISTICS.from_json(statistic.to_json())) == hash(statistic)


@every_statistic
def test_a_statistic_says_what_is_averaged_and_what_its_ends_stand_for(statistic):
    low, high = statistic.range
    assert low < high
    assert statistic.words.isprintable()
    assert (statistic.column or "value") in statistic.words


@every_statistic
def test_a_statistic_is_frozen(statistic):
    for field in dataclasses.fields(statistic):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(statistic, field.name, getattr(statistic, field.name))


# --- people without records that count

NOBODY = [[], (), range(0), np.array([]), iter(())]


def absent(statistic: Statistic) -> Summary:
    """What somebody without records counts as: one record in the middle, or one that says no."""
    return Summary(size=1, mean=-1.0) if isinstance(statistic, Present) else Summary(size=1, mean=0.0)


def test_somebody_without_records_is_like_somebody_with_one_in_the_middle():
    assert Summary(size=1, mean=0.0) == ABSENT == summary(0, 0) == VALUE.summarise([(LOW + HIGH) / 2])


@every_statistic
@pytest.mark.parametrize("nobody", NOBODY, ids=lambda nobody: type(nobody).__name__)
def test_a_person_without_records_has_a_summary_like_anybody_else(statistic, nobody):
    assert statistic.summarise(nobody) == absent(statistic)


@every_statistic
@given(others=st.lists(st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.text(), st.floats()), max_size=3)))
def test_a_person_whose_records_lack_the_column_has_the_same_summary(statistic, others):
    lacking = [{key: value for key, value in one.items() if key != statistic.column} for one in others]
    empty = [{**one, statistic.column: None} for one in lacking]
    if statistic.column:
        assert statistic.summarise(lacking) == statistic.summarise(empty) == absent(statistic)


@given(asked_rows())
def test_records_without_the_column_do_not_count(asked):
    statistic, values = asked
    assert statistic.summarise(values) == statistic.summarise(present_values(values, statistic.column))


@given(statistics(), records(longest=5))
def test_numbers_and_records_with_a_column_say_the_same(statistic, values):
    if statistic.column:
        named = [{"": 99.0, "other": "text", statistic.column: value} for value in values]
        assert statistic.summarise(values) == statistic.summarise(named)


@pytest.mark.parametrize(
    "record",
    [
        {"delay": 20},
        collections.OrderedDict(delay=20.0),
        collections.ChainMap({"delay": 20.0}, {"delay": 1.0}),
        types.MappingProxyType({"delay": np.float32(20)}),
        collections.defaultdict(lambda: 20.0, delay=20.0),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_may_be_mappings_of_any_kind(record):
    assert Value(column="delay", low=0, high=80).summarise([record, record]) == Summary(size=2, mean=-0.5)


def test_a_mapping_is_never_asked_to_make_a_value_up():
    record = collections.defaultdict(lambda: 1.0)
    assert Value(column="delay").summarise([record]) == ABSENT
    assert not record


@every_statistic
def test_where_no_column_is_named_a_mapping_is_no_record(statistic):
    """Else a device that holds records of several columns would be absent in every study of bare numbers, unseen."""
    nameless = dataclasses.replace(statistic, column="")
    for record in ({}, {"": 1.0}, {"value": 1.0}):
        with pytest.raises(BadRecords, match=r"^record number 2 must be (a text or )?a finite number$"):
            nameless.summarise([1.0, record])


# --- bad records


class Treacherous(Mapping):
    """A record of somebody else's making, whose errors show it."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError(f"{key} was {SECRET}")

    def __iter__(self):
        return iter(["delay", "hours", "colour", "stars"])

    def __len__(self) -> int:
        return 4


BAD = [math.nan, math.inf, -math.inf, b"bytes", [], object(), 10**400, [8.7654321], {"inner": 8.7654321}, 1j]


def allowed(statistic: Statistic) -> str:
    return "a text or a finite number" if takes_texts(statistic) else "a finite number"


@every_statistic
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: type(bad).__name__)
@given(good=st.lists(st.floats(LOW, HIGH), max_size=5))
def test_the_message_names_the_place_of_a_bad_record_only(statistic, bad, good):
    record = {statistic.column: bad} if statistic.column else bad
    with pytest.raises(BadRecords) as caught:
        statistic.summarise([*good, record, 8.7654321])
    assert str(caught.value) == f"record number {len(good) + 1} must be {allowed(statistic)}"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@every_statistic
@pytest.mark.parametrize("bare", [None, math.nan, math.inf, [], object()], ids=lambda bare: type(bare).__name__)
def test_a_bare_record_that_is_no_number_is_refused_whatever_the_column(statistic, bare):
    with pytest.raises(BadRecords, match="record number 1 must be"):
        statistic.summarise([bare])


@every_statistic
def test_a_mapping_that_fails_shows_nothing(statistic):
    with pytest.raises(BadRecords) as caught:
        statistic.summarise([Treacherous()])
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("statistic", [each for each in EXAMPLES if not takes_texts(each)], ids=part_name)
@pytest.mark.parametrize("text", ["5", "", "text", np.str_("5")])
def test_texts_are_no_numbers(statistic, text):
    for record in (text, {statistic.column: text}):
        with pytest.raises(BadRecords, match=r"^record number 1 must be a finite number$"):
            statistic.summarise([record])


@every_statistic
@pytest.mark.parametrize("single", [{}, {"delay": 1.0}, "text", b"bytes", bytearray(b"x")], ids=repr)
def test_a_single_record_is_no_list(statistic, single):
    with pytest.raises(BadRecords, match=r"^records must be a list of records, not a single one$"):
        statistic.summarise(single)


@every_statistic
@pytest.mark.parametrize("nothing", [None, 5, 5.0, object(), np.array(5.0)], ids=lambda one: type(one).__name__)
def test_what_is_no_list_at_all_is_refused(statistic, nothing):
    with pytest.raises(BadRecords, match=r"^records must be a list of records$"):
        statistic.summarise(nothing)


# --- columns


@every_statistic
@pytest.mark.parametrize("column", ["x" * 129, "a\nb", "a\0", "\ud800", 7, None, b"a", True, np.array(["a", "b"])])
def test_a_column_that_is_no_short_printable_text_is_refused(statistic, column):
    with pytest.raises(InvalidInput) as caught:
        dataclasses.replace(statistic, column=column)
    assert caught.value.field == "column"
    assert "\n" not in str(caught.value)


@given(columns, st.floats(-1, 1))
def test_any_name_of_a_column_finds_its_own_value(column, value):
    other = {f"{column}x": 0.5, column.upper() + "y": -0.5}
    if column:
        assert Value(column=column).summarise([{**other, column: value}]) == Value().summarise([value])


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
@pytest.mark.parametrize("kind", [Value, Square])
def test_bounds_reversed_equal_or_not_finite_are_refused(kind, ends):
    with pytest.raises(InvalidInput) as caught:
        kind(low=ends[0], high=ends[1])
    assert "\n" not in str(caught.value)


def test_bounds_of_any_kind_of_numbers_make_the_same_statistic():
    for low, high in [(0, 10), (-0.0, 10.0), (np.float64(0), np.float64(10))]:
        statistic = Value(low=low, high=high)
        assert statistic == VALUE
        document = "{'kind': 'value', 'column': '', 'low': 0.0, 'high': 10.0}"
        assert repr(statistic.to_json()) == repr(VALUE.to_json()) == document


# --- privacy of what is kept


@given(st.integers(0, 10**9), st.floats(-1, 1))
def test_a_summary_shows_nothing(size, mean):
    person = Summary(size=size, mean=mean)
    assert repr(person) == str(person) == f"{person}" == "Summary()"


def test_a_statistic_without_a_summary_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        type("Nothing", (Statistic,), {"kind": "nothing"})()
