"""What every randomiser promises: its exact loss, bias and variance. A new one joins `CASES` and inherits it all."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import randomisers
from dame.device.coins import ReplayCoins
from dame.device.exact import WORD
from dame.device.questions import PlaceVote, Vote
from dame.device.randomisers import (
    POSITION_STEPS,
    DiscreteLaplace,
    OneBit,
    OneOfMany,
    UnaryCode,
    grid_point,
)
from dame.errors import InvalidInput
from tests.device.enumeration import exact_law, is_private, laplace_loss, largest_ratio
from tests.device.sources import SeededCoins

ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
LAPLACE_STEPS = 8
TIGHT = 1e-9
PLACES = (0.0, 1e-12, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1.0 - 1e-12, 1.0)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One way to make a randomiser, how its loss is claimed, and an independent account of its law."""

    randomiser: object
    alpha: float
    made_by: Callable[..., object]
    claimed: float
    exact_loss: mpmath.mpf
    inputs: tuple[float, ...]
    law: Callable[[float], Mapping[int, Fraction | float]]


def unary_case(code: UnaryCode, alpha: float, made_by: Callable[..., object], neighbours: int) -> Case:
    question = Vote(study="s", round=0, alpha=alpha, bins=64, width=1 / 32, neighbours=neighbours, code=code)
    marks = 2 * neighbours + 1
    chances = {mark: {1: Fraction(t, WORD), 0: 1 - Fraction(t, WORD)} for mark, t in ((0, code.no), (1, code.yes))}
    mark, blank = (chances[1][1] / chances[0][1]), (chances[0][0] / chances[1][0])
    return Case(
        randomiser=code,
        alpha=alpha,
        made_by=made_by,
        claimed=question.epsilon(),
        exact_loss=log(max(mark**marks * blank**marks, mark**marks, blank**marks)),
        inputs=(0.0, 1.0),
        law=lambda x: chances[int(x)],
    )


def one_of_many_case(alpha: float, count: int) -> Case:
    """The mark at a place, for people at a part of the way to it; the loss is enumerated over all marks."""
    code = OneOfMany.spending(alpha, count)
    places = tuple(place / 8 for place in range(count))
    question = PlaceVote(study="s", round=0, alpha=alpha, places=places, code=code)

    def law(x: float) -> Mapping[int, Fraction]:
        chance = Fraction(chances(code, 0, int(x * POSITION_STEPS), count)[1], WORD)
        return {1: chance, 0: 1 - chance}

    return Case(
        randomiser=code,
        alpha=alpha,
        made_by=OneOfMany.spending,
        claimed=question.epsilon(),
        exact_loss=log(largest_ratio(mark_law(code, *person, count) for person in people_between(count))),
        inputs=(0.0, 0.25, 0.5, 1.0),
        law=law,
    )


def people_between(count: int) -> list[tuple[int, int]]:
    """The place before a person, and her part of the way to the next."""
    parts = (0, 1, 2**31, 2**32 - 1, 2**32)
    return list(itertools.product(range(count - 1), parts))


def chances(code: OneOfMany, first: int, part: int, count: int) -> list[int]:
    """How many words lead to each mark."""
    return [end - start for start, end in itertools.pairwise((0, *code.ends(first, part, count)))]


def mark_law(code: OneOfMany, first: int, part: int, count: int) -> Mapping[int, Fraction]:
    """The law of a mark, by running through all cells of words."""
    ends = code.ends(first, part, count)
    return exact_law(lambda coins: code.draw_between(first, part, count, coins), 1, ends)


def one_bit_case(alpha: float) -> Case:
    noise = OneBit.spending(alpha)

    def law(x: float) -> Mapping[int, Fraction]:
        t = Fraction(noise.threshold(x), WORD)
        return {1: t, 0: 1 - t}

    return Case(
        randomiser=noise,
        alpha=alpha,
        made_by=OneBit.spending,
        claimed=noise.epsilon(),
        exact_loss=log(largest_ratio([law(0.0), law(1.0)])),
        inputs=PLACES,
        law=law,
    )


