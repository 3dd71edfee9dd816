"""What every channel promises: its exact loss, its range, how its values add up, their bias and their variance.

A new channel joins `MAKINGS` and `CHANNEL_MAKERS` and inherits the first half of this file; one that does more than
compare words with thresholds also tells the judge its distribution (`exact_loss` and `value_law`).
"""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import CHANNELS, channels
from dame.device.channels import MARK_STEPS, Bits, Channel, Choice, Laplace, grid_point
from dame.device.exact import WORD, Loss
from dame.device.lenses import MOST_BINS, NOTHING, Reading
from dame.device.questions import Question
from dame.errors import InvalidInput
from tests.device.enumeration import enumerated, exact_loss, is_private, laplace_loss, value_law
from tests.device.examples import (
    ALPHAS,
    GRID,
    MAKINGS,
    NOT_FINITE,
    NOT_NUMBERS,
    TOO_LARGE,
    every_making,
    own,
    question_name,
    ways_to_make,
)
from tests.device.sources import CountingCoins, SeededCoins, replayed
from tests.device.strategies import CHANNEL_LENSES, CHANNEL_MAKERS, questions, values_of

CASES = every_making(ALPHAS)
ENUMERABLE = every_making(alpha for alpha in ALPHAS if alpha >= 0.1)
"""Laplace noise at a smaller α has too many values to sum over one by one."""
TIGHT = 1e-9

every_case = pytest.mark.parametrize("question", CASES, ids=question_name)
every_enumerable_case = pytest.mark.parametrize("question", ENUMERABLE, ids=question_name)


def readings_of(question: Question) -> list[Reading]:
    """The readings that the people at the extremes have."""
    lens = question.lens
    windows = range(lens.window_count)
    return sorted({lens.reading(person, window) for person in lens.extremes() for window in windows})


# --- what every channel promises


def test_the_suite_knows_every_channel_and_every_way_to_make_one():
    assert own(CHANNELS)
    assert set(own(CHANNELS)) == {type(question.channel) for question in CASES} == set(CHANNEL_MAKERS)
    assert set(CHANNEL_LENSES) == set(CHANNEL_MAKERS)
    assert ways_to_make(own(CHANNELS)) == set(MAKINGS)


@every_case
def test_the_loss_is_attained_and_never_exceeded(question):
    assert exact_loss(question.channel, question, question.lens.extremes()) == question.loss()


@every_case
def test_the_loss_in_numbers_is_an_upper_bound_and_tight(question):
    with mpmath.workdps(100):
        loss = question.loss()
        exact = mpmath.log(real(loss.ratio)) + real(loss.exponent)
        assert exact <= mpmath.mpf(question.epsilon()) <= exact * (1 + TIGHT)


@every_case
def test_the_loss_is_at_most_alpha_and_wastes_little_of_it(question):
    assert question.epsilon() <= question.alpha
    # One step of a threshold, or of the scale, more would break the promise; how much that is depends on α.
    coarsest = getattr(question.channel, "scale", math.exp(-question.alpha) * 1e18)
    assert question.epsilon() >= question.alpha * (1 - 2 / coarsest - 1e-12)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@given(questions(), st.data())
def test_nobody_differs_by_nothing_at_a_cost(question, data):
    assert question.channel.loss(frozenset({(0, 0)})) == Loss()
    fewer = data.draw(st.sets(st.sampled_from(sorted(question.lens.differences)), min_size=1))
    assert question.channel.loss(frozenset(fewer)).epsilon() <= question.epsilon()


@every_enumerable_case
def test_bias_is_what_the_distribution_says(question):
    channel = question.channel
    for reading in readings_of(question):
        law = value_law(channel, reading)
        for bin_, mean in enumerate(expectations(channel, law)):
            mark = reading.mark_on(bin_)
            spread = math.sqrt(channel.variance(mark))
            assert channel.debias(mean) == pytest.approx(mark + channel.bias(mark), abs=TIGHT * max(spread, 1.0))


@every_enumerable_case
def test_variance_is_what_the_distribution_says(question):
    channel = question.channel
    slope = channel.debias(1.0) - channel.debias(0.0)
    for reading in readings_of(question):
        law = value_law(channel, reading)
        for bin_, mean in enumerate(expectations(channel, law)):
            square = math.fsum(float(p) * (channel.entries(value)[bin_] - mean) ** 2 for value, p in law.items())
            assert channel.variance(reading.mark_on(bin_)) == pytest.approx(square * slope**2, rel=1e-8)


