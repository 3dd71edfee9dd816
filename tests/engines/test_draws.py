"""Records that an engine draws for `Drawn`: each as likely, on the grid, fresh in each repetition, and no more kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.statistics import Drawn, Value, drawn_place
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import MOST_DRAWS, Layout
from dame.engines.people import People
from dame.engines.plain_tables import reduce_columns
from dame.errors import InvalidInput
from dame.vectorised.coins import StreamCoins
from dame.vectorised.statistics import drawn_places
from tests.chances import FALSE_ALARM, POWER, p_value, power

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEOPLE = 2_000
SKEW = [0.0, 0.0, 0.0, 1.0, 4.0, 99.0, None, float("nan")]
"""The records of everybody: 0 three times, one beyond the bounds, one of no value and one that does not count."""
CHANCES = {0: 3 / 6, 1: 1 / 6, 4: 1 / 6, 8: 1 / 6}
VALUES_ALIKE = dict.fromkeys(CHANCES, 1 / 4)
"""The mistake to find: not each record is as likely, but each value."""
STATISTIC = Drawn(column="x", low=0.0, high=8.0)


def table() -> dict[str, list[object]]:
    """The records of everybody, and somebody without any that counts."""
    who = [person for person in range(PEOPLE) for _ in SKEW]
    return {"who": [*who, PEOPLE], "x": [*SKEW * PEOPLE, None]}


def layout(draws: int = 1, **more: object) -> Layout:
    return Layout(**{"user": ("who",), "statistics": (STATISTIC,), "study": "s", "draws": draws, **more})


def drawn(parts: list[People]) -> np.ndarray:
    """What was drawn of everybody, in units, a row each."""
    rows = np.concatenate([part.draws[0] for part in parts])
    return (rows / 2**30 + 1) * 4


def check(values: np.ndarray) -> None:
    """Whether each record is as likely, in each of the draws."""
    assert power(CHANCES, VALUES_ALIKE, PEOPLE) > POWER
    assert np.array_equal(values, np.round(values))
    for column in values.T:
        assert p_value(column.astype(int).tolist(), CHANCES) > FALSE_ALARM


@pytest.mark.parametrize("draws", [1, 3])
class TestEachRecordIsAsLikely:
    def test_in_duckdb(self, draws: int) -> None:
        check(drawn(list(reduce_table(pa.table(table()), layout(draws)).people)))

    def test_in_clean_files(self, draws: int, tmp_path: Path) -> None:
        """Through the quicker aggregation, which reads records before they are clipped."""
        kept = [value for value in SKEW if value is not None and not np.isnan(value)]
        path = tmp_path / "t.parquet"
        who = np.repeat(np.arange(PEOPLE), len(kept))
        pq.write_table(pa.table({"who": who, "x": kept * PEOPLE}), path)
        check(drawn(list(reduce_table(str(path), layout(draws)).people)))

    def test_without_an_engine(self, draws: int) -> None:
        check(drawn(list(reduce_columns(table(), layout(draws)).people)))

    def test_on_spark(self, draws: int, spark: SparkSession) -> None:
        from dame.engines.spark_tables import SparkTable

        cluster = SparkTable(spark.createDataFrame(pa.table(table())).repartition(3), layout(draws))
        packets = [bytes(row.people) for row in cluster._people.collect()]
        check(drawn([People.unpacked(packet, cluster._held) for packet in packets]))
        assert cluster.survey().of(STATISTIC).users == PEOPLE
        cluster.close()


def test_draws_are_fresh() -> None:
    """Any two of them agree as often as independent ones do."""
    values = drawn(list(reduce_table(pa.table(table()), layout(4)).people))
    same = sum(chance**2 for chance in CHANCES.values())
    law, always = {0: 1 - same, 1: same}, {0: 0.0, 1: 1.0}
    assert power(law, always, PEOPLE) > POWER
    for one in range(4):
        for other in range(one):
            assert p_value((values[:, one] == values[:, other]).astype(int).tolist(), law) > FALSE_ALARM


def test_what_is_known_besides() -> None:
    """Everybody stands for one record, and the true mean is that of all records."""
    reduced = reduce_table(pa.table(table()), layout(2, statistics=(STATISTIC, Value(column="x", low=0.0, high=8.0))))
    ours, values = reduced.survey().columns.values()
    assert ours.sizes == Counter({1: PEOPLE})
    assert values.sizes == Counter({6: PEOPLE})
    assert ours.true_mean == values.true_mean
    assert ours.left_out() == values.left_out()
    assert ours.clipped == PEOPLE
    for part in reduced.people:
        assert part.held.bytes_each == 8 * (1 + 1 + 2) + 4 * 2
        assert len(part.packed()) == 8 + part.held.bytes_each * len(part) + len("[]")
        again = People.unpacked(part.packed(), part.held)
        assert np.array_equal(again.draws, part.draws)


def test_somebody_without_records_answers_from_the_middle() -> None:
    for reduce in (lambda how: reduce_table(pa.table(table()), how), lambda how: reduce_columns(table(), how)):
        absent = []
        for part in reduce(layout(3, keep_absent=True)).people:
            sizes, means = part.answering(STATISTIC, StreamCoins(len(part)))
            assert (sizes == 1).all()
            absent += means[part.counts[0] == 0].tolist()
        assert absent == [0.0]


def test_coins_choose_among_the_draws() -> None:
    """A repetition has other coins, and so other records."""
    parts = list(reduce_table(pa.table(table()), layout(MOST_DRAWS)).people)
    each = [[part.answering(STATISTIC, StreamCoins(len(part)))[1] for part in parts] for _ in range(12)]
    runs = np.array([np.concatenate(run) for run in each])
    assert (np.ptp(runs, axis=0) > 0).mean() > 0.9
    check((runs.T + 1) * 4)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20), st.integers(1, 2**32 - 1))
def test_places_as_on_the_device(words: list[int], count: int) -> None:
    found = drawn_places(np.array(words, np.uint64), count)
    assert found.tolist() == [drawn_place(word, count) for word in words]


@pytest.mark.parametrize("draws", [0, 17, 1.5])
def test_so_many_draws_only(draws: int) -> None:
    with pytest.raises(InvalidInput, match="draws"):
        layout(draws)
