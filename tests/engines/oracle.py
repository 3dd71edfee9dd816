"""A second opinion, without numpy: whole studies by the device's own code, with keyed coins in Python integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dame.device.answering import answer_with_coins
from dame.device.assignment import participant_hash, slot_of
from dame.device.questions import Question
from dame.device.reports import Report
from dame.studies.plans import Plan
from dame.tally import Tally
from tests.vectorised.keyed_oracle import UserCoins


def report_of(question: Question, records: Iterable[float], hash_: int, seed: int) -> Report:
    """The report that a user's device would send with keyed coins."""
    coins = UserCoins(hash_, "coins", seed, question.study, question.target, question.round, 0)
    return answer_with_coins(question, records, coins)


def tally_of(plan: Plan, question: Question, table: Mapping[str, Sequence[float]], seed: int) -> Tally:
    """The tally of one slot: every user of it answers by herself, and her report is added."""
    tally, place = Tally.zero(question), plan.slots.index(question.slot)
    for user, records in table.items():
        if slot_of(plan.study, plan.shares, user) == place:
            tally = tally.add(report_of(question, records, participant_hash(plan.study, user), seed))
    return tally