def expectations(channel: Channel, law: object) -> list[float]:
    """The mean of the entry of each bin."""
    entries = [(channel.entries(value), float(chance)) for value, chance in law.items()]
    return [math.fsum(each[bin_] * chance for each, chance in entries) for bin_ in range(channel.bins)]


@every_enumerable_case
def test_bias_is_no_more_than_the_rounding_that_the_docstring_names(question):
    allowed = 0.5 / getattr(question.channel, "steps", MARK_STEPS)
    for reading in readings_of(question):
        spread = math.sqrt(question.channel.variance(reading.mark))
        assert abs(question.channel.bias(reading.mark)) <= allowed + 1e-15 * spread


@every_case
def test_debias_is_a_straight_line(question):
    debias = question.channel.debias
    scale = abs(debias(0.0)) + abs(debias(1.0))
    assert debias(0.5) == pytest.approx((debias(0.0) + debias(1.0)) / 2, abs=1e-12 * scale)


@every_case
def test_values_fit_into_their_bits_and_no_fewer_would_do(question):
    low, high = question.channel.values
    assert low < high
    assert 2 ** (question.channel.value_bits - 1) <= high - low < 2**question.channel.value_bits


@given(questions(), st.data())
def test_a_value_is_within_its_range(question, data):
    low, high = question.channel.values
    person = data.draw(st.sampled_from(question.lens.extremes()))
    reading = question.lens.reading(person, data.draw(st.integers(0, question.lens.window_count - 1)))
    assert low <= question.channel.draw(reading, SeededCoins(data.draw(st.integers(0, 2**32)))) <= high


@given(questions(), st.data())
def test_the_words_taken_do_not_depend_on_the_reading(question, data):
    seed, taken = data.draw(st.integers(0, 2**32)), set()
    for person in (question.lens.extremes()[0], data.draw(st.sampled_from(question.lens.extremes()))):
        coins = CountingCoins(seed)
        question.channel.draw(question.lens.reading(person, 0), coins)
        taken.add(coins.used)
    assert len(taken) == 1


@given(questions(), st.data())
def test_entries_are_within_their_limits_and_possible_together(question, data):
    channel = question.channel
    values = data.draw(st.lists(values_of(question), max_size=6))
    sums = [0] * len(channel.entry_limits)
    for value in values:
        entries = channel.entries(value)
        assert len(entries) == len(channel.entry_limits) >= channel.bins
        assert all(low <= entry <= high for entry, (low, high) in zip(entries, channel.entry_limits, strict=True))
        sums = [total + entry for total, entry in zip(sums, entries, strict=True)]
    assert channel.possible(len(values), sums)


@every_case
def test_the_limits_of_entries_are_reached(question):
    channel = question.channel
    low, high = channel.values
    values = range(low, high + 1) if high - low < 300 else (low, 0, high)
    for index, limits in enumerate(channel.entry_limits):
        entries = {channel.entries(value)[index] for value in values}
        assert (min(entries), max(entries)) == limits


@every_case
def test_different_values_add_up_differently(question):
    low, high = question.channel.values
    values = range(low, min(high, low + 300) + 1)
    assert len({question.channel.entries(value) for value in values}) == len(values)


@given(questions())
def test_a_channel_survives_json(question):
    read = CHANNELS.from_json(json.loads(json.dumps(question.channel.to_json(), allow_nan=False)))
    assert read == question.channel
    assert hash(read) == hash(question.channel)


@every_case
def test_a_channel_says_how_it_answers_in_a_few_words(question):
    assert 5 < len(question.channel.words) < 80
    assert question.channel.words.isprintable()


@pytest.mark.parametrize("kind", own(CHANNELS))
def test_a_channel_is_frozen(kind):
    channel = next(question.channel for question in CASES if type(question.channel) is kind)
    for field in dataclasses.fields(channel):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(channel, field.name, getattr(channel, field.name))


@pytest.mark.parametrize("alpha", [0, -1, 9e-7, 32.001, math.nan, math.inf, -math.inf, True, "1", None, 1e6])
@pytest.mark.parametrize("make", MAKINGS.values(), ids=MAKINGS)
def test_a_budget_out_of_range_is_refused(make, alpha):
    with pytest.raises(InvalidInput, match="alpha must be a number from 1e-06 to 32"):
        make(alpha)


# --- bits


