"""Populations: every user is in exactly one slot, drawn one by one or counted, with the same distribution."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal, stats

import dame
from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins, SizeClasses, Window, Windows
from dame.device.questions import Question
from dame.device.records import Summary
from dame.errors import InvalidInput, Mismatch
from dame.populations.population import Chunk, Population
from dame.populations.simulation import draw_tally
from dame.protocols import plan_mean
from dame.sizes import Sizes
from tests.chances import FALSE_ALARM, POWER, p_value, power
from tests.machines import run_machine
from tests.vectorised.exact import Entries, entry_chances, flat, numbered, numbers
from tests.vectorised.examples import ask

SEED = 99
DRAWS = 1_200


def users_of(group) -> int:
    return sum(chunk.users for chunk in group)


@given(st.integers(1, 300), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), st.integers(0, 2**32))
def test_every_user_is_in_exactly_one_slot(users, shares, seed):
    population = Population.synthetic(Sizes.parse("uniform:1:4"), dame.parse_distribution("rademacher:0.5"))
    groups = population.groups(users, shares, np.random.default_rng(seed))
    assert len(groups) == len(shares)
    assert sum(map(users_of, groups)) == users


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), st.integers(0, 2**32))
def test_fixed_users_are_each_in_exactly_one_slot(shares, seed):
    sizes, means = np.arange(1, 41), np.linspace(-1, 1, 40)
    groups = Population.arrays(sizes, means).groups(40, shares, np.random.default_rng(seed))
    chunks = [chunk for group in groups for chunk in group]
    everybody = Counter(
        pair for chunk in chunks for pair in zip(chunk.sizes.tolist(), chunk.means.tolist(), strict=True)
    )
    assert everybody == Counter(zip(sizes.tolist(), means.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["synthetic", "arrays"])
def test_slots_get_their_shares(kind):
    shares, users = (0.2, 0.5, 0.3), 30_000
    exact = dict(enumerate(shares))
    population = (
        Population.synthetic(Sizes.constant(1), dame.parse_distribution("beta:2:6"))
        if kind == "synthetic"
        else Population.arrays(np.ones(users, dtype=int), np.zeros(users))
    )
    groups = population.groups(users, shares, np.random.default_rng(SEED))
    slots = [index for index, group in enumerate(groups) for _ in range(users_of(group))]
    assert p_value(slots, exact) > FALSE_ALARM
    assert power(exact, {0: 0.25, 1: 0.45, 2: 0.3}, users) > POWER
    assert p_value(slots, {0: 0.25, 1: 0.45, 2: 0.3}) < FALSE_ALARM


SIZES = {2: 0.25, 5: 0.75}
CHANCE = 0.7
USERS = (6, 25)
"""So few users are drawn each for herself; so many through the distribution of their sizes and means."""
VOTE = ask(Bins(bins=2, width=0.9, min_size=3), Bits.optimised(2.0, 2))
CHOICE = ask(SizeClasses(classes=3), Choice.spending(2.0, 3))
BIT = ask(Windows(windows=(Window(-0.5, -2.0, 2.0),), cap=4.0), Bits.single(2.0))
DITHER = ask(Windows(windows=(Window(-1.0, -2.0, 2.0), Window(0.0, -2.0, 2.0)), cap=4.0), Bits.single(2.0))
GRID = ask(BIT.lens, Laplace(steps=6, scale=2), 3.0)
QUESTIONS = {"vote": VOTE, "choice": CHOICE, "bit": BIT, "dither": DITHER, "grid": GRID}


def first_entries(question: Question, entries: Entries) -> Entries:
    """What is looked at of a tally: all of it, but of noisy points no squares, whose distribution has no end."""
    return entries[1:2] if question is GRID else entries


def chances_of_one(question: Question) -> dict[Entries, float]:
    """The exact distribution of what a user drawn from the population adds to a tally."""
    found: Counter[Entries] = Counter()
    for size, share in SIZES.items():
        for hits in range(size + 1):
            person = Summary(size=size, mean=2 * hits / size - 1)
            weight = share * float(stats.binom.pmf(hits, size, CHANCE))
            for entries, chance in entry_chances(question, person).items():
                found[first_entries(question, entries)] += weight * chance
    return found


def chances_of_many(one: dict[Entries, float], users: int) -> dict[Entries, float]:
    """The distribution of the sum of so many independent draws, by an array that holds every outcome."""
    low = np.array(list(one)).min(axis=0)
    shape = np.array(list(one)).max(axis=0) - low + 1
    cells = np.zeros(shape)
    for entries, chance in one.items():
        cells[tuple(np.array(entries) - low)] = chance
    total = cells
    for _ in range(users - 1):
        total = signal.convolve(total, cells, method="direct")
    return {tuple((np.array(place) + users * low).tolist()): p for place, p in np.ndenumerate(total) if p > 1e-15}


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_tally_of_a_synthetic_population_has_its_exact_distribution(name, users):
    question = QUESTIONS[name]
    exact = chances_of_many(chances_of_one(question), users)
    assert tally_p_value(question, users, SIZES, CHANCE, exact) > FALSE_ALARM


@pytest.mark.parametrize("users", USERS)
def test_a_population_with_other_records_or_other_sizes_is_rejected(users):
    exact = chances_of_many(chances_of_one(VOTE), users)
    assert tally_p_value(VOTE, users, SIZES, CHANCE - 0.25, exact) < FALSE_ALARM
    assert tally_p_value(VOTE, users, {2: 0.75, 5: 0.25}, CHANCE, exact) < FALSE_ALARM


def tally_p_value(
    question: Question, users: int, sizes: dict[int, float], chance: float, exact: dict[Entries, float]
) -> float:
    """The p-value that tallies of a population with these sizes and this chance of a 1 have the distribution."""
    population = Population.synthetic(
        Sizes.from_weights(sizes), dame.parse_distribution(f"rademacher:{2 * chance - 1}")
    )
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(DRAWS):
        (group,) = population.groups(users, [1.0], rng)
        tally = draw_tally(question, group, rng)
        assert tally.reports == users
        found.append(first_entries(question, flat(tally)))
    return p_value(numbers(found, exact), numbered(exact)[0])


def test_both_ways_to_draw_users_are_tested():
    population = Population.synthetic(Sizes.from_weights(SIZES), dame.parse_distribution("rademacher:0.4"))
    chunks = []
    for users in USERS:
        (group,) = population.groups(users, [1.0], np.random.default_rng(SEED))
        chunks.append(next(group))
    assert [len(chunk.sizes) == chunk.users for chunk in chunks] == [True, False]


@pytest.mark.parametrize("law", ["rademacher:0.4", "beta:2:6", "point:0.25", "rademacher:1"])
def test_the_truth_is_the_mean_of_the_distribution(law):
    population = Population.synthetic(Sizes.constant(3), dame.parse_distribution(law))
    assert population.truth == dame.parse_distribution(law).mean


def test_the_truth_of_fixed_users_is_the_mean_of_their_means():
    assert Population.arrays([1, 10, 100], [0.0, 0.5, 1.0]).truth == 0.5


def test_a_plan_for_another_number_of_users_is_a_mismatch():
    plan = plan_mean(users=4, alpha=1.0, sizes=Sizes.constant(1), protocol="one-bit")
    with pytest.raises(Mismatch):
        run_machine(plan, Population.arrays([1, 1, 1], [0.0, 0.0, 0.0]), seed=1)


@pytest.mark.parametrize(
    ("sizes", "means"),
    [
        ([], []),
        ([1, 2], [0.0]),
        ([[1]], [[0.0]]),
        ([0], [0.0]),
        ([-1], [0.0]),
        ([1.5], [0.0]),
        (["1"], [0.0]),
        ([True], [0.0]),
        ([1], [1.1]),
        ([1], [math.nan]),
        ([1], ["0"]),
        ([1], [None]),
        ([[1], [1, 2]], [0.0, 0.0]),
        (None, None),
        (5, 0.5),
    ],
)
def test_wrong_arrays_are_refused(sizes, means):
    with pytest.raises(InvalidInput):
        Population.arrays(sizes, means)


def test_a_population_is_not_changed_by_a_study():
    sizes, means = np.arange(1, 101), np.linspace(-1, 1, 100)
    population = Population.arrays(sizes, means)
    for name in dame.protocols.PROTOCOLS:
        plan = plan_mean(users=100, alpha=1.0, sizes=Sizes.from_counts(sizes), protocol=name)
        run_machine(plan, population, seed=1)
    (group,) = population.groups(100, [1.0], np.random.default_rng(1))
    (chunk,) = group
    assert isinstance(chunk, Chunk)
    assert chunk.sizes.tolist() == list(range(1, 101))
    assert chunk.means.tolist() == means.tolist()
