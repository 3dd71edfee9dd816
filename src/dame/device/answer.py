"""The one place where private records are read: `answer(question, samples)`."""

from __future__ import annotations

from collections.abc import Iterable

from dame.device.coins import Coins, SystemCoins
from dame.device.questions import PlaceVote, Question, Vote, question_id
from dame.device.records import Summary, summarise
from dame.device.reports import Report


def answer(question: Question, samples: Iterable[object]) -> Report:
    """A report on the samples, drawn with the operating system's coins.

    Every call draws afresh, and fresh noise averages away: a device keeps its first report in a `Ledger` and sends
    that one again.

    Privacy: for any two lists of samples, of any sizes, the probabilities of any report differ by a factor of at most
    e^α.
    """
    return answer_with_coins(question, samples, SystemCoins())


def answer_with_coins(question: Question, samples: Iterable[object], coins: Coins) -> Report:
    """The report that given coins lead to: for tests, test vectors and simulation, never for a person's report."""
    return respond(question, summarise(samples, question.low, question.high), coins)


def respond(question: Question, person: Summary, coins: Coins) -> Report:
    """The report on a person whose records are summarised already."""
    if isinstance(question, PlaceVote):
        value = question.code.draw_between(question.own_bin(person), question.part(person), question.bins, coins)
    elif isinstance(question, Vote):
        value = question.code.draw(*question.marks(person), question.bins, coins)
    elif question.arms > 1:
        arm = coins.words(1)[0] >> 64 - question.arm_bits
        value = arm << 1 | question.noise.draw(question.position(person, arm), coins)
    else:
        value = question.noise.draw(question.position(person), coins)
    return Report(question=question_id(question), value=value)
