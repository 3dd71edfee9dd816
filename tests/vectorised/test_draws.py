"""Draws have the distribution of the device: exact probabilities on one side, draws of every kind of coin on the other.

Every chi-square test has the false-alarm rate `FALSE_ALARM`; each is shown to reject the named mutants, with the power
stated before the draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from dame.device.answering import respond
from dame.device.channels import Bits, Choice, Laplace, grid_point
from dame.device.exact import WORD
from dame.device.lenses import Windows
from dame.device.questions import Question
from dame.tally import Tally
from dame.vectorised.coins import KeyedCoins, ManyCoins, StreamCoins
from dame.vectorised.keyed import Keys, Lanes
from dame.vectorised.reports import answer_many, drawn_totals, report_totals
from dame.vectorised.words import FastWords
from tests.chances import FALSE_ALARM, POWER, normal_p_value, p_value, power
from tests.device.sources import SeededCoins, StuckCoins
from tests.vectorised.exact import Entries, flat, numbered, numbers, tally_chances, value_chances
from tests.vectorised.examples import (
    ALPHA,
    BINS,
    CLASSES,
    DITHER,
    EVERYBODYS_BINS,
    NEIGHBOURS,
    NOISE,
    NOISY,
    PAPER_ALPHA,
    PEOPLE,
    QUESTIONS,
    SEGMENTS,
    WINDOW,
    ask,
)
from tests.vectorised.sources import RepeatedWords, fast

SEED = 777
DRAWS = 4_500
WRONG = 1.25

SIZES = np.array([person.size for person in PEOPLE])
MEANS = np.array([person.mean for person in PEOPLE])
HASHES = np.arange(len(PEOPLE), dtype=np.uint64)

Draw = Callable[[Question, int], Tally]


# --- tallies of a few people, drawn again and again


def drawn(question: Question, coins: ManyCoins) -> Tally:
    return Tally.of(question, drawn_totals(question, SIZES, MEANS, coins))


def by_stream(seed: int = SEED) -> Draw:
    words = fast(seed)
    return lambda question, number: drawn(question, StreamCoins(len(PEOPLE), words))


def by_reports() -> Draw:
    words = fast(SEED)
    return lambda question, number: Tally.of(
        question, report_totals(question, answer_many(question, SIZES, MEANS, words))
    )


def by_keys() -> Draw:
    return lambda question, number: drawn(question, KeyedCoins(Lanes(Keys.of("draws", number), HASHES)))


def by_devices(stuck: bool = False) -> Draw:
    source = SeededCoins(SEED)
    coins = StuckCoins(source) if stuck else source

    def draw(question: Question, number: int) -> Tally:
        tally = Tally.zero(question)
        for person in PEOPLE:
            tally = tally.add(respond(question, person, coins))
        return tally

    return draw


WAYS: dict[str, Callable[[], Draw]] = {
    "stream": by_stream,
    "reports": by_reports,
    "keys": by_keys,
    "devices": by_devices,
}


def tallies(question: Question, draw: Draw, draws: int = DRAWS) -> list[Entries]:
    return [flat(draw(question, number)) for number in range(draws)]


def fits(question: Question, found: Sequence[Entries]) -> float:
    exact = tally_chances(question, PEOPLE)
    return p_value(numbers(found, exact), numbered(exact)[0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_tallies_have_their_exact_distribution(name, way):
    question = QUESTIONS[name]
    assert sum(tally_chances(question, PEOPLE).values()) == pytest.approx(1.0, abs=1e-12)
    assert fits(question, tallies(question, WAYS[way](), DRAWS // 3)) > FALSE_ALARM


MUTANTS = {
    "one-hot with alpha too large": ("one-hot", ask(BINS, Bits.optimised(WRONG * ALPHA, 3), WRONG * ALPHA)),
    "one-hot with the code of the paper": ("one-hot", ask(BINS, Bits.symmetric(ALPHA, 3, marks=1))),
    "one-hot with all people": ("one-hot", ask(EVERYBODYS_BINS, Bits.optimised(ALPHA, 3))),
    "three marks with a fifth of alpha for each bit": (
        "three marks",
        ask(NEIGHBOURS, Bits.symmetric(6 / 5 * PAPER_ALPHA, 3, marks=3), 6 / 5 * PAPER_ALPHA),
    ),
    "size classes with alpha too large": (
        "size classes",
        ask(CLASSES, Bits.optimised(WRONG * ALPHA, 3), WRONG * ALPHA),
    ),
    "choice with alpha too large": (
        "choice of a bin",
        ask(EVERYBODYS_BINS, Choice.spending(WRONG * ALPHA, 3), WRONG * ALPHA),
    ),
    "bit with alpha too large": ("bit", ask(WINDOW, Bits.single(WRONG * ALPHA), WRONG * ALPHA)),
    "two windows with alpha too large": ("two windows", ask(DITHER, Bits.single(WRONG * ALPHA), WRONG * ALPHA)),
    "windows the wrong way round": (
        "two windows",
        ask(Windows(windows=DITHER.windows[::-1], cap=4.0), Bits.single(ALPHA)),
    ),
    "segments of the same width": (
        "segments",
        ask(Windows.segments((-1.0, -0.5, 0.0, 0.5, 1.0)), Bits.single(ALPHA)),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_rejected(mutant):
    name, wrong = MUTANTS[mutant]
    right = QUESTIONS[name]
    first, second = numbered(tally_chances(right, PEOPLE), tally_chances(wrong, PEOPLE))
    draws = DRAWS // 3 if power(first, second, DRAWS // 3) > POWER else DRAWS
    assert power(first, second, draws) > POWER
    assert fits(right, tallies(wrong, by_stream(), draws)) < FALSE_ALARM


@pytest.mark.parametrize("name", ["one-hot", "three marks"])
def test_reused_coins_are_rejected(name):
    question = QUESTIONS[name]
    assert fits(question, tallies(question, by_devices(stuck=True), DRAWS // 3)) < FALSE_ALARM
    again = RepeatedWords(SEED, 7)
    assert fits(question, tallies(question, lambda asked, _: drawn(asked, StreamCoins(8, again)), 1_000)) < FALSE_ALARM


# --- Laplace noise


def noise_chances(scale: int, people: int) -> dict[int, float]:
    """The distribution of a sum of independent integers of weight exp(-|k|/scale), within 1e-12."""
    reach = 40 * scale
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    one = weights / weights.sum()
    total = np.ones(1)
    for _ in range(people):
        total = np.convolve(total, one)
    middle = len(total) // 2
    return {place - middle: float(p) for place, p in enumerate(total)}


def noise_of(question: Question, found: Sequence[Entries], scale: int) -> float:
    points = sum(grid_point(question.lens.reading(person, 0).mark_on(0), NOISE.steps) for person in PEOPLE)
    return p_value([total - points for _, total, _ in found], noise_chances(scale, len(PEOPLE)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["noise", "noise on a bin"])
def test_sums_of_noisy_points_have_their_exact_distribution(name, way):
    question = NOISY[name]
    assert noise_of(question, tallies(question, WAYS[way](), DRAWS // 3), NOISE.scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", [3, 1])
def test_a_wrong_scale_is_rejected(scale):
    exact, wrong = noise_chances(NOISE.scale, len(PEOPLE)), noise_chances(scale, len(PEOPLE))
    assert power(exact, wrong, DRAWS // 3) > POWER
    question = ask(WINDOW, Laplace(steps=NOISE.steps, scale=scale), 6.0)
    assert noise_of(question, tallies(question, by_stream(), DRAWS // 3), NOISE.scale) < FALSE_ALARM


def test_noise_that_is_shared_between_people_is_rejected():
    exact = noise_chances(NOISE.scale, len(PEOPLE))
    one = noise_chances(NOISE.scale, 1)
    rng = np.random.default_rng(SEED)
    shared = len(PEOPLE) * rng.choice(list(one), DRAWS, p=np.array(list(one.values())) / sum(one.values()))
    assert p_value([k for k in shared.tolist() if k in exact], exact) < FALSE_ALARM


@pytest.mark.parametrize("way", ["stream", "reports"])
def test_noise_in_windows_has_its_exact_distribution(way):
    """One person at a time: the window and the value together."""
    question, person, draws = NOISY["noise in two windows"], PEOPLE[3], 20_000
    sizes, means = np.full(draws, person.size), np.full(draws, person.mean)
    if way == "stream":
        totals = drawn_totals(question, sizes, means, StreamCoins(draws, fast(SEED)))
    else:
        totals = report_totals(question, answer_many(question, sizes, means, fast(SEED)))
    assert stats.binomtest(totals[0][0], draws, 0.5).pvalue > FALSE_ALARM
    for window, (reports, (total, squares)) in enumerate(totals):
        chances = value_chances(question.channel, question.lens.reading(person, window))
        mean, square = (math.fsum(p * value**power for value, p in chances.items()) for power in (1, 2))
        variance = square - mean**2
        assert normal_p_value(total / reports, mean, math.sqrt(variance / reports)) > FALSE_ALARM
        assert squares / reports - (total / reports) ** 2 == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 8.0])
def test_noise_on_the_standard_grid_has_the_right_mean_and_variance(alpha):
    people = 200_000
    noise = Laplace.spending(alpha)
    question = ask(Windows.whole_range(), noise, alpha)
    coins = StreamCoins(people, FastWords(np.random.default_rng(SEED)))
    totals = drawn_totals(question, np.ones(people, dtype=np.int64), np.full(people, 0.3), coins)
    tally = Tally.of(question, totals)
    mean, square = tally.mean(0), tally.mean(1)
    variance = noise.variance(0.65) * noise.steps**2
    assert normal_p_value(mean, math.floor(0.65 * noise.steps + 0.5), math.sqrt(variance / people)) > FALSE_ALARM
    # The fourth moment of a Laplace distribution is 6 times its squared variance: the sample variance has relative
    # error sqrt(5/n), and a scale that is off by 25 % (variance by 56 %) is 100 errors away.
    assert normal_p_value((square - mean * mean) / variance, 1.0, math.sqrt(5 / people)) > FALSE_ALARM
    assert normal_p_value((square - mean * mean) / (variance * 1.25**2), 1.0, math.sqrt(5 / people)) < FALSE_ALARM


# --- many people, with secure coins


def test_secure_bits_of_many_people_are_binomial():
    """At 300,000 people the share of ones is where its threshold says, within 5 standard errors."""
    people, question, person = 300_000, QUESTIONS["bit"], PEOPLE[3]
    threshold = question.channel.threshold(question.lens.position(person))
    group = np.full(people, person.size), np.full(people, person.mean)
    ((_, (ones,)),) = drawn_totals(question, *group, StreamCoins(people))
    chance = threshold / WORD
    assert stats.binomtest(ones, people, chance).pvalue > FALSE_ALARM
    wrong = 0.5 + (chance - 0.5) * math.tanh(WRONG * ALPHA / 2) / math.tanh(ALPHA / 2)
    assert stats.binomtest(ones, people, wrong).pvalue < FALSE_ALARM


def test_secure_windows_are_fair():
    people, question = 300_000, ask(SEGMENTS, Bits.single(ALPHA))
    totals = drawn_totals(question, np.ones(people, np.int64), np.zeros(people), StreamCoins(people))
    assert stats.chisquare([reports for reports, _ in totals]).pvalue > FALSE_ALARM
