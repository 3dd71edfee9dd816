"""Tables as populations: whatever holds them, dame.run and dame.simulate work on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dame
from dame.engines.study import carry_out
from dame.errors import DameError, InvalidInput, Mismatch

BOUNDS = (0.0, 10.0)
LAYOUT = {"user": "who", "value": "what", "bounds": BOUNDS}


@pytest.fixture(scope="module")
def records() -> pa.Table:
    """Records of 500 users."""
    rng = np.random.default_rng(1)
    return pa.table({"who": rng.integers(0, 500, 8000), "what": rng.gamma(2.0, 2.0, 8000)})


def plan_for(population: dame.Population, study: str | None = None) -> dame.Plan:
    """A plan for the users of a table."""
    return dame.plan(
        users=population.users,  # type: ignore[attr-defined]
        alpha=1.0,
        sizes=population.sizes,  # type: ignore[attr-defined]
        bounds=BOUNDS,
        protocol="paper",
        study=study or population.study,  # type: ignore[attr-defined]
    )


def test_any_holder_gives_one_estimate(records: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(records, path)
    frame = records.to_pandas()
    sources = [
        records,
        path,
        str(path),
        frame,
        frame.astype({"who": str}),
        pl.from_arrow(records),
        pl.scan_parquet(path),
    ]
    sources += [records.to_reader(), pd.concat([frame[4000:], frame[:4000]])]
    estimates = []
    for source in sources:
        population = dame.Population.table(source, **LAYOUT, study="one")
        estimates.append(dame.run(plan_for(population), population, seed=2).only)
    assert len(set(estimates)) == 1


def test_what_a_table_knows(records: pa.Table) -> None:
    population = dame.Population.table(records, **LAYOUT, memory_limit="512MB")
    frame = records.to_pandas()
    assert population.users == frame.who.nunique()
    assert population.sizes == dame.Sizes.from_counts(frame.groupby("who").size())
    mean = frame.what.clip(*BOUNDS).groupby(frame.who).mean().mean()
    assert population.truth == pytest.approx(mean / 5 - 1, abs=1e-9)
    population.close()
    assert population.users == frame.who.nunique()


def test_one_look_at_the_records(records: pa.Table) -> None:
    population = dame.Population.table(records, **LAYOUT)
    table = population.reduced
    dame.run(plan_for(population), population)
    assert population.reduced is table
    other = plan_for(population, "another study")
    result = dame.run(other, population, seed=1)
    assert population.reduced is not table
    assert population.study == "another study"
    ((outcome,),) = carry_out(other, population.reduced, seed=1)
    assert result.only == outcome.estimate


def test_secure_without_a_seed(records: pa.Table) -> None:
    population = dame.Population.table(records, **LAYOUT)
    plan = plan_for(population)
    assert dame.run(plan, population) != dame.run(plan, population)
    assert dame.run(plan, population, seed=1) == dame.run(plan, population, seed=1)


def test_simulation(records: pa.Table) -> None:
    population = dame.Population.table(records, **LAYOUT)
    result = dame.simulate(plan_for(population), population, 50, seed=1)
    assert result.theta == pytest.approx(5 * (population.truth + 1))
    assert result.coverage > 0.5


def test_refusals(records: pa.Table) -> None:
    population = dame.Population.table(records, **LAYOUT)
    wrong = dame.plan(users=500, alpha=1.0, sizes=population.sizes, bounds=(0, 11))
    with pytest.raises(Mismatch, match="the plan asks for value, between 0 and 11"):
        dame.run(wrong, population)
    with pytest.raises(InvalidInput, match="bounds"):
        dame.Population.table(records, user="who", value="what", bounds=(1, 0))
    with pytest.raises(InvalidInput, match="memory limit"):
        dame.Population.table(records, **LAYOUT, memory_limit="no")
    with pytest.raises(DameError, match="seed"):
        dame.run(plan_for(population), population, seed=-1)
