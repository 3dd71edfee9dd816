"""The statistics of a second device, and how it reads documents: written from docs/vectors.md alone."""

from __future__ import annotations

import math
import re
import unicodedata


class Refused(Exception):
    """An input that must be refused, with the kind of error."""


def require(condition, kind="InvalidInput"):
    if not condition:
        raise Refused(kind)


def clamp(x, a, b):
    return min(max(x, a), b)


# --- reading documents: a field is read by a function that returns its value or refuses it


def text(longest):
    def read(value):
        require(isinstance(value, str) and 1 <= len(value) <= longest and all(map(printable, value)))
        return value

    return read


def printable(letter):
    return letter == " " or unicodedata.category(letter)[0] not in "CZ"


def integer(low, high):
    def read(value):
        require(type(value) is int and low <= value <= high)
        return value

    return read


def double(low, high):
    def read(value):
        require(type(value) in (int, float) and low <= value <= high)
        return float(value) + 0.0

    return read


def one_of(kinds):
    def read(document):
        require(isinstance(document, dict) and isinstance(document.get("kind"), str) and document["kind"] in kinds)
        return fields({"kind": text(99), **kinds[document["kind"]]}, document)

    return read


def fields(readers, document):
    require(isinstance(document, dict) and document.keys() == readers.keys())
    return {name: read(document[name]) for name, read in readers.items()}


# --- statistics


def column(value):
    return "" if value == "" else text(128)(value)


def relation(value):
    require(value in ("above", "below", "is"))
    return value


def statistic(document):
    read = one_of(STATISTICS)(document)
    if "low" in read:
        require(read["low"] < read["high"] and read["high"] - read["low"] >= 1e-100)
    if read.get("relation", "is") != "is":
        require(number_of(read["than"]) is not None)
    return read


def number_of(words):
    """The number that a text stands for, or None."""
    pattern = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    return float(words) if re.fullmatch(pattern, words) and math.isfinite(float(words)) else None


BOUNDED = {"column": column, "low": double(-1e100, 1e100), "high": double(-1e100, 1e100)}
STATISTICS = {
    "value": BOUNDED,
    "square": BOUNDED,
    "drawn": BOUNDED,
    "indicator": {"column": column, "relation": relation, "than": text(128)},
    "present": {"column": column},
}


def summarise(asked, records, words):
    """Size, total and mean; whoever has no record that counts is like somebody with one in the middle."""
    word = next(words) if asked["kind"] == "drawn" else None
    require(isinstance(records, list), "BadRecords")
    texts = asked["kind"] == "present" or asked.get("relation") == "is"
    found = list(cells(records, asked["column"], texts))
    if asked["kind"] == "present":
        steps = [2**30 if found else -(2**30)]
    else:
        steps = [STEPS[asked["kind"]](asked, value) for value in found] or [0]
    if word is not None:
        steps = [sorted(steps)[word * len(steps) >> 64]]
    size, total = len(steps), sum(steps)
    return size, total, clamp(float(total) / float(size) / 2**30, -1.0, 1.0)


def cells(records, name, texts):
    for record in records:
        by_name = name and isinstance(record, dict)
        value = record.get(name) if by_name else record
        if by_name and value is None:
            continue
        if texts and isinstance(value, str):
            yield value
        else:
            require(type(value) in (int, float, bool) and math.isfinite(value), "BadRecords")
            yield float(value)


def value_step(asked, value):
    scale = 2147483648 / (asked["high"] - asked["low"])
    return math.floor((clamp(value, asked["low"], asked["high"]) - asked["low"]) * scale + 0.5) - 2**30


def square_step(asked, value):
    step = float(value_step(asked, value))
    return 2 * math.floor(step * step / 2**30 + 0.5) - 2**30


def indicator_step(asked, value):
    number = number_of(asked["than"])
    if isinstance(value, str):
        holds = value == asked["than"]
    else:
        order = number is not None and (value > number) - (value < number)
        holds = number is not None and order == {"above": 1, "below": -1, "is": 0}[asked["relation"]]
    return 2**30 if holds else -(2**30)


STEPS = {"value": value_step, "drawn": value_step, "square": square_step, "indicator": indicator_step}
