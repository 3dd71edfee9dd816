"""Tables in files, and the one Spark session of the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dame.cli.app import run
from dame.engines.spark_sessions import spark_session
from dame.engines.sql import Reduction
from tests.engines.calls import Call
from tests.engines.tables import kind_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark with two threads on this machine; a few partitions are enough for small tables."""
    pytest.importorskip("pyspark", reason="tests of Spark need the extra 'spark'")
    settings = {
        "spark.sql.shuffle.partitions": "3",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
    }
    session = spark_session("local[2]", **settings)
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


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


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reductions that are taken from now on, each as one of FULL, CLEAN and WITHIN."""
    taken: list[str] = []
    query = Reduction.query
    monkeypatch.setattr(Reduction, "query", lambda how, table: taken.append(kind_of(how)) or query(how, table))
    return taken
