"""Beliefs against independent answers: conjugate updates by hand, and draws from a Dirichlet process."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dame.between_users import Beliefs, Family, bell, family
from dame.between_users.beliefs import GRIP, identity


def one_population(values: list[float], shares: list[float]) -> Family:
    return Family(np.array([values]), np.array([shares]), np.zeros(1), np.array([1.0]))


def test_before_any_report_the_mean_is_that_of_a_dirichlet_process():
    values, shares = [-0.5, 0.1, 0.8], [0.2, 0.5, 0.3]
    posterior = Beliefs.before(one_population(values, shares)).of(identity)
    rng = np.random.default_rng(1)
    drawn = rng.dirichlet(np.array(shares) * GRIP, size=200_000) @ np.array(values)
    assert posterior.mean[0] == pytest.approx(np.dot(values, shares))
    assert posterior.covariance[0, 0] == pytest.approx(drawn.var(), rel=0.02)


def test_one_observation_of_the_mean_is_pooled_by_precision():
    start = Beliefs.before(one_population([-0.5, 0.1, 0.8], [0.2, 0.5, 0.3]))
    prior = start.of(identity)
    noise = 0.004
    posterior = start.after(identity, np.array([0.4]), np.array([[noise]])).of(identity)
    precision = 1 / prior.covariance[0, 0] + 1 / noise
    expected = (prior.mean[0] / prior.covariance[0, 0] + 0.4 / noise) / precision
    assert posterior.mean[0] == pytest.approx(expected)
    assert posterior.covariance[0, 0] == pytest.approx(1 / precision)


def test_the_order_of_observations_does_not_matter():
    start = Beliefs.before(family())

    def left_half(values):
        return (values < 0)[..., None].astype(float)

    facts = [(identity, np.array([0.2]), np.array([[0.01]])), (left_half, np.array([0.3]), np.array([[0.02]]))]
    one = start.after(*facts[0]).after(*facts[1]).of(identity)
    other = start.after(*facts[1]).after(*facts[0]).of(identity)
    assert one.mean[0] == pytest.approx(other.mean[0], abs=5e-4)  # populations that fit nothing are dropped on the way
    assert one.covariance[0, 0] == pytest.approx(other.covariance[0, 0], rel=1e-2)


def test_populations_are_weighed_by_how_well_they_foretold():
    near, far = [-0.1, 0.1], [0.7, 0.9]
    both = Family(np.array([near, far]), np.full((2, 2), 0.5), np.log([0.5, 0.5]), np.array([0.1, 0.1]))
    noise = 0.05
    posterior = Beliefs.before(both).after(identity, np.array([0.3]), np.array([[noise]])).of(identity)
    spread = noise + 0.1**2 / (GRIP + 1)
    odds = math.exp(-(0.3**2 - 0.5**2) / (2 * spread))
    assert posterior.weights[0] / posterior.weights[1] == pytest.approx(odds)


def test_quantiles_of_a_mixture():
    start = Beliefs.before(family())
    posterior = start.after(identity, np.array([0.1]), np.array([[0.003]])).of(identity)
    rng = np.random.default_rng(2)
    rows = rng.choice(len(posterior.weights), p=posterior.weights / posterior.weights.sum(), size=200_000)
    drawn = rng.normal(posterior.means[rows, 0], np.sqrt(posterior.covariances[rows, 0, 0]))
    for level in (0.025, 0.5, 0.975):
        assert posterior.quantile(level) == pytest.approx(np.quantile(drawn, level), abs=2e-3)


def test_many_reports_outvote_every_shape():
    """Three clusters are in no family; with sharp histograms the mean is still found."""
    values = np.array([-0.9, 0.05, 0.95])
    shares = np.array([0.25, 0.35, 0.4])
    edges = np.linspace(-1, 1, 9)

    def bins(points):
        return (np.searchsorted(edges, points, side="right")[..., None] == np.arange(1, 9)).astype(float)

    observed = shares @ bins(values)
    posterior = Beliefs.before(family()).after(bins, observed, np.eye(8) * 1e-6).of(identity)
    assert posterior.mean[0] == pytest.approx(shares @ values, abs=0.125)  # half a bin
    assert posterior.quantile(0.025) - 0.02 < shares @ values < posterior.quantile(0.975) + 0.02


def test_the_mean_of_users_at_hand_is_learnt_from_a_part_of_them():
    """Against draws: a population from the process, its users, and the average of half of them with noise."""
    values, shares = np.array([-0.5, 0.1, 0.8]), np.array([0.2, 0.5, 0.3])
    users, noise = 8, 0.02
    start = Beliefs.before(one_population(list(values), list(shares)), users=users)
    after = start.after(identity, np.array([0.4]), np.array([[noise + half_variance(start, users)]])).of_mean()
    rng = np.random.default_rng(3)
    laws = rng.dirichlet(shares * GRIP, size=300_000)
    people = values[(rng.random((len(laws), users, 1)) > np.cumsum(laws, axis=1)[:, None, :]).sum(axis=2).clip(max=2)]
    seen = people[:, : users // 2].mean(axis=1) + rng.normal(0, math.sqrt(noise), len(laws))
    slope, _ = np.polyfit(seen, people.mean(axis=1), 1)
    left = people.mean(axis=1) - people.mean() - slope * (seen - seen.mean())
    assert start.of_mean().covariance[0, 0] == pytest.approx(people.mean(axis=1).var(), rel=0.02)
    assert after.covariance[0, 0] == pytest.approx(left.var(), rel=0.02)
    assert after.mean[0] == pytest.approx(people.mean() + slope * (0.4 - seen.mean()), abs=0.003)


def half_variance(start: Beliefs, users: int) -> float:
    """The variance of the average of half of the users around that of a population drawn from the process."""
    within = start.of(identity).covariance[0, 0] * (GRIP + 1) * (1 - 1 / (GRIP + 1))
    return float(within / (users / 2))


def test_doubt_lets_a_narrow_shape_hear_of_far_users():
    """A tenth of the users at 0.9 is not in the shape: only with doubt does what they say move the mean."""
    shape, shares = bell(0.05)
    narrow = Family(shape[None, :], shares[None, :], np.zeros(1), np.array([0.05]))

    def upper(points):
        return np.clip(points, 0.3, 1.0)[..., None]

    fact = (upper, np.array([0.3 + 0.1 * 0.6]), np.array([[0.02**2]]))
    deaf = Beliefs.before(narrow).after(*fact).of_mean()
    open_minded = Beliefs.before(narrow, departure=0.05**2).after(*fact).of_mean()
    assert deaf.mean[0] == pytest.approx(0, abs=1e-3)
    assert 0.02 < open_minded.mean[0] < 0.1
    assert open_minded.covariance[0, 0] < 0.05**2 + deaf.covariance[0, 0]


def test_few_populations_stand_for_all():
    beliefs = Beliefs.before(family()).after(identity, np.array([0.1]), np.array([[0.003]]))
    every, few = beliefs.of(identity), beliefs.thinned(150).of(identity)
    assert len(few.weights) <= 150
    assert few.mean[0] == pytest.approx(every.mean[0], abs=0.1 * math.sqrt(every.covariance[0, 0]))
    assert few.covariance[0, 0] == pytest.approx(every.covariance[0, 0], rel=0.2)


@pytest.mark.parametrize(("narrowest", "widest"), [(0.05, 0.85), (0.2, 0.2), (0.1, 0.3)])
def test_families_stay_in_range_and_keep_to_a_known_width(narrowest, widest):
    every = family(narrowest, widest)
    assert np.abs(every.values).max() <= 1
    assert every.shares.sum(axis=1) == pytest.approx(1)
    assert np.exp(every.log_prior).sum() == pytest.approx(1)
    assert every.widths.max() <= (1.0 if widest == 0.85 else 1.2 * widest)
    chances = np.exp(every.log_prior)
    assert chances[(every.widths > 0.5 * narrowest) & (every.widths < 1.2 * widest)].sum() > 0.9


@pytest.mark.parametrize("far", [1.0, -1.0, 0.8])
@pytest.mark.parametrize("share", [0.05, 0.15, 0.3])
def test_the_family_knows_far_minorities_on_either_side(far, share):
    """Some population with a fair chance has about this share beyond half the way to the minority."""
    every = family()
    beyond = np.sum(every.shares * (every.values * np.sign(far) > 0.5), axis=1)
    near = np.sum(every.shares * (np.abs(every.values) < 0.25), axis=1)
    alike = (np.abs(beyond - share) < share / 2) & (near > 0.6)
    assert np.exp(every.log_prior)[alike].sum() > 0.003


def test_the_bell_is_normal_and_in_the_middle():
    means, shares = bell(0.2)
    assert shares @ means == pytest.approx(0, abs=1e-12)
    assert shares @ means**2 == pytest.approx(0.04)
    assert shares @ means**4 == pytest.approx(3 * 0.2**4, rel=0.1)  # heavier shapes have more, two clusters have 1
