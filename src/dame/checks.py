"""Checks of single values, in the positive form, so that NaN and the wrong type fail like anything else."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dame.errors import InvalidInput

ALPHA_RANGE = (1e-6, 32.0)
"""Budgets that 64-bit thresholds serve with full precision."""


def real(field: str, value: object, low: float, high: float) -> float:
    """`value` as a float in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InvalidInput(field, value, _range("a number", low, high))
    return float(value)


def positive(field: str, value: object, high: float) -> float:
    """`value` as a float in (0, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= high:
        raise InvalidInput(field, value, f"a number above 0 and at most {high:g}")
    return float(value)


def whole(field: str, value: object, low: int, high: int) -> int:
    """`value` as an integer in [low, high]; integral types of other libraries are welcome, floats are not."""
    try:
        number = low - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise InvalidInput(field, value, _range("a whole number", low, high))
    return number


def text(field: str, value: object, longest: int) -> str:
    """`value` as a string of 1 to `longest` printable characters."""
    if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
        raise InvalidInput(field, value, f"a printable text of 1 to {longest} characters")
    return value


def one_of(field: str, value: object, allowed: Sequence[str]) -> str:
    """`value` as one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInput(field, value, f"one of {', '.join(allowed)}")
    return value


def alpha(value: object) -> float:
    """A privacy budget α within the range that the coins can honour."""
    return real("alpha", value, *ALPHA_RANGE)


def bounds(low: object, high: object) -> tuple[float, float]:
    """The value bounds of a study: two finite numbers, the first the smaller, of a usable width."""
    # Squares of such numbers, and of their distance, are still floats.
    lower, upper = real("low bound", low, -1e100, 1e100), real("high bound", high, -1e100, 1e100)
    if not lower < upper or not upper - lower >= 1e-100:
        raise InvalidInput("bounds", (lower, upper), "two different numbers, the smaller one first")
    return lower, upper


def number_from_text(field: str, words: str) -> float:
    """A number as people type it: `0.5`, `1e-3` or a fraction such as `22/35`."""
    try:
        value = float(Fraction(words)) if "/" in words else float(words)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InvalidInput(field, words, "a number") from None
    if math.isnan(value):
        raise InvalidInput(field, words, "a number")
    return value


def keys(what: str, document: object, required: frozenset[str], optional: frozenset[str]) -> Mapping[str, object]:
    """`document` as a JSON object that has all required keys and no unknown one."""
    if not isinstance(document, Mapping):
        raise InvalidInput(what, document, "a JSON object")
    missing, unknown = required - document.keys(), document.keys() - required - optional
    if missing:
        raise InvalidInput(what, sorted(map(str, document)), f"an object with the key '{min(missing)}'")
    if unknown:
        raise InvalidInput(what, sorted(map(str, unknown)), "an object without unknown keys")
    return document


def items(field: str, value: object) -> list[object]:
    """`value` as a list of JSON."""
    if not isinstance(value, list):
        raise InvalidInput(field, value, "a list")
    return value


def _range(noun: str, low: float, high: float) -> str:
    if high == math.inf or high >= 2**62:
        return f"{noun}, at least {low:g}"
    return f"{noun} from {low:g} to {high:g}"
