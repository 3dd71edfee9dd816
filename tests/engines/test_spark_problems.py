"""Problems of Spark and of its workers: one sentence each, whoever runs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dame.device.statistics import Value
from dame.engines.answers import Addressed
from dame.engines.layout import Layout
from dame.engines.report_files import write_reports
from dame.engines.spark_problems import sentences, spark_problems, starting
from dame.engines.spark_reports import tally_on_spark
from dame.engines.spark_sessions import read_records, spark_session
from dame.engines.spark_tables import SparkTable
from dame.errors import ClusterProblem, DameError, InvalidInput, MissingExtra
from tests.engines.questions import QUESTIONS
from tests.engines.tables import layout
from tests.engines.test_answers import many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKERS = "spark.sql.execution.pyspark.python"
BOUNDS = (0.0, 1.0)


@pytest.fixture
def table(spark: SparkSession) -> SparkTable:
    """A table that has not been read yet."""
    return SparkTable(spark.createDataFrame([("somebody", 0.5)], ["key 0", "the value"]), layout(BOUNDS))


@pytest.fixture
def bare(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    """Workers with a Python in which nothing is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    spark.conf.set(WORKERS, str(tmp_path / "bare" / "bin" / "python"))
    yield
    spark.conf.unset(WORKERS)


def sentence_of(problem: DameError) -> str:
    (line,) = str(problem).splitlines()
    return line


def test_a_table_on_workers_without_packages(bare: None, table: SparkTable) -> None:
    with pytest.raises(MissingExtra, match=r"The Python of a worker \(.*\) needs the extra 'engine'") as refused:
        table.survey()
    assert sentence_of(refused.value)


def test_reports_on_workers_without_packages(bare: None, spark: SparkSession, tmp_path: Path) -> None:
    question, path = QUESTIONS["vote"], tmp_path / "site.parquet"
    write_reports(path, Addressed(question=question), [many(20)])
    with pytest.raises(MissingExtra, match="'engine'"):
        tally_on_spark(spark, question, [path])


def test_workers_without_any_python(spark: SparkSession, table: SparkTable) -> None:
    spark.conf.set(WORKERS, "./environment/bin/python")
    try:
        with pytest.raises(ClusterProblem, match=r"Spark gave up: .*environment/bin/python") as refused:
            table.survey()
    finally:
        spark.conf.unset(WORKERS)
    assert sentence_of(refused.value)


def test_a_missing_table(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"table must be something that Spark reads \(\[PATH_NOT_FOUND\]") as refused:
        read_records(spark, str(tmp_path / "none.parquet"))
    assert sentence_of(refused.value)


def test_files_that_go_before_they_are_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text("key 0,the value\n1,0.5\n")
    table = SparkTable(read_records(spark, str(path)), layout(BOUNDS))
    path.unlink()
    with pytest.raises(InvalidInput, match="FAILED_READ_FILE") as refused:
        table.survey()
    assert sentence_of(refused.value)


def test_names_with_braces(spark: SparkSession) -> None:
    columns = ["{records}", "a{b}}"]
    frame = spark.createDataFrame([("somebody", 0.5), ("somebody", 1.5)], columns)
    how = Layout(user=("{records}",), statistics=(Value(column="a{b}}", low=0.0, high=1.0),), study="study")
    assert SparkTable(frame, how).survey().users == 1


def test_another_version_of_python() -> None:
    from pyspark.errors import PythonException

    said = "Traceback:\nRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has version 3.8.\n more"
    wanted = r"same version of Python: Python in worker has version 3\.8\.$"
    with pytest.raises(ClusterProblem, match=wanted), sentences("table", "this one"):
        raise PythonException(said)


def test_mistakes_of_ours_stay_as_they_are() -> None:
    from pyspark.errors import PythonException

    with pytest.raises(PythonException, match="ZeroDivisionError"), sentences("table", "this one"):
        raise PythonException("Traceback:\nZeroDivisionError: division by zero")


def test_clients_without_py4j(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors import AnalysisException, PySparkException

    monkeypatch.setitem(sys.modules, "py4j.protocol", None)
    assert spark_problems() == (PySparkException,)
    with pytest.raises(InvalidInput, match="gone"), sentences("table", "this one"):
        raise AnalysisException("gone")


def test_drivers_without_packages() -> None:
    from pyspark.errors import PySparkImportError

    with pytest.raises(MissingExtra, match="'spark'"), sentences("table", "this one"):
        raise PySparkImportError("[PACKAGE_NOT_INSTALLED] Pandas must be installed")


@pytest.mark.parametrize(
    ("master", "complaint"),
    [
        ("abacus", "master must be a text that starts with local, spark://"),
        ("sc://127.0.0.1:9", "master must be a server that answers"),
        ("sc://127.0.0.1:many", "master must be a server that answers"),
    ],
)
def test_masters_that_are_none(master: str, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dame.engines.spark_sessions.getproxies", dict)
    with pytest.raises(InvalidInput, match=complaint) as refused:
        spark_session(master)
    assert sentence_of(refused.value)


def test_a_session_that_does_not_start() -> None:
    from pyspark.errors import PySparkRuntimeError

    with pytest.raises(ClusterProblem, match="Spark does not start: no Java"), starting(None):
        raise PySparkRuntimeError("no Java\nmore")
    with pytest.raises(InvalidInput, match="master must be one on which Spark starts"), starting("yarn"):
        raise PySparkRuntimeError("no YARN\nmore")
    with pytest.raises(MissingExtra, match="'spark'"), starting("sc://here"):
        raise ImportError("grpcio must be installed")
