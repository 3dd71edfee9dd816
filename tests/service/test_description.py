"""The service does what its OpenAPI description says, for generated requests, good and bad (schemathesis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dame.service.settings import Settings
from tests.service.conftest import live_server
from tests.service.studies import Run

OPERATIONS = 29
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A study of which generated requests know name and key."""
    folder: Path = tmp_path_factory.mktemp("described")
    with live_server(Settings(database=str(folder / "d.sqlite"), port=0, rate_limit=0, refusal_limit=0)) as live:
        made = live.create()
        made.invite(5)
        yield made


@pytest.fixture(scope="module")
def described(study: Run) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{study.live.base}/openapi.json")


def operations(described: schemathesis.BaseSchema) -> dict[str, object]:
    found = {one.ok().label: one.ok() for one in described.get_all_operations()}
    assert len(found) == OPERATIONS, sorted(found)
    return found


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_a_described_one(study: Run, described: schemathesis.BaseSchema, mode: GenerationMode) -> None:
    answered: Counter[int] = Counter()
    for label, operation in operations(described).items():

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            # In turn: a stranger, somebody who knows the name of a study, and its administrator.
            turn = answered.total() % 3
            if turn and "study" in (case.path_parameters or {}):
                case.path_parameters["study"] = study.study
            answer = case.call(headers=study.secret if turn == 2 else {})
            answered[answer.status_code] += 1
            case.validate_response(answer, checks=CHECKS)

        if mode is GenerationMode.POSITIVE or asks_for_something(operation):
            check()
            assert answered.total(), label
    assert ({200, 401, 403, 404} if mode is GenerationMode.POSITIVE else {422}) <= answered.keys(), answered


def asks_for_something(operation: schemathesis.APIOperation) -> bool:
    """Whether a request can be wrong at all."""
    return bool(operation.path_parameters.items or operation.body.items)
