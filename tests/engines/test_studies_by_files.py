"""dame ask, answer and tally, as people call them: whole studies by files, and mistakes with files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dame.device.questions import question_from_json
from tests.engines.calls import COLUMNS, Call, document, refusal
from tests.engines.other_constants import asked_otherwise


class Study:
    """A study by files, in a folder."""

    def __init__(self, call: Call, folder: Path, *options: object) -> None:
        self.call, self.folder = call, folder
        self.plan = folder / "plan.json"
        words = ["--users", 300, "--alpha", 1, "--sizes", "poisson:20", "--bounds", -2, 8, "--no-compare"]
        assert call("plan", *words, "--out", self.plan, *options)[0] == 0

    def ask(self, *tallies: Path) -> Path:
        """The file with the next step."""
        path = self.folder / f"step-{len(tallies)}.json"
        assert self.call("ask", self.plan, *tallies, "--out", path)[0] == 0
        return path

    def answer(self, question: Path, table: Path, *options: object) -> Path:
        """The file with a site's reports."""
        path = self.folder / f"{question.stem}-{table.stem}.parquet"
        words = [question, table, *COLUMNS, "--plan", self.plan, "--out", path]
        assert self.call("answer", *words, *options)[0] == 0
        return path

    def tally(self, question: Path, *files: Path) -> Path:
        """The file with the tally."""
        path = self.folder / f"{question.stem}-tally.json"
        assert self.call("tally", question, *files, "--out", path)[0] == 0
        return path


