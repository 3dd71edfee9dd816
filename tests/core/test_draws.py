"""The simulation draws the law of the device: exact probabilities on one side, draws of both on the other.

Every chi-square test has the false-alarm rate `FALSE_ALARM`; each is shown to reject the named mutants, with the power
stated before the draws.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dame.vectorised import crowd
from dame.device.answer import respond
from dame.device.exact import WORD
from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.records import Summary
from dame.populations.population import Chunk
from dame.populations.simulation import draw_tally
from dame.tally import Tally
from tests.chances import FALSE_ALARM, POWER, normal_p_value, p_value, power
from tests.device.sources import SeededCoins, StuckCoins

SEED = 777
DRAWS = 4_500
ALPHA = 2.0
PAPER_ALPHA = 10.0
"""The paper spends a sixth of α on a bit, so a larger α is needed to see a mutant in a small test."""
WRONG = 1.25

PEOPLE = [Summary(size=5, mean=mean) for mean in (-0.9, -0.1, 0.0, 0.4, 0.45, 0.5)] + [Summary(size=1, mean=0.4)] * 2
SIZES = np.array([person.size for person in PEOPLE])
MEANS = np.array([person.mean for person in PEOPLE])

Law = Mapping[tuple[int, ...], float]


def vote(code: UnaryCode, alpha: float = ALPHA) -> Vote:
    return Vote(study="s", round=0, alpha=alpha, bins=3, width=0.7, neighbours=0, min_size=2, code=code)


def paper_vote(code: UnaryCode, alpha: float = PAPER_ALPHA) -> Vote:
    return Vote(study="s", round=0, alpha=alpha, bins=3, width=0.7, neighbours=1, min_size=2, code=code)


def paper_code(alpha: float) -> Vote:
    return paper_vote(UnaryCode.symmetric(alpha, marks=3), alpha)


def place_vote(alpha: float = ALPHA, places: tuple[float, ...] = (-0.6, 0.1, 0.5)) -> PlaceVote:
    return PlaceVote(study="s", round=0, alpha=alpha, places=places, code=OneOfMany.spending(alpha, len(places)))


def bit(alpha: float = ALPHA, dither: float = 0.0) -> Measure:
    return Measure(
        study="s", round=1, alpha=alpha, centre=-0.5, left=-1.5, right=1.5, cap=4.0, dither=dither,
        noise=OneBit.spending(alpha),
    )  # fmt: skip


def parts(alpha: float = ALPHA, borders: tuple[float, ...] = (-1.0, -0.05, 0.2, 0.5, 0.9)) -> PartMeasure:
    return PartMeasure(study="s", round=1, alpha=alpha, borders=borders, noise=OneBit.spending(alpha))


def grid(noise: DiscreteLaplace) -> Measure:
    return dataclasses.replace(bit(3.0), noise=noise)


ONE_HOT = vote(UnaryCode.optimised(ALPHA))
PAPER = paper_vote(UnaryCode.symmetric(PAPER_ALPHA, marks=3))
BIT, ARMS, PARTS = bit(), bit(dither=0.4), parts()
TWO_PARTS = parts(borders=(-1.0, 0.2, 1.0))
PLACES = place_vote()


# --- exact laws, from integer thresholds


def convolved(laws: Sequence[Law]) -> Law:
    """The law of the sum of independent integer vectors."""
    total: dict[tuple[int, ...], float] = {(0,) * len(next(iter(laws[0]))): 1.0}
    for law in laws:
        merged: Counter[tuple[int, ...]] = Counter()
        for (one, p), (other, q) in itertools.product(total.items(), law.items()):
            merged[tuple(a + b for a, b in zip(one, other, strict=True))] += p * q
        total = dict(merged)
    return total


def law_of_sums(question: Question) -> Law:
    return convolved([law_of_entries(question, person) for person in PEOPLE])


def law_of_entries(question: Question, person: Summary) -> Law:
    """The exact law of what one person adds to the tally."""
    if isinstance(question, PlaceVote):
        ends = question.code.ends(question.own_bin(person), question.part(person), question.bins)
        marks = np.eye(question.bins, dtype=int).tolist()
        return {tuple(mark): (end - start) / WORD for mark, start, end in zip(marks, (0, *ends), ends, strict=False)}
    if isinstance(question, Vote):
        first, last = question.marks(person)
        chances = [
            (question.code.yes if first <= bin_ <= last else question.code.no) / WORD for bin_ in range(question.bins)
        ]
        return {
            bits: math.prod(p if bit_ else 1 - p for bit_, p in zip(bits, chances, strict=True))
            for bits in itertools.product((0, 1), repeat=question.bins)
        }
    assert isinstance(question.noise, OneBit)
    arms, law = question.arms, {}
    for arm in range(arms):
        one = question.noise.threshold(question.position(person, arm)) / WORD
        for ones, chance in ((0, 1 - one), (1, one)):
            entries = [0] * (2 * arms)
            entries[2 * arm : 2 * arm + 2] = 1, ones
            law[tuple(entries[1:])] = chance / arms
    return law


def numbered(*laws: Law) -> list[dict[int, float]]:
    """Laws of vectors as laws of numbers, so that chi-square tests can group neighbours."""
    places = {outcome: place for place, outcome in enumerate(sorted({key for law in laws for key in law}))}
    return [{places[outcome]: law.get(outcome, 0.0) for outcome in places} for law in laws]


def numbers(outcomes: Sequence[tuple[int, ...]], law: Law) -> list[int]:
    places = {outcome: place for place, outcome in enumerate(sorted(law))}
    return [places[outcome] for outcome in outcomes]


# --- draws


def simulated(question: Question, draws: int = DRAWS) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(SEED)
    return [draw_tally(question, [Chunk(SIZES, MEANS)], rng).sums for _ in range(draws)]


def by_devices(question: Question, draws: int = DRAWS // 3, stuck: bool = False) -> list[tuple[int, ...]]:
    source = SeededCoins(SEED)
    coins = StuckCoins(source) if stuck else source
    sums = []
    for _ in range(draws):
        tally = Tally.zero(question)
        for person in PEOPLE:
            tally = tally.add(respond(question, person, coins))
        sums.append(tally.sums)
    return sums


QUESTIONS = {"one-hot": ONE_HOT, "paper": PAPER, "places": PLACES, "bit": BIT, "arms": ARMS, "parts": PARTS}
each_question = pytest.mark.parametrize("name", QUESTIONS)


@each_question
def test_the_simulation_has_the_exact_law_of_the_tally(name):
    question = QUESTIONS[name]
    law = law_of_sums(question)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
    assert p_value(numbers(simulated(question), law), numbered(law)[0]) > FALSE_ALARM


@each_question
def test_the_devices_have_the_exact_law_of_the_tally(name):
    question = QUESTIONS[name]
    law = law_of_sums(question)
    assert p_value(numbers(by_devices(question), law), numbered(law)[0]) > FALSE_ALARM


MUTANTS = {
    "one-hot with alpha too large": (ONE_HOT, vote(UnaryCode.optimised(WRONG * ALPHA), WRONG * ALPHA)),
    "one-hot with the code of the paper": (ONE_HOT, vote(UnaryCode.symmetric(ALPHA, marks=1))),
    "paper with alpha too large": (PAPER, paper_code(WRONG * PAPER_ALPHA)),
    "paper with a fifth of alpha for each bit": (PAPER, paper_code(6 / 5 * PAPER_ALPHA)),
    "places with alpha too large": (PLACES, place_vote(WRONG * ALPHA)),
    "places without means between them": (PLACES, place_vote(places=(-0.9, 0.0, 0.4))),
    "bit with alpha too large": (BIT, bit(WRONG * ALPHA)),
    "arms with alpha too large": (ARMS, bit(WRONG * ALPHA, dither=0.4)),
    "arms the wrong way round": (ARMS, None),
    "two parts with alpha too large": (TWO_PARTS, parts(WRONG * ALPHA, TWO_PARTS.borders)),
    "parts of the same width": (PARTS, parts(borders=(-1.0, -0.5, 0.0, 0.5, 1.0))),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_of_the_law_are_rejected(name):
    right, wrong = MUTANTS[name]
    law = law_of_sums(right)
    if wrong is None:
        mutant = {(ones_above, len(PEOPLE) - above, ones): p for (ones, above, ones_above), p in law.items()}
        drawn = [(c, len(PEOPLE) - b, a) for a, b, c in simulated(right, DRAWS)]
    else:
        mutant, drawn = law_of_sums(wrong), simulated(wrong, DRAWS)
    first, second = numbered(law, mutant)
    assert power(first, second, DRAWS) > POWER
    assert p_value(numbers(drawn, law), first) < FALSE_ALARM


@pytest.mark.parametrize("name", ["one-hot", "paper"])
def test_reused_coins_are_rejected(name):
    question = QUESTIONS[name]
    law = law_of_sums(question)
    assert p_value(numbers(by_devices(question, stuck=True), law), numbered(law)[0]) < FALSE_ALARM


# --- Laplace noise


def laplace_sum_law(scale: int, people: int) -> dict[int, float]:
    """The law of a sum of independent integers of weight exp(-|k|/scale), within 1e-12."""
    reach = 40 * scale
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    one = weights / weights.sum()
    total = np.ones(1)
    for _ in range(people):
        total = np.convolve(total, one)
    middle = len(total) // 2
    return {place - middle: float(p) for place, p in enumerate(total)}


NOISE = DiscreteLaplace(steps=6, scale=2)
GRID = grid(NOISE)
POINTS = sum(math.floor(GRID.position(person) * NOISE.steps + 0.5) for person in PEOPLE)


def test_a_sum_of_noisy_grid_points_has_the_exact_law():
    law = laplace_sum_law(NOISE.scale, len(PEOPLE))
    for drawn in (simulated(GRID), by_devices(GRID)):
        assert p_value([total - POINTS for total, _ in drawn], law) > FALSE_ALARM


@pytest.mark.parametrize("scale", [3, 1])
def test_a_wrong_scale_is_rejected(scale):
    law, wrong = laplace_sum_law(NOISE.scale, len(PEOPLE)), laplace_sum_law(scale, len(PEOPLE))
    assert power(law, wrong, DRAWS) > POWER
    drawn = simulated(dataclasses.replace(GRID, alpha=6.0, noise=DiscreteLaplace(steps=NOISE.steps, scale=scale)))
    assert p_value([total - POINTS for total, _ in drawn], law) < FALSE_ALARM


def test_noise_that_is_shared_between_people_is_rejected():
    law = laplace_sum_law(NOISE.scale, len(PEOPLE))
    rng = np.random.default_rng(SEED)
    shared = [len(PEOPLE) * int(k) for k in rng.choice(np.arange(-80, 81), DRAWS, p=_truncated(NOISE.scale, 80))]
    assert p_value([k for k in shared if k in law], law) < FALSE_ALARM


def _truncated(scale: int, reach: int) -> np.ndarray:
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    return weights / weights.sum()


def test_the_sum_of_squares_belongs_to_the_same_draws():
    rng = np.random.default_rng(SEED)
    for person in PEOPLE:
        for _ in range(50):
            total, squares = draw_tally(GRID, [Chunk(np.array([person.size]), np.array([person.mean]))], rng).sums
            assert squares == total * total


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 8.0])
def test_noise_on_the_standard_grid_has_the_right_mean_and_variance(alpha):
    people = 200_000
    noise = DiscreteLaplace.spending(alpha)
    question = dataclasses.replace(bit(alpha), noise=noise, cap=1.0, centre=0.0, left=-1.0, right=1.0)
    group = [Chunk(np.ones(people, dtype=np.int64), np.full(people, 0.3))]
    tally = draw_tally(question, group, np.random.default_rng(SEED))
    mean, square = tally.mean(0), tally.mean(1)
    variance = noise.variance(0.65) * noise.steps**2
    assert normal_p_value(mean, math.floor(0.65 * noise.steps + 0.5), math.sqrt(variance / people)) > FALSE_ALARM
    # The fourth moment of a Laplace law is 6 times its squared variance: the sample variance has relative error
    # sqrt(5/n), and a scale that is off by 25 % (variance by 56 %) is 100 errors away.
    assert normal_p_value((square - mean * mean) / variance, 1.0, math.sqrt(5 / people)) > FALSE_ALARM
    assert normal_p_value((square - mean * mean) / (variance * 1.25**2), 1.0, math.sqrt(5 / people)) < FALSE_ALARM


# --- groups


@each_question
def test_chunks_of_people_add_up(name):
    question = QUESTIONS[name]
    chunks = [Chunk(SIZES[part], MEANS[part]) for part in (slice(2), slice(2, 2), slice(2, None))]
    rng = np.random.default_rng(SEED)
    law = law_of_sums(question)
    drawn = [draw_tally(question, iter(chunks), rng).sums for _ in range(DRAWS // 3)]
    assert p_value(numbers(drawn, law), numbered(law)[0]) > FALSE_ALARM


@each_question
def test_users_drawn_from_a_law_have_the_mixture_of_its_laws(name):
    """Chunks with chances: each of the users is one of the people, independently."""
    question = QUESTIONS[name]
    chances = np.arange(1, len(PEOPLE) + 1) / sum(range(1, len(PEOPLE) + 1))
    mixed: Counter[tuple[int, ...]] = Counter()
    for person, chance in zip(PEOPLE, chances, strict=True):
        for entries, p in law_of_entries(question, person).items():
            mixed[entries] += chance * p
    law = convolved([mixed] * 5)
    rng = np.random.default_rng(SEED)
    chunks = [Chunk(SIZES, MEANS, chances, users) for users in (3, 0, 2)]
    drawn = [draw_tally(question, chunks, rng).sums for _ in range(DRAWS)]
    assert p_value(numbers(drawn, law), numbered(law)[0]) > FALSE_ALARM
    fixed = law_of_entries(question, PEOPLE[0])
    assert power(*numbered(law, convolved([{**dict.fromkeys(mixed, 0.0), **fixed}] * 5)), DRAWS) > POWER


@pytest.mark.parametrize("question", [*QUESTIONS.values(), GRID])
def test_nobody_gives_the_empty_tally(question):
    rng = np.random.default_rng(SEED)
    empty = Chunk(np.array([], dtype=np.int64), np.array([], dtype=np.float64))
    assert draw_tally(question, [], rng) == draw_tally(question, [empty], rng) == Tally.zero(question)


def test_the_ones_of_many_people_are_binomial():
    """At 300,000 people the simulated share of ones is where its threshold says, within 5 standard errors."""
    people = 300_000
    group = [Chunk(np.full(people, 5), np.full(people, 0.4))]
    chance = BIT.noise.threshold(BIT.position(PEOPLE[3])) / WORD
    (ones,) = draw_tally(BIT, group, np.random.default_rng(SEED)).sums
    assert stats.binomtest(ones, people, chance).pvalue > FALSE_ALARM
    wrong = 0.5 + (chance - 0.5) * math.tanh(WRONG * ALPHA / 2) / math.tanh(ALPHA / 2)
    assert stats.binomtest(ones, people, wrong).pvalue < FALSE_ALARM


# --- sums of squares


@given(st.lists(st.integers(-(2**52), 2**52), max_size=60))
def test_sum_of_squares_is_exact(values):
    assert crowd.sum_of_squares(np.array(values, dtype=np.int64)) == sum(value * value for value in values)


@pytest.mark.parametrize("value", [2**52 - 1, -(2**52), 2**26, -(2**26) - 1, -1, 0])
@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5000])
def test_sum_of_squares_is_exact_for_many_extremes(value, count):
    assert crowd.sum_of_squares(np.full(count, value)) == count * value * value
