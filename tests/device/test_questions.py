"""Questions: refused at birth when anything is wrong, and the same after any journey as JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import CHANNELS, LENSES, STATISTICS, Slot, question_from_json, question_id
from dame.device.channels import Bits, Choice, Laplace
from dame.device.exact import WORD
from dame.device.lenses import Bins, SizeClasses, Window, Windows
from dame.device.parts import Kinds
from dame.device.questions import Question, canonical, question_tag
from dame.device.statistics import Drawn, Indicator, Present, Square, Value
from dame.device.stripes import Stripes
from dame.errors import InvalidInput
from tests.device.enumeration import keeps
from tests.device.examples import (
    ALPHA,
    ALPHAS,
    BIT,
    CHOICE,
    DITHER,
    GRID,
    NOT_FINITE,
    NOT_NUMBERS,
    QUESTIONS,
    SEGMENTS,
    SIZES,
    TOO_LARGE,
    VOTE,
    every_making,
    own,
    question_name,
)
from tests.device.strategies import json_values, questions

PARTS = ("statistic", "lens", "channel")
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=question_name)


def refused(question: Question, **changes: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        dataclasses.replace(question, **changes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- refusals at birth: privacy


@pytest.mark.parametrize("question", every_making(ALPHAS), ids=question_name)
def test_a_question_above_its_alpha_cannot_be_built(question):
    assert question.epsilon() <= question.alpha
    assert question.loss().within(question.alpha)
    assert keeps(question.loss(), question.alpha)
    below = question.epsilon() * (1 - 1e-12) - 1e-300
    if below >= 1e-6:
        assert "privacy loss" in refused(question, alpha=below)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("bins", [2, 8])
def test_marks_whose_thresholds_spend_a_step_more_than_alpha_cannot_be_built(alpha, bins):
    channel = Bits.symmetric(alpha, bins=8, marks=3)
    vote = dataclasses.replace(VOTE, alpha=alpha, channel=channel)
    assert "privacy loss" in refused(vote, channel=Bits(bins=8, yes=channel.yes + 1, no=channel.no - 1))
    one_hot = Bits.optimised(alpha, bins=bins)
    vote = dataclasses.replace(VOTE, alpha=alpha, lens=Bins(bins=bins, width=2 / bins, min_size=7), channel=one_hot)
    assert "privacy loss" in refused(vote, channel=dataclasses.replace(one_hot, no=one_hot.no - 1))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("question", [BIT, DITHER, SEGMENTS], ids=["bit", "dither", "segments"])
def test_a_bit_whose_thresholds_spend_a_step_more_than_alpha_cannot_be_built(question, alpha):
    bit = Bits.single(alpha)
    sound = dataclasses.replace(question, alpha=alpha, channel=bit)
    assert "privacy loss" in refused(sound, channel=Bits(yes=bit.yes + 1, no=bit.no - 1))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("bins", range(2, 9))
def test_a_choice_whose_thresholds_spend_a_step_more_than_alpha_cannot_be_built(alpha, bins):
    channel = Choice.spending(alpha, bins=bins)
    sound = dataclasses.replace(CHOICE, alpha=alpha, lens=SizeClasses(classes=bins), channel=channel)
    further = Choice(bins=bins, yes=channel.yes + bins - 1, no=channel.no - 1)
    assert "privacy loss" in refused(sound, channel=further)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_noise_scale_that_spends_a_step_more_than_alpha_cannot_be_built(alpha):
    noise = Laplace.spending(alpha)
    grid = dataclasses.replace(GRID, alpha=alpha, channel=noise)
    assert grid.loss().exponent <= Fraction(alpha)
    assert "privacy loss" in refused(grid, channel=Laplace(steps=noise.steps, scale=noise.scale - 1))
    assert "privacy loss" in refused(grid, channel=Laplace(steps=noise.steps * 2, scale=noise.scale))


def test_marking_more_bins_than_the_channel_allows_cannot_be_built():
    assert "privacy loss" in refused(VOTE, lens=dataclasses.replace(VOTE.lens, neighbours=2))
    assert "privacy loss" in refused(VOTE, alpha=ALPHA * 0.999)


def test_some_people_without_marks_count():
    """Where nobody is silent, everybody marks one bin, and a choice will do; somebody silent needs bits of her own."""
    everybody = dataclasses.replace(VOTE, lens=Bins(bins=8, width=0.25), channel=Choice.spending(ALPHA, bins=8))
    assert "exactly one mark" in refused(everybody, lens=Bins(bins=8, width=0.25, min_size=2))
    assert "exactly one mark" in refused(everybody, lens=Bins(bins=8, width=0.25, neighbours=1))


def test_a_loss_of_exactly_alpha_can_be_built():
    exact = Laplace(steps=2**10, scale=2**10)
    assert dataclasses.replace(GRID, alpha=1.0, channel=exact).epsilon() == 1.0
    assert "privacy loss" in refused(GRID, alpha=math.nextafter(1.0, 0.0), channel=exact)


def test_a_question_that_tells_nobody_from_anybody_costs_nothing():
    nothing = dataclasses.replace(SIZES, lens=SizeClasses(classes=1), channel=Bits.optimised(32.0, bins=1), alpha=1e-6)
    assert nothing.epsilon() == 0.0


# --- refusals at birth: header and parts


@every_question
def test_alpha_out_of_range_is_refused(question):
    for alpha in (0, -1, 9.9e-7, 32.1, 1e6, TOO_LARGE, *NOT_NUMBERS, *NOT_FINITE):
        refused(question, alpha=alpha)


@every_question
@pytest.mark.parametrize(("field", "longest"), [("study", 128), ("target", 64)])
def test_a_name_that_is_no_short_printable_text_is_refused(question, field, longest):
    for name in ("", "x" * (longest + 1), "a\nb", "a\0", "\ud800", 7, None, b"a"):
        refused(question, **{field: name})
    assert getattr(dataclasses.replace(question, **{field: "x" * longest}), field) == "x" * longest


@every_question
def test_a_round_out_of_range_is_refused(question):
    for number in (-1, 64, 0.0, 1.5, TOO_LARGE, *NOT_NUMBERS, *NOT_FINITE):
        refused(question, round=number)


@every_question
@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_another_kind_is_refused(question, name):
    others = [getattr(question, other) for other in PARTS if other != name]
    for wrong in (None, 1, "laplace", {}, type(getattr(question, name)), getattr(question, name).to_json(), *others):
        assert refused(question, **{name: wrong}).startswith(f"{name} must be a {name}")


@pytest.mark.parametrize(
    ("question", "channel"),
    [
        (VOTE, Bits.symmetric(ALPHA, bins=9, marks=3)),
        (VOTE, Bits.single(ALPHA)),
        (VOTE, Laplace.spending(ALPHA)),
        (SIZES, Choice.spending(ALPHA, bins=11)),
        (BIT, Bits.optimised(ALPHA, bins=2)),
        (SEGMENTS, Choice.spending(ALPHA, bins=4)),
    ],
)
def test_a_channel_for_another_number_of_bins_is_refused(question, channel):
    assert "bins of the channel" in refused(question, channel=channel)


@every_question
def test_a_question_is_frozen_and_says_its_slot(question):
    assert question.slot == Slot(question.target, question.round) == (question.target, question.round)
    for field in dataclasses.fields(question):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(question, field.name, getattr(question, field.name))


# --- identity


def test_numbers_of_any_kind_make_the_same_question():
    lens = Windows(windows=[(0, -1, 2)], cap=np.float64(7), between_sd=-0.0)
    real = dataclasses.replace(BIT, alpha=1.0, lens=Windows(windows=(Window(0.0, -1.0, 2.0),), cap=7.0))
    other = dataclasses.replace(real, alpha=1, round=np.int64(1), statistic=Value(low=-0.0, high=10), lens=lens)
    assert other == real
    assert canonical(other.to_json()) == canonical(real.to_json())
    assert question_id(other) == question_id(real)


def test_whole_numbers_of_numpy_make_the_same_question():
    lens = dataclasses.replace(VOTE.lens, bins=np.int64(8), neighbours=np.uint8(1), min_size=np.int64(7))
    channel = Bits(bins=np.int16(8), yes=np.uint64(VOTE.channel.yes), no=np.uint64(VOTE.channel.no))
    other = dataclasses.replace(VOTE, round=np.int32(0), lens=lens, channel=channel)
    assert other == VOTE
    assert question_id(other) == question_id(VOTE)
    assert other.epsilon() == VOTE.epsilon()
    assert question_from_json(json.loads(json.dumps(other.to_json()))) == VOTE


@given(questions(), questions())
def test_questions_are_equal_exactly_when_their_identities_are(one, other):
    assert (one == other) == (question_id(one) == question_id(other))
    assert question_tag(one) == bytes.fromhex(question_id(one))[:8]


CHANGED = {
    Value: {"column": "minutes", "low": -3.0, "high": 12.0},
    Square: {"column": "minutes", "low": -3.0, "high": 12.0},
    Drawn: {"column": "minutes", "low": -3.0, "high": 12.0},
    Indicator: {"column": "minutes", "relation": "below", "than": "16"},
    Present: {"column": "minutes"},
    Bins: {"bins": 9, "width": 0.3, "origin": -0.5, "neighbours": 0, "min_size": 8},
    SizeClasses: {"classes": 2},
    Windows: {"windows": (Window(0.5, -1.5, 2.5),), "cap": 3.0, "between_sd": 0.2, "least_weight": 0.25},
    Stripes: {"levels": ((0.25, 3, 1), (0.5, 5, 2))},
    Bits: {"bins": 7, "yes": WORD - 1, "no": 1},
    Choice: {"bins": Choice(bins=2, yes=WORD - 5, no=5), "yes": Choice(bins=3, yes=WORD - 10, no=5)},
    Laplace: {"steps": 3, "scale": 2**44},
}
CHANGED[Choice]["no"] = Choice(bins=3, yes=WORD - 12, no=6)


def variants(question: Question) -> Iterator[dict[str, object]]:
    """The documents of a question, each with another field changed."""
    document = question.to_json()
    for key, value in {"version": 2, "study": "other", "target": "other", "round": 5, "alpha": 3.0}.items():
        yield {**document, key: value}
    for name in PARTS:
        part = getattr(question, name)
        for field in dataclasses.fields(part):
            value = CHANGED[type(part)][field.name]
            changed = value if isinstance(value, type(part)) else dataclasses.replace(part, **{field.name: value})
            yield {**document, name: changed.to_json()}


@every_question
def test_every_field_counts_for_the_identity(question):
    assert question_id(question) == hashlib.sha256(canonical(question.to_json())).hexdigest()
    others = [hashlib.sha256(canonical(document)).hexdigest() for document in variants(question)]
    assert len({*others, question_id(question)}) == len(others) + 1


def test_every_part_is_among_the_examples():
    assert {type(getattr(question, name)) for question in QUESTIONS for name in PARTS} == set(CHANGED)
    assert set(CHANGED) == {*own(STATISTICS), *own(LENSES), *own(CHANNELS)}


@pytest.mark.parametrize(
    ("question", "lens", "channel", "identity"),
    [
        (
            VOTE,
            {"kind": "bins", "bins": 8, "width": 0.25, "origin": -1.0, "neighbours": 1, "min_size": 7},
            {"kind": "bits", "bins": 8, "yes": "86b2d9d801541896", "no": "794d2627feabe76a"},
            "a4d1699b02bd1c37fffbf71ff4de9680d0960e3670bf7b6a4c044184ae9e36a7",
        ),
        (
            SEGMENTS,
            {
                "kind": "windows",
                "windows": [[-1.0, 0.0, 0.5], [-0.5, 0.0, 0.625], [0.125, 0.0, 0.125], [0.25, 0.0, 0.75]],
                "cap": 1.0,
                "between_sd": 0.0,
                "least_weight": 0.0,
            },
            {"kind": "bits", "bins": 1, "yes": "a6f450ea35a14d12", "no": "590baf15ca5eb2ee"},
            "b3aa02d5638cc5b90fc7bd314c8c90afdd03e4c0d06720806b08573664d77af0",
        ),
    ],
    ids=["vote", "segments"],
)
def test_the_identity_of_a_known_question_never_changes(question, lens, channel, identity):
    """Pinned: a change of this identity would make deployed devices and collectors talk past each other."""
    document = {
        "version": 1, "study": "sleep", "target": "mean", "round": 0, "alpha": 0.6285714285714286,
        "statistic": {"kind": "value", "column": "", "low": 0.0, "high": 10.0}, "lens": lens, "channel": channel,
    }  # fmt: skip
    assert question.to_json() == document
    assert question_id(question) == identity


# --- JSON


def places(document: dict[str, object]) -> list[dict[str, object]]:
    """The objects that a document consists of."""
    return [document, *(document[name] for name in PARTS)]


@given(questions())
def test_a_question_survives_json(question):
    assert question_from_json(json.loads(json.dumps(question.to_json(), allow_nan=False))) == question


@every_question
def test_a_missing_or_an_unknown_key_is_refused(question):
    document = question.to_json()
    for place in places(document):
        for key in list(place):
            value = place.pop(key)
            with pytest.raises(InvalidInput):
                question_from_json(document)
            place[key] = value
        place["surprise"] = 1
        with pytest.raises(InvalidInput, match="unknown keys"):
            question_from_json(document)
        del place["surprise"]
    assert question_from_json(document) == question


@every_question
@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5, 1.0, [1], True])
def test_another_version_is_refused(question, version):
    with pytest.raises(InvalidInput, match="version"):
        question_from_json({**question.to_json(), "version": version})


@every_question
@given(data=st.data())
def test_any_value_in_any_field_gives_a_question_or_invalid_input(question, data):
    document = question.to_json()
    place = data.draw(st.sampled_from(places(document)))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(json_values)
    with contextlib.suppress(InvalidInput):
        assert question_from_json(document).loss().within(document["alpha"])


@given(json_values)
def test_arbitrary_json_is_invalid_input_and_nothing_else(document):
    for given_document in (document, {**VOTE.to_json(), "lens": document}, {**VOTE.to_json(), "channel": document}):
        with pytest.raises(InvalidInput):
            question_from_json(given_document)


@pytest.mark.parametrize("kinds", [STATISTICS, LENSES, CHANNELS])
@given(document=st.dictionaries(st.text(max_size=10), json_values, max_size=6))
def test_an_object_that_only_claims_to_be_a_part_is_invalid_input(kinds, document):
    for kind in (*(part.kind for part in kinds), "ballot", "", None, 7, [], {}):
        with pytest.raises(InvalidInput):
            kinds.from_json({**document, "kind": kind})


@every_question
@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_another_sort_in_its_place_is_refused(question, name):
    for other in PARTS:
        if other != name:
            with pytest.raises(InvalidInput, match=f"{name} kind must be one of"):
                question_from_json({**question.to_json(), name: question.to_json()[other]})


@pytest.mark.parametrize(
    "threshold", ["0", "g" * 16, "A" * 16, "0" * 17, "0" * 16, "f" * 17, " " * 16, 5, None, "−" * 16, "+" + "0" * 15]
)
@pytest.mark.parametrize("question", [VOTE, CHOICE, BIT])
@pytest.mark.parametrize("field", ["yes", "no"])
def test_a_threshold_that_is_not_16_hexadecimal_digits_is_refused(question, field, threshold):
    document = question.to_json()
    document["channel"][field] = threshold
    with pytest.raises(InvalidInput):
        question_from_json(document)


@every_question
def test_json_that_asks_for_more_than_alpha_is_refused(question):
    with pytest.raises(InvalidInput, match="privacy loss"):
        question_from_json({**question.to_json(), "alpha": 0.1})


def test_a_kind_that_is_taken_is_refused():
    kinds = Kinds("lens")
    assert kinds.register(Bins) is Bins
    assert kinds.register(Bins) is Bins, "the same again changes nothing"
    with pytest.raises(InvalidInput, match="lens kind must be one other than 'bins'"):
        kinds.register(type("Other", (SizeClasses,), {"kind": "bins"}))
    assert list(kinds) == [Bins]


@pytest.mark.parametrize("kinds", [STATISTICS, LENSES, CHANNELS])
def test_kinds_are_words_that_tell_the_classes_apart(kinds):
    names = [part.kind for part in kinds]
    assert names
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() for name in names)
