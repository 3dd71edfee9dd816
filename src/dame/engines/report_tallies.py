"""Tallies of report files: every report is checked, each id counts once, and what is refused is counted by reason.

Reasons: `unreadable` files (truncated, damaged, or no reports at all); reports of another `question` or with a value
out of `range`; and `duplicate` ids (see `dame.engines.duplicates`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import TAG_BYTES, Question, question_id, question_tag
from dame.device.reports import Report, report_bytes
from dame.engines.answers import join_tallies
from dame.engines.duplicates import Dropped, duplicate_rows
from dame.engines.report_files import GROUP, ID_BYTES, QUESTION_KEY, arrow
from dame.errors import InvalidInput, RejectedReport
from dame.protocols import EVERYBODY, ByGroup
from dame.tally import Tally, merged
from dame.vectorised.reports import report_totals
from dame.vectorised.unary import Bytes

Groups = NDArray[np.str_]
BYTES_AT_ONCE = 2**20
"""Bytes of reports that are counted together: they stay in a processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The tally of the good reports of each group, and how many were refused for each reason.

    Where reports name no groups, all of them are those of EVERYBODY.
    """

    question: Question
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rejected", {reason: count for reason, count in self.rejected.items() if count})

    def __add__(self, other: Counted) -> Counted:
        tallies = dict(self.tallies)
        join_tallies(tallies, other.tallies)
        rejected = Counter(self.rejected) + Counter(other.rejected)
        return Counted(question=self.question, tallies=tallies, rejected=rejected)

    @property
    def tally(self) -> Tally:
        """The tally of all good reports, whatever their groups."""
        return merged([Tally.zero(self.question), *self.tallies.values()])

    def by_group(self) -> ByGroup:
        """The tally of each group; that of nobody where there is no report."""
        if EVERYBODY in self.tallies and len(self.tallies) > 1:
            raise InvalidInput("reports", "some with a group and some without", "all with a group, or all without")
        return self.tallies or {EVERYBODY: self.tally}

    def check(self) -> Counted:
        """This count, if nothing was refused."""
        if self.rejected:
            listed = ", ".join(f"{count} {reason}" for reason, count in sorted(self.rejected.items()))
            raise InvalidInput("reports", listed, "all good; --skip-bad counts the others")
        return self


def tally_files(question: Question, paths: Sequence[Path]) -> Counted:
    """The tally of all reports in some files."""
    left, unreadable = list(paths), 0
    while True:
        try:
            counted = _tally_readable(question, [ReportFile(question, path) for path in left])
            break
        except _Unreadable as found:
            # A file counts as a whole or not at all, and another file may hold the ids that this one held too.
            left.remove(found.path)
            unreadable += 1
    return counted + Counted(question=question, rejected={"unreadable": unreadable})


def count_rows(question: Question, rows: Bytes, groups: Groups | None = None) -> Counted:
    """The tally of encoded reports, one a row, without those that no device could have sent."""
    if groups is None:
        return _count_group(question, rows, EVERYBODY)
    counted = Counted(question=question)
    for name in np.unique(groups):
        counted += _count_group(question, rows[groups == name], str(name))
    return counted


def _count_group(question: Question, rows: Bytes, group: str) -> Counted:
    step = max(BYTES_AT_ONCE // report_bytes(question), 1)
    counted = Counted(question=question)
    for start in range(0, len(rows), step):
        counted += _count_block(question, rows[start : start + step], group)
    return counted


def _count_block(question: Question, rows: Bytes, group: str) -> Counted:
    try:
        return Counted(question=question, tallies={group: Tally.of(question, report_totals(question, rows))})
    except RejectedReport:
        return _count_each(question, rows, group)


def _count_each(question: Question, rows: Bytes, group: str) -> Counted:
    answering = (rows[:, :TAG_BYTES] == np.frombuffer(question_tag(question), dtype=np.uint8)).all(axis=1)
    tally, rejected = Tally.zero(question), Counter(question=int(np.count_nonzero(~answering)))
    for row in rows[answering]:
        try:
            tally = tally.add(Report.decode(question, row.tobytes()))
        except RejectedReport as refusal:
            rejected[refusal.reason] += 1
    return Counted(question=question, tallies={group: tally}, rejected=+rejected)


class ReportFile:
    """A file of reports, read one row group and one column at a time."""

    def __init__(self, question: Question, path: Path) -> None:
        self.question = question
        self.path = path
        with _readable(path):
            self._file = arrow()[1].ParquetFile(path, memory_map=True, page_checksum_verification=True)

    @property
    def answers(self) -> bool:
        """Whether the file names the right question, or none: then its reports do."""
        named = (self._file.schema_arrow.metadata or {}).get(QUESTION_KEY)
        return named in (None, question_id(self.question).encode())

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def ids(self) -> Iterator[Bytes]:
        """The ids of the reports, a row each, group by group."""
        return self._column("report_id", ID_BYTES)

    def reports(self) -> Iterator[Bytes]:
        """The reports, a row each, group by group."""
        return self._column("report", report_bytes(self.question))

    def contents(self) -> Iterator[Bytes]:
        """The reports, and in eight bytes what is told of their groups: an id that names two counts for none."""
        for rows, groups in zip(self.reports(), self._groups(), strict=True):
            yield np.hstack([rows, _in_eight_bytes(np.full(len(rows), EVERYBODY) if groups is None else groups)])

    def count(self, dropped: Dropped) -> Counted:
        """The tally of the reports without those in some rows."""
        counted, start = Counted(question=self.question, rejected={"duplicate": len(dropped)}), 0
        for rows, groups in zip(self.reports(), self._groups(), strict=True):
            bad = dropped[(dropped >= start) & (dropped < start + len(rows))] - start
            good = np.delete(rows, bad, axis=0) if len(bad) else rows
            counted += count_rows(self.question, good, None if groups is None else np.delete(groups, bad))
            start += len(rows)
        return counted

    def _groups(self) -> Iterator[Groups | None]:
        """The group of each report, row group by row group; None where the file has no such column."""
        grouped = GROUP in self._file.schema_arrow.names
        for place in range(self._file.num_row_groups):
            with _readable(self.path):
                yield names_in(self._file.read_row_group(place, columns=[GROUP]).column(GROUP)) if grouped else None

    def _column(self, name: str, length: int) -> Iterator[Bytes]:
        for group in range(self._file.num_row_groups):
            with _readable(self.path):
                rows = matrix(self._file.read_row_group(group, columns=[name]).column(name), length)
            yield rows


def _tally_readable(question: Question, files: Sequence[ReportFile]) -> Counted:
    ours = [file for file in files if file.answers]
    strange = sum(len(file) for file in files if not file.answers)
    counted = Counted(question=question, rejected={"question": strange})
    for file, dropped in zip(ours, duplicate_rows(ours), strict=True):
        counted += file.count(dropped)
    return counted


class _Unreadable(Exception):
    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(str(path))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a file is read says that it is not a whole file of reports, unless it is not there."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (arrow()[0].ArrowException, OSError, KeyError, ValueError) as problem:
        raise _Unreadable(path) from problem


def _in_eight_bytes(names: Groups) -> Bytes:
    """A digest of each name."""
    different, places = np.unique(names, return_inverse=True)
    digests = [hashlib.sha256(str(name).encode()).digest()[:8] for name in different]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 8)[places]


def names_in(column: Any) -> Groups:
    """The names of groups in a column of texts, none of which is missing or empty."""
    names = np.array(column.to_pylist(), np.str_) if not column.null_count else np.array([""])
    if (names == EVERYBODY).any():
        raise ValueError("a group is missing")
    return names


def matrix(column: Any, length: int) -> Bytes:
    """The bytes of a binary column, a row each."""
    pa, _ = arrow()
    if column.null_count:
        raise ValueError("a report is missing")
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    fixed = whole.cast(pa.binary(length))
    start = fixed.offset * length
    return np.frombuffer(fixed.buffers()[1], np.uint8)[start : start + len(fixed) * length].reshape(-1, length)
