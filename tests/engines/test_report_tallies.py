"""Bad files, bad reports, and reports that come twice: counted, refused, and never part of a tally."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.questions import Question
from dame.engines import duplicates, report_tallies
from dame.engines.answers import Addressed
from dame.engines.report_files import write_reports
from dame.engines.report_tallies import Counted, count_rows, tally_files
from dame.engines.spark_reports import tally_on_spark
from dame.errors import InvalidInput
from dame.tally import Tally
from dame.vectorised.reports import report_totals
from tests.engines.questions import QUESTIONS
from tests.engines.test_answers import many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTION = QUESTIONS["vote"]
Count = Callable[[Question, Sequence[Path]], Counted]


@pytest.fixture(params=["embedded", "spark"])
def count(request: pytest.FixtureRequest) -> Count:
    """Both ways to tally files."""
    if request.param == "embedded":
        return tally_files
    session: SparkSession = request.getfixturevalue("spark")
    return lambda question, paths: tally_on_spark(session, question, paths)


def site(folder: Path, name: str, users: int, question: Question = QUESTION) -> Path:
    """A file of good reports."""
    path = folder / f"{name}.parquet"
    write_reports(path, Addressed(question=question), [many(users)])
    return path


def tally_rows(question: Question, rows: np.ndarray) -> Tally:
    """The tally of reports, a row each."""
    return Tally.of(question, report_totals(question, rows))


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    """The file with its rows changed."""
    pq.write_table(change(pq.read_table(path)), path)
    return path


def reports_in(path: Path) -> np.ndarray:
    """The reports of a file, a row each."""
    return np.array([list(row) for row in pq.read_table(path).column("report").to_pylist()], dtype=np.uint8)


def test_several_files(count: Count, tmp_path: Path) -> None:
    paths = [site(tmp_path, "a", 30), site(tmp_path, "b", 40), site(tmp_path, "c", 1)]
    rows = np.concatenate([reports_in(path) for path in paths])
    assert count(QUESTION, paths).check().tally == tally_rows(QUESTION, rows)


def test_reports_of_groups(count: Count, tmp_path: Path) -> None:
    """Whoever names a group is counted there, and an id that names two counts for none."""
    grouped = tmp_path / "grouped.parquet"
    people = replace(many(60), held=replace(many(60).held, grouped=True), codes=np.arange(60, dtype=np.int32) % 3)
    write_reports(grouped, Addressed(question=QUESTION, seed=7), [replace(people, groups=("at", "de", "fr"))])
    table = pq.read_table(grouped)
    names = np.array(table.column("group").to_pylist())
    counted = count(QUESTION, [grouped]).check()
    assert counted.by_group() == {name: tally_rows(QUESTION, reports_in(grouped)[names == name]) for name in set(names)}
    assert counted.tally == tally_rows(QUESTION, reports_in(grouped))
    twice = tmp_path / "twice.parquet"
    first = table.slice(0, 1)
    other = "fr" if names[0] != "fr" else "de"
    pq.write_table(first.set_column(2, "group", pa.array([other])).cast(table.schema), twice)
    assert count(QUESTION, [grouped, twice]).tally.reports == 59
    with pytest.raises(InvalidInput, match="all with a group, or all without"):
        count(QUESTION, [grouped, site(tmp_path, "a", 3)]).by_group()


def test_copies_count_once(count: Count, tmp_path: Path) -> None:
    path = site(tmp_path, "a", 30)
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(path.read_bytes())
    more = site(tmp_path, "b", 5)
    counted = count(QUESTION, [path, copy, more])
    assert counted.rejected == {"duplicate": 30}
    assert counted.tally == count(QUESTION, [path, more]).check().tally
    with pytest.raises(InvalidInput, match="30 duplicate"):
        counted.check()


def test_an_id_with_two_reports_counts_for_none(count: Count, tmp_path: Path) -> None:
    path, other = site(tmp_path, "a", 6), site(tmp_path, "b", 6)
    ids = pq.read_table(path).column("report_id")
    flip = np.ascontiguousarray(reports_in(path))
    flip[:2, -1] ^= 1
    table = pa.table({"report_id": ids, "report": pa.array([bytes(row) for row in flip], pa.binary(flip.shape[1]))})
    pq.write_table(table, other)
    counted = count(QUESTION, [path, other])
    assert counted.rejected == {"duplicate": 8}
    assert counted.tally == tally_rows(QUESTION, reports_in(path)[2:])


def test_a_file_of_another_question(count: Count, tmp_path: Path) -> None:
    wrong = site(tmp_path, "wrong", 20, replace(QUESTION, round=1))
    counted = count(QUESTION, [site(tmp_path, "a", 30), wrong])
    assert counted.rejected == {"question": 20}
    assert counted.tally.reports == 30


def test_single_bad_reports(count: Count, tmp_path: Path) -> None:
    """One of another question, one with a bit beyond the last bin, in a file that somebody wrote again."""

    def spoil(table: pa.Table) -> pa.Table:
        rows = [bytearray(row) for row in table.column("report").to_pylist()]
        rows[3][0] ^= 255
        rows[7][-1] |= 128
        return pa.table({"report_id": table.column("report_id"), "report": [bytes(row) for row in rows]})

    path = site(tmp_path, "a", 12)
    rows = np.delete(reports_in(path), [3, 7], axis=0)
    counted = count(QUESTION, [rewritten(path, spoil)])
    assert counted.rejected == {"question": 1, "range": 1}
    assert counted.tally == tally_rows(QUESTION, rows)


@pytest.mark.parametrize(("kind", "bad"), [("choice of a size class", {1: 6, 4: 7}), ("choice of a bin", {2: 1, 3: 3})])
def test_choices_beyond_the_last_bin(count: Count, tmp_path: Path, kind: str, bad: dict[int, int]) -> None:
    """Values that fit into the bits of a report and name no bin, in a file that somebody wrote again."""
    question = QUESTIONS[kind]

    def spoil(table: pa.Table) -> pa.Table:
        rows = [bytearray(row) for row in table.column("report").to_pylist()]
        for row, value in bad.items():
            rows[row][8:] = bytes([255] * (len(rows[row]) - 9) + [value])
        return pa.table({"report_id": table.column("report_id"), "report": [bytes(row) for row in rows]})

    path = site(tmp_path, "a", 12, question)
    rows = np.delete(reports_in(path), list(bad), axis=0)
    counted = count(question, [rewritten(path, spoil), site(tmp_path, "b", 20, question)])
    assert counted.rejected == {"range": len(bad)}
    more = tally_rows(question, reports_in(tmp_path / "b.parquet"))
    assert counted.tally == tally_rows(question, rows).merge(more)


class TestDamage:
    """A damaged file counts as a whole or not at all."""

    def damaged(self, count: Count, tmp_path: Path, change: Callable[[Path], object]) -> Counted:
        bad = site(tmp_path, "bad", 200)
        change(bad)
        counted = count(QUESTION, [site(tmp_path, "good", 10), bad, site(tmp_path, "another", 5)])
        assert counted.rejected == {"unreadable": 1}
        return counted

    def test_truncated(self, count: Count, tmp_path: Path) -> None:
        counted = self.damaged(count, tmp_path, lambda path: path.write_bytes(path.read_bytes()[:-100]))
        assert counted.tally.reports == 15

    @pytest.mark.parametrize("place", [40, 3000])
    def test_flipped_bits(self, count: Count, tmp_path: Path, place: int) -> None:
        """Pages carry checksums: a bit that flips on disk or on the way is noticed."""

        def flip(path: Path) -> None:
            content = bytearray(path.read_bytes())
            content[place + 200] ^= 4
            path.write_bytes(content)

        assert self.damaged(count, tmp_path, flip).tally.reports == 15

    def test_empty(self, count: Count, tmp_path: Path) -> None:
        self.damaged(count, tmp_path, lambda path: path.write_bytes(b""))

    @pytest.mark.parametrize(
        "table",
        [
            pa.table({"user": [1]}),
            pa.table({"report_id": [b"x" * 16], "report": [None]}),
            pa.table({"report_id": [b"x" * 15], "report": [b"y" * 10]}),
            pa.table({"report_id": [b"x" * 16], "report": [b"y" * 3]}),
            pa.table({"report_id": [1], "report": [2]}),
        ],
    )
    def test_other_tables(self, count: Count, tmp_path: Path, table: pa.Table) -> None:
        self.damaged(count, tmp_path, lambda path: pq.write_table(table, path))

    def test_a_copy_in_a_damaged_file_does_not_hide_the_good_one(self, count: Count, tmp_path: Path) -> None:
        good = site(tmp_path, "good", 10)
        bad = tmp_path / "bad.parquet"
        table = pq.read_table(good)
        rows = [*table.column("report").to_pylist()[:-1], None]
        pq.write_table(pa.table({"report_id": table.column("report_id"), "report": rows}), bad)
        counted = count(QUESTION, [bad, good])
        assert counted.rejected == {"unreadable": 1}
        assert counted.tally.reports == 10

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            tally_files(QUESTION, [tmp_path / "nothing.parquet"])

    def test_nothing_but_damage(self, count: Count, tmp_path: Path) -> None:
        path = site(tmp_path, "a", 10)
        path.write_bytes(path.read_bytes()[:-50])
        counted = count(QUESTION, [path])
        assert counted.rejected == {"unreadable": 1}
        assert counted.tally == Tally.zero(QUESTION)

    def test_missing_on_spark(self, tmp_path: Path, spark: SparkSession) -> None:
        with pytest.raises(InvalidInput, match="something that Spark reads"):
            tally_on_spark(spark, QUESTION, [tmp_path / "nothing.parquet"])


@pytest.mark.parametrize("kind", QUESTIONS)
def test_rows_one_by_one_as_all_at_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question = QUESTIONS[kind]
    ((_, rows),) = Addressed(question=question).reports(many(100))
    monkeypatch.setattr(report_tallies, "BYTES_AT_ONCE", 300)
    assert count_rows(question, rows).check().tally == tally_rows(question, rows)
    spoilt = np.concatenate([rows, rows[:1] ^ 255])
    counted = count_rows(question, spoilt)
    assert sum(counted.rejected.values()) == 1
    assert counted.tally == tally_rows(question, rows)


class _Source:
    def __init__(self, rows: list[tuple[int, int]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def _column(self, column: int, length: int) -> list[np.ndarray]:
        chosen = [row[column].to_bytes(length, "big") for row in self.rows]
        halves = (chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])
        return [np.frombuffer(b"".join(half), np.uint8).reshape(-1, length) for half in halves]

    def ids(self) -> list[np.ndarray]:
        return self._column(0, 16)

    def contents(self) -> list[np.ndarray]:
        return self._column(1, 3)


IDS = st.sampled_from([high << 64 | low for high in (0, 1, 2**63) for low in (0, 1, 2**63)])


@given(
    st.lists(st.lists(st.tuples(IDS, st.integers(0, 2)), max_size=8), min_size=1, max_size=3), st.sampled_from([2, 100])
)
def test_duplicates_one_by_one(files: list[list[tuple[int, int]]], at_once: int) -> None:
    """Ids that agree in one half only, copies, and contradictions, in one file or several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "IDS_AT_ONCE", at_once)
        dropped = duplicates.duplicate_rows([_Source(rows) for rows in files])
    kept = [
        row for rows, bad in zip(files, dropped, strict=True) for n, row in enumerate(rows) if n not in bad.tolist()
    ]
    values: dict[int, set[int]] = {}
    for id_, value in (row for rows in files for row in rows):
        values.setdefault(id_, set()).add(value)
    assert sorted(kept) == sorted((id_, *seen) for id_, seen in values.items() if len(seen) == 1)
