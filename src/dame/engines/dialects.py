"""Where two kinds of SQL differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A kind of SQL: each field is the form of an expression."""

    quote: str
    text: str
    text_bytes: str
    constant: str
    finite: str
    hash: str
    chance: str
    first_by: str

    def name(self, column: str) -> str:
        """A column's name, safely quoted."""
        return self.quote + column.replace(self.quote, 2 * self.quote) + self.quote

    def text_constant(self, value: str) -> str:
        """A text, given by its UTF-8 bytes, so that no quote or backslash in it can mean anything."""
        return self.constant.format(value.encode().hex())


DUCKDB = Dialect(
    quote='"',
    text="CAST({} AS VARCHAR)",
    text_bytes="CAST(strlen({}) AS VARCHAR)",
    constant="decode(unhex('{}'))",
    # Not by comparison: bounds in the footers of Parquet files leave NaN out, and DuckDB would believe them.
    finite="isfinite({})",
    hash="CAST('0x' || substr(sha256({}), 1, 16) AS UBIGINT)",
    chance="random()",
    first_by="arg_min",
)
SPARK = Dialect(
    quote="`",
    text="CAST({} AS STRING)",
    text_bytes="CAST(octet_length({}) AS STRING)",
    constant="decode(unhex('{}'), 'UTF-8')",
    finite="abs({}) < CAST('Infinity' AS DOUBLE)",  # NaN is larger than that
    # Spark has no unsigned integers: the same 64 bits, read as a signed number.
    hash="CAST(conv(substr(sha2({}, 256), 1, 16), 16, -10) AS BIGINT)",
    chance="rand()",
    first_by="min_by",
)


def double(value: float) -> str:
    """A number in either kind: a bare 0.1 would be a decimal; its text, cast, is the nearest double, as in Python."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
