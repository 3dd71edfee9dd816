"""Questions on their way to the people of a table: who is asked, with which coins they answer, and what that sums to.

No arithmetic of a protocol is done here: readings, draws and sums come from `dame.vectorised`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dame.device.assignment import slot_borders
from dame.device.questions import Question
from dame.device.reports import report_bytes
from dame.engines.people import Hashes, People
from dame.errors import Mismatch
from dame.planning.plans import Plan
from dame.tally import Tally
from dame.vectorised.coins import KeyedCoins, ManyCoins, StreamCoins
from dame.vectorised.keyed import Keys, Lanes, coin_keys
from dame.vectorised.reports import drawn_totals, encoded, payloads
from dame.vectorised.unary import Bytes

BYTES_AT_ONCE = 2**26
"""Bytes of the reports, made or not, of people who answer together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """A question to those users of a table whose public hash lies in [first, last], or to all of them.

    Without a seed every report is drawn with secure coins. In repetitions of a study after the first, the hash is
    scrambled, so that users fall into other slots.
    """

    question: Question
    first: int = 0
    last: int = 2**64 - 1
    seed: int | None = None
    repetition: int = 0

    @classmethod
    def in_slot(cls, plan: Plan, question: Question, seed: int | None = None, repetition: int = 0) -> Addressed:
        """The question to those users who answer in its slot of the plan."""
        ours = (plan.study, plan.alpha, plan.brief.statistic)
        if (question.study, question.alpha, question.statistic) != ours or question.slot not in plan.slots:
            raise Mismatch("the question does not belong to this plan")
        place, borders = plan.slots.index(question.slot), (0, *slot_borders(plan.shares), 2**64)
        first, beyond = borders[place], borders[place + 1]
        return cls(question=question, first=first, last=beyond - 1, seed=seed, repetition=repetition)

    def reports(self, people: People) -> Iterator[tuple[People, Bytes]]:
        """Those of the people who are asked, and the encoded report of each, in pieces of bounded memory."""
        for asked in self._asked(people):
            rows = payloads(self.question, asked.sizes, asked.means, self._coins(asked.hashes))
            yield asked, encoded(self.question, rows)

    def tally(self, people: People) -> Tally:
        """The tally of their reports, none of which is made for that."""
        tally = Tally.zero(self.question)
        for asked in self._asked(people):
            totals = drawn_totals(self.question, asked.sizes, asked.means, self._coins(asked.hashes))
            tally = tally.merge(Tally.of(self.question, totals))
        return tally

    def _asked(self, people: People) -> Iterator[People]:
        asked = people.chosen(self._chosen(people.hashes))
        step = max(BYTES_AT_ONCE // report_bytes(self.question), 1)
        for start in range(0, len(asked), step):
            yield asked.chosen(slice(start, start + step))

    def _coins(self, hashes: Hashes) -> ManyCoins:
        if self.seed is None:
            return StreamCoins(len(hashes))
        return KeyedCoins(Lanes(coin_keys(self.seed, self.question, self.repetition), hashes))

    def _chosen(self, hashes: Hashes) -> np.ndarray:
        if self.repetition:
            hashes = Keys.of("slots", self.question.study, self.repetition).scrambled(hashes)
        return np.asarray((hashes >= np.uint64(self.first)) & (hashes <= np.uint64(self.last)))


def tally_all(addressed: Sequence[Addressed], parts: Iterable[People]) -> list[Tally]:
    """The tally of each question over all parts of a table, which are gone through once."""
    tallies = [Tally.zero(one.question) for one in addressed]
    for people in parts:
        tallies = [tally.merge(one.tally(people)) for tally, one in zip(tallies, addressed, strict=True)]
    return tallies
