"""Questions: the public, frozen parameters of one slot: a header, a statistic, a lens and a channel.

A question is checked at birth, its privacy loss included: a device that holds a question object holds one whose exact
loss is at most the α it names. Whoever wrote the JSON, a question that would spend more cannot be built.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

from dame import checks
from dame.device.channels import CHANNELS, Channel
from dame.device.exact import Loss
from dame.device.lenses import LENSES, Lens
from dame.device.parts import Kinds, Part
from dame.device.statistics import STATISTICS, Statistic, Value
from dame.errors import InvalidInput

VERSION = 1
TAG_BYTES = 8
MOST_ROUNDS = 64
MEAN = "mean"
"""The name of the one target of a study, unless it has another."""


class Slot(NamedTuple):
    """Who answers what: a round of a target. A public hash of a person's name gives her one of a study's slots."""

    target: str
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the people of one slot are asked: a statistic of their records, seen through a lens, sent by a channel."""

    study: str
    target: str = MEAN
    round: int
    alpha: float
    statistic: Statistic = field(default_factory=Value)
    lens: Lens
    channel: Channel

    def __post_init__(self) -> None:
        checks.text("study", self.study, 128)
        checks.text("target", self.target, 64)
        object.__setattr__(self, "round", checks.whole("round", self.round, 0, MOST_ROUNDS - 1))
        object.__setattr__(self, "alpha", checks.alpha(self.alpha))
        for name, (part, _) in _PARTS.items():
            if not isinstance(getattr(self, name), part):
                raise InvalidInput(name, getattr(self, name), f"a {part.__name__.lower()}")
        if self.lens.bins != self.channel.bins:
            raise InvalidInput("bins of the channel", self.channel.bins, f"those of the lens, {self.lens.bins}")
        if not self.loss().within(self.alpha):
            raise InvalidInput("channel", self.epsilon(), f"such that the privacy loss is at most alpha = {self.alpha}")

    def __hash__(self) -> int:
        # The header tells most questions apart, and is quick: identities are looked up for every report.
        return hash((self.study, self.target, self.round, self.alpha))

    @property
    def slot(self) -> Slot:
        """The slot that the question is for."""
        return Slot(self.target, self.round)

    def loss(self) -> Loss:
        """The largest privacy loss between any two people."""
        return self.channel.loss(self.lens.differences)

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return self.loss().epsilon()

    @property
    def report_bits(self) -> int:
        """Size of a report: the window that was drawn, and the channel's value."""
        return self.lens.window_bits + self.channel.value_bits

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object."""
        header = {name: getattr(self, name) for name in ("study", "target", "round", "alpha")}
        return {"version": VERSION, **header, **{name: getattr(self, name).to_json() for name in _PARTS}}


_PARTS: dict[str, tuple[type[Part], Kinds[Any]]] = {
    "statistic": (Statistic, STATISTICS),
    "lens": (Lens, LENSES),
    "channel": (Channel, CHANNELS),
}
_KEYS = frozenset({"version", *(part.name for part in fields(Question))})


def question_from_json(document: object) -> Question:
    """The question that a JSON object describes; anything missing, unknown or out of range is an InvalidInput."""
    given: dict[str, Any] = dict(checks.keys("question", document, _KEYS, frozenset()))
    version = given.pop("version")
    if type(version) is not int or version != VERSION:
        raise InvalidInput("question version", version, str(VERSION))
    return Question(**given | {name: kinds.from_json(given[name]) for name, (_, kinds) in _PARTS.items()})


def canonical(document: object) -> bytes:
    """The one text of a JSON document that its identity is taken from: sorted keys, no spaces, ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


@lru_cache(maxsize=256)
def question_id(question: Question) -> str:
    """The identity of a question: SHA-256 of its canonical JSON."""
    return hashlib.sha256(canonical(question.to_json())).hexdigest()


def question_tag(question: Question) -> bytes:
    """The first bytes of the identity, by which a report says which question it answers."""
    return bytes.fromhex(question_id(question))[:TAG_BYTES]
