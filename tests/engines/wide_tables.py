"""Tables of several columns with every flaw, statistics of them, and what each device would make of its records."""

from __future__ import annotations

import math
from collections import defaultdict

import pyarrow as pa
from hypothesis import strategies as st

from dame.device.assignment import participant_hash
from dame.device.records import Summary
from dame.device.statistics import RELATIONS, Drawn, Indicator, Present, Square, Statistic, Value
from dame.engines.keys import group_text
from dame.engines.layout import Layout
from dame.engines.store import KeptTable
from tests.engines.tables import BOUNDS, TEXTS, VALUES

Row = dict[str, object]

NUMBERS = ("x", "n", "b")
TEXT = "s"
KINDS = {
    "who": pa.int64(),
    "x": pa.float64(),
    "n": pa.int64(),
    "b": pa.bool_(),
    TEXT: pa.string(),
    "word": pa.string(),
    "code": pa.int32(),
    "flag": pa.bool_(),
}
GROUPS = ("word", "code", "flag")
SOME_NUMBERS = st.sampled_from(["0", "1", "-1", "0.5", "7", "1e6", "+3.25"])
SOME_TEXTS = ["a", "b", "1", "Ä é", "it's"]


def _maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(values, values, values, st.none())


ITEMS = {
    "who": _maybe(st.integers(0, 5)),
    "x": VALUES,
    "n": _maybe(st.one_of(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1))),
    "b": _maybe(st.booleans()),
    TEXT: _maybe(st.one_of(st.sampled_from(SOME_TEXTS), TEXTS)),
    "word": _maybe(st.sampled_from(["de", "fr", "", "Ä"])),
    "code": _maybe(st.integers(-1, 1)),
    "flag": _maybe(st.booleans()),
}
CLEAN_ITEMS = ITEMS | {
    "who": st.integers(0, 5),
    "x": st.floats(-3e6, 3e6),
    "n": st.integers(-9, 9),
    "b": st.booleans(),
    TEXT: st.sampled_from(SOME_TEXTS),
}
"""Nothing is missing, and no value is far out for bounds of a usual width."""


def rows(items: dict[str, st.SearchStrategy] = ITEMS) -> st.SearchStrategy[list[Row]]:
    """Records of a few users."""
    return st.lists(st.fixed_dictionaries(items), min_size=1, max_size=30)


def _bounded(kind: type[Value] | type[Square] | type[Drawn]) -> st.SearchStrategy[Statistic]:
    columns = st.sampled_from(NUMBERS)
    limits = st.one_of(BOUNDS, st.just((-2.0, 5.0)))
    return st.builds(lambda column, pair: kind(column=column, low=pair[0], high=pair[1]), columns, limits)


STATISTICS_OF: dict[type[Statistic], st.SearchStrategy[Statistic]] = {
    Value: _bounded(Value),
    Square: _bounded(Square),
    Drawn: _bounded(Drawn),
    Indicator: st.one_of(
        st.builds(Indicator, column=st.sampled_from(NUMBERS), relation=st.sampled_from(RELATIONS), than=SOME_NUMBERS),
        st.builds(Indicator, column=st.just(TEXT), relation=st.just("is"), than=st.sampled_from(SOME_TEXTS)),
    ),
    Present: st.builds(Present, column=st.sampled_from([*NUMBERS, TEXT])),
}
"""Statistics of every type."""
SOME = st.lists(st.one_of(*STATISTICS_OF.values()), min_size=1, max_size=6).map(tuple)


@st.composite
def layouts(draw: st.DrawFn, statistics: st.SearchStrategy[tuple[Statistic, ...]] = SOME) -> Layout:
    """Layouts of such tables, with and without groups."""
    group = draw(st.sampled_from([None, None, *GROUPS]))
    return Layout(
        user=("who",),
        statistics=draw(statistics),
        study="study",
        group=group,
        keep_absent=draw(st.booleans()),
        draws=draw(st.sampled_from([1, 1, 3, 16])),
    )


def arrow(table: list[Row]) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.table({name: pa.array([row[name] for row in table], kind) for name, kind in KINDS.items()})


def columns(table: list[Row]) -> dict[str, list[object]]:
    """The rows as columns."""
    return {name: [row[name] for row in table] for name in KINDS}


def counts(value: object) -> bool:
    """Whether a value counts."""
    return value is not None and (isinstance(value, str) or math.isfinite(value))  # type: ignore[arg-type]


def records_of(table: list[Row], layout: Layout) -> dict[int, list[Row]]:
    """The records of each user who is in the study, of which values that do not count are taken away."""
    records: dict[int, list[Row]] = defaultdict(list)
    for row in table:
        if row["who"] is not None:
            records[row["who"]].append({name: value for name, value in row.items() if counts(value)})
    return {user: listed for user, listed in records.items() if _answers(listed, layout)}


def groups_of(records: list[Row], layout: Layout) -> set[str]:
    """The groups that records name."""
    return {group_text(row[layout.group]) for row in records if row.get(layout.group) is not None}


def _answers(records: list[Row], layout: Layout) -> bool:
    if layout.group is not None and len(groups_of(records, layout)) != 1:
        return False
    return layout.keep_absent or any(column in row for row in records for column in layout.columns)


def averaged(statistic: Statistic, records: list[Row]) -> Summary:
    """What a device makes of records; where it draws one, what that is on average."""
    if not isinstance(statistic, Drawn):
        return statistic.summarise(records)
    all_ = Value(column=statistic.column, low=statistic.low, high=statistic.high).summarise(records)
    return Summary(size=1, mean=all_.mean)


People = dict[int, tuple[str, list[tuple[int, float]]]]


def by_devices(table: list[Row], layout: Layout) -> People:
    """By her hash, the group of each user, and what her device makes of her records for each statistic."""
    found = {}
    for user, records in records_of(table, layout).items():
        summaries = [averaged(statistic, records) for statistic in layout.statistics]
        (group,) = groups_of(records, layout) if layout.group is not None else [""]
        found[participant_hash("study", str(user))] = (group, [(one.size, one.mean) for one in summaries])
    return found


def by_engine(table: KeptTable, layout: Layout) -> People:
    """The same, as an engine reduced it."""
    found = {}
    for part in table.people:
        columns = [zip(*(numbers.tolist() for numbers in part.of(one)), strict=True) for one in layout.statistics]
        codes = [None] * len(part) if part.codes is None else part.codes.tolist()
        names = ["" if code is None else part.groups[code] for code in codes]
        summaries = map(list, zip(*columns, strict=True))
        found |= dict(zip(part.hashes.tolist(), zip(names, summaries, strict=True), strict=True))
    return found
