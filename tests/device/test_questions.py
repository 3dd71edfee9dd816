"""Questions: refused at birth when anything is wrong, and the same after any journey as JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import question_from_json, question_id
from dame.device.exact import WORD
from dame.device.questions import (
    MOST_BINS,
    MOST_RECORDS,
    Measure,
    PartMeasure,
    PlaceVote,
    Vote,
    canonical,
    question_tag,
)
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.errors import InvalidInput
from tests.device.strategies import json_values, questions

ALPHAS = (1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
ALPHA = 22 / 35
VOTE = Vote(
    study="sleep", round=0, alpha=ALPHA, low=0.0, high=10.0, bins=8, width=0.25, neighbours=1, min_size=7,
    code=UnaryCode.symmetric(ALPHA, marks=3),
)  # fmt: skip
BIT = Measure(
    study="sleep", round=1, alpha=ALPHA, low=0.0, high=10.0, centre=0.125, left=-1.0, right=2.0, cap=7.0,
    between_sd=0.1, noise=OneBit.spending(ALPHA),
)  # fmt: skip
GRID = dataclasses.replace(BIT, noise=DiscreteLaplace.spending(ALPHA), cap=None)
ARMS = dataclasses.replace(BIT, dither=0.25)
PARTS = PartMeasure(
    study="sleep", round=0, alpha=ALPHA, low=0.0, high=10.0, borders=(-1.0, -0.5, 0.125, 0.25, 1.0),
    noise=OneBit.spending(ALPHA),
)  # fmt: skip
PLACES = PlaceVote(
    study="sleep", round=2, alpha=ALPHA, low=0.0, high=10.0, places=(-0.5, 0.0, 0.25),
    code=OneOfMany.spending(ALPHA, 3),
)  # fmt: skip
QUESTIONS = (VOTE, BIT, GRID, ARMS, PARTS, PLACES)

NOT_NUMBERS = (math.nan, True, False, "1", None, [1], {}, 1j)
NOT_FINITE = (math.inf, -math.inf)
TOO_LARGE = 10**5000


def refused(question: Vote | Measure, **changes: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        dataclasses.replace(question, **changes)
    assert "\n" not in str(caught.value)


# --- refusals at birth: privacy


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("bins", [2, 8])
def test_a_vote_whose_thresholds_spend_more_than_alpha_cannot_be_built(alpha, bins):
    code = UnaryCode.symmetric(alpha, marks=3)
    vote = dataclasses.replace(VOTE, alpha=alpha, code=code, bins=8)
    assert vote.epsilon() <= alpha
    refused(vote, code=UnaryCode(yes=code.yes + 1, no=code.no - 1))
    one_hot = dataclasses.replace(vote, neighbours=0, code=UnaryCode.optimised(alpha), bins=bins)
    refused(one_hot, code=UnaryCode(yes=one_hot.code.yes, no=one_hot.code.no - 1))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_bit_whose_thresholds_spend_more_than_alpha_cannot_be_built(alpha):
    noise = OneBit.spending(alpha)
    bit = dataclasses.replace(BIT, alpha=alpha, noise=noise)
    assert bit.epsilon() <= alpha
    refused(bit, noise=OneBit(low=noise.low - 1, high=noise.high + 1))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_noise_scale_that_spends_more_than_alpha_cannot_be_built(alpha):
    noise = DiscreteLaplace.spending(alpha)
    grid = dataclasses.replace(GRID, alpha=alpha, noise=noise)
    assert grid.epsilon() <= alpha
    assert grid.noise.loss() <= Fraction(alpha)
    refused(grid, noise=DiscreteLaplace(steps=noise.steps, scale=noise.scale - 1))
    refused(grid, noise=DiscreteLaplace(steps=noise.steps * 2, scale=noise.scale))


def test_marking_more_bins_than_the_code_allows_cannot_be_built():
    refused(VOTE, neighbours=2)
    refused(VOTE, alpha=ALPHA * 0.999)


def test_a_lower_alpha_than_the_noise_spends_cannot_be_built():
    refused(BIT, alpha=math.nextafter(BIT.epsilon(), 0) - 1e-12)
    refused(GRID, alpha=math.nextafter(GRID.epsilon(), 0) - 1e-12)
    refused(PLACES, alpha=math.nextafter(PLACES.epsilon(), 0) - 1e-12)
    refused(PARTS, alpha=math.nextafter(PARTS.epsilon(), 0) - 1e-12)


# --- refusals at birth: fields


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("alpha", [0, -1, 9.9e-7, 32.1, 1e6, *NOT_NUMBERS, *NOT_FINITE])
def test_alpha_out_of_range_is_refused(question, alpha):
    refused(question, alpha=alpha)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("study", ["", "x" * 129, "a\nb", "a\0", "\ud800", 7, None, b"a"])
def test_a_study_that_is_no_short_printable_text_is_refused(question, study):
    refused(question, study=study)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("number", [-1, 64, 0.0, 1.5, *NOT_NUMBERS, *NOT_FINITE])
def test_a_round_out_of_range_is_refused(question, number):
    refused(question, round=number)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "ends",
    [(1.0, 1.0), (1.0, 0.0), (0.0, 1e-300), (-1e301, 0.0), (0.0, 1e301)]
    + [(wrong, 1.0) for wrong in (*NOT_NUMBERS, *NOT_FINITE)]
    + [(0.0, wrong) for wrong in (*NOT_NUMBERS, *NOT_FINITE)],
)
def test_bounds_reversed_equal_or_not_finite_are_refused(question, ends):
    low, high = ends
    refused(question, low=low, high=high)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("bins", [0, -1, MOST_BINS + 1, 2.0]),
        ("width", [0, -0.1, 1e-13, 1e13]),
        ("origin", [-1.01, 1.01]),
        ("neighbours", [-1, 17, 1.0]),
        ("min_size", [0, -5, MOST_RECORDS + 1, 7.0]),
    ],
)
def test_a_vote_refuses_fields_out_of_range(field, values):
    for value in (*values, *NOT_NUMBERS, *NOT_FINITE):
        refused(VOTE, **{field: value})


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("centre", [-1.01, 1.01]),
        ("left", [-1e13, 2.0, 3.0, 2.0 - 1e-13]),
        ("right", [1e13, -1.0, -2.0]),
        ("cap", [0, -1.0, 1e-13, 2.0**63]),
        ("between_sd", [-0.1, 1.1]),
        ("dither", [-0.1, 2.1]),
        ("least_weight", [-0.1, 1.1e12]),
    ],
)
@pytest.mark.parametrize("question", [BIT, GRID, ARMS])
def test_a_measure_refuses_fields_out_of_range(question, field, values):
    for value in (*values, *NOT_NUMBERS, *NOT_FINITE):
        if field == "cap" and value is None:
            continue
        refused(question, **{field: value})


@pytest.mark.parametrize(
    ("question", "field"),
    [(VOTE, "code"), (PLACES, "code"), (BIT, "noise"), (GRID, "noise"), (ARMS, "noise"), (PARTS, "noise")],
)
@pytest.mark.parametrize("wrong", [None, 1, "laplace", {}, UnaryCode.optimised(1.0), OneBit.spending(1.0)])
def test_a_randomiser_of_another_kind_is_refused(question, field, wrong):
    if isinstance(wrong, type(getattr(question, field))) or (field == "noise" and isinstance(wrong, OneBit)):
        return
    refused(question, **{field: wrong})


def test_a_dither_goes_with_one_bit_only():
    refused(GRID, dither=0.25)


def test_two_arms_stand_as_far_from_the_centre_on_either_side():
    assert [ARMS.window(arm) for arm in range(ARMS.arms)] == [(0.125 - 0.25, -1.0, 2.0), (0.125 + 0.25, -1.0, 2.0)]
    assert [BIT.window(arm) for arm in range(BIT.arms)] == [(0.125, -1.0, 2.0)]


def test_a_window_has_no_number_of_arms():
    for question in (BIT, ARMS, GRID):
        with pytest.raises(InvalidInput, match="unknown keys"):
            question_from_json({**question.to_json(), "arms": 2})


@pytest.mark.parametrize("field", ["alpha", "round", "low", "high", "bins", "width", "min_size"])
def test_an_integer_too_long_to_print_is_refused_in_a_sentence(field):
    refused(VOTE, **{field: TOO_LARGE})


# --- identity


def test_whole_numbers_and_floats_make_the_same_question():
    whole = dataclasses.replace(BIT, low=0, high=10, left=-1, right=2, cap=7, alpha=1, noise=OneBit.spending(1))
    real = dataclasses.replace(
        BIT, low=0.0, high=10.0, left=-1.0, right=2.0, cap=7.0, alpha=1.0, noise=OneBit.spending(1.0)
    )
    assert whole == real
    assert question_id(whole) == question_id(real)
    assert dataclasses.replace(VOTE, width=1, origin=0) == dataclasses.replace(VOTE, width=1.0, origin=0.0)
    assert question_id(dataclasses.replace(VOTE, origin=0)) == question_id(dataclasses.replace(VOTE, origin=0.0))


def test_whole_numbers_of_numpy_make_the_same_question():
    other = dataclasses.replace(
        VOTE, bins=np.int64(8), round=np.int32(0), neighbours=np.uint8(1), min_size=np.int64(7), low=np.float64(0)
    )
    assert other == VOTE
    assert question_id(other) == question_id(VOTE)
    assert question_from_json(json.loads(json.dumps(other.to_json()))) == VOTE


def test_thresholds_of_numpy_make_the_same_question():
    code = UnaryCode(yes=np.uint64(VOTE.code.yes), no=np.uint64(VOTE.code.no))
    assert question_id(dataclasses.replace(VOTE, code=code)) == question_id(VOTE)
    noise = DiscreteLaplace(steps=np.int32(GRID.noise.steps), scale=np.int64(GRID.noise.scale))
    assert question_id(dataclasses.replace(GRID, noise=noise)) == question_id(GRID)


@pytest.mark.parametrize(
    ("question", "field"),
    [(VOTE, "origin"), (VOTE, "low"), (BIT, "centre"), (BIT, "left"), (BIT, "between_sd"), (BIT, "dither")],
)
def test_minus_zero_makes_the_same_question_as_zero(question, field):
    zero, minus_zero = (dataclasses.replace(question, **{field: value}) for value in (0.0, -0.0))
    assert zero == minus_zero
    assert canonical(zero.to_json()) == canonical(minus_zero.to_json())


@given(questions(), questions())
def test_questions_are_equal_exactly_when_their_identities_are(one, other):
    assert (one == other) == (question_id(one) == question_id(other))
    assert question_tag(one) == bytes.fromhex(question_id(one))[:8]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_field_counts_for_the_identity(question):
    changed = {
        "study": "other", "round": 5, "alpha": 3.0, "low": -3.0, "high": 12.0, "bins": 9, "width": 0.3, "origin": -0.5,
        "neighbours": 0, "min_size": 8, "centre": 0.5, "left": -1.5, "right": 2.5, "cap": 3.0, "between_sd": 0.2,
        "dither": 0.1,
        "least_weight": 0.5,
        "places": (-0.5, 0.0, 0.5),
        "borders": (-1.0, 0.5, 1.0),
        "code": UnaryCode(yes=WORD // 2 + 5, no=WORD // 2 - 5), "noise": OneBit(low=WORD // 2, high=WORD // 2 + 9),
    }  # fmt: skip
    if isinstance(question, PlaceVote):
        changed["code"] = OneOfMany(yes=question.code.yes - 2, no=question.code.no + 1)
    fields = [field.name for field in dataclasses.fields(question) if field.init]
    if isinstance(getattr(question, "noise", None), DiscreteLaplace):
        fields.remove("dither")
    others = {question_id(dataclasses.replace(question, **{name: changed[name]})) for name in fields}
    assert len(others | {question_id(question)}) == len(fields) + 1


def test_the_identity_of_a_known_question_never_changes():
    """Pinned: a change of this identity would make deployed devices and collectors talk past each other."""
    assert question_id(VOTE) == question_id(question_from_json(VOTE_DOCUMENT))
    assert question_id(VOTE) == "52c4580f6e159013fce6c3ef2d32359897f1cc03a1f073631a9ee00577308162"


VOTE_DOCUMENT = {
    "kind": "vote", "version": 1, "study": "sleep", "round": 0, "alpha": 0.6285714285714286, "low": 0.0, "high": 10.0,
    "bins": 8, "width": 0.25, "origin": -1.0, "neighbours": 1, "min_size": 7,
    "code": {"yes": "86b2d9d801541896", "no": "794d2627feabe76a"},
}  # fmt: skip


# --- JSON


@given(questions())
def test_a_question_survives_json(question):
    assert question_from_json(json.loads(json.dumps(question.to_json(), allow_nan=False))) == question


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_missing_key_is_refused(question):
    for key in question.to_json():
        document = question.to_json()
        del document[key]
        with pytest.raises(InvalidInput):
            question_from_json(document)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_unknown_key_is_refused(question):
    document = question.to_json()
    inner = document.get("code") or document["noise"]
    for place in (document, inner):
        place["surprise"] = 1
        with pytest.raises(InvalidInput, match="unknown keys"):
            question_from_json(document)
        del place["surprise"]
    assert question_from_json(document) == question


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5, [1], True])
def test_another_version_is_refused(question, version):
    with pytest.raises(InvalidInput, match="version"):
        question_from_json({**question.to_json(), "version": version})


@pytest.mark.parametrize("question", QUESTIONS)
@given(data=st.data())
def test_any_value_in_any_field_gives_a_question_or_invalid_input(question, data):
    document = question.to_json()
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = data.draw(json_values)
    with contextlib.suppress(InvalidInput):
        question_from_json(document)


@given(json_values)
def test_arbitrary_json_is_invalid_input_and_nothing_else(document):
    with pytest.raises(InvalidInput):
        question_from_json(document)


@given(
    st.sampled_from(["vote", "place-vote", "measure", "part-measure", "ballot"]),
    st.dictionaries(st.text(max_size=10), json_values, max_size=6),
)
def test_an_object_that_only_claims_to_be_a_question_is_invalid_input(kind, document):
    with pytest.raises(InvalidInput):
        question_from_json({**document, "kind": kind})


@pytest.mark.parametrize(
    "threshold", ["0", "g" * 16, "A" * 16, "0" * 17, "0" * 16, "f" * 17, " " * 16, 5, None, "−" * 16]
)
def test_a_threshold_that_is_not_16_hexadecimal_digits_is_refused(threshold):
    with pytest.raises(InvalidInput):
        question_from_json({**VOTE.to_json(), "code": {"yes": threshold, "no": threshold}})
    with pytest.raises(InvalidInput):
        question_from_json({**PLACES.to_json(), "code": {"yes": threshold, "no": threshold}})
    with pytest.raises(InvalidInput):
        question_from_json({**BIT.to_json(), "noise": {"kind": "one-bit", "low": threshold, "high": threshold}})


def test_json_that_asks_for_more_than_alpha_is_refused():
    document = VOTE.to_json()
    document["alpha"] = 0.1
    with pytest.raises(InvalidInput, match="privacy loss"):
        question_from_json(document)
    with pytest.raises(InvalidInput, match="privacy loss"):
        question_from_json({**GRID.to_json(), "alpha": 0.1})
    for question in (PLACES, PARTS):
        with pytest.raises(InvalidInput, match="privacy loss"):
            question_from_json({**question.to_json(), "alpha": 0.1})


def test_a_question_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        VOTE.bins = 9
