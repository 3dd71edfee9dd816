"""What every protocol does with plans that somebody else wrote. New protocols inherit it all."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dame
from dame.errors import DameError, InvalidInput
from dame.protocols import PROTOCOLS
from tests.core.conformance import drive, every_protocol, likely_tally, plan_of
from tests.device.strategies import json_values


@every_protocol
@given(data=st.data())
def test_any_value_in_any_field_gives_a_plan_or_a_refusal(name, data):
    document = dame.plan_to_json(plan_of(name))
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = data.draw(json_values)
    with contextlib.suppress(DameError):
        dame.first(dame.plan_from_json(document))


@every_protocol
@given(data=st.data())
def test_any_value_in_any_field_of_a_round_gives_a_plan_or_a_refusal(name, data):
    document = json.loads(json.dumps(dame.plan_to_json(plan_of(name))))
    round_ = data.draw(st.sampled_from(document["rounds"]))
    key = data.draw(st.sampled_from(sorted(round_)))
    round_[key] = data.draw(json_values)
    with contextlib.suppress(DameError):
        drive(dame.plan_from_json(document), lambda question: likely_tally(question, 100))


@given(json_values)
def test_arbitrary_json_is_no_plan(document):
    with pytest.raises(InvalidInput):
        dame.plan_from_json(document)


@every_protocol
def test_missing_and_unknown_keys_are_refused(name):
    document = dame.plan_to_json(plan_of(name))
    for key in document:
        if key in PROTOCOLS[name].details | {"notes"}:
            continue
        with pytest.raises(InvalidInput):
            dame.plan_from_json({k: v for k, v in document.items() if k != key})
    with pytest.raises(InvalidInput):
        dame.plan_from_json({**document, "surprise": 1})
    for version in (0, 2, True, "1", None):
        with pytest.raises(InvalidInput):
            dame.plan_from_json({**document, "version": version})


@every_protocol
@pytest.mark.parametrize("version", [2, 99])
def test_a_version_of_the_protocol_that_is_not_known_is_one_sentence(name, version):
    document = {**dame.plan_to_json(plan_of(name)), "protocol_version": version}
    expected = f"protocol_version must be one that this release knows of {name}: 1, not {version}"
    with pytest.raises(InvalidInput, match=expected):
        dame.plan_from_json(document)


@every_protocol
def test_rounds_of_another_protocol_are_refused(name):
    document = dame.plan_to_json(plan_of(name))
    vote = dame.plan_to_json(plan_of("paper"))["rounds"][0]
    for rounds in ([], [vote], document["rounds"] * 7, [*document["rounds"], vote]):
        with pytest.raises(InvalidInput, match="rounds"):
            dame.plan_from_json({**document, "rounds": rounds})


@every_protocol
def test_a_plan_that_would_spend_more_than_alpha_cannot_be_asked(name):
    document = {**dame.plan_to_json(plan_of(name)), "alpha": 0.5}
    with pytest.raises(InvalidInput, match="privacy loss"):
        drive(dame.plan_from_json(document), lambda question: likely_tally(question, 100))
