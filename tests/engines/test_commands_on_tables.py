"""dame pilot, ask, answer and tally, as people call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dame
from dame.cli.app import run
from dame.plan_codec import plan_to_json

ROOT = Path(__file__).parents[2]
PILOT_KEYS = {
    "estimate", "interval", "standard_error", "true_mean", "users", "records", "seconds", "rounds", "clipped", "nulls",
}  # fmt: skip
COLUMNS = ["--user", "who", "--value", "what"]
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Exit code and both outputs of one call."""

    def one(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return one


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of 300 users with some records that are clipped or left out."""
    rng = np.random.default_rng(4)
    users, values = rng.integers(0, 300, 6000), rng.normal(4.0, 3.0, 6000)
    whats = pa.array(values, mask=np.arange(6000) % 1000 == 7)
    whos = pa.array(users, mask=np.arange(6000) % 2000 == 9)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"who": whos, "what": whats}), path)
    return path


def document(call: Call, *words: object) -> dict:
    """The JSON object that a call prints."""
    code, out, err = call(*words, "--json")
    assert code == 0, err
    (line,) = out.splitlines()
    return json.loads(line)


def refusal(call: Call, *words: object) -> str:
    """The one line with which a call is refused."""
    code, out, err = call(*words)
    assert code == 2, (out, err)
    assert out == ""
    notes = [line for line in err.splitlines() if not line.startswith("note:")]
    assert len(notes) == 1
    return notes[0]


class TestPilot:
    """dame pilot."""

    def test_keys(self, call: Call, table: Path) -> None:
        found = document(call, "pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--seed", 1)
        assert found.keys() >= PILOT_KEYS
        assert (found["users"], found["records"]) == (300, 6000 - 9)
        assert (found["nulls"], found["without_user"]) == (6, 3)
        assert found["clipped"] > 100
        assert found["study"] == "seed-1"
        assert sum(round_["users"] for round_ in found["rounds"]) == 300
        assert found["interval"][0] <= found["estimate"] <= found["interval"][1]
        assert "rmse" not in found

    def test_true_mean(self, call: Call, table: Path) -> None:
        frame = pq.read_table(table).to_pandas().dropna()
        right = frame.what.clip(-2, 8).groupby(frame.who).mean().mean()
        found = document(call, "pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--protocol", "one-bit")
        assert found["true_mean"] == pytest.approx(right, abs=1e-8)

    def test_repeatable(self, call: Call, table: Path) -> None:
        words = ["pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--protocol", "paper"]
        one, same = (document(call, *words, "--seed", 7) for _ in range(2))
        assert {**one, "seconds": 0} == {**same, "seconds": 0}
        assert document(call, *words, "--seed", 8)["rounds"] != one["rounds"]
        assert document(call, *words)["study"] != document(call, *words)["study"]

    def test_repetitions(self, call: Call, table: Path) -> None:
        words = ["pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 2, "--protocol", "one-bit", "--seed", 1]
        found = document(call, *words, "--repetitions", 400)
        assert found["repetitions"] == 400
        # B / sqrt(n) · half range: the theory of a single bit from everybody.
        predicted = (np.e**2 + 1) / (np.e**2 - 1) / np.sqrt(300) * 5
        assert found["rmse"] == pytest.approx(predicted, rel=0.2)
        assert 0.9 < found["coverage"] <= 1
        assert document(call, *words)["estimate"] == found["estimate"]

    def test_for_people(self, call: Call, table: Path) -> None:
        words = ["pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--protocol", "one-bit", "--repetitions", 3]
        code, out, err = call(*words)
        assert code == 0
        for word in ("5,991 records of 300 users", "true mean", "RMSE", "95 % interval"):
            assert word in out
        for note in ("sizes from the table", "clipped", "6 records without a value", "3 records without a user"):
            assert note in err

    def test_given_sizes_say_nothing(self, call: Call, table: Path) -> None:
        words = [
            "pilot",
            table,
            *COLUMNS,
            "--bounds",
            -2,
            8,
            "--alpha",
            1,
            "--sizes",
            "poisson:20",
            "--protocol",
            "paper",
        ]
        assert "sizes from the table" not in call("pilot", table, *words)[2]

    def test_a_given_plan(self, call: Call, table: Path, tmp_path: Path) -> None:
        plan = dame.plan(users=500, alpha=1.0, sizes=dame.Sizes.parse("poisson:20"), protocol="paper", bounds=(-2, 8))
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(plan_to_json(plan)))
        code, out, err = call("pilot", table, *COLUMNS, "--plan", path, "--json")
        assert code == 0
        assert json.loads(out)["study"] == plan.study
        assert "made for 500 users, the table has 300" in err
        for extra in (["--alpha", 1], ["--bounds", -2, 8], ["--study", "s"]):
            assert "absent beside --plan" in refusal(call, "pilot", table, *COLUMNS, "--plan", path, *extra)

    def test_other_sources(self, call: Call, table: Path, tmp_path: Path) -> None:
        words = [*COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--protocol", "one-bit", "--seed", 1]
        right = document(call, "pilot", table, *words)["rounds"]
        database, csv = tmp_path / "some.duckdb", tmp_path / "some.csv"
        with duckdb.connect(str(database)) as session:
            session.execute(f"CREATE TABLE records AS SELECT * FROM '{table}'")
            session.execute(f"COPY (SELECT * FROM '{table}') TO '{csv}' (HEADER)")
        assert document(call, "pilot", f"{database}::records", *words)["rounds"] == right
        assert document(call, "pilot", csv, *words)["rounds"] == right
        assert document(call, "pilot", tmp_path / "tab*.parquet", *words, "--memory-limit", "1GB")["rounds"] == right

    def test_several_key_columns(self, call: Call, tmp_path: Path) -> None:
        path = tmp_path / "two.parquet"
        pq.write_table(pa.table({"a": ["x", "x", "y"], "b": [1, 2, 1], "v": [0.0, 1.0, 0.5]}), path)
        words = ["--value", "v", "--bounds", 0, 1, "--alpha", 1, "--protocol", "one-bit"]
        assert document(call, "pilot", path, "--user", "a", "--user", "b", *words)["users"] == 3
        assert document(call, "pilot", path, "--user", "a", *words)["users"] == 2

    def test_on_spark(self, call: Call, table: Path, spark: object) -> None:
        words = ["pilot", table, *COLUMNS, "--bounds", -2, 8, "--alpha", 1, "--seed", 1]
        here, there = document(call, *words), document(call, *words, "--engine", "spark")
        assert {**here, "seconds": 0, "engine": 0} == {**there, "seconds": 0, "engine": 0}

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (["--alpha", "0"], "alpha must be"),
            (["--bounds", "8", "-2"], "bounds must be"),
            (["--user", "nobody"], "user column must be one of who, what"),
            (["--value", "nothing"], "value column must be one of who, what"),
            (["--protocol", "odd"], "protocol must be"),
            (["--sizes", "odd"], "odd"),
            (["--engine", "abacus"], "engine must be one of duckdb, spark"),
            (["--memory-limit", "little"], "memory limit must be"),
            (["--repetitions", "0"], "repetitions must be"),
            (["--seed", "-1"], "seed must be"),
            (["--master", "local[2]"], "master must be absent"),
            (["--engine", "spark", "--memory-limit", "1GB"], "memory-limit must be absent"),
        ],
    )
    def test_refusals(self, call: Call, table: Path, change: list[str], complaint: str) -> None:
        words = ["--bounds", -2, 8, "--alpha", 1, "--user", "who", "--value", "what"]
        replaced = change if change[0] == "--user" else [*words[-4:-2], *change]
        kept = [*words[:5], *words[-2:]]
        assert complaint in refusal(call, "pilot", table, *kept, *replaced)

    def test_missing_options(self, call: Call, table: Path) -> None:
        assert "bounds must be" in refusal(call, "pilot", table, *COLUMNS, "--alpha", 1)
        assert "alpha must be" in refusal(call, "pilot", table, *COLUMNS, "--bounds", 0, 1)
        assert "No files found" in refusal(call, "pilot", "none.csv", *COLUMNS, "--bounds", 0, 1, "--alpha", 1)


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
    while "kind" in json.loads(study.ask(*tallies).read_text()):
        question = tmp_path / f"step-{len(tallies)}.json"
        tallies.append(study.tally(question, *(study.answer(question, site, "--seed", 5) for site in sites)))
    estimate = json.loads((tmp_path / f"step-{len(tallies)}.json").read_text())
    pilot = document(call, "pilot", table, *COLUMNS, "--plan", study.plan, "--seed", 5)
    assert {name: pilot[name] for name in ("estimate", "interval", "standard_error")} == {
        name: estimate[name] for name in ("estimate", "interval", "standard_error")
    }
    listed = [json.loads(path.read_text()) for path in tallies]
    assert [round_["tally"]["sums"] for round_ in pilot["rounds"]] == [tally["sums"] for tally in listed]
    assert document(call, "ask", study.plan, *tallies) == estimate


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
        assert (found["reports"], found["files"], found["rejected"]) == (300, 1, {})

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
        reports = document(call, "tally", question, good)["reports"]
        line = refusal(call, "tally", question, good, copy, half, "--out", tmp_path / "never.json")
        assert f"{reports} duplicate, 1 unreadable" in line
        assert "--skip-bad" in line
        assert not (tmp_path / "never.json").exists()
        found = document(call, "tally", question, good, copy, half, "--skip-bad", "--out", tmp_path / "tally.json")
        assert found["rejected"] == {"duplicate": reports, "unreadable": 1}
        assert json.loads((tmp_path / "tally.json").read_text()) == found
        assert call("ask", study.plan, tmp_path / "tally.json", "--json")[0] == 0

    def test_other_questions(self, call: Call, table: Path, tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper", "--study", "one")
        question = study.ask()
        reports = study.answer(question, table)
        folder = tmp_path / "other"
        folder.mkdir()
        other = Study(call, folder, "--protocol", "paper", "--study", "two")
        wrong = other.ask()
        assert "question" in refusal(call, "tally", wrong, reports)
        assert "does not belong" in refusal(
            call, "answer", question, table, *COLUMNS, "--plan", other.plan, "--out", tmp_path / "x.parquet"
        )
        tally = study.tally(question, reports)
        assert "belong to no round" in refusal(call, "ask", other.plan, tally)
        assert "another question" in refusal(call, "tally", wrong, "--merge", tally)

    def test_merging(self, call: Call, sites: list[Path], tmp_path: Path) -> None:
        study = Study(call, tmp_path, "--protocol", "paper")
        question = study.ask()
        reports = [study.answer(question, site) for site in sites]
        parts = []
        for number, path in enumerate(reports):
            parts.append(tmp_path / f"part-{number}.json")
            assert call("tally", question, path, "--out", parts[-1])[0] == 0
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
        assert "question kind" in refusal(call, "answer", bad, table, *COLUMNS)
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


def test_missing_extras_are_named(call: Call, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["pilot", table, *COLUMNS, "--bounds", 0, 1, "--alpha", 1]
    monkeypatch.setitem(sys.modules, "duckdb", None)
    code, _, err = call(*words)
    assert code == 1
    assert "dame-ldp[engine]" in err
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    code, _, err = call(*words, "--engine", "spark")
    assert code == 1
    assert "dame-ldp[spark]" in err


def test_interrupted_while_reading(tmp_path: Path) -> None:
    """Ctrl-C during a query that would never end: code 130, and no file, whole or half, not even a temporary one."""
    database = tmp_path / "endless.duckdb"
    with duckdb.connect(str(database)) as session:
        session.execute("CREATE VIEW records AS SELECT range % 7 AS who, 0.5 AS what FROM range(1000000000000)")
    plan = dame.plan(users=7, alpha=1.0, sizes=dame.Sizes.constant(5), protocol="one-bit")
    question = tmp_path / "question.json"
    question.write_text(json.dumps(dame.first(plan).to_json()))
    words = ["answer", question, f"{database}::records", *COLUMNS, "--out", tmp_path / "reports.parquet"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "dame", *map(str, words)], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        _wait_for(lambda: any(tmp_path.glob("dame-spill-*")), process)
        time.sleep(1.0)  # into the query itself
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.duckdb", "question.json"]


def _wait_for(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_progress_is_told(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.engines.duckdb_tables.SECONDS_BETWEEN_LOOKS", 0.001)
    from dame.engines.duckdb_tables import reduce_table
    from dame.engines.layout import Layout

    told: list[int] = []
    rows = pa.table({"who": np.arange(2_000_000) % 1000, "what": np.linspace(0, 1, 2_000_000)})
    reduce_table(rows, Layout(user=("who",), value="what", low=0.0, high=1.0, study="s"), progress=told.append)
    assert told
    assert all(0 <= percent <= 100 for percent in told)


def test_the_example_of_three_sites(tmp_path: Path) -> None:
    """The script in examples/, run as it stands, ends in the estimate of a pilot on all sites together."""
    environment = {**os.environ, "DAME": f"{sys.executable} -m dame", "PYTHON": sys.executable}
    words = ["sh", str(ROOT / "examples" / "three_sites.sh"), str(tmp_path / "study"), "5"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "95% interval" in done.stdout
    folder = tmp_path / "study"
    layout = {"user": "person", "value": "minutes", "bounds": (0, 600)}
    plan = dame.plan_from_json(json.loads((folder / "plan.json").read_text()))
    population = dame.Population.table(str(folder / "*.csv"), **layout)
    estimate = json.loads((folder / "estimate.json").read_text())
    assert dame.run(plan, population, seed=5).to_json() == estimate
