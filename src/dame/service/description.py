"""The OpenAPI description of what FastAPI does not see: the ways in for reports, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from dame.service import models
from dame.service.problems import MEDIA_TYPE, STATUS

OCTETS = "application/octet-stream"


def refusals(*reasons: str) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of some refusals, and of those that any request may meet."""
    always = ("wrong-origin", "oversized", "invalid", "rate-limited", "unavailable")
    listed = {STATUS[reason]: reason for reason in (*reasons, *always)}
    return {
        status: {
            "description": f"Refused, such as: {reason}",
            "content": {MEDIA_TYPE: {"schema": _reference(models.ProblemDocument)}},
        }
        for status, reason in listed.items()
    }


def upload_paths() -> Mapping[str, Any]:
    """The OpenAPI description of the ways in for reports."""
    study = {
        "name": "study",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    }
    reasons = refusals("unknown-token", "unknown-study", "conflict", "too-late", "oversized", "malformed")
    single = {
        "summary": "Upload a report",
        "operationId": "upload",
        "security": [{"token": []}],
        "parameters": [study],
        "requestBody": {"required": True, "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}},
        "responses": {
            "200": _json(models.AcceptedDocument),
            **{str(status): answer for status, answer in reasons.items()},
        },
    }
    entry = {
        "type": "object",
        "required": ["token", "report"],
        "properties": {"token": {"type": "string"}, "report": {"type": "string"}},
        "additionalProperties": False,
    }
    listed = {"type": "array", "maxItems": 1000, "items": entry}
    body = {"type": "object", "required": ["reports"], "properties": {"reports": listed}, "additionalProperties": False}
    batch = {
        "summary": "Upload many reports, each with its own token",
        "description": "A batch of more than 256 KB shows one of its tokens in the Authorization header, too.",
        "operationId": "upload_batch",
        "security": [{}, {"token": []}],
        "parameters": [study],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _json(models.VerdictsDocument),
            **{str(status): answer for status, answer in refusals("unknown-token", "unknown-study").items()},
        },
    }
    base = "/api/v1/studies/{study}/reports"
    return {base: {"post": single}, f"{base}/batch": {"post": batch}}


def upload_schemas() -> Mapping[str, Any]:
    """The OpenAPI description of answers that no function of a route returns: to uploads, and refusals."""
    told = (models.AcceptedDocument, models.VerdictsDocument, models.ProblemDocument)
    return {model.__name__: model.model_json_schema() for model in told}


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"description": "Accepted", "content": {"application/json": {"schema": _reference(model)}}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