def laplace_case(alpha: float) -> Case:
    noise = DiscreteLaplace.spending(alpha, steps=LAPLACE_STEPS)

    def law(x: float) -> Mapping[int, float]:
        place = math.floor(x * noise.steps + 0.5)
        reach = 45 * noise.scale
        weights = {place + k: math.exp(-abs(k) / noise.scale) for k in range(-reach, reach + 1)}
        total = math.fsum(weights.values())
        return {report: weight / total for report, weight in weights.items()}

    loss = laplace_loss(range(noise.steps + 1), noise.scale)
    return Case(
        randomiser=noise,
        alpha=alpha,
        made_by=DiscreteLaplace.spending,
        claimed=noise.epsilon(),
        exact_loss=mpmath.mpf(loss.numerator) / loss.denominator,
        inputs=PLACES,
        law=law,
    )


def log(ratio: Fraction | float) -> mpmath.mpf:
    exact = Fraction(ratio)
    with mpmath.workdps(100):
        return mpmath.log(mpmath.mpf(exact.numerator) / exact.denominator)


CASES = [
    *(unary_case(UnaryCode.symmetric(alpha, marks=3), alpha, UnaryCode.symmetric, 1) for alpha in ALPHAS),
    *(unary_case(UnaryCode.optimised(alpha), alpha, UnaryCode.optimised, 0) for alpha in ALPHAS),
    *(one_of_many_case(alpha, count) for alpha in ALPHAS for count in (2, 3)),
    *(one_bit_case(alpha) for alpha in ALPHAS),
    *(laplace_case(alpha) for alpha in ALPHAS),
]
ENUMERABLE = [case for case in CASES if not isinstance(case.randomiser, DiscreteLaplace) or case.alpha >= 0.1]
"""Laplace noise at a smaller α has too many values to sum over one by one."""


def name_of(case: Case) -> str:
    return f"{case.made_by.__qualname__}-{case.alpha:.3g}"


every_case = pytest.mark.parametrize("case", CASES, ids=name_of)
every_enumerable_case = pytest.mark.parametrize("case", ENUMERABLE, ids=name_of)


def test_the_suite_knows_every_randomiser_and_every_way_to_make_one():
    kinds = {
        kind
        for _, kind in inspect.getmembers(randomisers, inspect.isclass)
        if kind.__module__ == randomisers.__name__ and hasattr(kind, "draw")
    }
    makers = {
        method.__qualname__
        for kind in kinds
        for _, method in inspect.getmembers(kind, inspect.ismethod)
        if method.__self__ is kind
    }
    assert kinds
    assert kinds == {type(case.randomiser) for case in CASES}
    assert makers == {case.made_by.__qualname__ for case in CASES}


@every_case
def test_the_claimed_loss_is_an_upper_bound_and_tight(case):
    with mpmath.workdps(100):
        assert case.exact_loss <= mpmath.mpf(case.claimed) <= case.exact_loss * (1 + TIGHT)


@every_case
def test_the_loss_is_at_most_alpha_and_wastes_little_of_it(case):
    assert case.claimed <= case.alpha
    # One step of a threshold, or of the scale, more would break the promise; how much that is depends on α.
    step = 2 / case.randomiser.scale if isinstance(case.randomiser, DiscreteLaplace) else math.exp(case.alpha) * 1e-18
    assert case.exact_loss >= case.alpha * (1 - step - 1e-12)


@every_enumerable_case
def test_bias_is_what_the_law_says(case):
    for x in case.inputs:
        law = case.law(x)
        mean = math.fsum(float(chance) * report for report, chance in law.items())
        spread = math.sqrt(case.randomiser.variance(x))
        expected = case.randomiser.debias(mean) - x
        assert case.randomiser.bias(x) == pytest.approx(expected, abs=TIGHT * max(spread, 1.0))


@every_enumerable_case
def test_bias_is_negligible_beside_the_rounding_that_the_docstring_names(case):
    allowed = 0.5 / LAPLACE_STEPS if isinstance(case.randomiser, DiscreteLaplace) else 2**-33
    for x in case.inputs:
        spread = math.sqrt(case.randomiser.variance(x))
        assert abs(case.randomiser.bias(x)) <= allowed + 1e-15 * spread


