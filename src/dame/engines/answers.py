"""Questions on their way to the people of a table: who is asked, with which coins they answer, and what that sums to.

No arithmetic of a protocol is done here: readings, draws and sums come from `dame.vectorised`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dame.device.assignment import slot_borders
from dame.device.questions import Question, Slot
from dame.device.reports import report_bytes
from dame.engines.people import Hashes, People
from dame.errors import Mismatch
from dame.protocols import EVERYBODY
from dame.tally import Tally
from dame.vectorised.coins import KeyedCoins, ManyCoins, StreamCoins
from dame.vectorised.keyed import Keys, Lanes, coin_keys
from dame.vectorised.reports import drawn_totals, encoded, payloads
from dame.vectorised.statistics import Floats, Ints
from dame.vectorised.unary import Bytes

BYTES_AT_ONCE = 2**26
"""Bytes of the reports, made or not, of people who answer together."""


class Slotted(Protocol):
    """What must be known of a plan to find out who answers what: its slots, and the shares of people in them."""

    @property
    def study(self) -> str:
        """The identity of the study."""

    @property
    def alpha(self) -> float:
        """The budget of each person."""

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots, in the order of the shares."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of people in each slot."""


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
    def in_slot(cls, plan: Slotted, question: Question, seed: int | None = None, repetition: int = 0) -> Addressed:
        """The question to those users who answer in its slot of the plan."""
        if (question.study, question.alpha) != (plan.study, plan.alpha) or question.slot not in plan.slots:
            raise Mismatch("the question does not belong to this plan")
        place, borders = plan.slots.index(question.slot), (0, *slot_borders(plan.shares), 2**64)
        first, beyond = borders[place], borders[place + 1]
        return cls(question=question, first=first, last=beyond - 1, seed=seed, repetition=repetition)

    def reports(self, people: People) -> Iterator[tuple[People, Bytes]]:
        """Those of the people who are asked, and the encoded report of each, in pieces of bounded memory."""
        for asked in self._in_pieces(self._asked(people)):
            yield asked, encoded(self.question, payloads(self.question, *self._answering(asked)))

    def tallies(self, people: People) -> dict[str, Tally]:
        """The tally of the reports of each group, none of which is made for that."""
        asked = self._asked(people)
        if asked.codes is None:
            return {EVERYBODY: self._tally(asked)}
        return {group: self._tally(users) for group, users in asked.by_group()}

    def _tally(self, people: People) -> Tally:
        tally = Tally.zero(self.question)
        for asked in self._in_pieces(people):
            tally = tally.merge(Tally.of(self.question, drawn_totals(self.question, *self._answering(asked))))
        return tally

    def _answering(self, people: People) -> tuple[Ints, Floats, ManyCoins]:
        """The size and the mean with which each user answers, and the coins that are left for the answer."""
        coins = self._coins(people.hashes)
        return *people.answering(self.question.statistic, coins), coins

    def _asked(self, people: People) -> People:
        return people.only(self.question.statistic).chosen(self._chosen(people.hashes))

    def _in_pieces(self, people: People) -> Iterator[People]:
        step = max(BYTES_AT_ONCE // report_bytes(self.question), 1)
        for start in range(0, len(people), step):
            yield people.chosen(slice(start, start + step))

    def _coins(self, hashes: Hashes) -> ManyCoins:
        if self.seed is None:
            return StreamCoins(len(hashes))
        return KeyedCoins(Lanes(coin_keys(self.seed, self.question, self.repetition), hashes))

    def _chosen(self, hashes: Hashes) -> np.ndarray:
        if self.repetition:
            hashes = Keys.of("slots", self.question.study, self.repetition).scrambled(hashes)
        return np.asarray((hashes >= np.uint64(self.first)) & (hashes <= np.uint64(self.last)))


def tally_all(addressed: Sequence[Addressed], parts: Iterable[People]) -> list[dict[str, Tally]]:
    """For each question the tally of each group, over all parts of a table, which are gone through once."""
    tallies: list[dict[str, Tally]] = [{} for _ in addressed]
    for people in parts:
        for known, one in zip(tallies, addressed, strict=True):
            join_tallies(known, one.tallies(people))
    return [known or {EVERYBODY: Tally.zero(one.question)} for known, one in zip(tallies, addressed, strict=True)]


def join_tallies(known: dict[str, Tally], more: Mapping[str, Tally]) -> None:
    """Adds the tallies of each group to what is known of it."""
    for group, tally in more.items():
        known[group] = known[group].merge(tally) if group in known else tally
