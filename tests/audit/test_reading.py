"""Reading a mechanism: the noise that it adds, and the words at which its outcomes change."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.audit import check_question, exact_epsilon
from dame.audit.probe import Probe, ScriptedCoins, Unreadable, far_noise, published_laplace, read_ends
from dame.audit.runs import kinds
from dame.device.channels import Bits, Choice, Laplace
from dame.device.coins import discrete_laplace
from dame.device.exact import WORD
from dame.device.lenses import Bins, SizeClasses, Window, Windows
from dame.device.questions import Question
from dame.device.records import Summary
from tests.device.examples import ask

# --- Laplace noise


@given(st.integers(0, 2**32), st.integers(1, 2**40))
@settings(max_examples=40)
def test_the_published_algorithm_is_the_device_s(seed, scale):
    words = np.random.default_rng(seed).integers(0, 2**64, 3000, dtype=np.uint64).tolist()
    assert published_laplace(iter(words), scale) == discrete_laplace(ScriptedCoins(words), scale)


@pytest.mark.parametrize("scale", [1, 2, 3, 1000, 2**20])
@pytest.mark.parametrize("negative", [False, True])
def test_far_noise_is_as_far_as_it_says(scale, negative):
    noise = published_laplace(iter(far_noise(50, negative)), scale)
    assert noise == (-50 if negative else 50) * scale


@pytest.mark.parametrize(("steps", "scale"), [(8, 3), (8, 8), (5, 40), (1, 1)])
def test_the_closed_form_is_right_on_the_whole_grid_and_at_the_clamped_ends(steps, scale):
    """Every grid point, every report from end to end, both tails gathered in the ends: never a ratio above e^loss."""
    noise = Laplace(steps=steps, scale=scale)
    low, high = noise.values
    with mpmath.workdps(40):
        decay = mpmath.exp(-mpmath.mpf(1) / scale)
        norm = (1 - decay) / (1 + decay)

        def chance(report: int, point: int) -> mpmath.mpf:
            if report in (low, high):
                return norm * decay ** abs(report - point) / (1 - decay)
            return norm * decay ** abs(report - point)

        laws = [[chance(report, point) for report in range(low, high + 1)] for point in range(steps + 1)]
        assert all(abs(sum(law) - 1) < 1e-30 for law in laws)
        largest = max(max(one) / min(one) for one in zip(*laws, strict=True))
        assert abs(mpmath.log(largest) - mpmath.mpf(steps) / scale) < 1e-25


@given(st.integers(1, 2**20), st.floats(0.01, 8.0), st.floats(-1, 1), st.floats(0.01, 50))
@settings(max_examples=25)
def test_points_never_leave_the_grid_whatever_is_rounded(steps, alpha, centre, half):
    lens = Windows(windows=(Window(centre, -half, half),))
    question = ask(lens, Laplace.spending(alpha, steps=steps), alpha)
    assert Fraction(exact_epsilon(question, lens.extremes())) <= Fraction(alpha)


def noisy(change):
    """A mechanism that adds changed noise to the right grid point."""

    def mechanism(question, person, coins):
        noise = discrete_laplace(coins, question.channel.scale)
        point = round(question.lens.reading(person, 0).mark * question.channel.steps)
        return 0, change(question, person, point, noise)

    return mechanism


def test_noise_that_depends_on_the_person_is_convicted():
    def mirrored(question, person, point, noise):
        return question.channel.noisy(point, noise if person.mean < 0 else -noise)

    assert not check_question("mirrored", kinds(1.0)["noisy position"], noisy(mirrored)).passed


def test_noise_without_a_public_range_is_convicted():
    mechanism = noisy(lambda question, person, point, noise: point + noise)
    assert "public range" in check_question("unclamped", kinds(1.0)["noisy position"], mechanism).problem


def test_noise_in_several_windows_is_read():
    lens = Windows(windows=(Window(-0.1, -1.0, 1.0), Window(0.1, -1.0, 1.0)))
    check = check_question("two windows", ask(lens, Laplace.spending(1.0), 1.0))
    assert check.passed
    assert check.tight


# --- reading


def probed(draw, channel, lens) -> Probe:
    """Somebody whose value is what a draw makes of her coins."""
    question = Question(study="s", round=0, alpha=32.0, lens=lens, channel=channel)
    person = Summary(size=1, mean=0.0)
    return Probe(
        question=question, person=person, window=0, mechanism=lambda _q, _p, coins: (0, draw(coins)), first=[[]]
    )


def probed_bits(draw, count) -> tuple[Probe, Bits]:
    channel = Bits.optimised(1.0, bins=count)
    return probed(draw, channel, Bins(bins=count, width=2 / count)), channel


@given(st.lists(st.integers(0, 2**64), min_size=1, max_size=12))
def test_thresholds_of_bits_are_found_by_bisection(thresholds):
    def draw(coins):
        words = coins.words(len(thresholds))
        return sum((word < t) << bit for bit, (word, t) in enumerate(zip(words, thresholds, strict=True)))

    assert read_ends(*probed_bits(draw, len(thresholds))) == tuple((t,) for t in thresholds)


@given(st.lists(st.integers(0, 2**64), min_size=1, max_size=7).map(sorted))
def test_ends_of_a_choice_are_found_by_bisection(ends):
    """Ends that coincide, or that no word reaches, included."""

    def draw(coins):
        (word,) = coins.words(1)
        return sum(word >= end for end in ends)

    channel = Choice.spending(1.0, len(ends) + 1)
    probe = probed(draw, channel, SizeClasses(classes=len(ends) + 1))
    assert read_ends(probe, channel) == (tuple(ends),)


def test_two_bits_that_share_a_word_cannot_be_read():
    def draw(coins):
        first, _ = coins.words(2)
        return 3 * int(first < 2**63)

    with pytest.raises(Unreadable, match="own word"):
        read_ends(*probed_bits(draw, 2))


def test_an_outcome_that_comes_twice_cannot_be_read():
    def draw(coins):
        (word,) = coins.words(1)
        return int(WORD // 4 <= word < WORD // 2)

    with pytest.raises(Unreadable, match="own word"):
        read_ends(*probed_bits(draw, 1))


def test_scripted_coins_go_on_with_zeros():
    coins = ScriptedCoins([1, 2])
    assert list(itertools.chain(coins.words(1), coins.words(3))) == [1, 2, 0, 0]
    assert coins.used == 4
