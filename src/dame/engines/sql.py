"""The one aggregation, in pieces of SQL that engines put together: records to the grid, and each user's public hash.

The arithmetic is that of `dame.device.records`, step by step in doubles, so that engine and device agree bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

from dame.device.records import HALF_GRID
from dame.engines.layout import Layout

COUNTS = ("records", "present", "size", "outside", "steps")
"""What is known of each user: her rows, those with a value, those that count since it is finite, those of them outside
the bounds, and the sum of the grid steps from the lower bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Where two kinds of SQL differ: each field is the form of an expression."""

    quote: str
    text: str
    text_bytes: str
    constant: str
    finite: str
    hash: str

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
)
SPARK = Dialect(
    quote="`",
    text="CAST({} AS STRING)",
    text_bytes="CAST(octet_length({}) AS STRING)",
    constant="decode(unhex('{}'), 'UTF-8')",
    finite="abs({}) < CAST('Infinity' AS DOUBLE)",  # NaN is larger than that
    # Spark has no unsigned integers: the same 64 bits, read as a signed number.
    hash="CAST(conv(substr(sha2({}, 256), 1, 16), 16, -10) AS BIGINT)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How the records of any table become one row a user: expressions for each of four steps, in one dialect."""

    dialect: Dialect
    layout: Layout

    def query(self, table: str) -> str:
        """The whole aggregation of a table."""
        keys, totals = ", ".join(self.key_names), ", ".join(f"{total} AS {name}" for total, name in self.aggregates())
        steps = table
        for step in (self.columns(), self.finite(), self.gridded()):
            steps = f"(SELECT {', '.join(step)} FROM {steps})"
        return f"SELECT {', '.join(self.hashed())} FROM (SELECT {keys}, {totals} FROM {steps} GROUP BY {keys})"

    @property
    def key_names(self) -> list[str]:
        """What the key columns are called from the first step on."""
        return [f"k{place}" for place in range(len(self.layout.user))]

    def columns(self) -> list[str]:
        """First step: the key columns, and the value v as a double."""
        pairs = zip(self.layout.user, self.key_names, strict=True)
        named = [f"{self.dialect.name(key)} AS {name}" for key, name in pairs]
        return [*named, f"CAST({self.dialect.name(self.layout.value)} AS DOUBLE) AS v"]

    def finite(self) -> list[str]:
        """Second step: the same, and the value f that counts, null unless it is finite."""
        return [*self.key_names, "v", f"CASE WHEN {self.dialect.finite.format('v')} THEN v END AS f"]

    def gridded(self) -> list[str]:
        """Third step: the same, and the grid step g of the value."""
        return [*self.key_names, "v", "f", f"{_grid_step(self.layout)} AS g"]

    def aggregates(self) -> list[tuple[str, str]]:
        """Fourth step, for each key: an expression and its name, for each of COUNTS."""
        sums = ("count(*)", "count(v)", "count(f)", _outside(self.layout), "sum(g)")
        return [(f"CAST({total} AS BIGINT)", name) for total, name in zip(sums, COUNTS, strict=True)]

    def hashed(self) -> list[str]:
        """Last step: the user's public hash (null without a key), and COUNTS."""
        texts = [self.dialect.text.format(name) for name in self.key_names]
        if len(texts) > 1:
            texts = [part for text in texts for part in (self.dialect.text_bytes.format(text), "':'", text)]
        hashed = " || ".join([self.dialect.text_constant(f"{self.layout.study}\n"), *texts])
        return [f"{self.dialect.hash.format(hashed)} AS person", *self._counts()]

    def _counts(self) -> list[str]:
        return list(COUNTS)


class CleanReduction(Reduction):
    """The same for a table in which every record has a user and a value that is not far out.

    There is less to count, and sums of integers in doubles, which are quicker, are exact for users with at most
    MOST_EXACT records. If a value is NaN after all, which the footers of Parquet files do not tell, its user's `steps`
    are null.
    """

    __slots__ = ()

    def finite(self) -> list[str]:
        """Second step: every value counts."""
        return [*self.key_names, "v AS f"]

    def gridded(self) -> list[str]:
        """Third step: the same, and the grid step g of the value before it is clipped."""
        return [*self.key_names, "f", f"{_rounded('f', self.layout)} AS g"]

    def aggregates(self) -> list[tuple[str, str]]:
        """Fourth step, for each key: how many records, those outside the bounds, and the sum of the grid steps."""
        # Twice the clipped grid value, seen from the middle of the bounds, without a branch. All of these are integers
        # below 2^53, and the sum is even, so every step is exact.
        twice = f"abs(g) - abs(g - {_double(2 * HALF_GRID)})"
        steps = f"TRY_CAST(sum({twice}) * {_double(0.5)} AS BIGINT) + count(*) * {HALF_GRID}"
        # In this order: DuckDB takes 8 % longer when the sum comes last.
        return [("count(*)", "records"), (steps, "steps"), (_outside(self.layout), "outside")]

    def _counts(self) -> list[str]:
        return ["records", "records AS present", "records AS size", "outside", "steps"]


class InsideReduction(CleanReduction):
    """The same for a table in which no value is outside the bounds: there is nothing to count but records."""

    __slots__ = ()

    def aggregates(self) -> list[tuple[str, str]]:
        """Fourth step, for each key: how many records, and the sum of the grid steps."""
        # To find that no value is outside takes a twentieth of the time (docs/scale.md).
        return [(total, name) for total, name in super().aggregates() if name != "outside"]

    def _counts(self) -> list[str]:
        return ["records", "records AS present", "records AS size", "CAST(0 AS BIGINT) AS outside", "steps"]


MOST_EXACT = 2**53 // HALF_GRID
"""Records of one user up to which a sum of clipped grid values is exact in doubles, whatever the order."""


def look(how: Reduction) -> list[str]:
    """Counts over the columns of the first step: all records, those with a finite value that is not far out, and for
    each key column those in which it is not null."""
    return ["count(*)", f"count_if({near(how, 'v')})", *(f"count({name})" for name in how.key_names)]


def near(how: Reduction, value: str) -> str:
    """Whether a value is finite and not far out; null when it is."""
    return f"({how.dialect.finite.format(value)} AND abs({_rounded(value, how.layout)}) < {_double(2**52)})"


def _outside(layout: Layout) -> str:
    return f"count(*) FILTER (WHERE NOT ({inside('f', layout)}))"


def inside(name: str, layout: Layout) -> str:
    """Whether a value is within the bounds."""
    return f"{name} BETWEEN {_double(layout.low)} AND {_double(layout.high)}"


def _grid_step(layout: Layout) -> str:
    """Steps from the lower bound, 0 to 2^31, to which a finite value f is rounded; null when that is."""
    lower, upper = _double(layout.low), _double(layout.high)
    # Values inside come first: an engine that works on columns has nothing more to look at when all of them are.
    clipped = f"CASE WHEN {inside('f', layout)} THEN f WHEN f < {lower} THEN {lower} WHEN f > {upper} THEN {upper} END"
    return f"CAST({_rounded(clipped, layout)} AS BIGINT)"


def _rounded(value: str, layout: Layout) -> str:
    """The grid step to which a value is rounded, as a double."""
    scale = _double(2 * HALF_GRID / (layout.high - layout.low))
    return f"floor(({value} - {_double(layout.low)}) * {scale} + {_double(0.5)})"


def _double(value: float) -> str:
    # A bare 0.1 would be a decimal number; its text, cast, is the nearest double, as in Python.
    return f"CAST('{float(value)!r}' AS DOUBLE)"
