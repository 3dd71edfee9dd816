"""Tallies of report files on a cluster: partial tallies of the partitions, added up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dame.device.questions import Question
from dame.device.reports import report_bytes
from dame.engines.report_files import GROUP, ID_BYTES
from dame.engines.report_tallies import Counted, count_rows, matrix
from dame.engines.spark_problems import is_unreadable, sentences, spark_problems
from dame.engines.spark_tables import Batches, collected
from dame.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


MALFORMED = "malformed"
"""The reason for which a tally is not used: a file that holds such a row is not whole."""
CHECK_PAGES = "parquet.page.verify-checksum.enabled"


def tally_on_spark(session: SparkSession, question: Question, paths: Sequence[Path | str]) -> Counted:
    """The tally of all reports in some files, as `tally_files` gives it."""
    names = [str(path) for path in paths]
    with sentences("reports", names):
        # Spark passes over files of no bytes; this look at the sizes finds missing files, too.
        counted = _tried(session, question, names) if _none_empty(session, names) else None
        if counted is not None and MALFORMED not in counted.rejected:
            return counted
        # Rare enough to read everything again: a file counts as a whole or not at all.
        whole = _whole(session, question, names)
        counted = _tally(session, question, whole)
    return counted + Counted(question=question, rejected={"unreadable": len(names) - len(whole)})


def _tried(session: SparkSession, question: Question, names: Sequence[str]) -> Counted | None:
    """The tally of the files, or nothing if one of them cannot be read."""
    try:
        return _tally(session, question, names)
    except spark_problems() as problem:
        if is_unreadable(problem):
            return None
        raise


def _whole(session: SparkSession, question: Question, names: Sequence[str]) -> list[str]:
    """Those of the files that are files of reports from the first to the last row."""
    if _all_whole(session, question, names):
        return list(names)
    if len(names) == 1:
        return []
    half = len(names) // 2
    return _whole(session, question, names[:half]) + _whole(session, question, names[half:])


def _all_whole(session: SparkSession, question: Question, names: Sequence[str]) -> bool:
    try:
        return _none_empty(session, names) and _reports(session, names).filter(_malformed(question)).isEmpty()
    except spark_problems() as problem:
        if is_unreadable(problem):
            return False
        raise


def _none_empty(session: SparkSession, names: Sequence[str]) -> bool:
    files = session.read.format("binaryFile").load(list(names)).select("path")
    return files.count() >= len(files.inputFiles())


def _malformed(question: Question) -> str:
    """The condition that a row is no report, whatever it holds."""
    lengths = {"report_id": ID_BYTES, "report": report_bytes(question)}
    return " OR ".join(f"coalesce(octet_length({name}), 0) <> {length}" for name, length in lengths.items())


def _tally(session: SparkSession, question: Question, names: Sequence[str]) -> Counted:
    counted = Counted(question=question)
    if names:
        for part in collected(_ids(_reports(session, names), question), partial(_count, question)):
            tallies = {group: Tally.of(question, windows) for group, windows in part["tallies"].items()}
            counted += Counted(question=question, tallies=tallies, rejected=part["rejected"])
    return counted


def _reports(session: SparkSession, names: Sequence[str]) -> DataFrame:
    """The rows of all files; the group is empty where a file has none."""
    rows = session.read.option(CHECK_PAGES, "true").option("mergeSchema", "true").parquet(*names)
    group = f"coalesce({GROUP}, '')" if GROUP in rows.columns else "''"
    return rows.selectExpr("report_id", "report", f"{group} AS {GROUP}")


def _ids(reports: DataFrame, question: Question) -> DataFrame:
    """One row an id: a report of it, whether there is a different one, how many rows it has, and how many are none."""
    from pyspark.sql.functions import expr

    torn = f"min(report) <> max(report) OR min({GROUP}) <> max({GROUP})"
    what = ("min(report) AS report", f"min({GROUP}) AS {GROUP}", f"{torn} AS torn")
    how_many = ("count(*) AS copies", f"count_if({_malformed(question)}) AS malformed")
    return reports.groupBy("report_id").agg(*map(expr, (*what, *how_many)))


def _count(question: Question, batches: Batches) -> object:
    counted = Counted(question=question)
    for batch in batches:
        counted += _count_batch(question, batch)
    tallies = {group: tally.windows for group, tally in counted.tallies.items()}
    return {"tallies": tallies, "rejected": dict(counted.rejected)}


def _count_batch(question: Question, batch: Any) -> Counted:
    import pyarrow as pa

    copies, malformed = (int(np.asarray(batch.column(name)).sum()) for name in ("copies", "malformed"))
    if malformed:
        return Counted(question=question, rejected={MALFORMED: malformed})
    torn = np.asarray(batch.column("torn"))
    rows, names = (batch.column(name).filter(pa.array(~torn)) for name in ("report", GROUP))
    groups = np.array(names.to_pylist(), np.str_)
    counted = count_rows(question, matrix(pa.chunked_array([rows]), report_bytes(question)), groups)
    return counted + Counted(question=question, rejected={"duplicate": copies - len(rows)})
