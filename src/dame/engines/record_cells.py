"""The true distribution of records, each user with the same weight, by one query of its own: in cells of the grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dame.device.records import HALF_GRID
from dame.device.statistics import Statistic
from dame.engines.dialects import double
from dame.engines.layout import Layout
from dame.engines.sql import Reduction
from dame.engines.survey import ColumnSurvey, GroupSurvey, Survey
from dame.engines.truth import STEPS_OF_CELL, USER_WEIGHT, weighted_cells


def wanted(layout: Layout) -> Iterator[Statistic]:
    """Those of the statistics for which records are counted, and not users."""
    return (statistic for statistic in layout.statistics if statistic in layout.distributions and statistic.draws)


def cells_query(how: Reduction, table: str, statistic: Statistic) -> str:
    """A row for each cell, and each group if there are any: `cell`, `weight` and, last, `group_name`.

    The records of each user are counted by cells first, and only then divided by how many she has: no more is held than
    the cells of each user, which an engine may spill to disk.
    """
    alone = replace(how, layout=replace(how.layout, statistics=(statistic,), distributions=frozenset(), draws=1))
    ((_, step),), keys, grouped = alone.readings().items(), ", ".join(how.key_names), how.layout.group is not None
    cell = f"CAST(ceil(({step} + {double(HALF_GRID)}) / {double(STEPS_OF_CELL)}) AS BIGINT)"
    weight = f"CAST(round(CAST(n AS DOUBLE) * {double(USER_WEIGHT)} / CAST(m AS DOUBLE)) AS BIGINT)"
    group, single = (", min(grp) AS grp", " HAVING min(grp) = max(grp)") if grouped else ("", "")
    group_name = f", {how.dialect.text.format('grp')} AS group_name" if grouped else ""
    records = alone.records(table)
    users = f"SELECT {keys}, count({step}) AS m{group} FROM {records} GROUP BY {keys}{single}"
    cells = (
        f"SELECT {keys}, {cell} AS cell, count(*) AS n FROM {records} WHERE {step} IS NOT NULL GROUP BY {keys}, {cell}"
    )
    joined = f"SELECT cell, {weight} AS weight{group_name} FROM ({cells}) AS c JOIN ({users}) AS u USING ({keys})"
    by = ", group_name" if grouped else ""
    return f"SELECT cell, CAST(sum(weight) AS BIGINT) AS weight{by} FROM ({joined}) AS j GROUP BY cell{by}"


def cells_survey(statistic: Statistic, rows: Iterable[tuple[Any, ...]]) -> Survey:
    """What the rows of such a query add to a survey."""
    listed = list(rows)
    groups = dict.fromkeys(group for _, _, *names in listed for group in names)
    by_group = {group: [(cell, weight) for cell, weight, name in listed if name == group] for group in groups}
    return Survey(
        columns={statistic: ColumnSurvey(cells=weighted_cells((cell, weight) for cell, weight, *_ in listed))},
        group_means={(group, statistic): GroupSurvey(cells=weighted_cells(pairs)) for group, pairs in by_group.items()},
    )
