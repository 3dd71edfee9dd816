"""Questions whose statistic names a column: their identities, their JSON, and what is refused in it."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import question_from_json, question_id
from dame.device.questions import canonical
from dame.device.statistics import Indicator, Present, Square, Value
from dame.errors import InvalidInput
from tests.device.examples import HAVE, SHARE, SPREAD, VOTE, question_name
from tests.device.strategies import columns, questions

asked_by_column = pytest.mark.parametrize("question", [VOTE, SHARE, SPREAD, HAVE], ids=question_name)


@pytest.mark.parametrize(
    ("statistic", "document", "identity"),
    [
        (
            Value(column="minutes", low=0, high=120),
            {"kind": "value", "column": "minutes", "low": 0.0, "high": 120.0},
            "734d2eeb9b49f80a3cc69b10638f71f482c8b0e955506e8e22ba6ca99c2c9b10",
        ),
        (
            Square(column="minutes", low=0, high=120),
            {"kind": "square", "column": "minutes", "low": 0.0, "high": 120.0},
            "35d15dd20e391ea32b48a00cc7dab33e7c2a223a7414b5b3a28cb62e428792fc",
        ),
        (
            Indicator(column="Gr\u00f6\u00dfe", relation="is", than="5.0"),
            {"kind": "indicator", "column": "Gr\u00f6\u00dfe", "relation": "is", "than": "5.0"},
            "a88ef98104f5c9d7bbc5b91c7d76f248e7378cadf55cd75ed9bfada5066e2b32",
        ),
        (
            Present(column="minutes"),
            {"kind": "present", "column": "minutes"},
            "ab9ecf9f4e46896342426c344d057bd3b47720111689121e411e070a955488a5",
        ),
    ],
    ids=["value", "square", "indicator", "present"],
)
def test_the_identity_of_a_known_question_about_a_column_never_changes(statistic, document, identity):
    question = dataclasses.replace(VOTE, target="some", statistic=statistic)
    assert question.to_json()["statistic"] == document
    assert question_from_json(json.loads(canonical(question.to_json()))) == question
    assert question_id(question) == identity


def test_borders_that_are_written_differently_make_different_questions():
    """`than` is a text: its number is the same on every device, and its identity that of the letters."""
    one, other = (dataclasses.replace(SHARE.statistic, than=than) for than in ("15", "15.0"))
    assert one.number == other.number
    assert question_id(dataclasses.replace(SHARE, statistic=one)) != question_id(
        dataclasses.replace(SHARE, statistic=other)
    )


@given(questions(), columns, columns)
def test_the_column_counts_for_the_identity(question, one, other):
    asked = [
        dataclasses.replace(question, statistic=dataclasses.replace(question.statistic, column=column))
        for column in (one, other)
    ]
    assert (question_id(asked[0]) == question_id(asked[1])) == (one == other)


@asked_by_column
@pytest.mark.parametrize("column", [None, 7, 1.5, True, [], {}, ["delay"], "x" * 129, "line\nfeed", "\u200b", "\ud800"])
def test_a_column_that_is_no_short_printable_text_is_refused(question, column):
    document = question.to_json()
    document["statistic"]["column"] = column
    with pytest.raises(InvalidInput) as caught:
        question_from_json(document)
    assert caught.value.field == "column"
    assert "\n" not in str(caught.value)


@asked_by_column
@given(column=st.one_of(columns, st.just("x" * 128), st.just(" ")))
def test_any_short_printable_name_survives_json(question, column):
    document = question.to_json()
    document["statistic"]["column"] = column
    read = question_from_json(json.loads(canonical(document)))
    assert read.statistic.column == column
    assert read.to_json() == document


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"relation": "over"}, "relation"),
        ({"relation": None}, "relation"),
        ({"relation": ["is"]}, "relation"),
        ({"than": 15}, "than"),
        ({"than": ""}, "than"),
        ({"than": None}, "than"),
        ({"than": "x" * 129}, "than"),
        ({"than": "soon"}, "above"),
        ({"than": "1e999"}, "above"),
        ({"than": "nan"}, "above"),
        ({"low": 0.0}, "statistic"),
    ],
)
def test_an_indicator_that_cannot_be_is_refused(change, field):
    document = SHARE.to_json()
    document["statistic"].update(change)
    with pytest.raises(InvalidInput) as caught:
        question_from_json(document)
    assert caught.value.field == field
