"""Files of reports: what is in them, what is not, and that they appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from dame.device.questions import question_id
from dame.device.reports import Report
from dame.device.statistics import Value
from dame.engines import report_files
from dame.engines.answers import EVERYBODY, Addressed
from dame.engines.report_files import write_reports
from dame.engines.report_tallies import tally_files
from dame.errors import InvalidInput
from dame.planning.files import drafted
from tests.chances import FALSE_ALARM
from tests.engines.questions import QUESTIONS
from tests.engines.test_answers import many


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("seed", [6, None])
def test_a_file_holds_the_tally(kind: str, seed: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_files, "ROWS_IN_GROUP", 64)
    question, crowd, path = QUESTIONS[kind], many(300), tmp_path / "reports.parquet"
    asked = Addressed(question=question, seed=seed)
    parts = [crowd.chosen(slice(0, 100)), crowd.chosen(slice(100, 300))]
    assert write_reports(path, asked, parts) == 300
    counted = tally_files(question, [path]).check()
    assert counted.tally.reports == 300
    assert seed is None or counted.tally == asked.tallies(crowd)[EVERYBODY]


def test_what_a_file_says(tmp_path: Path) -> None:
    question, path = QUESTIONS["vote"], tmp_path / "reports.parquet"
    write_reports(path, Addressed(question=question), [many(50)])
    table = pq.read_table(path)
    assert table.column_names == ["report_id", "report"]
    assert table.schema.metadata[b"dame.question"] == question_id(question).encode()
    assert table.schema.metadata[b"dame.coins"] == b"secure"
    ids = table.column("report_id").to_pylist()
    assert len(set(ids)) == 50
    assert ids == sorted(ids)
    for report in table.column("report").to_pylist():
        Report.decode(question, report)


def test_order_says_nothing_about_users(tmp_path: Path) -> None:
    """The place of a user in the table and of her report in the file are unrelated (rank correlation)."""
    question, crowd = QUESTIONS["laplace"], many(4000)
    quiet = Addressed(question=question)
    values = []
    for name in ("a", "b"):
        write_reports(tmp_path / name, quiet, [crowd])
        rows = pq.read_table(tmp_path / name).column("report").to_pylist()
        values.append([Report.decode(question, row).value for row in rows])
    places = np.arange(4000)
    assert stats.spearmanr(crowd.of(Value())[1], values[0]).pvalue > FALSE_ALARM
    assert stats.spearmanr(places, values[1]).pvalue > FALSE_ALARM
    # Users sorted by their means and left in that order would be caught.
    assert stats.spearmanr(places, np.sort(crowd.of(Value())[1])).pvalue < FALSE_ALARM


def test_ids_are_fresh_unless_seeded(tmp_path: Path) -> None:
    def ids(name: str, seed: int | None) -> list[bytes]:
        write_reports(tmp_path / name, Addressed(question=QUESTIONS["bit"], seed=seed), [many(20)])
        return pq.read_table(tmp_path / name).column("report_id").to_pylist()

    assert not set(ids("a", None)) & set(ids("b", None))
    assert ids("c", 1) == ids("d", 1) != ids("e", 2)
    metadata = pq.read_schema(tmp_path / "c").metadata
    assert b"protect nobody" in metadata[b"dame.coins"]


def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    write_reports(path, Addressed(question=QUESTIONS["bit"]), [many(5)])
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="spend α again"):
        write_reports(path, Addressed(question=QUESTIONS["bit"]), [many(5)])
    assert path.read_bytes() == before


@pytest.mark.parametrize("end", [KeyboardInterrupt, MemoryError, OSError])
def test_a_crash_leaves_nothing(end: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, *_: object) -> None:
        path.write_bytes(b"half of it")
        raise end

    monkeypatch.setattr(report_files, "_write", fail)
    with pytest.raises(end):
        write_reports(tmp_path / "reports.parquet", Addressed(question=QUESTIONS["bit"]), [many(5)])
    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_a_crash_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".reports.parquet.draft").write_bytes(b"half of it")
    write_reports(tmp_path / "reports.parquet", Addressed(question=QUESTIONS["bit"]), [many(5)])
    assert [path.name for path in tmp_path.iterdir()] == ["reports.parquet"]


def test_a_file_needs_a_name() -> None:
    with pytest.raises(InvalidInput, match="the name of a file"), drafted(Path("/")):
        pass


def test_nobody_answers(tmp_path: Path) -> None:
    question, path = QUESTIONS["vote"], tmp_path / "reports.parquet"
    assert write_reports(path, Addressed(question=question, first=1, last=0), [many(5)]) == 0
    assert tally_files(question, [path]).check().tally.reports == 0
