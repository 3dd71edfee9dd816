"""The registry of vectorised forms: for each class of lens and of channel, its arithmetic on arrays."""

from __future__ import annotations

from typing import Generic, TypeVar

from dame.device.parts import Part
from dame.errors import InvalidInput

F = TypeVar("F")


class Forms(Generic[F]):
    """The vectorised form of each class of a part, keyed by that very class."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._forms: dict[type[Part], F] = {}

    def register(self, part: type[Part], form: F) -> None:
        """Adds the form of a class."""
        self._forms[part] = form

    def of(self, part: Part) -> F:
        """The form of a part."""
        form = self._forms.get(type(part))
        if form is None:
            raise InvalidInput(self._what, part.kind, "one with a vectorised form: register one")
        return form

    def __contains__(self, part: object) -> bool:
        return part in self._forms
