"""Compares answers of the service with the models that describe them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import httpx
from fastapi import FastAPI
from pydantic import BaseModel

from dame.service import exact, models, retention_models
from dame.service.problems import MEDIA_TYPE

JSON = "application/json"
DOCUMENTS: Mapping[str, type[BaseModel]] = {
    name: model
    for module in (exact, models, retention_models)
    for name, model in vars(module).items()
    if name.endswith("Document")
}


class Reader:
    """Reads answers as the description of the service says, and keeps in mind which fields were filled.

    It complains about a key that is missing, and about one that is not described.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.filled: set[tuple[str, str]] = set()

    def read(self, answer: httpx.Response) -> None:
        answer.read()
        model = self._model(answer)
        if model is not None:
            self._note(model.model_validate_json(answer.content))

    def _model(self, answer: httpx.Response) -> type[BaseModel] | None:
        """The model of an answer; None for what is no document: reports, metrics, pages."""
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if media_type == MEDIA_TYPE:
            return models.ProblemDocument
        operation = self._operation(answer.request)
        if media_type != JSON or operation is None:
            return None
        schema = operation["responses"][str(answer.status_code)]["content"][JSON]["schema"]
        return DOCUMENTS[schema["$ref"].rpartition("/")[2]]

    def _operation(self, request: httpx.Request) -> dict | None:
        for pattern, operations in _paths(self._app).items():
            if pattern.fullmatch(request.url.path):
                return operations[request.method.lower()]
        return None

    def _note(self, value: object) -> None:
        if isinstance(value, BaseModel):
            for name in type(value).model_fields:
                if getattr(value, name) is not None:
                    self.filled.add((type(value).__name__, name))
                    self._note(getattr(value, name))
        elif isinstance(value, (list, dict)):
            for one in value.values() if isinstance(value, dict) else value:
                self._note(one)


@lru_cache(maxsize=4)
def _paths(app: FastAPI) -> dict[re.Pattern[str], dict]:
    described = app.openapi()["paths"]
    return {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): operations for path, operations in described.items()}
