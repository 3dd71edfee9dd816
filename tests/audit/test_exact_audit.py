"""The exact audit: right on ours, agreed with an enumeration that shares nothing with it, merciless to mutants."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.audit import check_question, exact_epsilon
from dame.audit.budget import ln_above
from dame.audit.exact import spends_all
from dame.audit.known_bad import known_bad
from dame.audit.people import extreme_people, voters
from dame.audit.probe import ScriptedCoins, Unreadable, device, far_noise, published_laplace, read_thresholds
from dame.audit.runs import kinds
from dame.device.coins import discrete_laplace
from dame.device.exact import WORD
from dame.device.questions import Measure, PlaceVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, UnaryCode
from dame.device.records import Summary
from dame.vectorised import crowd, edge
from tests.device.enumeration import exact_law, largest_ratio
from tests.device.strategies import measures, place_votes, questions, size_votes, votes

ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
MUTANTS = known_bad()


# --- ours


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_kind_of_question_passes_and_spends_its_budget(alpha):
    for name, question in kinds(alpha).items():
        check = check_question(name, question)
        assert check.passed, check
        assert check.tight
        assert check.epsilon_exact <= check.epsilon_claimed == alpha
        assert "problem" not in check.to_json()


@given(questions())
def test_any_question_that_can_be_built_passes(question):
    check = check_question("drawn", question)
    assert check.passed, check


def own_thresholds(question, person) -> set[int]:
    """Of a bit, the thresholds that a person has in any arm."""
    if isinstance(question, Vote):
        return set()
    return {question.noise.threshold(question.position(person, arm)) for arm in range(question.arms)}


@given(st.one_of(votes(most_bins=4), size_votes(most_bins=4), place_votes(), measures()))
@settings(max_examples=40)
def test_the_exact_loss_is_that_of_the_enumeration(question):
    """Two judges: this one reads thresholds, the other runs through all cells of words."""
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        return
    people = extreme_people(question)[::2]
    if isinstance(question, PlaceVote):
        ends = [question.code.ends(question.own_bin(one), question.part(one), question.bins) for one in people]
        borders, words = set(itertools.chain(*ends)), 1
    elif isinstance(question, Vote):
        borders, words = {question.code.yes, question.code.no}, question.bins
    else:
        arms, words = question.arms, 2 if question.arms > 1 else 1
        borders = {arm * (WORD // arms) for arm in range(1, arms)}
    laws = [
        exact_law(lambda coins, one=one: device(question, one, coins), words, borders | own_thresholds(question, one))
        for one in people
    ]
    assert exact_epsilon(question, people) == ln_above(largest_ratio(laws))


@pytest.mark.parametrize("neighbours", [0, 1, 2])
@pytest.mark.parametrize("bins", [1, 2, 5, 6, 7, 25, 26, 31, 60])
def test_the_bins_that_are_visited_show_every_difference(neighbours, bins):
    code = UnaryCode.symmetric(1.0, marks=2 * neighbours + 1)
    lopsided = UnaryCode(yes=code.yes - (code.yes - code.no) // 3, no=code.no)
    vote = Vote(
        study="s", round=0, alpha=1.0, bins=bins, width=2 / bins, neighbours=neighbours, min_size=2, code=lopsided
    )
    everybody = [Summary(size=2, mean=-1 + (bin_ + 0.5) * vote.width) for bin_ in range(bins)]
    nobody = Summary(size=1, mean=0.0)
    assert exact_epsilon(vote, voters(vote)) == exact_epsilon(vote, [*everybody, nobody])


def test_a_vote_among_very_many_bins_passes():
    vote = Vote(study="s", round=0, alpha=1.0, bins=2**14, width=2**-13, min_size=9, code=UnaryCode.optimised(1.0))
    assert check_question("many bins", vote).passed


def test_a_question_that_cannot_spend_all_is_not_blamed_for_it():
    single = Vote(study="s", round=0, alpha=1.0, bins=1, width=2.0, code=UnaryCode.optimised(1.0))
    far = Measure(study="s", round=0, alpha=1.0, centre=1.0, left=-1.0, right=1.0, cap=1.0, noise=OneBit.spending(1.0))
    for question in (single, far):
        check = check_question("cannot", question)
        assert check.passed
        assert not check.tight
        assert not spends_all(question)


def test_noisier_coins_than_the_claim_needs_are_a_failure():
    timid = dataclasses.replace(kinds(1.0)["one bit"], noise=OneBit.spending(0.9))
    check = check_question("timid", timid)
    assert not check.passed
    assert "wastes" in check.problem
    assert check.to_json()["problem"] == check.problem


# --- mutants


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_convicted(mutant):
    check = check_question(mutant.name, mutant.question, mutant.mechanism)
    assert not check.passed
    assert check.problem
    assert check.epsilon_exact > mutant.question.alpha
    assert check_question("honest", mutant.question).passed, "it is the mechanism that is bad, not the question"


def test_the_loss_of_readable_mutants_is_the_one_that_theory_gives():
    readable = {
        "own place as likely as among two",
        "four votes on a border",
        "keep probability for a fifth of alpha",
        "threshold off by 2^-10",
    }
    for mutant in MUTANTS:
        if mutant.name in readable:
            check = check_question(mutant.name, mutant.question, mutant.mechanism)
            assert check.epsilon_exact == pytest.approx(mutant.epsilon, rel=1e-9)
            readable.remove(mutant.name)
    assert not readable


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 1.0, 8.0, 32.0])
def test_thresholds_that_are_one_too_far_apart_are_convicted(alpha):
    """The finest mistake that integers can make: one word among 2^64, at either end."""
    question = dataclasses.replace(kinds(alpha)["one bit"], noise=OneBit.spending(alpha))
    slipped = OneBit(low=question.noise.low - 1, high=question.noise.high + 1)
    check = check_question("off by one", question, lambda q, p, coins: slipped.draw(q.position(p), coins))
    assert not check.passed
    assert check.epsilon_exact > alpha


def drawing(bad_bit):
    """A mechanism on one bit from a function of place, word and coins."""

    def mechanism(question, person, coins):
        return bad_bit(question.position(person), coins)

    return mechanism


@pytest.mark.parametrize(
    ("name", "bit"),
    [
        ("two words for a bit", lambda place, coins: int(coins.words(2)[0] < 2**63)),
        ("no word for a bit", lambda place, coins: 1),
        ("two bits for one", lambda place, coins: 2 + int(coins.words(1)[0] < 2**63)),
        ("a negative value", lambda place, coins: -int(coins.words(1)[0] < 2**63)),
        ("the last digit of a word", lambda place, coins: coins.words(1)[0] & 1),
    ],
)
def test_a_bit_that_is_not_one_comparison_cannot_be_read(name, bit):
    check = check_question(name, kinds(1.0)["one bit"], drawing(bit))
    assert not check.passed
    assert check.epsilon_exact == math.inf


@pytest.mark.parametrize("certain", [0, 1])
def test_a_bit_that_is_certain_for_somebody_has_no_bound(certain):
    honest = OneBit.spending(1.0)

    def mechanism(question, person, coins):
        drawn = honest.draw(question.position(person), coins)
        return certain if person.mean == 1.0 else drawn

    assert check_question("certain", kinds(1.0)["one bit"], mechanism).epsilon_exact == math.inf


def test_a_bit_that_is_certain_for_everybody_loses_nothing():
    check = check_question("constant", kinds(1.0)["one bit"], drawing(lambda place, coins: coins.words(1)[0] * 0))
    assert check.epsilon_exact == 0.0


def test_an_arm_that_takes_another_word_is_convicted():
    def mechanism(question, person, coins):
        arm = coins.words(2)[0] >> 63
        return arm << 1 | question.noise.draw(question.position(person, arm), coins)

    assert not check_question("three words", kinds(1.0)["one bit, dithered"], mechanism).passed


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
    noise = DiscreteLaplace(steps=steps, scale=scale)
    low, high = -noise.reach, steps + noise.reach
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
    noise = DiscreteLaplace.spending(alpha, steps=steps)
    question = Measure(study="s", round=0, alpha=alpha, centre=centre, left=-half, right=half, noise=noise)
    assert Fraction(exact_epsilon(question, extreme_people(question))) <= Fraction(alpha)


def test_noise_that_depends_on_the_person_is_convicted():
    def mechanism(question, person, coins):
        noise = discrete_laplace(coins, question.noise.scale)
        point = question.position(person) * question.noise.steps
        return round(point) + (noise if person.mean < 0 else -noise)

    check = check_question("mirrored", kinds(1.0)["noisy grid point"], mechanism)
    assert not check.passed


def test_noise_without_a_public_range_is_convicted():
    def mechanism(question, person, coins):
        return round(question.position(person) * question.noise.steps) + discrete_laplace(coins, question.noise.scale)

    check = check_question("unclamped", kinds(1.0)["noisy grid point"], mechanism)
    assert "public range" in check.problem


# --- the path for many people


def test_a_crowd_that_marks_other_bins_is_noticed(monkeypatch):
    honest = crowd.marks
    monkeypatch.setattr(crowd, "marks", lambda *given: tuple(side + 1 for side in honest(*given)))
    check = check_question("vote", kinds(1.0)["vote"])
    assert not check.passed
    assert "marks other bins" in check.problem


def test_a_crowd_at_other_places_is_noticed(monkeypatch):
    honest = crowd.positions
    monkeypatch.setattr(crowd, "positions", lambda *given: honest(*given) * (1 - 2**-53))
    for name in ("one bit", "one bit, dithered", "one bit on a part", "noisy grid point"):
        check = check_question(name, kinds(1.0)[name])
        assert not check.passed
        assert "other places" in check.problem


def test_a_crowd_with_other_thresholds_is_noticed(monkeypatch):
    honest = edge.thresholds
    monkeypatch.setattr(edge, "thresholds", lambda *given: honest(*given) + np.uint64(1))
    check = check_question("bit", kinds(1.0)["one bit"])
    assert "other thresholds" in check.problem


# --- reading


@given(st.lists(st.integers(0, 2**64), min_size=1, max_size=12))
def test_thresholds_are_found_by_bisection(thresholds):
    def draw(coins):
        words = coins.words(len(thresholds))
        return sum((word < t) << bit for bit, (word, t) in enumerate(zip(words, thresholds, strict=True)))

    expected = tuple(thresholds)
    wrong = tuple(max(t - 1, 0) for t in thresholds)
    assert read_thresholds(draw, len(expected), wrong) == expected
    assert read_thresholds(draw, len(expected), expected) == expected


def test_two_bits_that_share_a_word_cannot_be_read():
    def draw(coins):
        first, _ = coins.words(2)
        return 3 * int(first < 2**63)

    with pytest.raises(Unreadable, match="own word"):
        read_thresholds(draw, 2, (2**63, 2**63))


def test_scripted_coins_go_on_with_zeros():
    coins = ScriptedCoins([1, 2])
    assert list(itertools.chain(coins.words(1), coins.words(3))) == [1, 2, 0, 0]
    assert coins.used == 4
