"""The key of a study, and its signature under each question."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from dame.client.signed import signed_bytes
from dame.device.questions import Question


def new_signing_key() -> bytes:
    """The 32 secret bytes of an Ed25519 key."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


def public_key(signing_key: bytes) -> str:
    """The public half, in hexadecimal digits."""
    key = Ed25519PrivateKey.from_private_bytes(signing_key).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def signature(signing_key: bytes, plan_id: str, question: Question) -> str:
    """The study's signature under a question, in hexadecimal digits."""
    message = signed_bytes(plan_id, question.to_json())
    return Ed25519PrivateKey.from_private_bytes(signing_key).sign(message).hex()
