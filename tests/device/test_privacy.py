"""Privacy of whole questions, decided exactly: every report, every pair of people, no sampling.

The judge (`enumeration`) knows nothing of the formulas in the package. It must agree with them, and must convict the
known-bad mutants.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.answering import respond
from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.exact import WORD, Loss, symmetric_threshold
from dame.device.lenses import Bins, Lens, Reading, SizeClasses, Window, Windows
from dame.device.questions import Question
from dame.device.records import Summary
from dame.device.stripes import Stripes
from dame.errors import InvalidInput
from tests.device import mutants
from tests.device.enumeration import IMPOSSIBLE, enumerated, exact_law, exact_loss, keeps, largest_ratio, report_law
from tests.device.examples import ALPHAS, ask, every_making, question_name
from tests.device.sources import ReusedCoins, StuckCoins
from tests.device.strategies import means, sizes

MIN_SIZE = 5
NEAR_CERTAIN = 1 - 1e-9
every_alpha = pytest.mark.parametrize("alpha", ALPHAS)


def paper_bins(bins: int) -> Bins:
    return Bins(bins=bins, width=2 / bins, neighbours=1, min_size=MIN_SIZE)


def paper_vote(alpha: float, bins: int) -> Question:
    return ask(paper_bins(bins), Bits.symmetric(alpha, bins=bins, marks=3), alpha)


def one_hot_vote(alpha: float, bins: int) -> Question:
    lens = Bins(bins=bins, width=2 / bins, min_size=MIN_SIZE)
    return ask(lens, Bits.optimised(alpha, bins=bins), alpha)


def voters(lens: Bins) -> list[Summary]:
    """People in the middle of every bin, on every border and right beside it, and somebody with too few records."""
    borders = [lens.origin + bin_ * lens.width for bin_ in range(lens.bins + 1)]
    middles = [border + lens.width / 2 for border in borders[:-1]]
    near = [math.nextafter(border, side) for border in borders for side in (-2.0, 2.0)]
    own = [mean for mean in (*borders, *middles, *near, -1.0, 1.0, 0.0, -0.0) if -1 <= mean <= 1]
    return [*(Summary(size=MIN_SIZE, mean=mean) for mean in own), Summary(size=MIN_SIZE - 1, mean=0.3)]


CROWD = [
    Summary(size=size, mean=mean)
    for size in (1, 2, 7, 100, 10**6)
    for mean in (-1.0, -0.5, -0.0, 0.0, 0.1, 0.25, 0.3, 0.99, 1.0)
]


def judged(question: Question, people: list[Summary]) -> Loss:
    """The loss between any two of the people, enumerated."""
    return exact_loss(question.channel, question, people)


def convicted(question: Question, alpha: float, people: list[Summary] | None = None) -> bool:
    """Whether the judge says that the question costs more than α."""
    return not keeps(judged(question, question.lens.extremes() if people is None else people), alpha)


# --- the judge


def test_the_judge_notices_a_threshold_that_it_was_not_told():
    with pytest.raises(AssertionError, match="another threshold"):
        exact_law(lambda coins: coins.words(1)[0] < 1000, 1, {999})
    assert exact_law(lambda coins: coins.words(1)[0] < 1000, 1, {1000})[True] == Fraction(1000, WORD)


@pytest.mark.parametrize("question", every_making([1.0]), ids=question_name)
def test_the_judge_is_content_with_every_way_to_ask(question):
    assert not convicted(question, question.alpha)
    assert convicted(question, 0.99 * question.alpha)


# --- marks on bins


@every_alpha
@pytest.mark.parametrize("make", [paper_vote, one_hot_vote])
@pytest.mark.parametrize("bins", [1, 2, 3, 4])
def test_the_loss_of_a_vote_is_exactly_the_enumerated_one(make, bins, alpha):
    vote = make(alpha, bins)
    loss = judged(vote, voters(vote.lens))
    assert loss == vote.loss()
    assert keeps(loss, alpha)


def test_the_loss_of_a_paper_vote_is_exact_where_two_runs_of_marks_fit_apart():
    vote = paper_vote(22 / 35, 6)
    loss = judged(vote, voters(vote.lens))
    assert loss == vote.loss()
    assert keeps(loss, 22 / 35)
    assert not keeps(loss, 22 / 35 * NEAR_CERTAIN), "the budget is used up"


def bitwise_ratio(lens: Bins, bits: Bits) -> Fraction:
    """The largest ratio when bits are independent, as shown above: the product of each bit's own, over all pairs."""
    reach = lens.neighbours
    runs = [frozenset(range(max(j - reach, 0), min(j + reach, lens.bins - 1) + 1)) for j in range(lens.bins)]
    runs += [frozenset()] * (lens.min_size > 1)
    largest = Fraction(1)
    for one, other in itertools.product(set(runs), repeat=2):
        ratio = Fraction(1)
        for bin_ in one ^ other:
            p, q = (Fraction(bits.yes if bin_ in marks else bits.no, WORD) for marks in (one, other))
            ratio *= max(p / q, (1 - p) / (1 - q))
        largest = max(largest, ratio)
    return largest


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 6, 7, 10, 11, 14, 15])
@pytest.mark.parametrize("neighbours", [0, 1, 2, 3])
@pytest.mark.parametrize("min_size", [1, MIN_SIZE])
@pytest.mark.parametrize("lopsided", [False, True])
def test_the_loss_of_a_vote_is_exact_for_any_number_of_bins_and_neighbours(bins, neighbours, min_size, lopsided):
    alpha = 2.0
    channel = Bits.symmetric(alpha, bins=bins, marks=2 * neighbours + 1)
    if lopsided:
        channel = dataclasses.replace(channel, yes=channel.yes - (channel.yes - channel.no) // 3)
    lens = Bins(bins=bins, width=2 / bins, neighbours=neighbours, min_size=min_size)
    vote = ask(lens, channel, alpha)
    assert vote.loss() == Loss(ratio=bitwise_ratio(lens, channel))
    assert keeps(vote.loss(), alpha)


@every_alpha
@pytest.mark.parametrize("make", [Bits.optimised, Choice.spending])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_loss_of_a_class_of_sizes_is_exactly_the_enumerated_one(make, classes, alpha):
    question = ask(SizeClasses(classes=classes), make(alpha, bins=classes), alpha)
    loss = judged(question, CROWD)
    assert loss == question.loss()
    assert keeps(loss, alpha)


@every_alpha
@pytest.mark.parametrize("bins", range(2, 9))
def test_the_loss_of_a_choice_is_exactly_the_ratio_of_its_thresholds(bins, alpha):
    question = ask(Bins(bins=bins, width=2 / bins), Choice.spending(alpha, bins=bins), alpha)
    laws = [report_law(question, person) for person in voters(question.lens)]
    assert all(set(law) == {(0, bin_) for bin_ in range(bins)} for law in laws)
    assert (
        Loss(ratio=largest_ratio(laws))
        == question.loss()
        == Loss(ratio=Fraction(question.channel.yes, question.channel.no))
    )
    assert keeps(question.loss(), alpha)


# --- positions in windows

PLAIN = [
    Windows.whole_range(),
    Windows(windows=(Window(0.25, -2.5, 1.5),), cap=100.0),
    Windows(windows=(Window(-1.0, 0.0, 3.0),), between_sd=0.1),
]
SEVERAL = [
    Windows(windows=(Window(-0.25, -2.5, 1.5), Window(0.75, -2.5, 1.5)), cap=100.0),
    Windows(windows=(Window(-1.5, 0.0, 3.0), Window(-0.5, 0.0, 3.0)), between_sd=0.1),
    *(
        Windows.segments(sorted([-0.9, 1.0, 0.0, 1e-9, -0.5, 0.25, 0.3, 0.99, -1.0][: count + 1]))
        for count in (2, 4, 8)
    ),
    Stripes.single(4.0, phases=2),
    Stripes.single(0.3, phases=8, min_size=3),
]


@every_alpha
@pytest.mark.parametrize("lens", PLAIN)
def test_the_loss_of_a_bit_is_exactly_the_enumerated_one(lens, alpha):
    question = ask(lens, Bits.single(alpha), alpha)
    loss = judged(question, CROWD)
    assert loss == question.loss()
    assert keeps(loss, alpha)


@every_alpha
@pytest.mark.parametrize("lens", SEVERAL)
def test_the_loss_of_a_bit_on_one_of_several_windows_is_that_of_the_bit(lens, alpha):
    question = ask(lens, Bits.single(alpha), alpha)
    laws = [report_law(question, person) for person in CROWD]
    assert Loss(ratio=largest_ratio(laws)) == question.loss() == ask(PLAIN[0], question.channel, alpha).loss()
    for window in range(lens.window_count):
        shares = {law[window, 0] + law[window, 1] for law in laws}
        assert shares == {Fraction(1, lens.window_count)}, "the window is a fair coin, whoever tosses it"


@every_alpha
@pytest.mark.parametrize("steps", [1, 8, 50])
@pytest.mark.parametrize("lens", [*PLAIN, SEVERAL[0], SEVERAL[3]])
def test_the_loss_of_a_noisy_grid_point_is_exactly_the_enumerated_one(lens, steps, alpha):
    question = ask(lens, Laplace.spending(alpha, steps=steps), alpha)
    loss = judged(question, CROWD)
    assert loss == question.loss()
    assert keeps(loss, alpha)


@given(means, means, sizes, sizes, st.sampled_from(every_making([22 / 35])))
def test_no_two_people_lose_more_than_the_question_says(one, other, size, other_size, question):
    pair = [Summary(size=size, mean=one), Summary(size=other_size, mean=other)]
    assert judged(question, pair).epsilon() <= question.epsilon()


# --- mutants: thresholds


@pytest.mark.parametrize("question", every_making([1.25 * alpha for alpha in (0.1, 22 / 35, 3.0)]), ids=question_name)
def test_a_budget_a_quarter_above_alpha_is_refused_and_convicted(question):
    claimed = question.alpha / 1.25
    with pytest.raises(InvalidInput, match="privacy loss"):
        dataclasses.replace(question, alpha=claimed)
    lying = dataclasses.replace(question, alpha=claimed, channel=mutants.free_of_charge(question.channel))
    assert convicted(lying, claimed)


def refused_and_convicted(lens: Lens, channel: Channel, alpha: float) -> bool:
    """Whether the question is refused at birth, and convicted where it escapes that."""
    with pytest.raises(InvalidInput, match="privacy loss"):
        ask(lens, channel, alpha)
    return convicted(ask(lens, mutants.free_of_charge(channel), alpha), alpha)


@every_alpha
def test_a_keep_probability_for_a_fifth_of_alpha_is_convicted(alpha):
    keep = symmetric_threshold(Fraction(alpha) / 5)
    assert refused_and_convicted(paper_bins(6), Bits(bins=6, yes=keep, no=WORD - keep), alpha)


@every_alpha
def test_the_chance_among_two_used_among_four_is_convicted(alpha):
    no = Choice.spending(alpha, bins=2).no // 3
    assert refused_and_convicted(SizeClasses(classes=4), Choice(bins=4, yes=WORD - 3 * no, no=no), alpha)


@every_alpha
def test_one_word_more_for_the_own_bin_is_convicted(alpha):
    sound = Choice.spending(alpha, bins=3)
    channel = dataclasses.replace(sound, yes=sound.yes + 2, no=sound.no - 1)
    assert refused_and_convicted(SizeClasses(classes=3), channel, alpha)
    bit = Bits.single(alpha)
    assert refused_and_convicted(Windows.whole_range(), Bits(yes=bit.yes + 1, no=bit.no - 1), alpha)


def test_noise_between_two_neighbouring_bins_only_is_convicted():
    sound = Choice.spending(1.0, bins=4)
    question = ask(SizeClasses(classes=4), mutants.ChoiceOfNeighbours(bins=4, yes=sound.yes, no=sound.no), 1.0)
    assert judged(question, CROWD).ratio == IMPOSSIBLE
    assert convicted(question, 32.0)


# --- mutants: readings


@pytest.mark.parametrize("alpha", [22 / 35, 3.0])
def test_closed_bins_with_four_marks_on_a_border_are_convicted(alpha):
    question = ask(
        mutants.ClosedBins(bins=8, width=0.25, neighbours=1, min_size=MIN_SIZE),
        Bits.symmetric(alpha, bins=8, marks=3),
        alpha,
    )
    people = [Summary(size=MIN_SIZE, mean=-1 + border * 0.25) for border in (2, 6)]
    assert [question.lens.reading(person, 0) for person in people] == [Reading(0, 3), Reading(4, 7)]
    loss = judged(question, people)
    assert not keeps(loss, 1.333 * alpha)
    assert keeps(loss, 1.334 * alpha)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("lens", [*PLAIN[1:], *SEVERAL[:2]])
def test_a_position_that_is_not_cut_to_the_window_is_convicted(lens, alpha):
    uncut = mutants.UncutWindows(windows=lens.windows, cap=lens.cap, between_sd=lens.between_sd)
    bit, noise = Bits.single(alpha), Laplace.spending(alpha, steps=50)
    assert convicted(ask(uncut, mutants.UncutBits(yes=bit.yes, no=bit.no), alpha), alpha, CROWD)
    assert convicted(ask(uncut, mutants.UncutLaplace(steps=50, scale=noise.scale), alpha), alpha, CROWD)
    assert not convicted(ask(uncut, bit, alpha), alpha, CROWD), "the channel cuts as well"
    assert not convicted(ask(uncut, noise, alpha), alpha, CROWD)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 8.0])
