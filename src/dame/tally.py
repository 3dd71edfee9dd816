"""Tallies: exact integer sums of reports, a commutative monoid (`zero`, `add`, `merge`) tied to one question."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dame import checks
from dame.device.questions import Question, question_from_json
from dame.device.reports import Report, check_report
from dame.errors import InvalidInput, Mismatch

MOST_REPORTS = 2**50


class WindowTally(NamedTuple):
    """What was reported in one window: by how many, and the sum of each entry."""

    reports: int
    sums: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many reports of a question were added and the sums of their entries, window by window: integers only.

    What the entries are, the question's channel says: see `Channel.entries`.
    """

    question: Question
    windows: tuple[WindowTally, ...]

    def __post_init__(self) -> None:
        count = self.question.lens.window_count
        if len(self.windows) != count:
            raise InvalidInput("windows", len(self.windows), f"a list of {count}")
        checked = tuple(_checked(self.question, *window) for window in self.windows)
        object.__setattr__(self, "windows", checked)
        checks.whole("reports", self.reports, 0, MOST_REPORTS)

    @classmethod
    def of(cls, question: Question, windows: Iterable[tuple[int, Sequence[int]]]) -> Tally:
        """The tally with so many reports and these sums of entries in each window."""
        return cls(question=question, windows=tuple(WindowTally(reports, tuple(sums)) for reports, sums in windows))

    @classmethod
    def zero(cls, question: Question) -> Tally:
        """The tally of no reports."""
        return cls.of(question, [(0, _nothing(question))] * question.lens.window_count)

    @property
    def reports(self) -> int:
        """How many reports there are in all windows."""
        return sum(window.reports for window in self.windows)

    def add(self, report: Report) -> Tally:
        """The tally with one more report; a report of another question is a RejectedReport."""
        check_report(self.question, report)
        return self._with(report.window, WindowTally(1, self.question.channel.entries(report.value)))

    def plus(self, window: int, reports: int, sums: Sequence[int]) -> Tally:
        """The tally with so many more reports in a window, whose entries have these sums."""
        return self._with(window, _checked(self.question, reports, sums))

    def _with(self, window: int, more: WindowTally) -> Tally:
        windows = list(self.windows)
        windows[window] = _joined(windows[window], more)
        return Tally(question=self.question, windows=tuple(windows))

    def merge(self, other: Tally) -> Tally:
        """The tally of both sets of reports; they must belong to the same question."""
        if other.question != self.question:
            raise Mismatch("tallies of two different questions cannot be merged")
        return Tally(question=self.question, windows=tuple(map(_joined, self.windows, other.windows)))

    @property
    def sums(self) -> tuple[int, ...]:
        """The sum of each entry over all windows."""
        if len(self.windows) == 1:
            return self.windows[0].sums
        return tuple(map(sum, zip(*(window.sums for window in self.windows), strict=True)))

    def mean(self, entry: int = 0) -> float:
        """The mean of an entry over all reports; the first float in the life of a study."""
        return self.sums[entry] / self.reports

    def to_json(self) -> dict[str, object]:
        """The tally as a JSON object, with the question that it belongs to."""
        return {"question": self.question.to_json(), **self.counts()}

    def counts(self) -> dict[str, object]:
        """What was counted as a JSON object, for whoever keeps the question beside it."""
        return {
            "reports": [window.reports for window in self.windows],
            "sums": [list(window.sums) for window in self.windows],
        }

    @classmethod
    def from_json(cls, document: object) -> Tally:
        """The tally that a JSON object describes."""
        fields = checks.keys("tally", document, frozenset({"question", "reports", "sums"}), frozenset())
        question = question_from_json(fields["question"])
        reports, sums = _list("reports", fields["reports"]), _list("sums", fields["sums"])
        if len(reports) != len(sums):
            raise InvalidInput("sums", len(sums), f"a list for each of {len(reports)} windows")
        each = zip(reports, sums, strict=True)
        return cls.of(question, [(count, tuple(_list("sums", entries))) for count, entries in each])


def merged(tallies: Iterable[Tally]) -> Tally:
    """The tally of all the reports in several tallies of one question."""
    first, *rest = tallies
    for tally in rest:
        first = first.merge(tally)
    return first


def _checked(question: Question, reports: int, sums: Sequence[int]) -> WindowTally:
    reports, limits = checks.whole("reports", reports, 0, MOST_REPORTS), question.channel.entry_limits
    if len(sums) != len(limits):
        raise InvalidInput("sums", len(sums), f"a list of {len(limits)} whole numbers")
    pairs = zip(sums, limits, strict=True)
    whole = tuple(checks.whole("sums", total, low * reports, high * reports) for total, (low, high) in pairs)
    if not question.channel.possible(reports, whole):
        raise InvalidInput("sums", whole, "sums that some reports can have")
    return WindowTally(reports, whole)


def _nothing(question: Question) -> tuple[int, ...]:
    return (0,) * len(question.channel.entry_limits)


def _joined(one: WindowTally, other: WindowTally) -> WindowTally:
    return WindowTally(one.reports + other.reports, tuple(map(operator.add, one.sums, other.sums)))


def _list(name: str, value: object) -> list[int]:
    if not isinstance(value, list):
        raise InvalidInput(name, value, "a list")
    return value
