"""Tallies: exact integer sums of reports, a commutative monoid (`zero`, `add`, `merge`) tied to one question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dame import checks
from dame.device.questions import Measure, PlaceVote, Question, question_id
from dame.device.randomisers import DiscreteLaplace
from dame.device.reports import Report, check_value, tally_entries, value_range
from dame.errors import InvalidInput, Mismatch

MOST_REPORTS = 2**50


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many reports of a question were added, and the sums of their entries: integers only, in any order the same.

    The entries of a vote are its bits; of a one-bit report its bit (split by arm, where there are arms); of a noisy
    grid point the point and its square.
    """

    question: Question
    reports: int
    sums: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "reports", checks.whole("reports", self.reports, 0, MOST_REPORTS))
        limits = _entry_limits(self.question)
        if len(self.sums) != len(limits):
            raise InvalidInput("sums", len(self.sums), f"a list of {len(limits)} whole numbers")
        pairs = zip(self.sums, limits, strict=True)
        sums = tuple(
            checks.whole("sums", total, low * self.reports, high * self.reports) for total, (low, high) in pairs
        )
        object.__setattr__(self, "sums", sums)
        if not _possible(self.question, self.reports, sums):
            raise InvalidInput("sums", sums, "sums that some reports can have")

    @classmethod
    def zero(cls, question: Question) -> Tally:
        """The tally of no reports."""
        return cls(question=question, reports=0, sums=(0,) * len(_entry_limits(question)))

    @classmethod
    def of_arms(cls, question: Measure, arms: Iterable[tuple[int, int]]) -> Tally:
        """The tally whose arms have so many reports and ones each: that of which `arms` says the same."""
        (users, ones), *others = arms
        sums = (ones, *(entry for arm in others for entry in arm))
        return cls(question=question, reports=users + sum(users for users, _ in others), sums=sums)

    def add(self, report: Report) -> Tally:
        """The tally with one more report; a report of another question is a RejectedReport."""
        check_value(self.question, report)
        return self._plus(1, tally_entries(self.question, report.value))

    def merge(self, other: Tally) -> Tally:
        """The tally of both sets of reports; they must belong to the same question."""
        if other.question != self.question:
            raise Mismatch("tallies of two different questions cannot be merged")
        return self._plus(other.reports, other.sums)

    def _plus(self, reports: int, sums: Sequence[int]) -> Tally:
        added = tuple(one + other for one, other in zip(self.sums, sums, strict=True))
        return Tally(question=self.question, reports=self.reports + reports, sums=added)

    def mean(self, entry: int = 0) -> float:
        """The mean of an entry over all reports; the first float in the life of a study."""
        return self.sums[entry] / self.reports

    @property
    def arms(self) -> tuple[tuple[int, int], ...]:
        """Of a measurement by single bits: the reports and the ones of each arm, or of everybody where all have one."""
        assert isinstance(self.question, Measure)
        return _by_arm(self.reports, self.sums)

    def to_json(self) -> dict[str, object]:
        """The tally as a JSON object; it names its question by identity."""
        return {"question": question_id(self.question), "reports": self.reports, "sums": list(self.sums)}

    @classmethod
    def from_json(cls, document: object, question: Question) -> Tally:
        """The tally of a question that a JSON object describes."""
        fields = checks.keys("tally", document, frozenset({"question", "reports", "sums"}), frozenset())
        if fields["question"] != question_id(question):
            raise Mismatch("the tally belongs to another question")
        reports = checks.whole("reports", fields["reports"], 0, MOST_REPORTS)
        if not isinstance(fields["sums"], list):
            raise InvalidInput("sums", fields["sums"], "a list of whole numbers")
        return cls(question=question, reports=reports, sums=tuple(fields["sums"]))


def merged(tallies: Iterable[Tally]) -> Tally:
    """The tally of all the reports in several tallies of one question."""
    first, *rest = tallies
    for tally in rest:
        first = first.merge(tally)
    return first


def _entry_limits(question: Question) -> list[tuple[int, int]]:
    """The range of each entry of a single report."""
    low, high = value_range(question)
    if low < 0:
        return [(low, high), (0, max(low * low, high * high))]
    return [(0, 1)] * len(tally_entries(question, 0))


def _possible(question: Question, reports: int, sums: Sequence[int]) -> bool:
    """Whether the sums fit each other: one place a report; ones of an arm among its reports; squares no less than the
    sum needs.
    """
    if isinstance(question, PlaceVote):
        return sum(sums) == reports
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        return sums[0] * sums[0] <= reports * sums[1]
    if isinstance(question, Measure):
        return all(ones <= own for own, ones in _by_arm(reports, sums))
    return True


def _by_arm(reports: int, sums: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The reports and the ones of each arm; those of the first are what the others leave."""
    first, *others = sums
    counts, ones = others[::2], others[1::2]
    return (reports - sum(counts), first), *zip(counts, ones, strict=True)
