"""Questions: the public, frozen parameters of one round: a `Vote`, a `SizeVote`, a `PlaceVote`, a `Measure` or a
`PartMeasure`; their identities, and how they are read.

A question is checked at birth, its privacy loss included: a device that holds a question object holds one whose exact
loss is at most the α it names. Whoever wrote the JSON, a question that would spend more cannot be built.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from dame import checks
from dame.device.asked import VERSION
from dame.device.measures import PARTS, Measure, PartMeasure
from dame.device.randomiser_codec import choice_from_json, code_from_json, noise_from_json
from dame.device.records import MOST_RECORDS
from dame.device.votes import MOST_BINS, MOST_PLACES, PlaceVote, SizeVote, Vote
from dame.errors import InvalidInput

__all__ = [
    "MOST_BINS",
    "MOST_PLACES",
    "MOST_RECORDS",
    "PARTS",
    "TAG_BYTES",
    "Measure",
    "PartMeasure",
    "PlaceVote",
    "Question",
    "SizeVote",
    "Vote",
    "canonical",
    "question_from_json",
    "question_id",
    "question_tag",
]

TAG_BYTES = 8

Question = Vote | Measure
"""A SizeVote is a Vote, and so is a PlaceVote; a PartMeasure is a Measure."""


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


_SHARED = frozenset({"kind", "version", "study", "round", "alpha", "low", "high"})
_VOTE = _SHARED | {"bins", "width", "origin", "neighbours", "min_size", "code"}
_MEASURE = _SHARED | {"centre", "left", "right", "cap", "between_sd", "least_weight", "dither", "noise"}
_KINDS = {
    "vote": _VOTE,
    "size-vote": _SHARED | {"bins", "code"},
    "place-vote": _SHARED | {"places", "code"},
    "measure": _MEASURE,
    "part-measure": _SHARED | {"borders", "noise"},
}


def question_from_json(document: object) -> Question:
    """The question that a JSON object describes; anything missing, unknown or out of range is an InvalidInput."""
    kind = document.get("kind") if isinstance(document, dict) else document
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInput("question kind", kind, "'vote', 'size-vote', 'place-vote', 'measure' or 'part-measure'")
    fields = dict(checks.keys("question", document, _KINDS[kind], frozenset()))
    version = fields.pop("version")
    if type(version) is not int or version != VERSION:
        raise InvalidInput("question version", version, str(VERSION))
    del fields["kind"]
    if kind in ("measure", "part-measure"):
        measure = Measure if kind == "measure" else PartMeasure
        return measure(**{**fields, "noise": noise_from_json(fields["noise"])})  # type: ignore[arg-type]
    if kind == "place-vote":
        return PlaceVote(**{**fields, "code": choice_from_json(fields["code"])})  # type: ignore[arg-type]
    vote = Vote if kind == "vote" else SizeVote
    return vote(**{**fields, "code": code_from_json(fields["code"])})  # type: ignore[arg-type]
