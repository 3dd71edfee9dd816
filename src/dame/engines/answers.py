"""Questions on their way to the people of a table: who is asked, with which coins they answer, and what that sums to.

No arithmetic of a protocol is done here: places, marks and thresholds come from `dame.vectorised.crowd` and `dame.vectorised.edge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dame.vectorised import crowd
from dame.device.assignment import round_borders
from dame.device.questions import Measure, PlaceVote, Question, Vote
from dame.device.randomisers import DiscreteLaplace
from dame.device.reports import report_bytes
from dame.vectorised.edge import Bytes, encoded, noisy_points, payloads, tally_payloads
from dame.engines.keyed import Keys, Lanes, NextWords, coin_keys
from dame.engines.keyed_laplace import discrete_laplace
from dame.engines.people import Hashes, People
from dame.errors import Mismatch
from dame.planning.plans import Plan
from dame.tally import Tally, merged

BYTES_AT_ONCE = 2**26
"""Bytes of reports made together."""

WORDS_AT_ONCE = 2**15
"""Words of votes drawn together: they stay in a processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to those users of a table whose public hash lies in [first, last], or to all of them.

    Without a seed every report is drawn with secure coins. In repetitions of a study after the first, the hash is
    scrambled, so that users fall into other rounds.
    """

    question: Question
    first: int = 0
    last: int = 2**64 - 1
    seed: int | None = None
    repetition: int = 0

    @classmethod
    def in_round(cls, plan: Plan, question: Question, seed: int | None = None, repetition: int = 0) -> Asked:
        """The question to those users who answer in its round of the plan."""
        brief = plan.brief
        ours = (brief.study, brief.alpha, brief.low, brief.high)
        if (question.study, question.alpha, question.low, question.high) != ours or question.round >= len(plan.rounds):
            raise Mismatch("the question does not belong to this plan")
        borders = (0, *round_borders(plan.shares), 2**64)
        first, beyond = borders[question.round], borders[question.round + 1]
        return cls(question=question, first=first, last=beyond - 1, seed=seed, repetition=repetition)

    def reports(self, people: People) -> Iterator[tuple[People, Bytes]]:
        """Those of the people who are asked, and the encoded report of each, in pieces of bounded memory."""
        for piece, values in self._answers(people):
            yield piece, encoded(self.question, values)

    def tally(self, people: People) -> Tally:
        """The tally of their reports, which need not name their question for that."""
        tallies = (tally_payloads(self.question, values) for _, values in self._answers(people))
        return merged([Tally.zero(self.question), *tallies])

    def _answers(self, people: People) -> Iterator[tuple[People, Bytes]]:
        asked = people.chosen(self._chosen(people.hashes))
        step = max(BYTES_AT_ONCE // report_bytes(self.question), 1)
        for start in range(0, len(asked), step):
            piece = asked.chosen(slice(start, start + step))
            yield piece, self._values(piece)

    def _values(self, people: People) -> Bytes:
        if self.seed is None:
            return payloads(self.question, people.sizes, people.means)
        return _keyed_values(self.question, people, coin_keys(self.seed, self.question, self.repetition))

    def _chosen(self, hashes: Hashes) -> np.ndarray:
        if self.repetition:
            hashes = Keys.of("rounds", self.question.study, self.repetition).scrambled(hashes)
        return np.asarray((hashes >= np.uint64(self.first)) & (hashes <= np.uint64(self.last)))


def tally_all(asked: Sequence[Asked], parts: Iterable[People]) -> list[Tally]:
    """The tally of each question over all parts of a table, which are gone through once."""
    tallies = [Tally.zero(one.question) for one in asked]
    for people in parts:
        tallies = [tally.merge(one.tally(people)) for tally, one in zip(tallies, asked, strict=True)]
    return tallies


def _keyed_values(question: Question, people: People, keys: Keys) -> Bytes:
    lanes = Lanes(keys, people.hashes)
    if isinstance(question, Vote) and not isinstance(question, PlaceVote):
        return _keyed_votes(question, people, lanes)
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        drawn = discrete_laplace(lanes, question.noise.scale)
        return noisy_points(question, people.sizes, people.means, drawn)
    return payloads(question, people.sizes, people.means, NextWords(lanes))


def _keyed_votes(question: Vote, people: People, lanes: Lanes) -> Bytes:
    """The bits of each user's vote, bin after bin, packed as in a report."""
    votes = np.empty((len(people), (question.bins + 7) // 8), np.uint8)
    marks = crowd.marks(question, people.sizes, people.means)
    bins = min(question.bins, WORDS_AT_ONCE)  # a multiple of eight, unless it is all of them
    users = max(WORDS_AT_ONCE // bins, 1)
    for top in range(0, len(people), users):
        rows = slice(top, top + users)
        for left in range(0, question.bins, bins):
            bits = _vote_bits(question, lanes, rows, marks, range(left, min(left + bins, question.bins)))
            votes[rows, left // 8 : left // 8 + (bits.shape[1] + 7) // 8] = np.packbits(bits, axis=1, bitorder="little")
    return votes


def _vote_bits(
    question: Vote, lanes: Lanes, rows: slice, marks: tuple[np.ndarray, np.ndarray], bins: range
) -> np.ndarray:
    words = lanes.words(bins.start, len(bins), rows)
    first, last = (mark[rows, None] for mark in marks)
    places = np.arange(bins.start, bins.stop)
    marked = (places >= first) & (places <= last)
    return np.asarray((words < np.uint64(question.code.no)) | (marked & (words < np.uint64(question.code.yes))))
