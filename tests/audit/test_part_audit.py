"""The exact audit of bits on a part of the range: the part must be fair coins, and the bit that of its place in it."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given

from dame.audit import check_question, exact_epsilon
from dame.audit.exact import spends_all
from dame.audit.people import extreme_people
from dame.audit.runs import kinds
from dame.device.answer import respond
from dame.device.questions import MOST_RECORDS, PartMeasure
from dame.device.randomisers import OneBit
from tests.device.strategies import part_measures

ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
PARTS = kinds(1.0)["one bit on a part"]
assert isinstance(PARTS, PartMeasure)


def device(question, person, coins):
    return respond(question, person, coins).value


# --- ours


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_bit_on_a_part_passes_and_spends_its_budget(alpha, count):
    borders = tuple(math.sin(3 * border / count - 1.5) for border in range(count + 1))
    question = PartMeasure(study="s", round=0, alpha=alpha, borders=borders, noise=OneBit.spending(alpha))
    check = check_question("part", question)
    assert check.passed
    assert check.tight
    assert spends_all(question)
    assert check.epsilon_exact == question.epsilon()


@given(part_measures())
def test_extreme_people_are_at_every_border_and_inside_every_part(question):
    people = extreme_people(question)
    assert {-1.0, 1.0, *question.borders} <= {person.mean for person in people}
    assert {person.size for person in people} == {1, MOST_RECORDS}
    for arm in range(question.arms):
        places = {question.position(person, arm) for person in people}
        assert {0.0, 1.0} <= places
        assert any(0 < place < 1 for place in places)


def test_noisier_coins_than_the_claim_needs_are_a_failure():
    timid = dataclasses.replace(PARTS, noise=OneBit.spending(0.9))
    assert "wastes" in check_question("timid", timid).problem


# --- mutants


@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_word_too_many_on_either_side_is_convicted(alpha):
    honest = dataclasses.replace(PARTS, alpha=alpha, noise=OneBit.spending(alpha))
    slipped = OneBit(low=honest.noise.low - 1, high=honest.noise.high + 1)

    def mechanism(question, person, coins):
        arm = coins.words(1)[0] >> 64 - question.arm_bits
        return arm << 1 | slipped.draw(question.position(person, arm), coins)

    check = check_question("off by one", honest, mechanism)
    assert not check.passed
    assert check.epsilon_exact > alpha


def only_the_last_part(question, person, coins):
    """Right in three parts of four; in the last, people are told apart by where they are in all of the range."""
    value = device(question, person, coins)
    return value if value >> 1 < 3 else 6 | (person.mean > 0)


def swapped(question, person, coins):
    """The parts are drawn with fair coins, but not with the first bits of a word."""
    value = device(question, person, coins)
    return value ^ 2 if person.mean > 0 else value


@pytest.mark.parametrize("mechanism", [only_the_last_part, swapped])
def test_a_mistake_in_a_single_part_is_convicted(mechanism):
    check = check_question("part", PARTS, mechanism)
    assert not check.passed
    assert check.epsilon_exact == math.inf


def test_a_bit_that_is_shared_by_parts_is_convicted():
    """One word for the part and the bit: the bit then follows from the part."""

    def mechanism(question, person, coins):
        (word,) = coins.words(1)
        arm = word >> 64 - question.arm_bits
        return arm << 1 | (word < question.noise.threshold(question.position(person, arm)))

    assert not check_question("one word", PARTS, mechanism).passed


def test_the_loss_is_that_of_the_part_that_tells_most():
    people = [person for person in extreme_people(PARTS) if person.mean <= PARTS.borders[2]]
    assert exact_epsilon(PARTS, people) == PARTS.epsilon()
    inside = [person for person in people if 0.1 < PARTS.position(person) < 0.9]
    assert sorted({PARTS.position(person) for person in inside}) == pytest.approx([0.5, 0.8])
    assert exact_epsilon(PARTS, inside) < PARTS.epsilon()
