"""Squares, indicators and presence: counted and summed as exact arithmetic does, read as people write them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.records import HALF_GRID, Summary
from dame.device.statistics import Indicator, Present, Square, Value, grid_square
from dame.errors import BadRecords, InvalidInput
from tests.device.examples import HIGH, LOW
from tests.device.strategies import (
    STATISTIC_STRATEGIES,
    bounds,
    columns,
    numerals,
    present_values,
    records,
    rows,
    studies,
    takes_texts,
)

# --- the square


def double(exact: Fraction) -> Fraction:
    """What IEEE doubles round a number to."""
    return Fraction(float(exact))


def exact_steps(values: list[float], low: float, high: float) -> list[int]:
    """The grid values of records, each operation rounded as the page of the vectors says, with fractions only."""
    bottom, top = Fraction(low), Fraction(high)
    scale = double(2**31 / double(top - bottom))
    clipped = [min(max(Fraction(value), bottom), top) for value in values]
    points = [double(double(double(value - bottom) * scale) + Fraction(1, 2)) for value in clipped]
    return [math.floor(point) - 2**30 for point in points]


def exact_mean(steps: list[int]) -> float:
    return float(double(double(Fraction(sum(steps))) / len(steps)) / 2**30)


def exact_square(step: int) -> int:
    return 2 * math.floor(double(double(Fraction(step * step)) / 2**30 + Fraction(1, 2))) - 2**30


@given(records(), bounds())
def test_values_and_squares_are_those_of_exact_arithmetic_rounded_at_each_step(values, ends):
    low, high = ends
    steps = exact_steps(values, low, high)
    squares = [exact_square(step) for step in steps]
    assert Value(low=low, high=high).summarise(values) == Summary(size=len(values), mean=exact_mean(steps))
    assert Square(low=low, high=high).summarise(values) == Summary(size=len(values), mean=exact_mean(squares))


@given(st.integers(-HALF_GRID, HALF_GRID))
def test_a_square_on_the_grid_is_the_nearest_even_one(step):
    square = grid_square(step)
    assert square == exact_square(step) == grid_square(-step)
    assert abs(square - (Fraction(2 * step * step, HALF_GRID) - HALF_GRID)) <= 1 + Fraction(1, 2**20)
    assert -HALF_GRID <= square <= HALF_GRID


def test_squares_at_the_ends_and_in_the_middle_are_exact():
    assert [grid_square(step) for step in (0, HALF_GRID, -HALF_GRID)] == [-HALF_GRID, HALF_GRID, HALF_GRID]
    statistic = Square(low=LOW, high=HIGH)
    assert [statistic.summarise([value]).mean for value in (0, 10, 5, 99, -99, 2.5)] == [1, 1, -1, 1, 1, -0.5]


@given(records(), bounds())
def test_the_mean_square_is_that_of_the_clipped_records_within_three_grid_steps(values, ends):
    low, high = ends
    half = (Fraction(high) - Fraction(low)) / 2
    centred = [Fraction(min(max(value, low), high)) - Fraction(low) - half for value in values]
    inner = 2 * sum((distance / half) ** 2 for distance in centred) / len(values) - 1
    slack = 3 / HALF_GRID + 4e-15 * (1 + max(abs(low), abs(high)) / (high - low))
    assert abs(Square(low=low, high=high).summarise(values).mean - inner) <= slack


def test_the_range_of_a_square_is_that_of_the_squared_distance():
    statistic = Square(low=2, high=12)
    assert statistic.range == (0.0, 25.0)
    low, high = statistic.range
    assert low + (statistic.summarise([9.5]).mean + 1) / 2 * (high - low) == pytest.approx(2.5**2, abs=1e-8)


# --- the indicator


def agreeing(statistic: Indicator, value: object) -> bool:
    """Whether a value is as the indicator says, by fractions and by the words."""
    if isinstance(value, str):
        return value == statistic.than
    try:
        border = double(Fraction(statistic.than))
    except (ValueError, OverflowError):
        return False
    own = double(Fraction(value))
    return {"above": own > border, "below": own < border, "is": own == border}[statistic.relation]


@given(st.data(), STATISTIC_STRATEGIES[Indicator])
def test_an_indicator_counts_exactly(data, statistic):
    border = [] if statistic.number is None else [statistic.number]
    near = [math.nextafter(number, side) for number in border for side in (-math.inf, math.inf)]
    texts = [statistic.than, "x", "1", "1.0"] if takes_texts(statistic) else []
    cells = st.one_of(st.sampled_from([*border, *near, *texts, 0, 1, -0.0]), st.floats(-1e9, 1e9))
    values = data.draw(rows(statistic.column, 12, cells))
    found = [agreeing(statistic, value) for value in present_values(values, statistic.column)]
    share = float(Fraction(2 * sum(found) - len(found), len(found))) if found else 0.0
    assert statistic.summarise(values) == Summary(size=len(found) or 1, mean=share)


@pytest.mark.parametrize(
    ("relation", "than", "means"),
    [
        ("above", "2", [-1, -1, 1, -1]),
        ("below", "2", [1, -1, -1, 1]),
        ("is", "2", [-1, 1, -1, -1]),
        ("is", "2.0", [-1, 1, -1, -1]),
        ("is", "+.2e1", [-1, 1, -1, -1]),
        ("is", "two", [-1, -1, -1, -1]),
        ("above", "-0", [1, 1, 1, -1]),
        ("is", "-0", [-1, -1, -1, 1]),
        ("above", "1.9999999999999999", [-1, -1, 1, -1]),
    ],
)
def test_above_and_below_are_strict(relation, than, means):
    statistic = Indicator(column="x", relation=relation, than=than)
    assert [statistic.summarise([value]).mean for value in (1, 2, 3, -0.0)] == means


@pytest.mark.parametrize("than", ["red", "5", "5.0", " 5", "1e400", "nan"])
def test_texts_are_compared_as_they_are_written(than):
    statistic = Indicator(column="x", relation="is", than=than)
    cells = ["red", "5", "5.0", " 5", "1e400", "nan", "RED", ""]
    assert [statistic.summarise([{"x": cell}]).mean == 1 for cell in cells] == [cell == than for cell in cells]


def test_true_and_false_are_one_and_zero():
    for relation, than in (("is", "1"), ("above", "0")):
        late = Indicator(column="late", relation=relation, than=than)
        assert late.summarise([{"late": True}, {"late": False}, {"late": np.True_}, {}]).mean == pytest.approx(1 / 3)


@pytest.mark.parametrize("relation", ["above", "below"])
@pytest.mark.parametrize(
    "than",
    ["", "x", "nan", "inf", "-Infinity", "1e400", "1_000", " 1", "1 ", "0x10", "1,5", "½", "٣", ".", "1e", "1\n"],
)
def test_a_border_that_is_no_finite_number_is_refused(relation, than):
    with pytest.raises(InvalidInput) as caught:
        Indicator(relation=relation, than=than)
    assert "\n" not in str(caught.value)


@given(numerals)
def test_every_language_reads_the_same_number(than):
    exact = Fraction(than)
    assert Indicator(relation="above", than=than).number == float(exact)
    assert math.copysign(1, Indicator(relation="is", than=than).number) == (-1 if float(exact) < 0 else 1)


@pytest.mark.parametrize("than", ["", "x" * 129, "a\nb", "\ud800", 5, 5.0, None, b"a", ["a"]])
def test_what_is_looked_for_is_a_short_printable_text(than):
    with pytest.raises(InvalidInput) as caught:
        Indicator(relation="is", than=than)
    assert caught.value.field == "than"


@pytest.mark.parametrize("relation", ["", "Above", "over", None, 1, ["is"], {}])
def test_another_relation_is_refused(relation):
    with pytest.raises(InvalidInput, match=r"^relation must be one of above, below, is, not "):
        Indicator(relation=relation, than="5")


# --- presence


@given(columns, st.one_of(st.floats(-1e9, 1e9), studies, st.just(""), st.integers(), st.booleans()), st.integers(0, 9))
def test_presence_counts_everybody_as_one_record_whatever_it_holds(column, cell, times):
    statistic = Present(column=column)
    record = {column: cell} if column else cell
    assert statistic.summarise([record] * times) == Summary(size=1, mean=1.0 if times else -1.0)


def test_presence_reads_all_records():
    """Bad records are found whatever comes before them, and a long list takes as long as any other."""
    with pytest.raises(BadRecords, match="record number 3"):
        Present(column="delay").summarise([{"delay": 1.0}, {}, {"delay": math.nan}])
    left = iter([{"delay": 1.0}, {}, {"delay": 2.0}])
    Present(column="delay").summarise(left)
    assert next(left, "nothing") == "nothing"