@given(st.integers(2, WORD - 1), st.data())
def test_bits_are_words_below_their_threshold(yes, data):
    no = data.draw(st.integers(1, yes - 1))
    bins = data.draw(st.integers(1, 20))
    first, last = data.draw(st.integers(0, bins)), data.draw(st.integers(0, bins - 1))
    words = data.draw(st.lists(st.sampled_from([0, no - 1, no, yes - 1, yes, WORD - 1]), min_size=bins, max_size=bins))
    coins = replayed(*words)
    value = Bits(bins=bins, yes=yes, no=no).draw(Reading(first, last), coins)
    expected = [word < (yes if first <= place <= last else no) for place, word in enumerate(words)]
    assert [bool(value >> place & 1) for place in range(bins)] == expected
    assert value >> bins == 0
    assert coins.exhausted


@given(st.integers(1, WORD - 2), st.data())
def test_the_threshold_of_a_partial_mark_never_leaves_its_range_whatever_the_mark(no, data):
    bit = Bits(no=no, yes=data.draw(st.integers(no + 1, WORD - 1)))
    mark = data.draw(st.floats(allow_nan=False))
    assert bit.no <= bit.threshold(mark) <= bit.yes
    assert bit.threshold(0.0) == bit.no
    assert bit.threshold(1.0) == bit.yes


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_threshold_rises_with_the_mark(one, other):
    bit = Bits.single(1.0)
    assert bit.threshold(min(one, other)) <= bit.threshold(max(one, other))


@pytest.mark.parametrize("mark", [0.0, 1e-12, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1.0 - 1e-12, 1.0])
def test_a_partial_mark_is_a_bit_with_its_threshold_as_chance(mark):
    bit = Bits.single(22 / 35)
    t = bit.threshold(mark)
    law = enumerated(lambda coins: bit.draw(Reading(0, 0, mark), coins), [{t}])
    assert law == {1: Fraction(t, WORD), 0: 1 - Fraction(t, WORD)}
    assert float(law[1]) == pytest.approx(bit.probability(mark), abs=2**-33)
    assert abs(bit.bias(mark)) <= 2**-33 + 1e-15


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_threshold_one_step_further_is_not_private(alpha):
    bit, whole = Bits.single(alpha), frozenset({(1, 0), (0, 1)})
    assert is_private(bit.loss(whole).ratio, alpha)
    assert not is_private(Bits(yes=bit.yes + 1, no=bit.no - 1).loss(whole).ratio, alpha)


