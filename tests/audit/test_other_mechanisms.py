"""What the exact audit makes of other mechanisms on one of a few classes, and on windows that coins draw."""

from __future__ import annotations

import math

import pytest

from dame.audit import check_question, exact_epsilon
from dame.audit.probe import ScriptedCoins
from dame.audit.runs import kinds
from dame.device.channels import Choice
from dame.device.records import Summary
from tests.audit.broken import drawn_by

# --- one of a few classes


CHOICE = kinds(1.0)["choice of a size"]


def test_a_word_beyond_the_one_is_convicted():
    def mechanism(question, person, coins):
        if person.size > 1:
            coins.words(1)
        return drawn_by(question.channel)(question, person, coins)

    check = check_question("words", CHOICE, mechanism)
    assert not check.passed
    assert "it uses 2 words, not 1" in check.problem


@pytest.mark.parametrize("change", [lambda value: value + 1, lambda value: -value])
def test_values_that_the_question_has_not_cannot_be_read(change):
    def mechanism(question, person, coins):
        window, value = drawn_by(question.channel)(question, person, coins)
        return window, change(value)

    check = check_question("value", CHOICE, mechanism)
    assert not check.passed
    assert check.epsilon_exact == math.inf


def test_values_beyond_those_of_the_question_cannot_be_read():
    def mechanism(question, person, coins):
        return 0, 8 + question.channel.draw(question.lens.reading(person, 0), coins)

    assert "none that the question has" in check_question("value", CHOICE, mechanism).problem


@pytest.mark.parametrize(
    "choose", [lambda word, value: word & 1, lambda word, value: 7 - value], ids=["last digit", "mirrored"]
)
def test_outcomes_in_another_order_cannot_be_read(choose):
    """They would have to be sorted first: whoever writes the coins otherwise changes the reports, too."""

    def mechanism(question, person, coins):
        (word,) = coins.words(1)
        value = question.channel.draw(question.lens.reading(person, 0), ScriptedCoins([word]))
        return 0, choose(word, value)

    check = check_question("order", CHOICE, mechanism)
    assert not check.passed
    assert "its own word" in check.problem


@pytest.mark.parametrize("size", [1, 8, 2**62])
def test_a_class_that_somebody_never_chooses_has_no_bound(size):
    def mechanism(question, person, coins):
        drawn = question.channel.draw(question.lens.reading(person, 0), coins)
        return 0, min(drawn, 6) if person.size == size else drawn

    check = check_question("never", CHOICE, mechanism)
    assert check.epsilon_exact == math.inf
    assert "more than it claims" in check.problem


def test_a_class_that_nobody_ever_chooses_loses_nothing():
    def mechanism(question, person, coins):
        return 0, min(question.channel.draw(question.lens.reading(person, 0), coins), 6)

    assert check_question("never", CHOICE, mechanism).epsilon_exact <= 1.0


def test_a_mean_that_shows_is_convicted():
    generous = Choice.spending(1.5, 8)

    def mechanism(question, person, coins):
        return drawn_by(question.channel if person.mean < 0 else generous)(question, person, coins)

    assert not check_question("mean", CHOICE, mechanism).passed


# --- windows

SEGMENTS = kinds(1.0)["one bit on a segment"]
WINDOWED = ["one bit, dithered", "one bit on a segment"]


def own(question, person, coins):
    return drawn_by(question.channel)(question, person, coins)


def only_the_last(question, person, coins):
    """Right in all windows but the last, where people are told apart by where they are in all of the range."""
    window, value = own(question, person, coins)
    return window, value if window < question.lens.window_count - 1 else int(person.mean > 0)


def swapped(question, person, coins):
    """The windows are drawn with fair coins, but for some people not with the first bits of a word."""
    window, value = own(question, person, coins)
    return window ^ (person.mean > 0), value


def late(question, person, coins):
    """A word that nobody needs comes first."""
    coins.words(1)
    return own(question, person, coins)


def lowest_bits(question, person, coins):
    """The windows are drawn with the last bits of the word."""
    window = coins.words(1)[0] % question.lens.window_count
    return window, question.channel.draw(question.lens.reading(person, window), coins)


def mixed_in(question, person, coins):
    """Some of the coins of the window are used again for the bit."""
    first, second = coins.words(2)
    window = first >> 64 - question.lens.window_bits
    rest = first << question.lens.window_bits & 2**64 - 1
    return window, question.channel.draw(question.lens.reading(person, window), ScriptedCoins([rest ^ second]))


@pytest.mark.parametrize("mechanism", [only_the_last, swapped, late, lowest_bits, mixed_in])
@pytest.mark.parametrize("name", WINDOWED)
def test_a_mistake_with_windows_is_convicted(name, mechanism):
    check = check_question("window", kinds(1.0)[name], mechanism)
    assert not check.passed
    assert check.epsilon_exact == math.inf


def test_the_loss_is_that_of_the_window_that_tells_most():
    lens, everybody = SEGMENTS.lens, SEGMENTS.lens.extremes()
    left = [person for person in everybody if person.mean <= 0.0]
    assert exact_epsilon(SEGMENTS, left) == SEGMENTS.epsilon()
    inside = [Summary(size=1, mean=mean) for mean in (-0.9, -0.6)]
    assert {lens.reading(person, 1).mark for person in inside} == {0.0}
    assert 0 < exact_epsilon(SEGMENTS, inside) < SEGMENTS.epsilon()
