"""The one place where private records are read: `answer(question, records)`."""

from __future__ import annotations

from collections.abc import Iterable

from dame.device.coins import Coins, SystemCoins
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.device.reports import Report


def answer(question: Question, records: Iterable[object]) -> Report:
    """A report on the records, drawn with the operating system's coins.

    Every call draws afresh, and fresh noise averages away: a device keeps its first report in a `Ledger` and sends
    that one again.

    Privacy: for any two lists of records, of any sizes, the probabilities of any report differ by a factor of at most
    e^α.
    """
    return answer_with_coins(question, records, SystemCoins())


def answer_with_coins(question: Question, records: Iterable[object], coins: Coins) -> Report:
    """The report that given coins lead to: for tests, test vectors and simulation, never for a person's report."""
    return respond(question, summarise(question, records, coins), coins)


def summarise(question: Question, records: Iterable[object], coins: Coins) -> Summary:
    """What of a person's records a question is about; where one of them is drawn, the coins say which."""
    statistic = question.statistic
    # Taken before the records are looked at, or not at all: which words are used tells nothing of them.
    word = coins.words(1)[0] if statistic.draws else 0
    return statistic.summarise(records, word)


def respond(question: Question, person: Summary, coins: Coins) -> Report:
    """The report on a person whose records are summarised already: statistic, lens, channel."""
    window = question.lens.draw_window(coins)
    value = question.channel.draw(question.lens.reading(person, window), coins)
    return Report(question=question_id(question), window=window, value=value)
