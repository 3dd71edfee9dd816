"""What is signed and hashed: the identity of a plan, and the bytes under a question's signature."""

from __future__ import annotations

import hashlib

from dame.device.questions import canonical


def plan_identity(plan: object) -> str:
    """The identity of a plan: SHA-256 of its canonical JSON."""
    return hashlib.sha256(canonical(plan)).hexdigest()


def signed_bytes(plan_id: str, question: object) -> bytes:
    """The bytes that a study signs when it asks a question: which plan it belongs to, and the whole question."""
    return b"dame-question-v1\n" + plan_id.encode("ascii") + b"\n" + canonical(question)


def participant_name(token: str) -> str:
    """The public name of a participant, from which her slot follows: SHA-256 of her token, which stays secret."""
    return hashlib.sha256(token.encode("ascii")).hexdigest()
