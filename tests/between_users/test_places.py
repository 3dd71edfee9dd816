"""The places of a round: where they are put, what a mark says, and with which noise."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from dame.device.questions import PlaceVote
from dame.device.randomisers import OneOfMany
from dame.device.records import Summary
from dame.between_users import Beliefs, best_places, family, marked, noise_of
from dame.between_users.places import GRID

WHOLE = (-1.0, -0.375, 0.375, 1.0)
REPORTS = 20_000


def choose(count: int, alpha: float = 1.0) -> OneOfMany:
    return OneOfMany.spending(alpha, count)


def after_whole(means: np.ndarray, users: int = REPORTS) -> Beliefs:
    """What is believed once everybody was asked about the whole range, without any luck in it."""
    shares = marked(WHOLE)(means).mean(axis=0)
    start = Beliefs.before(family(), departure=1e-4, users=users)
    return start.after(marked(WHOLE), shares, noise_of(choose(4), shares, users))


def test_shares_are_the_chances_of_the_device_before_its_noise():
    vote = PlaceVote(study="s", round=0, alpha=1.0, places=(-0.9, -0.2, 0.3, 1.0), code=choose(4))
    for mean in (-1.0, -0.9, -0.5, -0.2, 0.0, 0.299, 0.3, 0.8, 1.0):
        ends = vote.code.ends(vote.own_bin(person := Summary(size=1, mean=mean)), vote.part(person), 4)
        chances = np.diff([0, *ends]) / 2**64
        own = (chances - vote.code.no / 2**64) / ((vote.code.yes - vote.code.no) / 2**64)
        assert marked(vote.places)(np.array(mean)) == pytest.approx(own[1:].astype(float), abs=1e-9)


def test_a_mean_between_the_places_is_their_average_by_its_shares():
    places, means = np.array([-0.6, -0.1, 0.2, 0.9]), np.linspace(-0.6, 0.9, 31)
    shares = marked(tuple(places))(means)
    assert places[0] * (1 - shares.sum(axis=1)) + shares @ places[1:] == pytest.approx(means)


def test_rows_of_places_are_looked_at_together():
    rows = [(-0.5, 0.0, 0.5), (-1.0, 0.3, 0.4)]
    means = np.linspace(-1, 1, 17)
    together = marked(*rows)(means)
    for number, row in enumerate(rows):
        assert together[:, number :: len(rows)] == pytest.approx(marked(row)(means))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_noise_is_that_of_drawn_marks(count):
    code, rng = choose(count), np.random.default_rng(count)
    own = rng.dirichlet(np.ones(count))
    chances = code.no / 2**64 + own * (code.yes - code.no) / 2**64
    drawn = rng.multinomial(50, chances, size=200_000) / 50
    shares = (drawn - code.no / 2**64) * 2**64 / (code.yes - code.no)
    assert np.atleast_2d(np.cov(shares[:, 1:].T)) == pytest.approx(noise_of(code, own[1:], 50), rel=0.03, abs=0.03 / 50)


def test_places_are_on_the_grid_and_in_order():
    for place in (-0.9, -0.3, 0.0, 0.5):
        places, _ = best_places(after_whole(np.full(9, place)), choose, REPORTS)
        assert list(places) == sorted(set(places))
        assert np.abs(places).max() <= 1
        assert all(2 * GRID * place == round(2 * GRID * place) for place in places)


def test_places_are_close_for_users_who_are_alike_and_far_apart_for_others():
    rng = np.random.default_rng(1)
    steps = []
    for spread in (0.05, 0.3, 0.9):
        means = np.clip(0.1 + spread * rng.choice([-1, 1], size=4000), -1, 1)
        places, _ = best_places(after_whole(means), choose, REPORTS)
        steps.append(min(np.diff(places)))
    assert steps[0] <= steps[1] < steps[2]


def test_far_users_are_watched_where_alpha_allows():
    """A tenth of the users at the right end: with a large α, places close together do not leave them out."""
    means = np.where(np.arange(100) < 10, 1.0, -0.3)
    sharp = partial(choose, alpha=3.0)
    shares = marked(WHOLE)(means).mean(axis=0)
    start = Beliefs.before(family(), departure=1e-4, users=REPORTS)
    beliefs = start.after(marked(WHOLE), shares, noise_of(sharp(4), shares, 500))
    places, _ = best_places(beliefs, sharp, REPORTS)
    assert places[-1] == 1.0
    assert len(places) > 2


def test_the_expected_error_falls_with_the_number_of_reports():
    beliefs = after_whole(np.full(9, 0.2))
    errors = [best_places(beliefs, choose, reports)[1] for reports in (500, 5000, 50_000)]
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[0] < beliefs.of_mean().covariance[0, 0]
