"""The exact audit: right on ours, agreed with an enumeration that shares nothing with it, merciless to mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.audit import check_question, exact_epsilon
from dame.audit.budget import ln_above
from dame.audit.exact import largest_loss, spends_all
from dame.audit.runs import kinds
from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins, SizeClasses, Window, Windows
from dame.device.records import Summary
from dame.errors import InvalidInput
from tests.audit.broken import broken, drawn_by
from tests.device.enumeration import exact_loss
from tests.device.examples import ALPHAS, ask, every_making, question_name
from tests.device.strategies import bins, lenses, people, questions, size_classes

MUTANTS = broken()
BIT = kinds(1.0)["one bit"]


# --- ours


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_kind_of_question_passes_and_spends_its_budget(alpha):
    for name, question in kinds(alpha).items():
        check = check_question(name, question)
        assert check.passed, check
        assert check.tight
        assert check.epsilon_exact == question.epsilon() <= check.epsilon_claimed == alpha
        assert "problem" not in check.to_json()


@given(questions())
@settings(max_examples=30)
def test_any_question_that_can_be_built_keeps_its_budget(question):
    check = check_question("drawn", question)
    assert check.passed or "wastes" in check.problem, check
    assert check.epsilon_exact <= question.epsilon()


@given(
    st.one_of(
        questions(bins(most=4), Bits), questions(size_classes(most=4), Bits, Choice), questions(lenses(Windows), Bits)
    )
)
@settings(max_examples=40)
def test_the_exact_loss_is_that_of_the_enumeration(question):
    """Two judges: this one reads ends, the other runs through all cells of words."""
    some = question.lens.extremes()[::3]
    assert exact_epsilon(question, some) == ln_above(exact_loss(question.channel, question, some).ratio)


@pytest.mark.parametrize("question", every_making([0.1, 3.0]), ids=question_name)
def test_what_spends_its_budget_is_seen_to_do_so(question):
    check = check_question("made", question)
    assert check.passed, check
    assert check.epsilon_exact == pytest.approx(question.epsilon(), rel=1e-12)


@given(questions(), st.lists(people, min_size=2, max_size=6))
def test_the_loss_between_any_people_is_at_most_that_of_the_extreme_ones(question, some):
    assert exact_epsilon(question, some) <= exact_epsilon(question, question.lens.extremes()) <= question.alpha


@pytest.mark.parametrize("neighbours", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 25, 26, 31, 60])
def test_the_bins_that_are_visited_show_every_difference(neighbours, count):
    code = Bits.symmetric(1.0, bins=count, marks=2 * neighbours + 1)
    lopsided = replace(code, yes=code.yes - (code.yes - code.no) // 3)
    vote = ask(Bins(bins=count, width=2 / count, neighbours=neighbours, min_size=2), lopsided, 1.0)
    everybody = [Summary(size=2, mean=-1 + (bin_ + 0.5) * vote.lens.width) for bin_ in range(count)]
    nobody = Summary(size=1, mean=0.0)
    assert exact_epsilon(vote, vote.lens.extremes()) == exact_epsilon(vote, [*everybody, nobody])


def test_a_vote_among_very_many_bins_passes():
    vote = ask(Bins(bins=2**14, width=2**-13, min_size=9), Bits.optimised(1.0, bins=2**14), 1.0)
    assert check_question("many bins", vote).passed


# --- whether all of the budget is spent


@pytest.mark.parametrize(
    "question",
    [
        ask(Bins(bins=1, width=2.0), Bits.optimised(1.0, bins=1), 1.0),
        ask(Bins(bins=1, width=2.0, min_size=5), Bits.symmetric(1.0, bins=1, marks=3), 1.0),
        ask(Bins(bins=5, width=0.4, neighbours=1), Bits.symmetric(1.0, bins=5, marks=3), 1.0),
        ask(Windows(windows=(Window(1.0, -1.0, 1.0),), cap=1.0), Bits.single(1.0), 1.0),
        ask(SizeClasses(classes=1), Bits.optimised(1.0, bins=1), 1.0),
        ask(Windows.whole_range(), Laplace.spending(1.9, steps=2), 1.9),
    ],
    ids=["one bin", "one bin that some do not reach", "overlapping", "an end beyond", "one class", "coarse noise"],
)
def test_a_question_that_cannot_spend_all_is_not_blamed_for_it(question):
    check = check_question("cannot", question)
    assert check.passed
    assert not check.tight
    assert not spends_all(question)


TIMID = {
    "vote": Bits.optimised(0.9, bins=8),
    "choice of a size": Choice.spending(0.9, bins=8),
    "one bit": Bits.single(0.9),
    "one bit on a segment": Bits.single(0.9),
    "noisy position": Laplace.spending(0.9),
}


@pytest.mark.parametrize("name", TIMID)
def test_noisier_coins_than_the_claim_needs_are_a_failure(name):
    check = check_question("timid", replace(kinds(1.0)[name], channel=TIMID[name]))
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
    honest = check_question("honest", mutant.question)
    assert honest.passed, "it is the mechanism that is bad, not the question"
    assert honest.tight


def test_the_loss_of_readable_mutants_is_the_one_that_theory_gives():
    readable = {
        "own class as likely as among two",
        "four votes on a border",
        "keep probability for a fifth of alpha",
        "two votes for a size on a border",
        "threshold off by 2^-10",
    }
    for mutant in MUTANTS:
        if mutant.name in readable:
            check = check_question(mutant.name, mutant.question, mutant.mechanism)
            assert check.epsilon_exact == pytest.approx(mutant.epsilon, rel=1e-9)
            readable.remove(mutant.name)
    assert not readable


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", ["vote", "choice of a size", "one bit", "one bit, dithered", "one bit on a segment"])
def test_one_word_too_many_on_either_side_is_convicted(alpha, name):
    """The finest mistake that integers can make."""
    question = kinds(alpha)[name]
    channel = question.channel
    if name == "choice of a size":
        slipped = replace(channel, yes=channel.yes + channel.bins - 1, no=channel.no - 1)
    else:
        slipped = replace(channel, yes=channel.yes + 1, no=channel.no - 1)
    check = check_question("off by one", question, drawn_by(slipped))
    assert not check.passed
    assert check.epsilon_exact > alpha


@pytest.mark.parametrize(
    ("name", "bit"),
    [
        ("two words for a bit", lambda coins: int(coins.words(2)[0] < 2**63)),
        ("no word for a bit", lambda coins: 1),
        ("two bits for one", lambda coins: 2 + int(coins.words(1)[0] < 2**63)),
        ("a negative value", lambda coins: -int(coins.words(1)[0] < 2**63)),
        ("the last digit of a word", lambda coins: coins.words(1)[0] & 1),
    ],
)
def test_a_bit_that_is_not_one_comparison_cannot_be_read(name, bit):
    check = check_question(name, BIT, lambda question, person, coins: (0, bit(coins)))
    assert not check.passed
    assert check.epsilon_exact == math.inf


@pytest.mark.parametrize("certain", [0, 1])
def test_a_bit_that_is_certain_for_somebody_has_no_bound(certain):
    def mechanism(question, person, coins):
        drawn = question.channel.draw(question.lens.reading(person, 0), coins)
        return 0, certain if person.mean == 1.0 else drawn

    assert check_question("certain", BIT, mechanism).epsilon_exact == math.inf


def test_a_bit_that_is_certain_for_everybody_loses_nothing():
    check = check_question("constant", BIT, lambda question, person, coins: (0, coins.words(1)[0] * 0))
    assert check.epsilon_exact == 0.0


def test_a_mechanism_of_many_bins_that_does_something_else_cannot_be_read():
    vote = ask(Bins(bins=60, width=1 / 30), Bits.optimised(1.0, bins=60), 1.0)
    check = check_question("generous", vote, drawn_by(Bits.optimised(1.1, bins=60)))
    assert not check.passed
    assert "too many outcomes" in check.problem


def test_a_number_of_words_that_follows_the_person_is_convicted():
    class Lengthy(Choice):
        """Takes another word for whoever is in the first class, and says so."""

        kind = "lengthy"
        __slots__ = ()

        def ends(self, reading):
            return [*Choice.ends(self, reading), *[[1]] * (reading.first == 0)]

    channel = Lengthy(bins=2, **{name: getattr(Choice.spending(1.0, 2), name) for name in ("yes", "no")})
    question = ask(SizeClasses(classes=2), channel, 1.0)
    check = check_question("words", question)
    assert "depends on the person" in check.problem


def test_a_channel_that_nobody_can_read_is_refused():
    class Other:
        kind = "other"

    with pytest.raises(InvalidInput, match="register how"):
        largest_loss(Other(), [])
