"""What every protocol does with plans that somebody else wrote. New protocols inherit it all."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.errors import DameError, InvalidInput
from dame.protocols import PROTOCOLS, machine_from_json
from dame.protocols import next as next_step
from tests.core.conformance import drive, every_protocol, likely_tally, plan_of
from tests.device.strategies import json_values
from tests.machines import from_json, to_json


@every_protocol
@given(data=st.data())
def test_any_value_in_any_field_gives_a_plan_or_a_refusal(name, data):
    document = to_json(plan_of(name))
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = data.draw(json_values)
    with contextlib.suppress(DameError):
        next_step(from_json(document, plan_of(name)), [])


@every_protocol
@given(data=st.data())
def test_any_value_in_any_field_of_a_round_gives_a_plan_or_a_refusal(name, data):
    document = to_json(plan_of(name))
    round_ = data.draw(st.sampled_from(document["rounds"]))
    key = data.draw(st.sampled_from(sorted(round_)))
    round_[key] = data.draw(json_values)
    with contextlib.suppress(DameError):
        drive(from_json(document, plan_of(name)), lambda question: likely_tally(question, 100))


@given(json_values)
def test_arbitrary_json_is_no_plan(document):
    with pytest.raises(InvalidInput):
        machine_from_json(document, "s", 1.0)


@every_protocol
def test_missing_and_unknown_keys_are_refused(name):
    document = to_json(plan_of(name))
    for key in document:
        if key in PROTOCOLS[name].details | {"notes"}:
            continue
        with pytest.raises(InvalidInput):
            from_json({k: v for k, v in document.items() if k != key}, plan_of(name))
    with pytest.raises(InvalidInput):
        from_json({**document, "surprise": 1}, plan_of(name))


@every_protocol
@pytest.mark.parametrize("version", [2, 99])
def test_a_version_of_the_protocol_that_is_not_known_is_one_sentence(name, version):
    document = {**to_json(plan_of(name)), "protocol_version": version}
    expected = f"protocol_version must be one that this release knows of {name}: 1, not {version}"
    with pytest.raises(InvalidInput, match=expected):
        from_json(document, plan_of(name))


@every_protocol
def test_rounds_of_another_protocol_are_refused(name):
    document = to_json(plan_of(name))
    vote = to_json(plan_of("paper"))["rounds"][0]
    for rounds in ([], [vote], document["rounds"] * 7, [*document["rounds"], vote]):
        with pytest.raises(InvalidInput, match="rounds"):
            from_json({**document, "rounds": rounds}, plan_of(name))


@every_protocol
def test_a_plan_that_would_spend_more_than_alpha_cannot_be_asked(name):
    greedy = replace(plan_of(name), brief=replace(plan_of(name).brief, alpha=0.5))
    with pytest.raises(InvalidInput, match="privacy loss"):
        drive(greedy, lambda question: likely_tally(question, 100))