def test_stripes_that_are_numbered_are_convicted(alpha):
    lens, bit, noise = mutants.NumberedStripes.single(0.5), Bits.single(alpha), Laplace.spending(alpha, steps=50)
    assert convicted(ask(lens, mutants.UncutBits(yes=bit.yes, no=bit.no), alpha), alpha, CROWD)
    assert convicted(ask(lens, mutants.UncutLaplace(steps=50, scale=noise.scale), alpha), alpha, CROWD)
    assert not convicted(ask(lens, bit, alpha), alpha, CROWD), "the channel cuts"


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 22 / 35, 1.0])
def test_a_grid_point_rounded_outwards_after_the_scale_was_chosen_is_convicted(alpha):
    noise = Laplace.spending(alpha, steps=50)
    assert convicted(ask(PLAIN[0], mutants.OutwardLaplace(steps=50, scale=noise.scale), alpha), alpha)


# --- mutants: devices


@pytest.mark.parametrize("make", [paper_vote, one_hot_vote])
def test_one_coin_for_several_bits_is_convicted(make):
    vote = make(1.0, 4)
    laws = [
        exact_law(lambda coins, p=p: respond(vote, p, StuckCoins(coins)).value, 1, {vote.channel.yes, vote.channel.no})
        for p in voters(vote.lens)
    ]
    assert largest_ratio(laws) == IMPOSSIBLE


