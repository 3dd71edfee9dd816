"""Which columns of a table are records: the user's key, the value, and the bounds and study that they are read for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dame import checks
from dame.errors import InvalidInput

KEYS = "integers, texts or UUIDs"
VALUES = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The key columns and the value column of a table, the bounds to which values are clipped, and the study."""

    user: tuple[str, ...]
    value: str
    low: float
    high: float
    study: str

    def __post_init__(self) -> None:
        if not self.user:
            raise InvalidInput("user columns", [], "at least one column")
        low, high = checks.bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        checks.text("study", self.study, 128)

    def check(self, types: Mapping[str, str], key_types: frozenset[str], value_types: frozenset[str]) -> None:
        """Refuses a table without these columns, or with others than keys and numbers in them."""
        for column in self.user:
            _check("user column", column, types, key_types, KEYS)
        _check("value column", self.value, types, value_types, VALUES)


def _check(field: str, column: str, types: Mapping[str, str], usable: frozenset[str], what: str) -> None:
    if column not in types:
        raise InvalidInput(field, column, f"one of {', '.join(types)}")
    if types[column] not in usable:
        raise InvalidInput(field, f"{column} ({types[column]})", f"a column of {what}")