@every_enumerable_case
def test_variance_is_what_the_law_says(case):
    for x in case.inputs:
        law = case.law(x)
        mean = math.fsum(float(chance) * report for report, chance in law.items())
        square = math.fsum(float(chance) * (report - mean) ** 2 for report, chance in law.items())
        slope = case.randomiser.debias(1.0) - case.randomiser.debias(0.0)
        assert case.randomiser.variance(x) == pytest.approx(square * slope**2, rel=1e-8)


@every_case
def test_debias_is_a_straight_line(case):
    debias = case.randomiser.debias
    scale = abs(debias(0.0)) + abs(debias(1.0))
    assert debias(0.5) == pytest.approx((debias(0.0) + debias(1.0)) / 2, abs=1e-12 * scale)


# --- what the coins are compared with


@given(st.integers(2, WORD - 1), st.data())
def test_unary_bits_are_words_below_their_threshold(yes, data):
    no = data.draw(st.integers(1, yes - 1))
    bins = data.draw(st.integers(1, 20))
    first = data.draw(st.integers(0, bins))
    last = data.draw(st.integers(0, bins - 1))
    words = data.draw(st.lists(st.sampled_from([0, no - 1, no, yes - 1, yes, WORD - 1]), min_size=bins, max_size=bins))
    coins = ReplayCoins(b"".join(word.to_bytes(8, "big") for word in words))
    value = UnaryCode(yes=yes, no=no).draw(first, last, bins, coins)
    expected = [word < (yes if first <= place <= last else no) for place, word in enumerate(words)]
    assert [bool(value >> place & 1) for place in range(bins)] == expected
    assert value >> bins == 0
    assert coins.exhausted


