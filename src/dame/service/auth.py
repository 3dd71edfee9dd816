"""Secrets: drawn from the operating system, kept as hashes only, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

TOKEN_BYTES = 16
KEY_BYTES = 32
_TOKEN = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_token() -> str:
    """A participant's token: 128 random bits as 32 hexadecimal digits."""
    return secrets.token_hex(TOKEN_BYTES)


def new_key() -> str:
    """An administrator's key: 256 random bits as 64 hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def digest(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_token(text: str) -> bool:
    """Whether a text has the form of a participant's token."""
    return _TOKEN.fullmatch(text) is not None


def bearer(header: str | None) -> str:
    """The secret in an Authorization header; empty when there is none."""
    scheme, _, secret = (header or "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def matches(secret: str, stored: bytes) -> bool:
    """Whether a secret is the one whose hash is stored, in a time that does not depend on where they differ."""
    return hmac.compare_digest(digest(secret), stored)
