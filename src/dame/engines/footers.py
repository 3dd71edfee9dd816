"""What the footers of Parquet files prove of a table before any record is read."""

from __future__ import annotations

from collections.abc import Mapping

from dame.engines.sql import Reduction, near

WHOLE = frozenset(
    f"{sign}{kind}" for sign in ("", "u") for kind in ("tinyint", "smallint", "integer", "bigint", "hugeint")
)
TYPES = WHOLE | {"double", "float"}
"""Types of values whose smallest and largest a footer states in a text that can be read back exactly."""


def proofs(how: Reduction, files: str, types: Mapping[str, str]) -> str:
    """A query in DuckDB's SQL with many answers: whether footers prove that every record has a user; for each column,
    that every record has a value that is not far out; and for each statistic, that no value is outside its bounds.

    Nothing is proven of NaN, which footers leave out of the smallest and the largest value: it must show otherwise.
    `files` is a quoted path or glob. A footer may also state nothing, which proves nothing.
    """
    keys = " AND ".join(_everywhere(how, column, "stats_null_count = 0") for column in how.layout.user)
    clean = [_clean(how, place, types[column]) for place, column in enumerate(how.layout.columns)]
    within = [_within(how, place, statistic, types) for statistic, (place, _) in enumerate(how.forms())]
    records = f"(SELECT sum(num_rows) AS records FROM parquet_file_metadata({files}))"
    return f"SELECT {', '.join([keys, *clean, *within])} FROM parquet_metadata({files}), {records} GROUP BY records"


def _clean(how: Reduction, place: int, kind: str) -> str:
    """Whether a column has a usable value in every record."""
    column = how.layout.columns[place]
    full = _everywhere(how, column, "stats_null_count = 0")
    if column in how.texts:
        return full
    shows_nan = kind in WHOLE or any(form.shows_nan for its, form in how.forms() if its == place)
    if kind not in TYPES or not shows_nan:
        return "false"
    return " AND ".join([full, *(_everywhere(how, column, near(how, place, bound)) for bound in _bounds(kind))])


def _within(how: Reduction, place: int, statistic: int, types: Mapping[str, str]) -> str:
    """Whether no value of a statistic is clipped."""
    column, (_, form) = how.layout.columns[place], how.forms()[statistic]
    proofs = [form.within(bound) for bound in _bounds(types[column])]
    if types[column] not in TYPES and proofs != [None, None]:
        return "false"
    return " AND ".join("true" if proof is None else _everywhere(how, column, proof) for proof in proofs)


def _bounds(kind: str) -> list[str]:
    """The smallest and the largest value of a part of a file."""
    return [f"CAST(TRY_CAST({bound} AS {kind}) AS DOUBLE)" for bound in ("stats_min_value", "stats_max_value")]


def _everywhere(how: Reduction, column: str, proof: str) -> str:
    """Whether something is proven of a column in every part of every file."""
    its = f"FILTER (WHERE path_in_schema = {how.dialect.text_constant(column)})"
    # A file in which the column goes by another name, or several columns by this one, would be missed otherwise.
    return f"(sum(num_values) {its} = records AND bool_and(coalesce({proof}, false)) {its})"
