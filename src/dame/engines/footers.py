"""What the footers of Parquet files prove of a table before any record is read."""

from __future__ import annotations

from dame.engines.sql import Reduction, inside, near

TYPES = frozenset({"double", "float"}) | {
    f"{sign}{kind}" for sign in ("", "u") for kind in ("tinyint", "smallint", "integer", "bigint", "hugeint")
}
"""Types of values whose smallest and largest a footer states in a text that can be read back exactly."""


def proofs(how: Reduction, files: str, value_type: str) -> str:
    """A query in DuckDB's SQL with two answers: whether footers prove that every record has a user and a value that is
    not far out, and whether they prove that no value is outside the bounds.

    Neither is proven of NaN, which footers leave out of the smallest and the largest value. `files` is a quoted path or
    glob. A footer may also state nothing, which proves nothing.
    """
    value, bounds = (
        how.layout.value,
        [f"CAST(TRY_CAST({bound} AS {value_type}) AS DOUBLE)" for bound in ("stats_min_value", "stats_max_value")],
    )
    clean = [_everywhere(how, column, "stats_null_count = 0") for column in (*how.layout.user, value)]
    clean += [_everywhere(how, value, near(how, bound)) for bound in bounds]
    within = [_everywhere(how, value, inside(bound, how.layout)) for bound in bounds]
    records = f"(SELECT sum(num_rows) AS records FROM parquet_file_metadata({files}))"
    answers = ", ".join(" AND ".join(parts) for parts in (clean, within))
    return f"SELECT {answers} FROM parquet_metadata({files}), {records} GROUP BY records"


def _everywhere(how: Reduction, column: str, proof: str) -> str:
    """Whether something is proven of a column in every part of every file."""
    its = f"FILTER (WHERE path_in_schema = {how.dialect.text_constant(column)})"
    # A file in which the column goes by another name, or several columns by this one, would be missed otherwise.
    return f"(sum(num_values) {its} = records AND bool_and(coalesce({proof}, false)) {its})"
