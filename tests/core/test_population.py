"""Populations: every user is in exactly one round, drawn one by one or counted, with the same law."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dame
from dame.errors import InvalidInput, Mismatch
from dame.population import Chunk, Population
from dame.sizes import Sizes
from tests.chances import FALSE_ALARM, POWER, p_value, power

SEED = 99


def people_of(group) -> list[tuple[int, float]]:
    """Every user of a group as (size, mean)."""
    people = []
    for chunk in group:
        counts = np.ones(len(chunk.sizes), dtype=int) if chunk.counts is None else chunk.counts
        for size, mean, count in zip(chunk.sizes.tolist(), chunk.means.tolist(), counts.tolist(), strict=True):
            people += [(size, mean)] * count
        assert chunk.users == counts.sum()
    return people


@given(st.integers(1, 300), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), st.integers(0, 2**32))
def test_every_user_is_in_exactly_one_round(users, shares, seed):
    population = Population.synthetic(Sizes.parse("uniform:1:4"), dame.parse_law("rademacher:0.5"))
    groups = population.groups(users, shares, np.random.default_rng(seed))
    assert len(groups) == len(shares)
    assert sum(len(people_of(group)) for group in groups) == users


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), st.integers(0, 2**32))
def test_fixed_users_are_each_in_exactly_one_round(shares, seed):
    sizes, means = np.arange(1, 41), np.linspace(-1, 1, 40)
    groups = Population.arrays(sizes, means).groups(40, shares, np.random.default_rng(seed))
    everybody = [person for group in groups for person in people_of(group)]
    assert Counter(everybody) == Counter(zip(sizes.tolist(), means.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["synthetic", "arrays"])
def test_rounds_get_their_shares(kind):
    shares, users = (0.2, 0.5, 0.3), 30_000
    law = dict(enumerate(shares))
    population = (
        Population.synthetic(Sizes.constant(1), dame.parse_law("beta:2:6"))
        if kind == "synthetic"
        else Population.arrays(np.ones(users, dtype=int), np.zeros(users))
    )
    groups = population.groups(users, shares, np.random.default_rng(SEED))
    rounds = [index for index, group in enumerate(groups) for _ in people_of(group)]
    assert p_value(rounds, law) > FALSE_ALARM
    assert power(law, {0: 0.25, 1: 0.45, 2: 0.3}, users) > POWER
    assert p_value(rounds, {0: 0.25, 1: 0.45, 2: 0.3}) < FALSE_ALARM


@pytest.mark.parametrize("users", [10, 8_000])
def test_people_one_by_one_and_people_counted_have_the_same_law(users):
    """Few users are drawn each for herself; many by counting how many have each size and mean."""
    sizes = {2: 0.25, 5: 0.75}
    law = {
        (size, hits): chance * float(stats.binom.pmf(hits, size, 0.7))
        for size, chance in sizes.items()
        for hits in range(size + 1)
    }
    places = {outcome: place for place, outcome in enumerate(law)}
    population = Population.synthetic(Sizes.from_weights(sizes), dame.parse_law("rademacher:0.4"))
    rng = np.random.default_rng(SEED)
    drawn: list[tuple[int, float]] = []
    counted = False
    while len(drawn) < 8_000:
        (group,) = population.groups(users, [1.0], rng)
        chunks = list(group)
        counted |= any(chunk.counts is not None for chunk in chunks)
        drawn += people_of(chunks)
    assert counted == (users > 10)
    hits = [places[size, round((mean + 1) / 2 * size)] for size, mean in drawn]
    assert p_value(hits, {places[outcome]: chance for outcome, chance in law.items()}) > FALSE_ALARM


@pytest.mark.parametrize("law", ["rademacher:0.4", "beta:2:6", "point:0.25", "rademacher:1"])
@pytest.mark.parametrize("sizes", ["constant:3", "poisson:5", "constant:1000000"])
def test_the_truth_is_the_mean_of_the_law(law, sizes):
    if law == "beta:2:6" and sizes == "constant:1000000":
        return
    population = Population.synthetic(Sizes.parse(sizes), dame.parse_law(law))
    (group,) = population.groups(3000, [1.0], np.random.default_rng(SEED))
    means = np.array([mean for _, mean in people_of(group)])
    assert population.truth == dame.parse_law(law).mean
    assert (np.abs(means) <= 1).all()
    assert abs(means.mean() - population.truth) <= 5 * means.std() / math.sqrt(len(means)) + 1e-12


def test_the_truth_of_fixed_users_is_the_mean_of_their_means():
    assert Population.arrays([1, 10, 100], [0.0, 0.5, 1.0]).truth == 0.5


def test_a_plan_for_another_number_of_users_is_a_mismatch():
    plan = dame.plan(users=4, alpha=1.0, sizes=Sizes.constant(1), protocol="one-bit")
    with pytest.raises(Mismatch):
        dame.run(plan, Population.arrays([1, 1, 1], [0.0, 0.0, 0.0]), seed=1)


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
        plan = dame.plan(users=100, alpha=1.0, sizes=Sizes.from_counts(sizes), protocol=name)
        dame.run(plan, population, seed=1)
    (group,) = population.groups(100, [1.0], np.random.default_rng(1))
    (chunk,) = group
    assert isinstance(chunk, Chunk)
    assert chunk.sizes.tolist() == list(range(1, 101))
    assert chunk.means.tolist() == means.tolist()
