"""Scripts for whoever writes a device: every statistic, records of several columns, and people without any of hers."""

from __future__ import annotations

from collections.abc import Sequence

from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins, SizeClasses, Windows
from dame.device.questions import Question
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from vectors.coins import LARGEST
from vectors.outcomes import Document, answer_operation, question_operation, summary_operation
from vectors.spoilt import lacking

MINUTES = Value(column="minutes", low=0.0, high=120.0)
SPREAD = Square(column="minutes", low=0.0, high=120.0)
ONE = Drawn(column="minutes", low=0.0, high=120.0)
LATE = Indicator(column="minutes", relation="above", than="37.5")
EARLY = Indicator(column="minutes", relation="below", than="3.75e1")
RED = Indicator(column="colour", relation="is", than="red")
FIVE = Indicator(column="stars", relation="is", than="5.0")
HAVE = Present(column="minutes")

DIARY: list[object] = [
    {"minutes": 12.5, "colour": "red", "stars": 5, "toString": 1.5},
    {"minutes": 61, "colour": "Red", "stars": 4.999999999999999, "__proto__": 2.0},
    {"minutes": None, "colour": "red", "stars": "5.0"},
    {"colour": "", "stars": "5"},
    {"minutes": 500.0, "stars": True},
    {"minutes": 37.5, "colour": "blue", "stars": 5.0, "": 7},
    {},
]
"""A person's records: some lack a column, some have nothing in it."""
NOTHING: list[list[object]] = [[], [{}], [{"other": 3.0}], [{"minutes": None, "colour": None, "stars": None}] * 4]
"""Lists without a single record that counts."""


# --- summaries


def statistic_records() -> list[Document]:
    """Summaries by every statistic: of a diary, of numbers, of nothing; and records that must be refused."""
    every = (MINUTES, SPREAD, LATE, EARLY, RED, FIVE, HAVE)
    return [
        *(_summary(statistic, DIARY) for statistic in every),
        *(_summary(statistic, records) for statistic in every for records in NOTHING),
        *_names(),
        *_squares(),
        *_comparisons(),
        *_draws(),
        *(_summary(statistic, records) for statistic, records in _bad()),
    ]


def _summary(statistic: Statistic, records: Sequence[object]) -> Document:
    return summary_operation(statistic.to_json(), records)


def _names() -> list[Document]:
    """Columns whose names mean something in some language, and numbers without any name."""
    odd = (
        "toString",
        "__proto__",
        "constructor",
        "length",
        "minute",
        "Minutes",
        "0",
        " ",
        "Gr\u00f6\u00dfe \U0001f600",
    )
    found = {"Gr\u00f6\u00dfe \U0001f600": -0.25, " ": 0.5, "0": 1.0}
    return [
        *(_summary(Value(column=name), [*DIARY, found, found]) for name in odd),
        *(_summary(Present(column=name), DIARY[:2]) for name in odd),
        _summary(MINUTES, [30, 60.0, {"minutes": 90}]),
        _summary(LATE, [30, 60.0, {"minutes": 90}]),
        _summary(HAVE, [30]),
        _summary(Present(column=""), ["any text", 3]),
        _summary(Present(column=""), []),
        _summary(Value(), []),
        _summary(Indicator(relation="is", than="red"), ["red", "blue", "red"]),
        _summary(MINUTES, [True, False, {"minutes": True}]),
    ]


def _squares() -> list[Document]:
    """Squares of the ends, of the middle and of numbers whose squares are no doubles."""
    fine = [2.0**-31, 3 * 2.0**-32, 0.1, 0.7, 1 / 3, 0.9999999995, 123456789 / 2**30, 2.0**-15.5]
    return [
        _summary(Square(), [-1.0, 1.0, 0.0]),
        _summary(Square(), [5.0, -5.0]),
        *(_summary(Square(), [one]) for one in fine),
        *(_summary(Square(low=-0.3, high=1e6), [one, 1e5 * one]) for one in fine),
        _summary(Square(low=1e-7, high=1e-5), [3.3e-6, 1.1e-6, 2]),
        _summary(Square(low=-1e100, high=1e100), [1e99, -3e98]),
    ]


