"""Targets: as texts, tables and calls; their names, their measures, and what they refuse in one sentence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dame
from dame.device.statistics import Indicator, Present, Square, Value
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.studies.parsing import TARGETS, named, target_from_json, target_from_text
from dame.studies.targets import Mean, Sd, Share

MINUTES = Value(column="minutes", low=0.0, high=120.0)
EXAMPLES = {
    "mean:minutes:0:120": dame.mean("minutes", (0, 120)),
    "sd:minutes:-1e2:22/35:name=spread": dame.sd("minutes", (-100, 22 / 35), name="spread"),
    "share:late:above:0": dame.share("late", above=0),
    "share:late:below:-1.5:weight=2": dame.share("late", below=-1.5, weight=2),
    "share:platform:is:ios": dame.share("platform", is_="ios"),
    "quantiles:minutes:0:120:0.5,0.9:records": dame.quantiles("minutes", (0, 120), [0.5, 0.9], whose="records"),
    "distribution:minutes:1:120:scale=log": dame.distribution("minutes", (1, 120), scale="log"),
    "share:clock:is:10:30:present=0.5": dame.share("clock", is_="10:30", present=0.5),
}


@pytest.mark.parametrize(("text", "target"), EXAMPLES.items(), ids=EXAMPLES)
def test_a_text_a_call_and_a_table_say_the_same(text, target):
    assert target_from_text(text) == target
    assert target_from_json(target.to_json()) == target


def test_every_kind_has_an_example():
    assert {target.kind for target in EXAMPLES.values()} == set(TARGETS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "target must be one whose kind is"),
        ("median:minutes:0:120", "target must be one whose kind is"),
        ("mean:minutes", "mean:COLUMN:LO:HI"),
        ("mean:minutes:0:120:5", "mean:COLUMN:LO:HI"),
        ("mean:minutes:120:0", "two different numbers, the smaller one first"),
        ("mean:minutes:0:many", "bounds must be a number"),
        ("mean:minutes:0:inf", "high bound"),
        ("mean:minutes:0:120:weight=0", "weight must be a number above 0"),
        ("mean:minutes:0:120:present=2", "present must be a number above 0 and at most 1"),
        ("mean:minutes:0:120:name=a/b", "a text without '/'"),
        ("share:late", "share:COLUMN:above:X"),
        ("share:late:over:3", "share:COLUMN:above:X"),
        ("share:late:above:soon", "above must be a finite number"),
        ("share:late:above:inf", "above must be a finite number"),
    ],
)
def test_a_bad_text_is_one_sentence(text, says):
    with pytest.raises(InvalidInput, match=says) as caught:
        target_from_text(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"column": "x"},
        {"kind": "mean", "bounds": [0, 1]},
        {"kind": "mean", "column": "x"},
        {"kind": "mean", "column": "x", "bounds": [0]},
        {"kind": "mean", "column": "x", "bounds": "0 1"},
        {"kind": "mean", "column": "x", "bounds": [0, 1], "colour": "red"},
        {"kind": "mean", "column": 3, "bounds": [0, 1]},
        {"kind": "share", "column": "x"},
        {"kind": "share", "column": "x", "above": 1, "below": 2},
        {"kind": "share", "column": "x", "above": "high"},
        {"kind": ["mean"], "column": "x", "bounds": [0, 1]},
    ],
)
def test_a_bad_table_is_refused(document):
    with pytest.raises(InvalidInput):
        target_from_json(document)


def test_a_number_is_compared_with_however_it_is_written():
    given = [{"kind": "share", "column": "x", "is": value} for value in (1, "1")]
    assert target_from_json(given[0]) == target_from_json(given[1]) == dame.share("x", is_=1)
    assert target_from_json({"kind": "share", "column": "x", "is": True}) == dame.share("x", is_="1")


# --- names


def test_targets_are_named_by_their_column_or_by_what_they_tell_of_it():
    alone = named([dame.share("late", above=0), dame.mean("minutes", (0, 120))])
    assert [target.name for target in alone] == ["late", "minutes"]
    several = named([dame.sd("m", (0, 1)), dame.mean("m", (0, 1)), dame.share("m", above=0.5)])
    assert [target.name for target in several] == ["m-sd", "m", "m-above-0.5"]


@pytest.mark.parametrize(
    "targets",
    [
        [],
        [dame.mean("m", (0, 1)), dame.mean("m", (0, 1))],
        [dame.mean("m", (0, 1), name="x"), dame.sd("n", (0, 1), name="x")],
    ],
    ids=["none", "twice", "same name"],
)
def test_no_targets_and_two_of_one_name_are_refused(targets):
    with pytest.raises(InvalidInput, match="targets"):
        dame.Study(users=100, alpha=1, sizes="poisson:5", targets=targets)


@pytest.mark.parametrize("targets", [None, "mean:x:0:1", ["mean:x:0:1"], [None]])
def test_targets_of_another_type_are_refused(targets):
    with pytest.raises(InvalidInput, match="a list of targets"):
        dame.Study(users=100, alpha=1, sizes="poisson:5", targets=targets)


# --- measures


def test_each_target_names_the_means_that_it_needs():
    mean, sd = named([dame.mean("minutes", (0, 120)), dame.sd("minutes", (0, 120))])
    assert [(measure.name, measure.statistic) for measure in mean.measures] == [("minutes", MINUTES)]
    assert [(measure.name, measure.statistic) for measure in sd.measures] == [
        ("minutes-sd/mean", MINUTES),
        ("minutes-sd/square", Square(column="minutes", low=0, high=120)),
    ]
    (share,) = named([dame.share("late", above=0, present=0.5)])
    assert [(measure.name, measure.statistic, measure.share) for measure in share.measures] == [
        ("late/share", Indicator(column="late", relation="above", than="0"), 0.8),
        ("late/present", Present(column="late"), 0.2),
    ]


def estimate(value: float, reach: float = 0.1) -> Estimate:
    return Estimate(value=value, standard_error=reach / 1.96, interval=(value - reach, value + reach), users=(10,))


def test_a_mean_and_a_share_are_what_was_measured():
    for target in (Mean(column="x", bounds=(0, 1)), Share(column="x", relation="is", than="a")):
        assert target.read([estimate(0.3)]) == estimate(0.3)
        assert target.true_value([0.3]) == 0.3


@given(st.lists(st.floats(0, 120), min_size=1, max_size=30))
def test_the_true_standard_deviation_is_that_of_the_records(values):
    target = Sd(column="x", bounds=(0, 120))
    mean = math.fsum(values) / len(values)
    square = math.fsum((value - 60) ** 2 for value in values) / len(values)
    expected = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    assert target.true_value([mean, square]) == pytest.approx(expected, abs=1e-5)
