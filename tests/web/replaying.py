"""Operations of the test vectors, played by the JavaScript device and compared with what is expected."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.web.needs import DEVICE, node
from vectors.outcomes import question_operation

DEVICE_OPERATIONS = {"question", "summarise", "answer", "decode", "slot"}


def played(device: Path, files: dict) -> dict:
    return node("replay.mjs", device, stdin={"files": files})


def binding(expected: dict) -> dict:
    """What of an expected outcome binds a device: the field of a refusal is for people."""
    if "error" not in expected:
        return expected
    return {"error": {key: value for key, value in expected["error"].items() if key != "field"}}


def differences(files: dict, outcomes_: dict) -> list[tuple]:
    return [
        (name, operation, outcome)
        for name, file in files.items()
        for operation, outcome in zip(file["operations"], outcomes_[name], strict=True)
        if operation["op"] in DEVICE_OPERATIONS and outcome != binding(operation["expect"])
    ]


def agreed(operations: list[dict], questions: dict[str, dict] | None = None) -> None:
    """Both devices come to the same outcomes."""
    files = {"random": {"questions": questions or {}, "operations": operations}}
    assert operations
    assert differences(files, played(DEVICE, files)) == []


def asked_all(documents: list) -> list[dict]:
    """The operation `question` for all documents that JSON can hold."""
    return [question_operation(document) for document in documents if _is_json(document)]


def _is_json(document: object) -> bool:
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:  # JSON has no such numbers
        return False
    return True


def collected(strategy: st.SearchStrategy, count: int) -> list:
    """So many examples of a strategy, to be played by one process of Node."""
    found: list = []

    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one):
        found.append(one)

    collect()
    return found
