"""What statistics, lenses and channels have in common: frozen values, checked at birth, that travel as JSON."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import ClassVar, Generic, Self, TypeVar

from dame import checks
from dame.errors import InvalidInput, Mismatch


class Part(ABC):
    """A part of a question: a frozen dataclass. `kind` is the word for its class in documents."""

    __slots__ = ()
    kind: ClassVar[str]

    def to_json(self) -> dict[str, object]:
        """The part as a JSON object: its kind and its fields."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in _names(type(self))}}

    @classmethod
    def from_json(cls, given: Mapping[str, object]) -> Self:
        """The part with the fields of a document, which has exactly those of this class."""
        return cls(**given)

    def _set_real(self, name: str, low: float, high: float) -> None:
        # An integer where a float is meant becomes one, and -0.0 becomes 0.0, or equal questions would have different
        # identities.
        object.__setattr__(self, name, checks.real(name, getattr(self, name), low, high) + 0.0)

    def _set_whole(self, name: str, low: int, high: int) -> None:
        # Whole numbers of other libraries become Python's own: theirs overflow, and privacy is computed with these.
        object.__setattr__(self, name, checks.whole(name, getattr(self, name), low, high))


def _names(part: type[Part]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(part))  # type: ignore[arg-type]  # every part is a dataclass


P = TypeVar("P", bound=Part)


def narrowed(kind: type[P], part: Part) -> P:
    """The part, for a reader who knows what its question was asked with; anything else is a Mismatch."""
    if not isinstance(part, kind):
        raise Mismatch(f"a question with {kind.kind!r} was expected here, not with {part.kind!r}")
    return part


class Kinds(Generic[P]):
    """The classes of a part by their kinds: whoever adds a lens or a channel registers it here."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._classes: dict[str, type[P]] = {}

    def register(self, part: type[P]) -> type[P]:
        """Adds a class; a kind that is taken by another one is refused."""
        if self._classes.setdefault(part.kind, part) is not part:
            raise InvalidInput(f"{self._what} kind", part.kind, f"one other than {self.names}")
        return part

    @property
    def names(self) -> str:
        """The kinds, in words."""
        return ", ".join(map(repr, self._classes))

    def __iter__(self) -> Iterator[type[P]]:
        return iter(self._classes.values())

    def from_json(self, document: object) -> P:
        """The part that a JSON object describes; anything missing, unknown or out of range is an InvalidInput."""
        kind = document.get("kind") if isinstance(document, dict) else document
        if not isinstance(kind, str) or kind not in self._classes:
            raise InvalidInput(f"{self._what} kind", kind, f"one of {self.names}")
        part = self._classes[kind]
        given = dict(checks.keys(self._what, document, frozenset({"kind", *_names(part)}), frozenset()))
        del given["kind"]
        return part.from_json(given)
