"""Tables in files, and the one Spark session of the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dame.engines.spark_sessions import spark_session

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
