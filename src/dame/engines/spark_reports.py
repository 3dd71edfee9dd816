"""Tallies of report files on a cluster: partial tallies of the partitions, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dame.device.questions import Question
from dame.device.reports import report_bytes
from dame.engines.report_tallies import Counted, count_rows, matrix
from dame.engines.spark_sessions import sentences
from dame.engines.spark_tables import Batches, collected
from dame.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def tally_on_spark(session: SparkSession, question: Question, paths: Sequence[Path | str]) -> Counted:
    """The tally of all reports in some files, as `tally_files` gives it; a damaged file stops it."""
    with sentences("reports", [str(path) for path in paths]):
        parts = collected(_ids(session.read.parquet(*map(str, paths))), partial(_count, question))
    counted = Counted(tally=Tally.zero(question))
    for part in parts:
        counted += Counted(tally=Tally.from_json(part["tally"], question), rejected=part["rejected"])
    return counted


def _ids(reports: DataFrame) -> DataFrame:
    """One row an id: a report of it, whether there is a different one, and how many rows it has."""
    from pyspark.sql.functions import expr

    totals = ("min(report) AS report", "min(report) <> max(report) AS torn", "count(*) AS copies")
    return reports.groupBy("report_id").agg(*map(expr, totals))


def _count(question: Question, batches: Batches) -> object:
    counted = Counted(tally=Tally.zero(question))
    for batch in batches:
        counted += _count_batch(question, batch)
    return {"tally": counted.tally.to_json(), "rejected": dict(counted.rejected)}


def _count_batch(question: Question, batch: Any) -> Counted:
    import pyarrow as pa
    import pyarrow.compute as pc

    torn = np.asarray(batch.column("torn").fill_null(False))
    rows = batch.column("report").filter(pa.array(~torn))
    right = pc.fill_null(pc.equal(pc.binary_length(rows), report_bytes(question)), False)
    fitting = rows.filter(right)
    copies = int(np.asarray(batch.column("copies")).sum())
    rejected = Counter(duplicate=copies - len(rows), length=len(rows) - len(fitting))
    counted = count_rows(question, matrix(pa.chunked_array([fitting]), report_bytes(question)))
    return counted + Counted(tally=Tally.zero(question), rejected=rejected)
