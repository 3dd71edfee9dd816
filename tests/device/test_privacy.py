"""Privacy of whole questions, decided exactly: every report, every pair of people, no sampling.

The judge (`enumeration`) knows nothing of the formulas in the package. It must agree with them, and must convict the
known-bad mutants.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dame.device import randomisers
from dame.device.answer import respond
from dame.device.coins import Coins
from dame.device.exact import WORD, symmetric_threshold
from dame.device.questions import Measure, PartMeasure, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, UnaryCode
from dame.device.records import Summary
from tests.device.enumeration import IMPOSSIBLE, Law, exact_law, is_private, laplace_loss, largest_ratio
from tests.device.sources import SeededCoins, StuckCoins

ALPHAS = (1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
MIN_SIZE = 5
PAPER_MARKS = 3
NEAR_CERTAIN = 1 - 1e-9


def paper_vote(alpha: float, bins: int) -> Vote:
    code = UnaryCode.symmetric(alpha, marks=PAPER_MARKS)
    return Vote(study="s", round=0, alpha=alpha, bins=bins, width=2 / bins, neighbours=1, min_size=MIN_SIZE, code=code)


def one_hot_vote(alpha: float, bins: int) -> Vote:
    code = UnaryCode.optimised(alpha)
    return Vote(study="s", round=0, alpha=alpha, bins=bins, width=2 / bins, min_size=MIN_SIZE, code=code)


def means_to_try(vote: Vote) -> list[float]:
    """The middle of every bin, every border and its two neighbouring floats, and the ends."""
    borders = [vote.origin + bin_ * vote.width for bin_ in range(vote.bins + 1)]
    middles = [border + vote.width / 2 for border in borders[:-1]]
    near = [math.nextafter(border, side) for border in borders for side in (-2.0, 2.0)]
    return [mean for mean in (*borders, *middles, *near, -1.0, 1.0, 0.0, -0.0) if -1 <= mean <= 1]


def people(vote: Vote) -> list[Summary]:
    """Voters with every mean worth trying, and somebody with too few records."""
    voters = [Summary(size=MIN_SIZE, mean=mean) for mean in means_to_try(vote)]
    return [*voters, Summary(size=MIN_SIZE - 1, mean=0.3)]


def vote_laws(vote: Vote, reply: Callable[[Summary, Coins], int]) -> list[Law]:
    thresholds = {vote.code.yes, vote.code.no}
    return [
        exact_law(lambda coins, person=person: reply(person, coins), vote.bins, thresholds) for person in people(vote)
    ]


def device_reply(question: Vote | Measure) -> Callable[[Summary, Coins], int]:
    return lambda person, coins: respond(question, person, coins).value


def closed_marks(vote: Vote, person: Summary) -> tuple[int, int]:
    """The mutant of the authors' code: a mean on a border belongs to both bins, and casts four votes."""
    if person.size < vote.min_size:
        return 1, 0
    place = (person.mean - vote.origin) / vote.width
    left, right = max(math.ceil(place) - 1, 0), min(math.floor(place), vote.bins - 1)
    return max(left - vote.neighbours, 0), min(right + vote.neighbours, vote.bins - 1)


# --- votes


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("make", [paper_vote, one_hot_vote])
@pytest.mark.parametrize("bins", [1, 2, 3, 4])
def test_the_loss_of_a_vote_is_exactly_the_enumerated_one(make, bins, alpha):
    vote = make(alpha, bins)
    ratio = largest_ratio(vote_laws(vote, device_reply(vote)))
    assert ratio == vote.loss_ratio()
    assert is_private(ratio, alpha)


@pytest.mark.parametrize("alpha", [22 / 35])
def test_the_loss_of_a_paper_vote_is_exact_where_two_windows_fit_apart(alpha):
    vote = paper_vote(alpha, 6)
    ratio = largest_ratio(vote_laws(vote, device_reply(vote)))
    assert ratio == vote.loss_ratio()
    assert is_private(ratio, alpha)
    assert not is_private(ratio, alpha * NEAR_CERTAIN), "the budget is used up"


