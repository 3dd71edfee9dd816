"""Simulated tallies have the exact distribution of the devices' tallies, without a coin of any device."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dame.device.channels import Bits, Laplace
from dame.device.exact import WORD
from dame.device.lenses import Windows
from dame.device.questions import Question
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally
from dame.tally import Tally
from dame.vectorised.channels import CHANNEL_FORMS
from dame.vectorised.lenses import Readings
from tests.chances import FALSE_ALARM, POWER, normal_p_value, p_value, power
from tests.vectorised.exact import Entries, convolved, entry_chances, flat, numbered, numbers, tally_chances
from tests.vectorised.examples import ALPHA, DITHER, NOISE, NOISY, PEOPLE, QUESTIONS, WINDOW, ask
from tests.vectorised.test_draws import MEANS, MUTANTS, SEED, SIZES, WRONG, fits, noise_chances, noise_of

DRAWS = 4_500
EVERYBODY = Chunk(SIZES, MEANS)
each_question = pytest.mark.parametrize("name", QUESTIONS)


def simulated(question: Question, draws: int = DRAWS) -> list[Entries]:
    rng = np.random.default_rng(SEED)
    return [flat(draw_tally(question, [EVERYBODY], rng)) for _ in range(draws)]


@each_question
def test_simulated_tallies_have_their_exact_distribution(name):
    assert fits(QUESTIONS[name], simulated(QUESTIONS[name])) > FALSE_ALARM


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_rejected(mutant):
    name, wrong = MUTANTS[mutant]
    first, second = numbered(tally_chances(QUESTIONS[name], PEOPLE), tally_chances(wrong, PEOPLE))
    assert power(first, second, DRAWS) > POWER
    assert fits(QUESTIONS[name], simulated(wrong)) < FALSE_ALARM


# --- Laplace noise


@pytest.mark.parametrize("name", ["noise", "noise on a bin"])
def test_sums_of_noisy_points_have_their_exact_distribution(name):
    assert noise_of(NOISY[name], simulated(NOISY[name]), NOISE.scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", [3, 1])
def test_a_wrong_scale_is_rejected(scale):
    exact, wrong = noise_chances(NOISE.scale, len(PEOPLE)), noise_chances(scale, len(PEOPLE))
    assert power(exact, wrong, DRAWS) > POWER
    question = ask(WINDOW, Laplace(steps=NOISE.steps, scale=scale), 6.0)
    assert noise_of(question, simulated(question), NOISE.scale) < FALSE_ALARM


def test_the_sum_of_squares_belongs_to_the_same_draws():
    rng = np.random.default_rng(SEED)
    for person in PEOPLE:
        for _ in range(50):
            alone = Chunk(np.array([person.size]), np.array([person.mean]))
            total, squares = draw_tally(NOISY["noise"], [alone], rng).sums
            assert squares == total * total


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 8.0])
def test_noise_on_the_standard_grid_has_the_right_mean_and_variance(alpha):
    people, noise = 200_000, Laplace.spending(alpha)
    group = [Chunk(np.ones(people, dtype=np.int64), np.full(people, 0.3))]
    tally = draw_tally(ask(Windows.whole_range(), noise, alpha), group, np.random.default_rng(SEED))
    mean, square = tally.mean(0), tally.mean(1)
    variance = noise.variance(0.65) * noise.steps**2
    assert normal_p_value(mean, math.floor(0.65 * noise.steps + 0.5), math.sqrt(variance / people)) > FALSE_ALARM
    # As in test_draws: the sample variance has relative error sqrt(5/n).
    assert normal_p_value((square - mean * mean) / variance, 1.0, math.sqrt(5 / people)) > FALSE_ALARM
    assert normal_p_value((square - mean * mean) / (variance * 1.25**2), 1.0, math.sqrt(5 / people)) < FALSE_ALARM


# --- chunks


@each_question
def test_chunks_of_people_add_up(name):
    question, rng = QUESTIONS[name], np.random.default_rng(SEED)
    chunks = [Chunk(SIZES[part], MEANS[part]) for part in (slice(2), slice(2, 2), slice(2, None))]
    found = [flat(draw_tally(question, iter(chunks), rng)) for _ in range(DRAWS // 3)]
    assert fits(question, found) > FALSE_ALARM


@each_question
def test_users_drawn_from_a_distribution_have_the_mixture(name):
    """Chunks with chances: each of the users is one of the people, independently."""
    question = QUESTIONS[name]
    chances = np.arange(1, len(PEOPLE) + 1) / sum(range(1, len(PEOPLE) + 1))
    mixed: Counter[Entries] = Counter()
    for person, chance in zip(PEOPLE, chances, strict=True):
        for entries, p in entry_chances(question, person).items():
            mixed[entries] += chance * p
    exact = convolved([mixed] * 5)
    rng = np.random.default_rng(SEED)
    chunks = [Chunk(SIZES, MEANS, chances, users) for users in (3, 0, 2)]
    found = [flat(draw_tally(question, chunks, rng)) for _ in range(DRAWS)]
    assert p_value(numbers(found, exact), numbered(exact)[0]) > FALSE_ALARM
    fixed = {**dict.fromkeys(mixed, 0.0), **entry_chances(question, PEOPLE[0])}
    assert power(*numbered(exact, convolved([fixed] * 5)), DRAWS) > POWER


def test_partial_marks_on_several_bins_belong_to_one_person():
    """Two people of whom each marks the bin of her own, half: bits of a user drawn from both are not independent."""
    bits = Bits(bins=2, yes=WORD - 1, no=1)
    readings = Readings(which=np.arange(2), first=np.arange(2), last=np.arange(2), marks=np.full(2, 0.5))
    rng, often = np.random.default_rng(SEED), Counter()
    for _ in range(DRAWS):
        often[tuple(CHANNEL_FORMS.of(bits).simulated_sums(bits, readings, np.full(2, 0.5), 1, rng))] += 1
    # Nobody has both bits; independent ones of the same chances would be there in one draw of sixteen.
    assert often[1, 1] == 0
    assert stats.chisquare([often[0, 0], often[0, 1], often[1, 0]], DRAWS * np.array([0.5, 0.25, 0.25])).pvalue > (
        FALSE_ALARM
    )


@pytest.mark.parametrize("question", [*QUESTIONS.values(), *NOISY.values()])
def test_nobody_gives_the_empty_tally(question):
    rng = np.random.default_rng(SEED)
    empty = Chunk(np.array([], dtype=np.int64), np.array([], dtype=np.float64))
    assert draw_tally(question, [], rng) == draw_tally(question, [empty], rng) == Tally.zero(question)


def test_windows_are_drawn_evenly():
    question = replace(QUESTIONS["segments"], lens=Windows(windows=DITHER.windows * 4))
    people = 100_000
    tally = draw_tally(question, [Chunk(np.ones(people, np.int64), np.zeros(people))], np.random.default_rng(SEED))
    assert stats.chisquare([window.reports for window in tally.windows]).pvalue > FALSE_ALARM


def test_the_ones_of_many_people_are_binomial():
    """At 300,000 people the simulated share of ones is where its threshold says, within 5 standard errors."""
    people, question = 300_000, QUESTIONS["bit"]
    group = [Chunk(np.full(people, 5), np.full(people, 0.4))]
    chance = question.channel.threshold(question.lens.position(PEOPLE[3])) / WORD
    (ones,) = draw_tally(question, group, np.random.default_rng(SEED)).sums
    assert stats.binomtest(ones, people, chance).pvalue > FALSE_ALARM
    wrong = 0.5 + (chance - 0.5) * math.tanh(WRONG * ALPHA / 2) / math.tanh(ALPHA / 2)
    assert stats.binomtest(ones, people, wrong).pvalue < FALSE_ALARM