def _draws() -> list[Document]:
    """Words that fall on every record of a diary, just beside the next one, and on records outside the bounds."""
    third = 2**64 // 3
    words = (0, 1, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, LARGEST, 0x0123456789ABCDEF)
    unsorted: list[object] = [3, 1.0, {"minutes": 2}, -5, 1e9, 2, True]
    bad: list[list[object]] = [[1.0, {"minutes": "12"}], [{"minutes": 1.0}, {"minutes": []}], ["12"], [None]]
    return [
        *(_drawn(DIARY, word) for word in words),
        *(_drawn(unsorted, word) for word in words),
        *(_drawn([10.0, 20.0, 30.0], word) for word in (third, third + 1, 2 * third, 2 * third + 1, 2 * third + 2)),
        *(_drawn([7.0], word) for word in (0, LARGEST)),
        *(_drawn(records, word) for records in NOTHING for word in (0, LARGEST)),
        *(_drawn(records, word) for records in bad for word in (0, LARGEST)),
    ]


def _drawn(records: Sequence[object], word: int) -> Document:
    return summary_operation(ONE.to_json(), records, word)


def _comparisons() -> list[Document]:
    """Numbers beside the border, and texts that are numbers to some."""
    near: list[object] = [0.1, 0.30000000000000004, 0.3, 0.29999999999999993, -0.0, 0, 5e-324, 9007199254740993]
    borders = ("0.3", ".3", "+3e-1", "0.30000000000000001", "0", "-0", "9007199254740993", "1e-400", "-1e300", "7.")
    texts: list[object] = ["5", "5.0", "05", " 5", "5 ", "\u0665", 5, 5.5, "five", "", "1e999"]
    return [
        *(
            _summary(Indicator(relation=relation, than=border), near)
            for border in borders
            for relation in ("above", "is")
        ),
        *(_summary(Indicator(relation="below", than=border), near) for border in borders[:2]),
        *(_summary(Indicator(relation="is", than=than), texts) for than in ("5", "5.0", "05", " 5", "five", "1e999")),
    ]


def _bad() -> list[tuple[Statistic, list[object]]]:
    values: list[object] = [[1.0], {"minutes": 1.0}, {}, []]
    return [
        *((statistic, [{"minutes": value}]) for statistic in (MINUTES, SPREAD, LATE, HAVE) for value in values),
        *((statistic, [1.0, {"minutes": "12"}]) for statistic in (MINUTES, SPREAD, LATE, EARLY)),
        *((statistic, [bare]) for statistic in (MINUTES, LATE) for bare in ("12", [1.0], [])),
        *((statistic, [None]) for statistic in (MINUTES, SPREAD, LATE, RED, HAVE)),
        *((statistic, [{"": 1.0}]) for statistic in (Value(), Square(), Present(column=""))),
        (Indicator(relation="is", than="red"), [{"": "red"}]),
        (RED, [{"colour": "red"}, {"colour": ["red"]}]),
    ]


# --- questions


