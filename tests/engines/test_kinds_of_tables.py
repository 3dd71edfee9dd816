"""Every kind of file and key through the commands: the numbers that the plain engine gives for the same rows."""

from __future__ import annotations

import math
import uuid
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dame.engines.keys import Key
from dame.engines.study import carry_out
from dame.sizes import Sizes
from dame.studies.plans import Plan
from dame.studies.study import plan as make_plan
from tests.engines.calls import Call, document, refusal
from tests.engines.tables import Rows, arrow, plain

BOUNDS = (-2.0, 8.0)
USERS = 60
ODD = (math.nan, math.inf, -math.inf, None, None, 1e9, -1e9)
COUNTED = {"clipped": 2, "nulls": 2, "not_finite": 3, "without_user": 4, "without_records": 1}
SETTINGS = ["--bounds", *BOUNDS, "--alpha", 1, "--protocol", "paper", "--sizes", "poisson:20", "--seed", 11]
KINDS = ["integer", "text", "uuid", "several columns"]
FILES = ["parquet", "csv", "json", "duckdb", "parquet glob", "csv glob"]


def key_of(kind: str, number: int) -> tuple[Key, ...]:
    """The key of a user."""
    return {
        "integer": (number * 10**15 - 7,),
        "text": (f"it's “user” {number}, \\ 100 %",),
        "uuid": (uuid.UUID(int=number << 100 | 0xABCDEF),),
        "several columns": (f"DE{number % 7}", number // 7),
    }[kind]


def rows_of(kind: str) -> Rows:
    """Records of 60 users, a user with a null only, and every kind of unusable record."""
    rng = np.random.default_rng(8)
    keys = [key_of(kind, number) for number in range(USERS)]
    rows: Rows = [(keys[place % USERS], float(value)) for place, value in enumerate(rng.uniform(*BOUNDS, 900))]
    rows += [(keys[place], value) for place, value in enumerate(ODD[:-3])]
    rows += [(key_of(kind, USERS), ODD[4])] + [(keys[9], value) for value in ODD[5:]]
    rows += [((None,) * len(keys[0]), value) for value in (1.0, None, math.nan, 100.0)]
    return [rows[place] for place in rng.permutation(len(rows))]


def write(folder: Path, kind: str, rows: Rows) -> str:
    """The rows as such a source."""
    table = arrow(rows)
    target, with_glob, session = folder / f"table.{kind.split(maxsplit=1)[0]}", kind.endswith("glob"), duckdb.connect()
    if kind == "duckdb":
        session.register("records", table)
        session.execute(f"ATTACH '{target}' AS file; CREATE TABLE file.\"my records\" AS FROM records").fetchall()
        session.close()
        return f"{target}::my records"
    pieces = [table.slice(0, 300), table.slice(300, 1), table.slice(301)] if with_glob else [table]
    for number, piece in enumerate(pieces):
        path = target.with_stem(f"table-{number}")
        if path.suffix == ".parquet":
            pq.write_table(piece, path)
        else:
            session.register("records", piece)
            session.execute(f"COPY (FROM records) TO '{path}'").fetchall()
    session.close()
    return str(folder / (f"table-*{target.suffix}" if with_glob else f"table-0{target.suffix}"))


def columns_of(kind: str) -> list[object]:
    """The options that name the columns."""
    users = ["--user", "key 0"] + (["--user", "key 1"] if kind == "several columns" else [])
    return [*users, "--value", "the value"]


def the_plan(study: str = "seed-11") -> Plan:
    return make_plan(
        users=USERS, alpha=1.0, sizes=Sizes.parse("poisson:20"), protocol="paper", bounds=BOUNDS, study=study
    )


@pytest.mark.parametrize("files", FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_pilots(call: Call, tmp_path: Path, kind: str, files: str) -> None:
    rows = rows_of(kind)
    oracle = plain(rows, BOUNDS, "seed-11")
    ((right,),) = carry_out(the_plan(), oracle, seed=11)
    found = document(call, "pilot", write(tmp_path, files, rows), *columns_of(kind), *SETTINGS)
    assert [round_["tally"] for round_ in found["rounds"]] == [tally.to_json() for tally in right.tallies]
    assert found["estimate"] == right.estimate.value
    assert (found["users"], found["records"]) == (USERS, 902)
    assert {name: found[name] for name in COUNTED} == COUNTED


@pytest.mark.parametrize("files", ["parquet", "csv glob"])
@pytest.mark.parametrize("kind", KINDS)
def test_answers(call: Call, tmp_path: Path, kind: str, files: str) -> None:
    """The reports that a site writes are those of the plain engine, and what it leaves out is counted."""
    rows, question, reports = rows_of(kind), tmp_path / "question.txt", tmp_path / "reports.pq"
    oracle = plain(rows, BOUNDS, "files", keep_absent=True)
    ((outcome,),) = carry_out(the_plan("files"), oracle, seed=11)
    right = outcome.tallies[0]
    words = ["--users", USERS, *SETTINGS[:-2], "--identity", "files", "--no-compare", "--out", tmp_path / "plan.txt"]
    assert call("plan", *words)[0] == 0
    assert call("ask", tmp_path / "plan.txt", "--out", question)[0] == 0
    words = [question, write(tmp_path, files, rows), *columns_of(kind), "--plan", tmp_path / "plan.txt", "--seed", 11]
    found = document(call, "answer", *words, "--out", reports)
    assert {name: found[name] for name in COUNTED} == COUNTED
    assert found["reports"] == right.reports
    tally = document(call, "tally", question, reports)
    assert {name: tally[name] for name in right.to_json()} == right.to_json()


class TestBadTables:
    """One sentence each, and nothing else."""

    WORDS = ("--user", "who", "--value", "what", *SETTINGS)

    def complaint(self, call: Call, table: object) -> str:
        line = refusal(call, "pilot", table, *self.WORDS)
        assert line.startswith("dame: ")
        return line

    def test_no_table_at_all(self, call: Call, tmp_path: Path) -> None:
        for name in ("none.parquet", "none-*.csv", "none.duckdb::records", "folder/none.json"):
            assert name.partition("::")[0] in self.complaint(call, tmp_path / name)
        assert "table must be" in self.complaint(call, "")

    @pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.json", "t.duckdb::records", "t.xyz"])
    def test_rubbish(self, call: Call, tmp_path: Path, name: str) -> None:
        (tmp_path / name.partition("::")[0]).write_bytes(b"PAR1\x00rubbish,\xff\n")
        assert "must be" in self.complaint(call, tmp_path / name)

    def test_truncated(self, call: Call, table: Path) -> None:
        table.write_bytes(table.read_bytes()[:-1000])
        assert "table.parquet" in self.complaint(call, table)

    def test_damaged_inside(self, call: Call, table: Path) -> None:
        """The footer is whole, the pages are not: noticed while the query runs."""
        content = bytearray(table.read_bytes())
        content[100:3000] = bytes(2900)
        table.write_bytes(content)
        assert "table.parquet" in self.complaint(call, table)

    def test_no_rows(self, call: Call, tmp_path: Path) -> None:
        path = tmp_path / "empty.parquet"
        pq.write_table(pa.table({"who": pa.array([], pa.int64()), "what": pa.array([], pa.float64())}), path)
        assert "at least one record" in self.complaint(call, path)

    def test_nothing_usable(self, call: Call, tmp_path: Path) -> None:
        path = tmp_path / "unusable.parquet"
        pq.write_table(pa.table({"who": pa.array([1, None]), "what": pa.array([None, 1.0])}), path)
        assert "2 unusable records" in self.complaint(call, path)

    @pytest.mark.parametrize(
        ("columns", "complaint"),
        [
            ({"who": [1.5], "what": [1.0]}, "user column must be a column of integers, texts or UUIDs"),
            ({"who": [[1]], "what": [1.0]}, "user column must be"),
            ({"who": [1], "what": ["1.0"]}, "value column must be a column of numbers"),
            ({"who": [1]}, "value column must be one of who"),
            ({"WHO": [1], "what": [1.0]}, "user column must be one of WHO, what"),
        ],
    )
    def test_other_columns(self, call: Call, tmp_path: Path, columns: dict, complaint: str) -> None:
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table(columns), path)
        assert complaint in self.complaint(call, path)

    def test_files_that_differ(self, call: Call, tmp_path: Path) -> None:
        pq.write_table(pa.table({"who": [1], "what": [1.0]}), tmp_path / "t-1.parquet")
        pq.write_table(pa.table({"who": ["x"], "what": ["y"]}), tmp_path / "t-2.parquet")
        assert "t-2.parquet" in self.complaint(call, tmp_path / "t-*.parquet")

    def test_too_little_memory(self, call: Call, table: Path) -> None:
        line = refusal(call, "pilot", table, *self.WORDS, "--memory-limit", "1MB")
        assert "memory limit must be a size of at least 64MiB" in line
