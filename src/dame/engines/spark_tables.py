"""Tables on many machines: Spark reduces the records, its workers draw the reports, and partial tallies come back.

The driver never sees a user: it sends questions out and adds up what the partitions return. Workers need this
package and pyarrow (see docs/scale.md).
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from dame.engines.answers import Addressed, tally_all
from dame.engines.layout import Layout
from dame.engines.people import People
from dame.engines.reduced import read_batches
from dame.engines.spark_problems import sentences
from dame.engines.spark_sessions import BATCH_SETTING
from dame.engines.sql import SPARK, Reduction
from dame.engines.survey import Survey, added
from dame.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterable["pa.RecordBatch"]
Work = Callable[[Batches], object]
"""What a partition makes of its rows: something that JSON can hold."""

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_KEY_TYPES = _WHOLE | {"string"}
_VALUE_TYPES = _WHOLE | {"float", "double", "decimal", "boolean"}
PACKETS_AT_ONCE = 16
"""Packets that a worker gets together: as many megabytes, times three."""

_SOME_TABLE = "this one"
_FEWER_PARTITIONS = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_BUCKETS = "spark.sql.sources.bucketing.autoBucketedScan.enabled"
"""What is kept is planned without it anyway; if it is on, Spark Connect does that in a second session, and sends and
unpacks the workers' environment again for it."""


class SparkTable:
    """A reduced table that stays on its cluster, cached there until it is closed.

    What is cached are people in packets, as the workers' Python made them: in a round it gets them back as they are,
    and Spark has nothing to convert.
    """

    def __init__(self, records: DataFrame, layout: Layout) -> None:
        with sentences("table", _SOME_TABLE):
            types = _types(records)
        layout.check(types, _KEY_TYPES, _VALUE_TYPES)
        session, how = records.sparkSession, Reduction(dialect=SPARK, layout=layout)
        fewer, plain = _setting(session, _FEWER_PARTITIONS, "true"), _setting(session, _BUCKETS, "false")
        with sentences("table", _SOME_TABLE), fewer, plain:
            reduced = _queried(records, how.query)
            self._packets = reduced.mapInArrow(_packets, "survey string, people binary").persist()
            self._people = self._packets.select("people")
        self._survey: Survey | None = None

    def survey(self) -> Survey:
        """What was counted; the first call reads the records."""
        if self._survey is None:
            with sentences("table", _SOME_TABLE):
                rows = self._packets.select("survey").collect()
            self._survey = added(_survey_from(json.loads(row.survey)) for row in rows).check()
        return self._survey

    def tallies(self, addressed: Sequence[Addressed]) -> list[Tally]:
        """The tally of each question, in one pass over the people."""
        tallies = [Tally.zero(one.question) for one in addressed]
        session = self._packets.sparkSession
        with sentences("table", _SOME_TABLE), _setting(session, BATCH_SETTING, str(PACKETS_AT_ONCE)):
            parts = collected(self._people, partial(_windows, tuple(addressed)))
        for part in parts:
            pairs = zip(tallies, part, strict=True)
            tallies = [tally.merge(Tally.of(tally.question, windows)) for tally, windows in pairs]
        return tallies

    def close(self) -> None:
        """Frees what the cluster keeps of this table."""
        self._packets.unpersist()


def _types(records: DataFrame) -> dict[str, str]:
    """The type of each column, decimal numbers without their digits."""
    return {name: kind.partition("(")[0] for name, kind in records.dtypes}


def collected(people: DataFrame, work: Work) -> list[Any]:
    """What the work gives on each partition."""
    rows = people.mapInArrow(partial(_work_on, work), "part binary").collect()
    return [json.loads(bytes(row.part)) for row in rows]


def _work_on(work: Work, batches: Batches) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    part = json.dumps(work(batches)).encode()
    yield pa.RecordBatch.from_arrays([pa.array([part], pa.binary())], names=["part"])


_COUNTERS = ("sizes", "mean_steps")


def _packets(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The people of each batch in a packet, and their survey."""
    import pyarrow as pa

    for part in read_batches(batches):
        counters = {name: list(getattr(part.survey, name).items()) for name in _COUNTERS}
        survey, people = json.dumps({**asdict(part.survey), **counters}), part.people.packed()
        columns = [pa.array([survey], pa.string()), pa.array([people], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["survey", "people"])


def _survey_from(document: dict[str, Any]) -> Survey:
    return Survey(**{**document, **{name: Counter(dict(map(tuple, document[name]))) for name in _COUNTERS}})


def _windows(addressed: Sequence[Addressed], batches: Batches) -> object:
    """What a partition adds to the tally of each question: reports and sums in each window, and no question again."""
    packets = (packet for batch in batches for packet in batch.column("people").to_pylist())
    return [tally.windows for tally in tally_all(addressed, map(People.unpacked, packets))]


def _queried(records: DataFrame, query: Callable[[str], str]) -> DataFrame:
    """What a query for the name of a table finds in these records.

    Spark gets the table as an argument: Spark Connect analyses late, when a view of ours would be gone.
    """
    name = f"dame_{uuid.uuid4().hex}"
    escaped = query(name).replace("{", "{{").replace("}", "}}")
    return records.sparkSession.sql(escaped.replace(name, "{records}"), records=records)


@contextmanager
def _setting(session: SparkSession, name: str, value: str) -> Iterator[None]:
    """A setting of the session, changed for a while: plans made meanwhile keep it."""
    before = session.conf.get(name)
    assert before is not None
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)