def statistic_questions() -> dict[str, Question]:
    """Questions by every statistic, through lenses and channels of every kind."""
    bit, whole = Bits.single(1.0), Windows.whole_range()
    asked = {"study": "vectors", "alpha": 1.0}
    votes = Bins(bins=6, width=1 / 3, neighbours=1, min_size=3)
    return {
        "minutes": Question(target="minutes", round=0, statistic=MINUTES, lens=whole, channel=bit, **asked),
        "spread": Question(
            target="minutes sd", round=1, statistic=SPREAD, lens=Windows.segments((-1.0, -0.5, 0.125, 0.25, 1.0)),
            channel=bit, **asked,
        ),
        "one": Question(
            target="minutes", round=2, statistic=ONE, lens=Windows.segments((-1.0, -0.5, 0.125, 0.25, 1.0)),
            channel=bit, **asked,
        ),
        "late": Question(
            target="late", round=0, statistic=LATE, lens=whole, channel=Laplace.spending(1.0, steps=100), **asked
        ),
        "red": Question(
            target="red", round=2, statistic=RED, lens=votes, channel=Bits.symmetric(1.0, 6, marks=3), **asked
        ),
        "five": Question(
            target="five", round=3, statistic=FIVE, lens=SizeClasses(classes=3), channel=Choice.spending(1.0, 3),
            **asked,
        ),
        "have": Question(target="have", round=63, statistic=HAVE, lens=whole, channel=bit, **asked),
    }  # fmt: skip


def statistic_answers() -> list[Document]:
    """Answers of somebody with a diary, of somebody with numbers, and of people without any record that counts."""
    numbers: list[object] = [5, 5.0, 61.25]
    people = [DIARY, DIARY * 3, numbers, *NOTHING]
    return [
        answer_operation(name, question, records, seed)
        for name, question in statistic_questions().items()
        for seed, records in enumerate(people)
    ]


def statistic_identities() -> list[Document]:
    """Questions by every statistic and their identities; columns and texts of every kind."""
    asked = statistic_questions()["minutes"].to_json()
    others: list[Document] = [
        {"kind": "value", "column": "x" * 128, "low": -1, "high": 1},
        {"kind": "value", "column": " ", "low": -0.0, "high": 1e16},
        {"kind": "drawn", "column": "", "low": -0.0, "high": 1e16},
        {"kind": "square", "column": '\u2603\U0001f600"\\', "low": 0, "high": 1},
        {"kind": "indicator", "column": "", "relation": "is", "than": "\u00e9" * 128},
        {"kind": "indicator", "column": "a", "relation": "below", "than": "-.5e+10"},
        {"kind": "indicator", "column": "a", "relation": "is", "than": "-.5e+1000"},
        {"kind": "present", "column": ""},
    ]
    return [
        *(question_operation(question.to_json()) for question in statistic_questions().values()),
        *(question_operation(asked | {"statistic": statistic}) for statistic in others),
    ]


def statistic_refusals() -> list[Document]:
    """Documents of questions whose statistic cannot be."""
    asked = statistic_questions()["minutes"].to_json()
    names = ("x" * 129, "line\nfeed", "\u200b", "a\u00a0b", "\ud800", 7, None, True, ["minutes"])
    above = [".", "", "x", "1e999", "nan", "Infinity", "0x10", "1_0", " 1", "1 ", "1,5", "\u0665", "e5", "1e", "--1"]
    wrong: list[Document] = [
        *(MINUTES.to_json() | {"column": name} for name in names),
        *(kind.to_json() | {"column": None} for kind in (SPREAD, ONE, LATE, HAVE)),
        *(SPREAD.to_json() | change for change in ({"low": 120.0}, {"high": "1"}, {"low": -1e101}, {"than": "5"})),
        *(ONE.to_json() | change for change in ({"low": 120.0}, {"high": "1"}, {"low": -1e101}, {"word": "0"})),
        *(LATE.to_json() | {"relation": relation} for relation in ("", "over", "ABOVE", None, 1, ["is"], {})),
        *(LATE.to_json() | {"than": than} for than in (*above, 5, None, "x" * 129, "\n")),
        *(EARLY.to_json() | {"than": than} for than in above[:4]),
        *(RED.to_json() | {"than": than} for than in ("", 5, None, "x" * 129, "line\nfeed", "\ud800")),
        HAVE.to_json() | {"low": 0.0},
        *(one for kind in (SPREAD, ONE, RED, HAVE) for one in lacking(kind.to_json())),
    ]
    return [asked | {"statistic": statistic} for statistic in wrong]
