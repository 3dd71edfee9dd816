"""Work that is interrupted, killed, or runs out of disk: no half-written file, and a second run starts cleanly.

Every test here ends a process of its own in the middle of the real work.
"""

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
import pytest

import dame
from tests.engines.calls import COLUMNS, Call, document

INTERRUPTED = 130
ENDLESS = "CREATE VIEW records AS SELECT range % 7 AS who, 0.5 AS what FROM range(1000000000000)"

DIE_IN_THE_MIDDLE = """
import os, signal, sys
from pyarrow import parquet
from dame.cli.app import run
from dame.engines import report_files

report_files.ROWS_IN_GROUP = 64
write = parquet.ParquetWriter.write_batch

def write_and_die(self, batch, *rest):
    write(self, batch, *rest)
    os.kill(os.getpid(), signal.SIG{name})

parquet.ParquetWriter.write_batch = write_and_die
sys.exit(run(sys.argv[1:]))
"""
DIE_BEFORE_THE_NAME = """
import os, pathlib, signal, sys
from dame.cli.app import run

pathlib.Path.replace = lambda draft, path: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(run(sys.argv[1:]))
"""
LITTLE_DISK = """
import resource, sys
from dame.cli.app import run

resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def study(call: Call, table: Path) -> Path:
    """A folder with a table, a plan and its first question."""
    words = ["--users", 300, "--alpha", 1, "--sizes", "poisson:20", "--bounds", -2, 8, "--protocol", "paper"]
    assert call("plan", *words, "--no-compare", "--out", table.parent / "plan.json")[0] == 0
    assert call("ask", table.parent / "plan.json", "--out", table.parent / "question.json")[0] == 0
    return table.parent


def answer_words(folder: Path) -> list[object]:
    """A call of dame answer with repeatable coins."""
    words = [folder / "question.json", folder / "table.parquet", *COLUMNS, "--plan", folder / "plan.json"]
    return ["answer", *words, "--out", folder / "reports.parquet", "--seed", 3]


def ended(script: str, words: list[object]) -> subprocess.CompletedProcess[str]:
    """The command in a process that the script brings to a bad end."""
    listed = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.run(listed, capture_output=True, text=True, timeout=120, check=False)


def names(folder: Path) -> set[str]:
    """All files in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("command", ["answer", "pilot"])
def test_interrupted_while_reading(tmp_path: Path, command: str) -> None:
    """Ctrl-C during a query that would never end: code 130, and no file, whole or half, not even a temporary one."""
    database, question = tmp_path / "endless.duckdb", tmp_path / "question.json"
    with duckdb.connect(str(database)) as session:
        session.execute(ENDLESS)
    plan = dame.plan(users=7, alpha=1.0, sizes=dame.Sizes.constant(5), protocol="one-bit")
    question.write_text(json.dumps(dame.first(plan).to_json()))
    table = f"{database}::records"
    words = {
        "answer": [question, table, *COLUMNS, "--out", tmp_path / "reports.parquet"],
        "pilot": [table, *COLUMNS, "--bounds", 0, 1, "--alpha", 1, "--memory-limit", "256MB"],
    }[command]
    process = subprocess.Popen(
        [sys.executable, "-m", "dame", command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        wait_for(lambda: any(tmp_path.glob("dame-spill-*")), process)
        time.sleep(1.0)  # into the query itself
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == INTERRUPTED
    assert out == ""
    assert "Traceback" not in err
    assert names(tmp_path) == {"endless.duckdb", "question.json"}


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Returns when it is so, while the process runs."""
    deadline = time.monotonic() + 60
    while not ready():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_interrupted_while_writing(study: Path) -> None:
    before = names(study)
    done = ended(DIE_IN_THE_MIDDLE.format(name="INT"), answer_words(study))
    assert done.returncode == INTERRUPTED
    assert "Traceback" not in done.stderr
    assert names(study) == before


def test_killed_while_writing(study: Path, call: Call) -> None:
    """Nobody can clean up after kill -9: what stays is a hidden draft, and the next run takes its place."""
    before = names(study)
    assert ended(DIE_IN_THE_MIDDLE.format(name="KILL"), answer_words(study)).returncode == -signal.SIGKILL
    assert names(study) == before | {".reports.parquet.draft"}
    again = document(call, *answer_words(study))
    assert names(study) == before | {"reports.parquet"}
    found = document(call, "tally", study / "question.json", study / "reports.parquet")
    assert sum(found["reports"]) == again["reports"] > 100
    whole = (study / "reports.parquet").read_bytes()
    (study / "reports.parquet").unlink()
    document(call, *answer_words(study))
    assert (study / "reports.parquet").read_bytes() == whole


@pytest.mark.parametrize("command", ["ask", "answer", "tally", "tally --merge"])
def test_killed_before_the_name(study: Path, call: Call, command: str) -> None:
    """The last moment: everything is written, and the file has not got its name yet."""
    assert call(*answer_words(study)[:-4], "--out", study / "done.parquet")[0] == 0
    assert call("tally", study / "question.json", study / "done.parquet", "--out", study / "done.json")[0] == 0
    words = {
        "ask": ["ask", study / "plan.json", study / "done.json", "--out", study / "next.json"],
        "answer": answer_words(study),
        "tally": ["tally", study / "question.json", study / "done.parquet", "--out", study / "tally.json"],
        "tally --merge": [
            "tally",
            study / "question.json",
            "--merge",
            study / "done.json",
            "--out",
            study / "sum.json",
        ],
    }[command]
    before, out = names(study), Path(str(words[words.index("--out") + 1])).name
    assert ended(DIE_BEFORE_THE_NAME, words).returncode == -signal.SIGKILL
    assert names(study) == before | {f".{out}.draft"}
    assert call(*words)[0] == 0
    assert names(study) == before | {out}


def test_no_room_on_the_disk(study: Path) -> None:
    before = names(study)
    done = ended(LITTLE_DISK, answer_words(study))
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
    assert "too large" in line
    assert names(study) == before
