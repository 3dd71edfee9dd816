"""People kept in memory or on disk: the same people."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dame.engines import store
from dame.engines.duckdb_tables import reduce_table
from dame.engines.store import PeopleStore
from tests.engines.tables import layout
from tests.engines.test_answers import many


@pytest.mark.parametrize("room", [0, 24 * 250, 24 * 500, 2**20])
def test_people_come_back_in_order(room: int) -> None:
    crowd, kept = many(500), PeopleStore(room)
    for start in range(0, 500, 90):
        kept.add(crowd.chosen(slice(start, start + 90)))
    kept.add(crowd.chosen(slice(0, 0)))
    for _ in range(2):
        parts = list(kept)
        assert np.concatenate([part.hashes for part in parts]).tolist() == crowd.hashes.tolist()
        for name in ("counts", "totals"):
            found = np.hstack([getattr(part, name) for part in parts])
            assert found.tolist() == np.array(getattr(crowd, name)).tolist()
    kept.close()


def test_many_users_under_a_small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"key 0": rng.integers(0, 200_000, 400_000), "the value": rng.uniform(-1, 1, 400_000)})
    free = reduce_table(table, layout())
    tight = reduce_table(table, layout(), memory_limit=2**26)
    assert tight.survey() == free.survey()
    written = []
    monkeypatch.setattr(store.PeopleStore, "_write", lambda self, people: written.append(len(people)))
    monkeypatch.setattr("dame.engines.duckdb_tables.IN_MEMORY", 10_000)
    reduce_table(table, layout())
    assert sum(written) > 100_000