# --- one of all


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """Any choice whose chances sum to one."""
    bins = draw(st.integers(2, 8))
    no = draw(st.integers(1, (WORD - 1) // bins))
    return Choice(bins=bins, yes=WORD - (bins - 1) * no, no=no)


@given(choices(), st.data())
def test_the_chances_of_a_choice_are_exact_shares_of_the_words(choice, data):
    own_bin = data.draw(st.integers(0, choice.bins - 1))
    expected = {bin_: Fraction(choice.yes if bin_ == own_bin else choice.no, WORD) for bin_ in range(choice.bins)}
    assert value_law(choice, Reading(own_bin, own_bin)) == expected


@given(choices())
def test_bins_of_a_choice_lie_side_by_side_in_the_word(choice):
    for own_bin in range(choice.bins):
        reading = Reading(own_bin, own_bin)
        (ends,) = choice.ends(reading)
        assert [choice.draw(reading, replayed(end)) for end in (0, *ends)] == list(range(choice.bins))
        assert [choice.draw(reading, replayed(end - 1)) for end in (*ends, WORD)] == list(range(choice.bins))


@pytest.mark.parametrize("bins", range(2, 9))
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_choice_among_any_number_spends_its_budget_and_no_more(alpha, bins):
    choice, single = Choice.spending(alpha, bins=bins), frozenset({(0, 0), (1, 1)})
    further = Choice(bins=bins, yes=choice.yes + bins - 1, no=choice.no - 1)
    assert is_private(choice.loss(single).ratio, alpha)
    assert not is_private(further.loss(single).ratio, alpha)


@pytest.mark.parametrize("more", [(1, 0), (0, 1), (2, 2), (1, 2), (0, 3)])
def test_a_choice_refuses_people_who_do_not_all_mark_one_bin(more):
    with pytest.raises(InvalidInput, match="exactly one mark of everybody"):
        Choice.spending(1.0, bins=3).loss(frozenset({(0, 0), (1, 1), more}))


def test_sums_of_choices_fit_the_number_of_reports():
    choice = Choice.spending(1.0, bins=3)
    assert choice.possible(6, [1, 2, 3])
    assert not choice.possible(7, [1, 2, 3])
    assert not choice.possible(5, [1, 2, 3])


# --- noise on a grid


@given(st.floats(allow_nan=False), st.integers(1, 2**24))
def test_a_grid_point_is_on_the_grid_and_nearest(mark, steps):
    point = grid_point(mark, steps)
    assert 0 <= point <= steps
    assert abs(point - min(max(mark, 0.0), 1.0) * steps) <= 0.5


@given(st.floats(-5, 5), st.integers(0, 10**6), st.integers(1, 50), st.integers(1, 50))
def test_a_noisy_grid_point_is_never_outside_its_range(mark, seed, steps, scale):
    channel = Laplace(steps=steps, scale=scale)
    assert channel.values == (-45 * scale, steps + 45 * scale)
    assert -45 * scale <= channel.draw(Reading(0, 0, mark), SeededCoins(seed)) <= steps + 45 * scale


@pytest.mark.parametrize("noise", [-(10**9), -316, -315, -7, 0, 1, 320, 321, 10**9])
def test_noise_of_the_channels_scale_is_added_to_the_grid_point_and_clamped_to_the_reach(monkeypatch, noise):
    asked = []
    monkeypatch.setattr(channels, "discrete_laplace", lambda coins, scale: asked.append(scale) or noise)
    assert Laplace(steps=10, scale=7).draw(Reading(0, 0, 0.5), replayed()) == min(max(5 + noise, -315), 325)
    assert asked == [7]


def test_who_marks_nothing_is_at_the_low_end(monkeypatch):
    monkeypatch.setattr(channels, "discrete_laplace", lambda coins, scale: 0)
    marks = [NOTHING, Reading(0, 0, 0.0), Reading(0, 0, 1.0)]
    assert [Laplace(steps=10, scale=7).draw(reading, replayed()) for reading in marks] == [0, 0, 10]


@given(st.integers(1, 20), st.integers(1, 40))
def test_the_loss_of_a_noisy_grid_point_is_its_steps_over_its_scale(steps, scale):
    loss = Laplace(steps=steps, scale=scale).loss(frozenset({(0, 0), (1, 0)}))
    assert loss == Loss(exponent=laplace_loss(range(steps + 1), scale)) == Loss(exponent=Fraction(steps, scale))


def test_squares_are_no_less_than_the_sum_needs():
    assert GRID.channel.possible(2, [6, 18])
    assert not GRID.channel.possible(2, [6, 17])


# --- refusals

REFUSED = [
    (Bits.single(1.0), "yes", [0, -1, WORD, WORD // 4, Bits.single(1.0).no, 5.0]),
    (Bits.single(1.0), "no", [0, -1, WORD - 1, 5.0]),
    (Bits.single(1.0), "bins", [0, -1, MOST_BINS + 1, 2.0]),
    (Choice.spending(1.0, bins=3), "yes", [0, WORD, 5.0, Choice.spending(1.0, bins=3).yes - 1]),
    (Choice.spending(1.0, bins=3), "no", [0, WORD, 5.0, Choice.spending(1.0, bins=3).no - 1]),
    (Choice.spending(1.0, bins=3), "bins", [0, 1, 2, 4, MOST_BINS + 1, 3.0]),
    (Laplace(steps=8, scale=8), "steps", [0, -1, 2**24 + 1, 1.5]),
    (Laplace(steps=8, scale=8), "scale", [0, -1, 2**45 + 1, 1.5]),
]


@pytest.mark.parametrize(("channel", "field", "values"), REFUSED)
def test_fields_out_of_range_are_refused(channel, field, values):
    for value in (*values, *NOT_NUMBERS, *NOT_FINITE, TOO_LARGE):
        with pytest.raises(InvalidInput) as caught:
            dataclasses.replace(channel, **{field: value})
        assert "\n" not in str(caught.value)


def test_every_field_of_every_channel_is_checked():
    fields = {(kind, field.name) for kind in own(CHANNELS) for field in dataclasses.fields(kind)}
    assert {(type(channel), field) for channel, field, _ in REFUSED} == fields


def test_whole_numbers_of_numpy_make_the_same_channel():
    bits, grid = Bits.optimised(1.0, bins=9), GRID.channel
    same = Bits(bins=np.int64(9), yes=np.uint64(bits.yes), no=np.uint64(bits.no))
    assert json.dumps(same.to_json()) == json.dumps(bits.to_json())
    assert same.loss(frozenset({(1, 1)})) == bits.loss(frozenset({(1, 1)}))
    other = Laplace(steps=np.int32(grid.steps), scale=np.int64(grid.scale))
    assert json.dumps(other.to_json()) == json.dumps(grid.to_json())
