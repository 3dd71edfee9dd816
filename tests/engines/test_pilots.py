"""dame pilot, as people call it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dame
from tests.engines.calls import COLUMNS, Call, document, refusal

PILOT_KEYS = {
    "estimate", "interval", "standard_error", "true_mean", "users", "records", "seconds", "rounds", "clipped", "nulls",
}  # fmt: skip


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
        found = document(call, *words, "--repetitions", 400, "--no-compare")
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
        for word in ("5,991 records of 300 users", "truth", "RMSE", "95 % interval"):
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
        path.write_text(json.dumps(dame.plan_to_json(plan)))
        code, out, err = call("pilot", table, *COLUMNS, "--plan", path, "--json")
        assert code == 0
        assert json.loads(out)["study"] == plan.study
        assert "made for 500 users, the table has 300" in err
        for extra in (["--alpha", 1], ["--bounds", -2, 8], ["--identity", "s"]):
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
        says = "targets must be given, with --target, with --bounds, or in a study file"
        assert says in refusal(call, "pilot", table, *COLUMNS, "--alpha", 1)
        assert "alpha must be" in refusal(call, "pilot", table, *COLUMNS, "--bounds", 0, 1)
        assert "No files found" in refusal(call, "pilot", "none.csv", *COLUMNS, "--bounds", 0, 1, "--alpha", 1)


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


def test_progress_is_told(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.engines.duckdb_tables.SECONDS_BETWEEN_LOOKS", 0.001)
    from dame.device.statistics import Value
    from dame.engines.duckdb_tables import reduce_table
    from dame.engines.layout import Layout

    told: list[int] = []
    rows = pa.table({"who": np.arange(2_000_000) % 1000, "what": np.linspace(0, 1, 2_000_000)})
    layout = Layout(user=("who",), statistics=(Value(low=0.0, high=1.0),), value="what", study="s")
    reduce_table(rows, layout, progress=told.append)
    assert told
    assert all(0 <= percent <= 100 for percent in told)