@pytest.fixture
def sites(table: Path, tmp_path: Path) -> list[Path]:
    """The table, cut into three sites, each with users of its own."""
    whole = pq.read_table(table)
    who = np.asarray(whole.column("who").fill_null(-1))
    paths = [tmp_path / f"site {number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        pq.write_table(whole.filter(pa.array(who % 3 == number)), path)
    return paths


@pytest.mark.parametrize("protocol", ["adaptive", "paper"])
def test_three_sites_equal_a_pilot(call: Call, table: Path, sites: list[Path], tmp_path: Path, protocol: str) -> None:
    study = Study(call, tmp_path, "--protocol", protocol)
    tallies: list[Path] = []
    while "lens" in json.loads((question := study.ask(*tallies)).read_text()):
        tallies.append(study.tally(question, *(study.answer(question, site, "--seed", 5) for site in sites)))
    estimate = json.loads(question.read_text())
    pilot = document(call, "pilot", table, *COLUMNS, "--plan", study.plan, "--seed", 5)
    assert {name: pilot[name] for name in ("estimate", "interval", "standard_error")} == {
        name: estimate[name] for name in ("estimate", "interval", "standard_error")
    }
    listed = [json.loads(path.read_text()) for path in tallies]
    for round_, tally in zip(pilot["rounds"], listed, strict=True):
        assert {name: tally[name] for name in ("question", "reports", "sums")} == round_["tally"]
    assert document(call, "ask", study.plan, *tallies) == estimate


@pytest.mark.parametrize("options", [["--between-sd", 0], ["--between-sd", "learn"], ["--protocol", "paper"]])
def test_a_study_that_began_under_other_constants_finishes(
    call: Call, table: Path, tmp_path: Path, options: list[object]
) -> None:
    """The questions of its first two rounds are not those of this release: they count as they were asked."""
    study = Study(call, tmp_path, *options)
    tallies: list[Path] = []
    while "lens" in (document_ := json.loads((question := study.ask(*tallies)).read_text())):
        if len(tallies) < 2:
            otherwise = asked_otherwise(question_from_json(document_))
            question.write_text(json.dumps(otherwise.to_json()))
        tallies.append(study.tally(question, study.answer(question, table, "--seed", 5)))
    assert len(tallies) > 1
    frame = pq.read_table(table).to_pandas().dropna()
    truth = frame.what.clip(-2, 8).groupby(frame.who).mean().mean()
    assert abs(document_["estimate"] - truth) < 5 * document_["standard_error"]
    assert document_["users"] == sum(document_["reports"]) == 300


class TestFiles:
    """Mistakes with files."""

    def test_everybody_answers_without_a_plan(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question, out = study.ask(), tmp_path / "all.parquet"
        code, text, err = call("answer", question, table, *COLUMNS, "--out", out)
        assert code == 0
        assert "300 of 300 users answered" in text
        assert "without --plan every user" in err
        found = document(call, "tally", question, out)
        assert (found["reports"], found["files"], found["rejected"]) == ([300], 1, {})

    def test_answer_in_json(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        words = ["answer", study.ask(), table, *COLUMNS, "--plan", study.plan, "--out", tmp_path / "r.parquet"]
        found = document(call, *words, "--memory-limit", "512MB")
        assert 100 < found["reports"] < 200
        assert (found["users"], found["nulls"]) == (300, 6)

    def test_bad_reports(self, call: Call, table: Path, sites: list[Path], tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question = study.ask()
        good = study.answer(question, sites[0])
        copy = tmp_path / "copy.parquet"
        copy.write_bytes(good.read_bytes())
        half = study.answer(question, sites[1])
        half.write_bytes(half.read_bytes()[:200])
        (reports,) = document(call, "tally", question, good)["reports"]
        line = refusal(call, "tally", question, good, copy, half, "--out", tmp_path / "never.json")
        assert f"{reports} duplicate, 1 unreadable" in line
        assert "--skip-bad" in line
        assert not (tmp_path / "never.json").exists()
        found = document(call, "tally", question, good, copy, half, "--skip-bad", "--out", tmp_path / "tally.json")
        assert found["rejected"] == {"duplicate": reports, "unreadable": 1}
        assert json.loads((tmp_path / "tally.json").read_text()) == found
        assert call("ask", study.plan, tmp_path / "tally.json", "--json")[0] == 0

    def test_other_questions(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper", "--identity", "one")
        question = study.ask()
        reports = study.answer(question, table)
        folder = tmp_path / "other"
        folder.mkdir()
        other = Study(call, folder, "--protocol", "paper", "--identity", "two")
        wrong = other.ask()
        assert "question" in refusal(call, "tally", wrong, reports)
        assert "does not belong" in refusal(
            call, "answer", question, table, *COLUMNS, "--plan", other.plan, "--out", tmp_path / "x.parquet"
        )
        tally = study.tally(question, reports)
        assert "does not belong to round 1" in refusal(call, "ask", other.plan, tally)
        assert "two different questions" in refusal(call, "tally", wrong, "--merge", tally)

    def test_merging(self, call: Call, sites: list[Path], tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question = study.ask()
        reports = [study.answer(question, site) for site in sites]
        parts = []
        for number, path in enumerate(reports):
            parts.append(tmp_path / f"part-{number}.json")
            assert call("tally", question, path, "--out", parts[-1])[0] == 0
        assert (
            f"{json.loads(parts[-1].read_text())['reports'][0]} reports tallied"
            in call("tally", question, reports[-1], "--out", parts[-1])[2]
        )
        whole = document(call, "tally", question, tmp_path / f"{question.stem}-site *.parquet")
        assert document(call, "tally", question, "--merge", *parts) == whole
        assert "given once each" in refusal(call, "tally", question, "--merge", parts[0], parts[0])
        assert "given once each" in refusal(call, "tally", question, reports[0], reports[0])
        assert "some file matches" in refusal(call, "tally", question, tmp_path / "nothing-*.parquet")

    def test_spark_tallies(self, call: Call, table: Path, tmp_path: Path, spark: object) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question = study.ask()
        reports = study.answer(question, table)
        words = ["tally", question, reports]
        assert document(call, *words, "--engine", "spark") == document(call, *words)

    def test_a_second_answer(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question = study.ask()
        reports = study.answer(question, table)
        again = refusal(call, "answer", question, table, *COLUMNS, "--plan", study.plan, "--out", reports)
        assert "spend α again" in again

    def test_files_that_are_no_json(self, call: Call, table: Path, tmp_path: Path) -> None:
        bad = tmp_path / "bad.json"
        for content in (b"{", b"\xff", b"[" * 100_000):
            bad.write_bytes(content)
            assert "a JSON file" in refusal(call, "ask", bad)
        bad.write_text("{}")
        assert "plan" in refusal(call, "ask", bad) or "protocol" in refusal(call, "ask", bad)
        assert "question must be an object with the key" in refusal(call, "answer", bad, table, *COLUMNS)
        assert "No such file" in refusal(call, "ask", tmp_path / "none.json")

    def test_questions_for_people(self, call: Call, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        code, out, _ = call("ask", study.plan)
        assert code == 0
        assert json.loads(out) == json.loads(study.ask().read_text())

    def test_estimates_for_people(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "one-bit")
        question = study.ask()
        tally = study.tally(question, study.answer(question, table))
        code, out, _ = call("ask", study.plan, tally)
        assert code == 0
        assert "95% interval" in out
        assert "300 in the rounds" in out