def bitwise_ratio(vote: Vote) -> Fraction:
    """The largest ratio when bits are independent, as shown above: the product of each bit's own, over all pairs."""
    window = vote.neighbours
    ballots = [frozenset(range(max(j - window, 0), min(j + window, vote.bins - 1) + 1)) for j in range(vote.bins)]
    largest = Fraction(1)
    for one, other in itertools.product({*ballots, frozenset()}, repeat=2):
        ratio = Fraction(1)
        for bin_ in one ^ other:
            p, q = (Fraction(vote.code.yes if bin_ in marks else vote.code.no, WORD) for marks in (one, other))
            ratio *= max(p / q, (1 - p) / (1 - q))
        largest = max(largest, ratio)
    return largest


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 6, 7, 10, 11, 14, 15])
@pytest.mark.parametrize("neighbours", [0, 1, 2, 3])
@pytest.mark.parametrize("lopsided", [False, True])
def test_the_loss_of_a_vote_is_exact_for_any_number_of_bins_and_neighbours(bins, neighbours, lopsided):
    alpha = 2.0
    code = UnaryCode.symmetric(alpha, marks=2 * neighbours + 1)
    if lopsided:
        code = UnaryCode(yes=code.yes - (code.yes - code.no) // 3, no=code.no)
    vote = Vote(study="s", round=0, alpha=alpha, bins=bins, width=2 / bins, neighbours=neighbours, code=code)
    assert vote.loss_ratio() == bitwise_ratio(vote)
    assert is_private(vote.loss_ratio(), alpha)


def paper_like_votes() -> st.SearchStrategy[Vote]:
    """Votes as the planner makes them, with ⌈1/τ⌉ bins of width 2τ, and with borders that are exact floats."""

    def make(tau: float) -> Vote:
        code = UnaryCode.symmetric(1.0, marks=PAPER_MARKS)
        bins = math.ceil(1 / tau)
        return Vote(study="s", round=0, alpha=1.0, bins=bins, width=2 * tau, neighbours=1, min_size=MIN_SIZE, code=code)

    taus = st.one_of(st.floats(1e-3, 5.0), st.sampled_from([2.0**-k for k in range(10)]))
    return taus.map(make)


@given(paper_like_votes(), st.data())
def test_no_input_casts_more_than_three_votes(vote, data):
    border = vote.origin + data.draw(st.integers(0, vote.bins)) * vote.width
    mean = data.draw(
        st.one_of(
            st.floats(-1, 1),
            st.sampled_from([-1.0, 1.0, 0.0, -0.0, 5e-324, -5e-324]),
            st.sampled_from([border, math.nextafter(border, 2), math.nextafter(border, -2)]),
        )
    )
    first, last = vote.marks(Summary(size=MIN_SIZE, mean=min(max(mean, -1.0), 1.0)))
    assert 0 <= first <= last <= vote.bins - 1
    assert last - first + 1 <= PAPER_MARKS


@given(st.integers(1, 2**10), st.integers(0, 2**10))
def test_bins_are_half_open(bins, border):
    bins = 2 ** bins.bit_length()  # a power of two: borders are exact
    border = border % bins
    vote = paper_vote(1.0, bins)
    assert vote.bin_of(-1 + border * vote.width) == border
    assert border == 0 or vote.bin_of(-1 + border * vote.width - 2**-52) == border - 1
    assert vote.bin_of(1.0) == bins - 1


@given(st.floats(-1, 1), st.integers(0, MIN_SIZE - 1))
def test_a_person_with_few_records_votes_for_nothing(mean, size):
    first, last = paper_vote(1.0, 8).marks(Summary(size=size, mean=mean))
    assert first > last


@example(size=MIN_SIZE)
@given(st.integers(MIN_SIZE, 10**30))
def test_a_person_with_just_enough_records_votes(size):
    first, last = paper_vote(1.0, 8).marks(Summary(size=size, mean=0.1))
    assert (first, last) == (3, 5)


# --- mutants that the judge must convict


@pytest.mark.parametrize("alpha", [22 / 35, 3.0])
def test_closed_bins_with_four_votes_on_a_border_are_convicted(alpha):
    vote = paper_vote(alpha, 8)
    one, other = (Summary(size=MIN_SIZE, mean=-1 + border * vote.width) for border in (2, 6))
    assert closed_marks(vote, one) == (0, 3)
    assert closed_marks(vote, other) == (4, 7)
    thresholds = {vote.code.yes, vote.code.no}
    laws = [
        exact_law(lambda coins, p=p: vote.code.draw(*closed_marks(vote, p), vote.bins, coins), vote.bins, thresholds)
        for p in (one, other)
    ]
    assert not is_private(largest_ratio(laws), 1.333 * alpha)
    assert is_private(largest_ratio(laws), 1.334 * alpha)


@pytest.mark.parametrize("alpha", [22 / 35])
def test_a_keep_probability_for_a_fifth_of_alpha_is_convicted(alpha):
    vote = paper_vote(alpha, 6)
    keep = symmetric_threshold(Fraction(alpha) / 5)
    generous = UnaryCode(yes=keep, no=WORD - keep)
    laws = [
        exact_law(
            lambda coins, person=person: generous.draw(*vote.marks(person), vote.bins, coins),
            vote.bins,
            {generous.yes, generous.no},
        )
        for person in people(vote)
    ]
    assert not is_private(largest_ratio(laws), alpha)


@pytest.mark.parametrize("make", [paper_vote, one_hot_vote])
def test_one_coin_for_several_bits_is_convicted(make):
    vote = make(1.0, 4)
    laws = vote_laws(vote, lambda person, coins: respond(vote, person, StuckCoins(coins)).value)
    assert largest_ratio(laws) == IMPOSSIBLE
    assert not is_private(largest_ratio(laws), 32.0)


def test_abstaining_in_silence_is_convicted():
    """A device that sends nothing, or all zeros, for a person with few records tells everybody her size."""
    vote = paper_vote(1.0, 3)
    laws = vote_laws(vote, lambda person, coins: respond(vote, person, coins).value if person.size >= MIN_SIZE else 0)
    assert largest_ratio(laws) == IMPOSSIBLE


# --- measurements


def measures(noise: OneBit | DiscreteLaplace, alpha: float) -> list[Measure]:
    shared = {"study": "s", "round": 1, "alpha": alpha, "noise": noise}
    return [
        Measure(centre=0.0, left=-1.0, right=1.0, cap=1.0, **shared),
        Measure(centre=0.25, left=-2.5, right=1.5, cap=100.0, **shared),
        Measure(centre=-1.0, left=0.0, right=3.0, cap=None, between_sd=0.1, **shared),
    ]


CROWD = [
    Summary(size=size, mean=mean)
    for size in (1, 2, 7, 100, 10**6)
    for mean in (-1.0, -0.5, -0.0, 0.0, 0.1, 0.25, 0.3, 0.99, 1.0)
]


def bit_laws(crowd: list[Summary], threshold: Callable[[Summary], int]) -> list[Law]:
    thresholds = {threshold(person) for person in crowd}
    return [exact_law(lambda coins, t=t: int(coins.words(1)[0] < t), 1, thresholds) for t in thresholds]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_loss_of_a_bit_is_exactly_the_enumerated_one(alpha):
    noise = OneBit.spending(alpha)
    for question in measures(noise, alpha):
        thresholds = {noise.threshold(question.position(person)) for person in CROWD}
        laws = [exact_law(lambda coins, p=p, q=question: respond(q, p, coins).value, 1, thresholds) for p in CROWD]
        assert largest_ratio(laws) == noise.loss_ratio()
        assert is_private(largest_ratio(laws), alpha)


def with_arms(noise: OneBit, alpha: float, arms: int) -> list[Measure]:
    """Windows with a dither where there are two arms; and parts of unequal widths, some of them narrow."""
    dithered = [dataclasses.replace(plain, dither=0.5) for plain in measures(noise, alpha)[1:]]
    cut = sorted([-0.9, 1.0, 0.0, 1e-9, -0.5, 0.25, 0.3, 0.99, -1.0][: arms + 1])
    parts = PartMeasure(study="s", round=1, alpha=alpha, borders=tuple(cut), noise=noise)
    return [*dithered, parts] if arms == 2 else [parts]


@pytest.mark.parametrize("arms", [2, 4, 8])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_loss_of_a_bit_with_arms_is_that_of_its_bit(alpha, arms):
    noise = OneBit.spending(alpha)
    for question in with_arms(noise, alpha, arms):
        starts = {arm * (WORD // arms) for arm in range(1, arms)}
        laws = [
            exact_law(
                lambda coins, p=p, q=question: respond(q, p, coins).value,
                2,
                starts | {noise.threshold(question.position(p, arm)) for arm in range(arms)},
            )
            for p in CROWD
        ]
        assert largest_ratio(laws) == noise.loss_ratio()
        for arm in range(arms):
            shares = {law[2 * arm] + law[2 * arm + 1] for law in laws}
            assert shares == {Fraction(1, arms)}, "the arm is a fair coin, whoever tosses it"


def test_an_arm_chosen_by_the_data_is_convicted():
    question = dataclasses.replace(measures(OneBit.spending(1.0), 1.0)[0], dither=0.5)
    chosen = [
        exact_law(
            lambda coins, p=p: int(p.mean > 0) << 1 | question.noise.draw(question.position(p, p.mean > 0), coins),
            1,
            {question.noise.threshold(question.position(p, p.mean > 0))},
        )
        for p in CROWD
    ]
    assert largest_ratio(chosen) == IMPOSSIBLE


def test_a_bit_whose_place_is_not_cut_is_convicted():
    alpha = 1.0
    noise, question = OneBit.spending(alpha), measures(OneBit.spending(alpha), alpha)[1]

    def uncut(person: Summary) -> int:
        z = question.weight(person.size) * (person.mean - question.centre)
        place = (z - question.left) / (question.right - question.left)
        return min(max(noise.low + int((noise.high - noise.low) * place), 1), WORD - 1)

    assert not is_private(largest_ratio(bit_laws(CROWD, uncut)), alpha)


def silent_points(question: Measure, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The grid points of a crowd: what the device reports when the noise is switched off."""
    monkeypatch.setattr(randomisers, "discrete_laplace", lambda coins, scale: 0)
    return {respond(question, person, SeededCoins(0)).value for person in CROWD}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("steps", [1, 8, 50])
def test_the_loss_of_a_noisy_grid_point_is_exactly_the_enumerated_one(alpha, steps, monkeypatch):
    noise = DiscreteLaplace.spending(alpha, steps=steps)
    for question in measures(noise, alpha):
        loss = laplace_loss(silent_points(question, monkeypatch), noise.scale)
        assert loss == noise.loss()
        assert loss <= Fraction(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_mean_that_is_not_cut_to_the_window_is_convicted(alpha):
    noise = DiscreteLaplace.spending(alpha, steps=50)
    question = measures(noise, alpha)[1]
    uncut = set()
    for person in CROWD:
        z = question.weight(person.size) * (person.mean - question.centre)
        uncut.add(math.floor((z - question.left) / (question.right - question.left) * noise.steps + 0.5))
    assert laplace_loss(uncut, noise.scale) > Fraction(alpha)


def test_rounding_after_the_noise_scale_was_chosen_for_an_unrounded_width_is_convicted():
    """Points that are rounded outwards span one step more than the window: the scale must cover the rounded width."""
    noise = DiscreteLaplace.spending(1.0, steps=50)
    assert laplace_loss({-1, noise.steps}, noise.scale) > 1


@given(
    st.floats(-1, 1), st.floats(-1, 1), st.integers(1, 2**62), st.floats(0, 1), st.floats(-1e12, 1e12),
    st.floats(1e-12, 1e12), st.one_of(st.none(), st.floats(1e-12, 2.0**62)),
)  # fmt: skip
def test_the_place_in_the_window_is_cut_to_zero_and_one(mean, centre, size, between_sd, left, width, cap):
    right = left + width
    if not (right - left >= 1e-12 and right <= 1e12):
        return
    question = Measure(
        study="s", round=0, alpha=1.0, centre=centre, left=left, right=right, cap=cap, between_sd=between_sd,
        noise=OneBit.spending(1.0),
    )  # fmt: skip
    assert 0.0 <= question.position(Summary(size=size, mean=mean)) <= 1.0