@st.composite
def choices(draw: st.DrawFn) -> tuple[OneOfMany, int]:
    """Any code whose chances sum to one, and the number of its marks."""
    count = draw(st.integers(2, 8))
    no = draw(st.integers(1, (WORD - 1) // count))
    return OneOfMany(yes=WORD - (count - 1) * no, no=no), count


@given(choices(), st.data())
def test_the_chances_of_marks_are_exact_shares_of_the_words(pair, data):
    """Unbiased in integers: beyond `no` each, all the words are with the two marks around a person, by her part."""
    code, count = pair
    first, part = data.draw(st.integers(0, count - 2)), data.draw(st.integers(0, 2**32))
    span, words = code.yes - code.no, chances(code, first, part, count)
    beyond = [chance - code.no for chance in words]
    assert sum(words) == WORD
    assert sum(beyond) == span
    assert beyond[first + 1] == span * part // 2**32
    assert beyond[first] == span - beyond[first + 1]
    assert not any(beyond[:first] + beyond[first + 2 :])
    assert all(code.no <= chance <= code.yes for chance in words)


@given(choices(), st.data())
def test_a_mark_changes_where_its_words_end(pair, data):
    code, count = pair
    first, part = data.draw(st.integers(0, count - 2)), data.draw(st.integers(0, 2**32))
    law = mark_law(code, first, part, count)
    expected = {1 << mark: Fraction(c, WORD) for mark, c in enumerate(chances(code, first, part, count))}
    assert law == expected


@pytest.mark.parametrize("count", range(2, 9))
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_mark_among_any_number_spends_its_budget_and_no_more(alpha, count):
    code = OneOfMany.spending(alpha, count)
    further = OneOfMany(yes=code.yes + count - 1, no=code.no - 1)
    ratio = largest_ratio(mark_law(code, *person, count) for person in people_between(count))
    assert ratio == code.loss_ratio()
    assert is_private(ratio, alpha)
    assert not is_private(further.loss_ratio(), alpha)


@given(st.integers(1, WORD - 2), st.data())
def test_the_threshold_of_a_bit_never_leaves_its_range_whatever_the_place(low, data):
    noise = OneBit(low=low, high=data.draw(st.integers(low + 1, WORD - 1)))
    place = data.draw(st.floats(allow_nan=False))
    assert noise.low <= noise.threshold(place) <= noise.high
    assert noise.threshold(0.0) == noise.low
    assert noise.threshold(1.0) == noise.high


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_threshold_of_a_bit_rises_with_the_place(one, other):
    noise = OneBit.spending(1.0)
    assert noise.threshold(min(one, other)) <= noise.threshold(max(one, other))


def test_the_law_of_a_bit_by_enumeration_is_its_threshold():
    noise = OneBit.spending(22 / 35)
    for place in PLACES:
        t = noise.threshold(place)
        assert exact_law(lambda coins, place=place: noise.draw(place, coins), 1, {t}) == {
            1: Fraction(t, WORD),
            0: 1 - Fraction(t, WORD),
        }


@given(st.floats(allow_nan=False), st.integers(1, 2**24))
def test_a_grid_point_is_on_the_grid_and_nearest(place, steps):
    point = grid_point(place, steps)
    assert 0 <= point <= steps
    assert abs(point - min(max(place, 0.0), 1.0) * steps) <= 0.5


@given(st.floats(-5, 5), st.integers(0, 10**6), st.integers(1, 50), st.integers(1, 50))
def test_a_noisy_grid_point_is_never_outside_its_support(place, seed, steps, scale):
    noise = DiscreteLaplace(steps=steps, scale=scale)
    assert -noise.reach <= noise.draw(place, SeededCoins(seed)) <= steps + noise.reach


@pytest.mark.parametrize(("noise", "clamped"), [(10**9, "right"), (-(10**9), "left")])
def test_a_wild_noise_is_clamped_to_the_reach(monkeypatch, noise, clamped):
    monkeypatch.setattr(randomisers, "discrete_laplace", lambda coins, scale: noise)
    drawn = DiscreteLaplace(steps=10, scale=7).draw(0.5, SeededCoins(1))
    assert drawn == (10 + 45 * 7 if clamped == "right" else -45 * 7)


# --- refusals


@pytest.mark.parametrize(("yes", "no"), [(5, 5), (4, 5), (WORD, 5), (5, 0), (5, -1), (True, 5), (5.0, 4), ("5", 4)])
def test_a_unary_code_refuses_thresholds_out_of_order_or_range(yes, no):
    with pytest.raises(InvalidInput):
        UnaryCode(yes=yes, no=no)


@pytest.mark.parametrize(("low", "high"), [(5, 5), (6, 5), (0, 5), (5, WORD), (1.0, 5), (1, None), (math.nan, 5)])
def test_a_bit_refuses_thresholds_out_of_order_or_range(low, high):
    with pytest.raises(InvalidInput):
        OneBit(low=low, high=high)


@pytest.mark.parametrize(("steps", "scale"), [(0, 1), (2**24 + 1, 1), (1, 0), (1, 2**45 + 1), (1.5, 1), (1, "1")])
def test_laplace_refuses_a_grid_or_scale_out_of_range(steps, scale):
    with pytest.raises(InvalidInput):
        DiscreteLaplace(steps=steps, scale=scale)


@pytest.mark.parametrize("alpha", [0, -1, 9e-7, 32.001, math.nan, math.inf, -math.inf, True, "1", None, 1e6])
@pytest.mark.parametrize(
    "make",
    [
        OneBit.spending,
        DiscreteLaplace.spending,
        UnaryCode.optimised,
        lambda a: UnaryCode.symmetric(a, marks=3),
        lambda a: OneOfMany.spending(a, 3),
    ],
)
def test_a_budget_out_of_range_is_refused(make, alpha):
    with pytest.raises(InvalidInput, match="alpha must be a number from 1e-06 to 32"):
        make(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_threshold_one_step_further_is_not_private(alpha):
    noise = OneBit.spending(alpha)
    assert is_private(OneBit(low=noise.low, high=noise.high).loss_ratio(), alpha)
    assert not is_private(OneBit(low=noise.low - 1, high=noise.high + 1).loss_ratio(), alpha)


@pytest.mark.parametrize("marks", [1, 3])
def test_a_unary_code_spends_what_its_question_says(marks):
    code = UnaryCode.symmetric(1.25, marks=marks)
    asked = {"study": "s", "round": 0, "alpha": 1.25, "bins": 40, "width": 0.05, "neighbours": (marks - 1) // 2}
    assert code.epsilon(marks) == Vote(**asked, code=code).epsilon() == pytest.approx(1.25, abs=1e-9)
