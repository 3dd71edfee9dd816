"""Tables in plain Python and numpy, without any engine: the oracle of the others, and good for small tables."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dame.device.statistics import Statistic
from dame.engines.keys import Key, group_text, key_hashes
from dame.engines.layout import ColumnTypes, Layout
from dame.engines.record_cells import cells_survey, wanted
from dame.engines.reduced import GroupsOfRows, ReducedRows
from dame.engines.sql import RowNames
from dame.engines.store import KeptTable
from dame.engines.survey import Survey, added
from dame.engines.truth import USER_WEIGHT, cells_of_steps
from dame.vectorised.statistics import Ints, Mask, array_form

_NAMES = {bool: "boolean", int: "integer", float: "number", str: "text", uuid.UUID: "uuid"}
_NUMBERS = frozenset({"boolean", "integer", "number", "nothing"})
TYPES = ColumnTypes(
    keys=frozenset({"integer", "text", "uuid", "nothing"}),
    numbers=_NUMBERS,
    texts=frozenset({"text", "nothing"}),
    groups=frozenset({"integer", "text", "uuid", "boolean", "nothing"}),
)


def reduce_columns(columns: Mapping[str, Sequence[object]], layout: Layout) -> KeptTable:
    """The people of a table that is given by its columns; None is a null."""
    layout.check({name: _type(column) for name, column in columns.items()}, TYPES)
    keys = list(zip(*(columns[name] for name in layout.user), strict=True))
    places: dict[tuple[Key, ...] | None, int] = {}
    rows = np.array([places.setdefault(_known(key), len(places)) for key in keys], dtype=np.intp)
    reduced = ReducedRows(
        layout=layout,
        names=_names(layout),
        hashes=key_hashes(layout.study, (key or ("",) for key in places)),
        known=np.array([key is not None for key in places], dtype=np.bool_),
        numbers=_Sums(rows, len(places)).numbers(columns, layout),
        groups=None if layout.group is None else _groups(rows, len(places), columns[layout.group]),
    )
    cells = added(_cells(one, reduced, rows, columns[layout.column(one)]) for one in wanted(layout))
    return KeptTable(layout, [reduced.part()], counted=cells)


def _cells(statistic: Statistic, reduced: ReducedRows, rows: np.ndarray, column: Sequence[object]) -> Survey:
    """The true distribution of records, everybody with the same weight."""
    _, counts = _counting(column)
    values = np.array([item for item, counted in zip(column, counts, strict=True) if counted], dtype=np.float64)
    users, cells = rows[counts], cells_of_steps(array_form(statistic).steps(values))
    groups, kept = reduced.groups, reduced.known
    if groups is not None:
        kept = kept & (groups.codes >= 0) & ~groups.several
    # As the engines do it: records are counted by user and cell, and divided by how many she has.
    often = Counter(zip(users.tolist(), cells.tolist(), strict=True))
    sizes = Counter(users.tolist())
    names = None if groups is None else [(*groups.names, "")[code] for code in groups.codes.tolist()]  # -1: of none
    found = [
        (cell, round(number * USER_WEIGHT / sizes[user]), *([] if names is None else [names[user]]))
        for (user, cell), number in often.items()
        if kept[user]
    ]
    return cells_survey(statistic, found)


def _type(column: Sequence[object]) -> str:
    """What a column holds, in a word; a mixture of numbers is a column of numbers, any other is named by its types."""
    names = {_NAMES.get(type(item), type(item).__name__) for item in column if item is not None}
    if not names or names <= {"integer", "number"}:
        return "number" if len(names) > 1 else names.pop() if names else "nothing"
    return " and ".join(sorted(names))


def _known(key: Sequence[object]) -> tuple[Key, ...] | None:
    return None if None in key else tuple(key)  # type: ignore[arg-type]  # `key_hashes` refuses what is no key


def _names(layout: Layout) -> RowNames:
    places = range(len(layout.columns))
    statistics = list(enumerate(layout.statistics))
    return RowNames(
        present=tuple(f"present{place}" for place in places),
        sizes=tuple(f"size{place}" for place in places),
        outside=tuple(f"outside{place}" for place, _ in statistics),
        totals=tuple(f"total{place}" if array_form(each).summed else None for place, each in statistics),
        draws=tuple(_draw_names(place, layout) if array_form(each).draws else () for place, each in statistics),
    )


def _draw_names(place: int, layout: Layout) -> tuple[str, ...]:
    return tuple(f"draw{place}_{number}" for number in range(layout.draws))


class _Sums:
    """Sums over the rows of each user."""

    def __init__(self, rows: np.ndarray, users: int) -> None:
        self._rows = rows
        self._users = users

    def _of(self, values: np.ndarray, where: Mask | None = None) -> Ints:
        sums = np.zeros(self._users, np.int64)
        np.add.at(sums, self._rows if where is None else self._rows[where], values.astype(np.int64))
        return sums

    def numbers(self, columns: Mapping[str, Sequence[object]], layout: Layout) -> dict[str, Ints]:
        """All numbers of `_names`."""
        found = {"records": self._of(np.ones(len(self._rows)))}
        for place, column in enumerate(layout.columns):
            present, counts = _counting(columns[column])
            found |= {f"present{place}": self._of(present), f"size{place}": self._of(counts)}
        for place, statistic in enumerate(layout.statistics):
            draws = _draw_names(place, layout)
            found |= self._of_statistic(place, statistic, columns[layout.column(statistic)], draws)
        return found

    def _of_statistic(
        self, place: int, statistic: Statistic, column: Sequence[object], draws: Sequence[str]
    ) -> dict[str, Ints]:
        _, counts = _counting(column)
        form, kept = array_form(statistic), [item for item, counted in zip(column, counts, strict=True) if counted]
        kind = object if any(isinstance(item, str) for item in kept) else np.float64
        values = np.array(kept, dtype=kind)
        found = {f"outside{place}": self._of(form.clipped(values), counts)}
        if form.summed:
            found[f"total{place}"] = self._of(form.steps(values), counts)
        if form.draws:
            found |= {name: self._drawn(form.steps(values), counts) for name in draws}
        return found

    def _drawn(self, values: Ints, where: Mask) -> Ints:
        """The value of one of each user's rows, each as likely; 0 for somebody without any."""
        order = np.random.default_rng().permutation(len(values))
        users, first = np.unique(self._rows[where][order], return_index=True)
        drawn = np.zeros(self._users, np.int64)
        drawn[users] = values[order][first]
        return drawn


def _counting(column: Sequence[object]) -> tuple[Mask, Mask]:
    """Which items there are, and which of them count: texts, and finite numbers."""
    present = np.array([item is not None for item in column], dtype=np.bool_)
    counts = [item is not None and (isinstance(item, str) or math.isfinite(item)) for item in column]  # type: ignore[arg-type]
    return present, np.array(counts, dtype=np.bool_)


def _groups(rows: np.ndarray, users: int, column: Sequence[object]) -> GroupsOfRows:
    named: list[set[str]] = [set() for _ in range(users)]
    for row, item in zip(rows.tolist(), column, strict=True):
        if item is not None:
            named[row].add(group_text(item))
    names = sorted(set().union(*named))
    codes = [names.index(min(groups)) if groups else -1 for groups in named]
    several = np.array([len(groups) > 1 for groups in named], dtype=np.bool_)
    return GroupsOfRows(np.array(codes, dtype=np.int32), tuple(names), several)
