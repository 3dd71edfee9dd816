"""Tables on many machines: Spark reduces the records, its workers draw the reports, and partial tallies come back.

The driver never sees a user: it sends questions out and adds up what the partitions return. Workers need this
package and pyarrow (see docs/scale.md).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from dame.device.statistics import Statistic
from dame.engines.answers import Addressed, join_tallies, tally_all
from dame.engines.dialects import SPARK
from dame.engines.layout import ColumnTypes, Layout
from dame.engines.people import Held, People
from dame.engines.record_cells import cells_query, cells_survey, wanted
from dame.engines.reduced import held_in, read_batches
from dame.engines.spark_problems import sentences
from dame.engines.spark_sessions import BATCH_SETTING
from dame.engines.sql import Reduction, RowNames
from dame.engines.survey import Survey, added
from dame.protocols import EVERYBODY
from dame.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterable["pa.RecordBatch"]
Work = Callable[[Batches], object]
"""What a partition makes of its rows: something that JSON can hold."""

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
TYPES = ColumnTypes(
    keys=_WHOLE | {"string"},
    numbers=_WHOLE | {"float", "double", "decimal", "boolean"},
    texts=frozenset({"string"}),
    groups=_WHOLE | {"string", "boolean"},
)
PACKET = "survey string, people binary"
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
        texts, session = layout.check(types, TYPES), records.sparkSession
        how = Reduction(dialect=SPARK, layout=layout, texts=texts)
        fewer, plain = _setting(session, _FEWER_PARTITIONS, "true"), _setting(session, _BUCKETS, "false")
        with sentences("table", _SOME_TABLE), fewer, plain:
            reduced = _queried(records, how.query)
            self._packets = reduced.mapInArrow(partial(_packets, layout, how.row()), PACKET).persist()
            self._people = self._packets.select("people")
            self._cells = [
                (statistic, _queried(records, partial(_cells_query, how, statistic))) for statistic in wanted(layout)
            ]
        self._layout = layout
        self._held = held_in(layout, how.row())
        self._survey: Survey | None = None

    def survey(self) -> Survey:
        """What was counted; the first call reads the records."""
        if self._survey is None:
            with sentences("table", _SOME_TABLE):
                rows = self._packets.select("survey").collect()
                cells = [cells_survey(statistic, map(tuple, query.collect())) for statistic, query in self._cells]
            surveys = (Survey.from_json(json.loads(row.survey), self._layout.statistics) for row in rows)
            self._survey = added([*surveys, *cells]).check(self._layout)
        return self._survey

    def tallies(self, addressed: Sequence[Addressed]) -> list[dict[str, Tally]]:
        """For each question the tally of each group, in one pass over the people."""
        tallies: list[dict[str, Tally]] = [{} for _ in addressed]
        session = self._packets.sparkSession
        with sentences("table", _SOME_TABLE), _setting(session, BATCH_SETTING, str(PACKETS_AT_ONCE)):
            parts = collected(self._people, partial(_windows, tuple(addressed), self._held))
        for part in parts:
            for known, one, groups in zip(tallies, addressed, part, strict=True):
                join_tallies(known, {group: Tally.of(one.question, found) for group, found in groups.items()})
        return [known or {EVERYBODY: Tally.zero(one.question)} for known, one in zip(tallies, addressed, strict=True)]

    def close(self) -> None:
        """Frees what the cluster keeps of this table."""
        self._packets.unpersist()


def _cells_query(how: Reduction, statistic: Statistic, table: str) -> str:
    return cells_query(how, table, statistic)


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


def _packets(layout: Layout, names: RowNames, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The people of each batch in a packet, and their survey."""
    import pyarrow as pa

    for part in read_batches(layout, names, batches):
        survey, people = json.dumps(part.survey.to_json()), part.people.packed()
        columns = [pa.array([survey], pa.string()), pa.array([people], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["survey", "people"])


def _windows(addressed: Sequence[Addressed], held: Held, batches: Batches) -> object:
    """What a partition adds to the tallies of each question: reports and sums in each window, and no question again."""
    packets = (packet for batch in batches for packet in batch.column("people").to_pylist())
    tallies = tally_all(addressed, (People.unpacked(packet, held) for packet in packets))
    return [{group: tally.windows for group, tally in groups.items()} for groups in tallies]


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
