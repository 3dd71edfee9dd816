"""Stripes: which side of the pattern somebody is on, ties that nobody usual has, and what the phases tell together."""

from __future__ import annotations

import cmath
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.channels import Bits
from dame.device.exact import WORD
from dame.device.lenses import Reading
from dame.device.records import MOST_RECORDS, Summary
from dame.device.stripes import Level, Stripes
from dame.errors import InvalidInput
from tests.device.examples import ALPHAS, LENS_EXAMPLES
from tests.device.strategies import means, stripes

ROUNDING = Fraction(1, 10**9)
"""A place in wavelengths is a mean over at least 1e-6: the doubles on the way are not farther off than this."""


def exact_place(lens: Stripes, mean: float, window: int) -> Fraction:
    """Where in the pattern a mean is, from 0 to 1, without rounding; dark is the first half."""
    level, phase = lens.pattern(window)
    offset = (phase + Fraction(37, 100)) / level.phases
    return (Fraction(mean) / Fraction(level.wavelength) - offset) % 1


def side(lens: Stripes, mean: float, window: int) -> float:
    """The mark of somebody with enough records."""
    return lens.reading(Summary(size=lens.pattern(window)[0].min_size, mean=mean), window).mark


@given(stripes(), means)
def test_dark_is_the_first_half_of_a_wavelength(lens, mean):
    for window in range(lens.window_count):
        place = exact_place(lens, mean, window)
        if min(place % Fraction(1, 2), -place % Fraction(1, 2)) > ROUNDING:
            assert side(lens, mean, window) == (place < Fraction(1, 2))


def test_a_dark_stripe_holds_its_left_border_and_not_its_right_one():
    lens = Stripes.single(0.7299270072992701, phases=2)
    (level,) = lens.levels
    (left, right), border = (1, 0), 0.5  # in one phase a dark stripe begins there, in the other it ends
    assert (border - level.offset(left)) / level.wavelength == 0.0
    assert (border - level.offset(right)) / level.wavelength == 0.5
    assert side(lens, border, left) == 1.0
    assert side(lens, border, right) == 0.0
    assert side(lens, math.nextafter(border, 0), left) == 0.0
    assert side(lens, border - 1e-9, right) == 1.0


@given(stripes(), means)
def test_who_has_too_few_records_is_on_neither_side(lens, mean):
    for window in range(lens.window_count):
        fewest = lens.pattern(window)[0].min_size
        assert lens.reading(Summary(size=fewest, mean=mean), window).mark in (0.0, 1.0)
        if fewest > 1:
            assert lens.reading(Summary(size=fewest - 1, mean=mean), window) == Reading(0, 0, 0.5)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_who_has_too_few_records_tosses_a_fair_coin(alpha):
    assert Bits.single(alpha).threshold(0.5) == WORD // 2


@pytest.mark.parametrize("phases", [2**k for k in range(8)])
@pytest.mark.parametrize("wavelength", [2.0**-k for k in range(-3, 19)])
def test_nobody_in_the_middle_or_at_a_bound_is_on_a_border(wavelength, phases):
    """So that rounding never decides where very many people are, nor ties favour one side."""
    lens = Stripes.single(wavelength, phases=phases)
    for window in range(phases):
        for mean in (-1.0, -0.5, 0.0, 0.5, 1.0):
            apart = exact_place(lens, mean, window) % Fraction(1, 2)
            nearest = Fraction(13, 100) if phases >= 8 else Fraction(5, 1000)
            assert min(apart, Fraction(1, 2) - apart) >= nearest / phases


@pytest.mark.parametrize("phases", [1, 2, 16, 64])
def test_a_wavelength_of_twice_the_range_gives_even_thresholds(phases):
    """In each phase one border lies in the range, and together they cut it into equal parts."""
    lens = Stripes.single(4.0, phases=phases)
    grid = [step / 1000 - 1 for step in range(2001)]
    borders = []
    for window in range(phases):
        sides = [side(lens, mean, window) for mean in grid]
        changes = [mean for mean, one, other in zip(grid, sides, sides[1:], strict=False) if one != other]
        assert len(changes) == 1
        borders += changes
    gaps = [right - left for left, right in itertools.pairwise(sorted(borders))]
    between = 2 / max(phases // 2, 1)  # in half of the phases the same borders, with the sides exchanged
    assert {round(gap / between) for gap in gaps} <= {0, 1}
    assert sum(round(gap / between) for gap in gaps) == max(phases // 2, 1) - 1


@given(st.floats(1e-4, 2.0), st.sampled_from([8, 16, 32, 64]), means)
def test_the_phases_together_tell_where_in_a_wavelength_somebody_is(wavelength, phases, mean):
    """The sides are a square wave, whose first harmonic has the amplitude 2/π (as a complex number)."""
    lens = Stripes.single(wavelength, phases=phases)
    (level,) = lens.levels
    turns = [cmath.exp(2j * math.pi * level.offset(window) / wavelength) for window in range(phases)]
    signs = [2 * side(lens, mean, window) - 1 for window in range(phases)]
    found = sum(sign * turn for sign, turn in zip(signs, turns, strict=True)) / phases
    expected = -2j / math.pi * cmath.exp(2j * math.pi * mean / wavelength)
    assert abs(found - expected) <= 4 / phases


@pytest.mark.parametrize("lens", LENS_EXAMPLES[Stripes], ids=repr)
def test_extremes_are_on_both_sides_of_borders_at_both_bounds_and_around_the_least_size(lens):
    people = lens.extremes()
    assert {-1.0, 1.0} <= {person.mean for person in people}
    for window in range(lens.window_count):
        if lens.pattern(window)[0].wavelength <= 4:
            assert {0.0, 1.0} <= {lens.reading(person, window).mark for person in people}
    for first, level in zip(itertools.accumulate(level.phases for level in lens.levels), lens.levels, strict=True):
        assert {level.min_size, MOST_RECORDS, max(level.min_size - 1, 1)} <= {person.size for person in people}
        enough = sorted(person.mean for person in people if person.size == level.min_size)
        close = [
            (one, other, window)
            for one, other in itertools.pairwise(enough)
            for window in range(first - level.phases, first)
            if other - one < 1e-12 and side(lens, one, window) != side(lens, other, window)
        ]
        assert close, "two people between whom there is nothing but a border"


def test_each_level_is_drawn_as_often_as_it_has_phases():
    levels = (Level(4.0, 9), Level(1.0, 4, 3), Level(0.125, 3, 70))
    lens = Stripes(levels=levels)
    assert lens.window_count == 16
    assert [lens.pattern(window) for window in range(16)] == [
        (level, phase) for level in levels for phase in range(level.phases)
    ]
    for window in range(16):
        level, phase = lens.pattern(window)
        alone = Stripes(levels=(level, Level(8.0, 16 - level.phases)))
        for mean in (-1.0, -0.3, 0.0, 0.4, 1.0):
            for size in (1, 3, 70):
                person = Summary(size=size, mean=mean)
                assert lens.reading(person, window) == alone.reading(person, phase)


@pytest.mark.parametrize("window", [16, 17, 1000])
def test_there_is_no_pattern_beyond_the_last(window):
    with pytest.raises(InvalidInput, match="window must be a whole number below 16"):
        Stripes.single(1.0, phases=16).pattern(window)


@pytest.mark.parametrize("phases", [3, 5, 6, 12, 63, 127])
def test_phases_that_fair_coins_cannot_draw_are_refused(phases):
    with pytest.raises(
        InvalidInput, match=f"phases must be 1, 2, 4 … or 128 in all: fair coins draw one, not {phases}"
    ):
        Stripes.single(1.0, phases=phases)
