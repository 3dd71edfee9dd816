"""Segments to ask about next, and what of the tails is taken for noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.between_users.segments import EVEN, Tail, next_borders, overview, trimmed_mean
from dame.between_users.tuning import SEGMENTS
from dame.device.channels import Bits
from tests.between_users.test_npmle import exactly, heard

CHANNEL = Bits.single(1.0)
ANY = (SEGMENTS.narrowest, SEGMENTS.widest)
GRID = 512


@given(st.floats(-1, 1), st.floats(0, 0.8), st.integers(0, 2**20), st.sampled_from([30, 300, 30_000]))
@settings(max_examples=60, deadline=None)
def test_borders_always_cover_the_range_in_order(middle, width, seed, reports):
    rng = np.random.default_rng(seed)
    means = np.clip(middle + width * rng.normal(size=200), -1, 1)
    borders = next_borders(overview(heard(means, np.array(EVEN), reports, rng), CHANNEL, 20 * reports, ANY))
    assert len(borders) == SEGMENTS.count + 1
    assert (borders[0], borders[-1]) == (-1, 1)
    assert list(borders) == sorted(set(borders))
    assert all((border * GRID).is_integer() for border in borders), "every machine asks the same"


def test_a_known_width_sets_the_window():
    segments = exactly(np.full(3, 0.1), np.array(EVEN), 100_000)
    narrow, wide = (overview(segments, CHANNEL, 10**6, (width, width)) for width in (0.05, 0.3))
    assert narrow.right - narrow.left < 0.25 < 0.8 < wide.right - wide.left


@pytest.mark.parametrize(
    ("excess", "trimmed"),
    [(0.0, 0.0), (0.01, 0.01), (0.1, 0.045), (0.5, 0.0)],
    ids=["nobody", "less than noise", "some of it", "surely somebody"],
)
def test_a_tail_is_trimmed_by_no_more_than_its_part_of_an_error(excess, trimmed):
    assert Tail(length=1.0, excess=excess, error=0.07).trimmed(plain=0.1) == pytest.approx(trimmed)


def test_a_tail_of_nearly_the_whole_range_is_not_trimmed():
    """There its own error is that of plain bits already: any bias would come on top."""
    assert Tail(length=1.8, excess=0.05, error=0.09).trimmed(plain=0.1) == 0


@pytest.mark.parametrize("length", [0.3, 0.8, 1.1, 1.4, 1.7, 2.0])
def test_trimming_leaves_the_error_within_five_percent_of_plain_bits(length):
    """The mean squared error of an excess of any size, by numbers: never above 1.05², with the noise of both tails."""
    plain, z = 0.1, np.random.default_rng(1).normal(size=(2, 4000))
    errors = [math.sqrt(side / 2) * plain for side in (length, 2 - length)]
    for truth in np.linspace(0, 0.6, 13):
        excesses = (np.maximum(truth + errors[0] * z[0], 0), np.maximum(errors[1] * z[1], 0))
        kept = []
        for excess, side, error in zip(excesses, (length, 2 - length), errors, strict=True):
            tails = [Tail(length=side, excess=float(value), error=error) for value in excess]
            kept.append(excess - [tail.trimmed(plain) if side else 0.0 for tail in tails])
        risk = math.sqrt(np.mean((kept[0] - kept[1] - truth) ** 2))
        assert risk < 1.05 * plain * 1.03  # 4,000 draws: known within 1.2 %


def test_the_mean_loses_what_is_trimmed():
    rng = np.random.default_rng(4)
    seen = overview(heard(np.full(3, 0.1), np.array(EVEN), 200, rng), CHANNEL, 1600, ANY)
    left, right = (tail.trimmed(seen.plain) for tail in seen.tails(seen.population))
    assert trimmed_mean(seen) == pytest.approx(seen.population.mean + left - right)
    assert left + right > 0