@pytest.mark.parametrize("lens", SEVERAL)
def test_one_coin_for_the_window_and_for_the_bit_is_convicted(lens):
    question = ask(lens, Bits.single(1.0), 1.0)
    laws = []
    for person in CROWD:
        windows = range(lens.window_count)
        ends = {end for window in windows for (end,) in question.channel.ends(lens.reading(person, window))}
        starts = {window * WORD // lens.window_count for window in windows}

        def program(coins, person=person):
            report = respond(question, person, ReusedCoins(coins))
            return report.window, report.value

        laws.append(enumerated(program, [starts | ends]))
    assert largest_ratio(laws) == IMPOSSIBLE


def test_abstaining_in_silence_is_convicted():
    """A device that sends nothing, or all zeros, for a person with few records tells everybody her size."""
    vote = paper_vote(1.0, 3)
    laws = [report_law(vote, person) for person in voters(vote.lens) if person.size >= MIN_SIZE]
    assert largest_ratio([*laws, {(0, 0): Fraction(1)}]) == IMPOSSIBLE


@pytest.mark.parametrize("lens", SEVERAL)
def test_a_window_chosen_by_the_data_is_convicted(lens):
    bit = Bits.single(1.0)
    laws = []
    for person in CROWD:
        window = int(person.mean > 0)
        reading = lens.reading(person, window)
        law = enumerated(lambda coins, reading=reading: bit.draw(reading, coins), bit.ends(reading))
        laws.append({(window, value): chance for value, chance in law.items()})
    assert largest_ratio(laws) == IMPOSSIBLE
