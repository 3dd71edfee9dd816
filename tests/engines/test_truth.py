"""True distributions: of users' means and of records, against numpy, in every engine, in groups too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.device.statistics import Drawn, Statistic, Value
from dame.engines.duckdb_tables import reduce_table
from dame.engines.layout import Layout
from dame.engines.plain_tables import reduce_columns
from dame.engines.spark_tables import SparkTable
from dame.engines.survey import Survey
from dame.engines.truth import CELLS, TrueDistribution, cells_of_means, cells_of_steps, counted_cells
from dame.errors import InvalidInput, Mismatch
from tests.engines.wide_tables import Row, arrow, columns, groups_of, records_of, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOUNDS = {"column": "x", "low": -2.0, "high": 5.0}
PEOPLE, RECORDS = Value(**BOUNDS), Drawn(**BOUNDS)
BOTH = (PEOPLE, RECORDS)
NEAR = 2.0**-30
"""What rounding to the grid, and weights to 2^-32, can do."""


def layout(group: str | None = None, distributions: frozenset[Statistic] = frozenset(BOTH)) -> Layout:
    return Layout(user=("who",), statistics=BOTH, study="study", group=group, distributions=distributions)


def weighted(people: list[list[float]], statistic: Statistic) -> tuple[np.ndarray, np.ndarray]:
    """Where everybody, or each of her records, is on the inner scale, and with what weight."""
    inner = [np.array([Value(**BOUNDS).summarise([one]).mean for one in values]) for values in people]
    if statistic.draws:
        return np.concatenate(inner), np.concatenate([np.full(len(one), 1 / len(one)) for one in inner])
    return np.array([one.mean() for one in inner]), np.ones(len(inner))


def check(found: TrueDistribution, people: list[list[float]], statistic: Statistic) -> None:
    """Whether a distribution has the share at or below each edge, but for values that are all but on one."""
    places, weights = weighted(people, statistic)
    shares = weights / weights.sum()
    below, above = (np.array([shares[places <= edge + slack].sum() for edge in found.edges]) for slack in (-NEAR, NEAR))
    assert (found.cdf >= below - 1e-6).all()
    assert (found.cdf <= above + 1e-6).all()
    assert found.cdf[-1] == 1.0


def all_of(survey: Survey, table: list[Row], how: Layout) -> None:
    """Checks the distributions of a table, of everybody and of each group."""
    listed = records_of(table, how)
    for statistic in BOTH:
        people = {user: [row["x"] for row in own if "x" in row] for user, own in listed.items()}
        check(survey.of(statistic).distribution, [own for own in people.values() if own], statistic)
        for group in survey.groups:
            alone = [people[user] for user, own in listed.items() if groups_of(own, how) == {group} and people[user]]
            if alone:
                check(survey.in_group(group, statistic).distribution, alone, statistic)


def surveyed(reduce: object, how: Layout) -> Survey | None:
    try:
        return reduce(how).survey()
    except InvalidInput as refusal:
        assert "at least one record" in str(refusal) or "a single group" in str(refusal)  # noqa: PT017
        return None


@given(rows(), st.sampled_from([None, "word", "code"]))
@settings(max_examples=25, deadline=None)
def test_against_numpy(table: list[Row], group: str | None) -> None:
    how = layout(group)
    plain = surveyed(lambda one: reduce_columns(columns(table), one), how)
    embedded = surveyed(lambda one: reduce_table(arrow(table), one), how)
    assert plain == embedded
    if plain is not None:
        all_of(plain, table, how)
        assert Survey.from_json(plain.to_json(), how.statistics) == plain


@given(rows(), st.sampled_from([None, "word"]))
@settings(max_examples=3, deadline=None)
def test_on_spark(spark: SparkSession, table: list[Row], group: str | None) -> None:
    plain = surveyed(lambda one: reduce_columns(columns(table), one), layout(group))
    if plain is not None:
        cluster = SparkTable(spark.createDataFrame(arrow(table)).repartition(2), layout(group))
        assert cluster.survey() == plain
        cluster.close()


def test_many_people_in_files(tmp_path: Path) -> None:
    """Through the quick aggregation, with people who have very different numbers of records."""
    rng = np.random.default_rng(5)
    sizes = rng.zipf(1.5, 3000).clip(max=500)
    who = np.repeat(np.arange(3000), sizes)
    centre = rng.normal(1.0, 1.0, 3000)
    x = centre[who] + rng.exponential(1.0 + 2.0 * (sizes[who] > 20), len(who))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"who": who, "x": x}), path, row_group_size=5000)
    survey = reduce_table(str(path), layout()).survey()
    clipped = (np.clip(x, -2.0, 5.0) + 2.0) / 3.5 - 1.0
    means = np.bincount(who, clipped) / sizes
    order, weights = np.argsort(clipped), 1 / sizes[who]
    for q in (0.01, 0.1, 0.5, 0.9, 0.99):
        assert survey.of(PEOPLE).distribution.quantile(q) == pytest.approx(
            np.quantile(means, q, method="inverted_cdf"), abs=2 / CELLS
        )
        place = np.searchsorted(np.cumsum(weights[order]), q * 3000)
        assert survey.of(RECORDS).distribution.quantile(q) == pytest.approx(clipped[order][place], abs=2 / CELLS)
        found = survey.of(RECORDS).distribution
        assert found.at(found.quantile(q)) == pytest.approx(q, abs=1e-9)


def test_only_what_is_wanted() -> None:
    table = pa.table({"who": [1, 1, 2], "x": [0.0, 1.0, 2.0]})
    survey = reduce_table(table, layout(distributions=frozenset({PEOPLE}))).survey()
    assert survey.of(PEOPLE).distribution.at(1.0) == 1.0
    with pytest.raises(Mismatch, match="not read for a distribution"):
        _ = survey.of(RECORDS).distribution
    with pytest.raises(InvalidInput, match="distributions"):
        replace(layout(), statistics=(PEOPLE,))


class TestTheDistribution:
    def test_atoms_and_gaps(self) -> None:
        """A tenth at the lower bound, half in the middle, the rest at the upper bound."""
        found = TrueDistribution.of(counted_cells(cells_of_means(np.repeat([-1.0, 0.0, 1.0], [1, 5, 4]))))
        assert (found.edges[0], found.edges[-1], len(found.edges)) == (-1.0, 1.0, CELLS + 1)
        assert [found.at(x) for x in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)] == [0.0, 0.1, 0.1, 0.6, 0.6, 1.0, 1.0]
        assert found.quantile(0.05) == found.quantile(0.1) == -1.0
        assert -2 / CELLS <= found.quantile(0.35) <= 0.0
        assert found.quantile(0.6) == 0.0
        assert 1 - 2 / CELLS <= found.quantile(0.61) <= found.quantile(1.0) == 1.0

    @given(st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=30))
    def test_steps_and_means_have_the_same_cells(self, steps: list[int]) -> None:
        each = np.array(steps, np.int64)
        assert cells_of_steps(each).tolist() == cells_of_means(each / 2**30).tolist()
        assert cells_of_steps(each).min() >= 0
        assert cells_of_steps(each).max() <= CELLS

    @given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.floats(0, 1))
    def test_quantiles_rise_and_lie_within_a_cell(self, means: list[float], q: float) -> None:
        found = TrueDistribution.of(counted_cells(cells_of_means(np.array(means))))
        exact = np.quantile(means, q, method="inverted_cdf")
        # A share that is a whole number of people may round to either of two neighbours.
        both = {
            exact,
            np.quantile(means, min(q + 1e-9, 1), method="inverted_cdf"),
            np.quantile(means, max(q - 1e-9, 0), method="inverted_cdf"),
        }
        assert any(abs(found.quantile(q) - one) <= 2 / CELLS for one in both)
        assert found.quantile(q) <= found.quantile(min(q + 0.1, 1.0))
