"""Signing keys at rest: sealed under a key that is not in the database, where the environment gives one.

Several keys may be given, the newest first: it seals, all of them open. So a key is replaced by putting another one
before it, starting the service (which seals everything again), and taking the old one away.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from dame.errors import InvalidInput

SHORTEST = 32
"""Characters of a key: `openssl rand -hex 32` makes 64."""
PLAIN_BYTES = 32
"""The length of a signing key that is not sealed."""
_NAME_BYTES = 8
_NONCE_BYTES = 12


class Vault:
    """Seals signing keys with AES-256-GCM, each bound to the name of its study; without keys it keeps them open."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        for key in keys:
            if len(key) < SHORTEST:
                raise InvalidInput("storage-key", "a short text", f"secrets of at least {SHORTEST} characters")
        secrets = [hashlib.blake2b(key.encode(), digest_size=32, person=b"dame storage").digest() for key in keys]
        self._ciphers = {hashlib.sha256(secret).digest()[:_NAME_BYTES]: AESGCM(secret) for secret in secrets}
        self._newest = next(iter(self._ciphers), None)

    @classmethod
    def of_text(cls, text: str | None) -> Vault:
        """The vault whose keys are in a text, with commas between them, the newest first."""
        return cls([] if text is None else [key.strip() for key in text.split(",")])

    def seal(self, signing_key: bytes, study: str) -> bytes:
        """What is stored of a signing key."""
        if self._newest is None:
            return signing_key
        nonce = os.urandom(_NONCE_BYTES)
        return self._newest + nonce + self._ciphers[self._newest].encrypt(nonce, signing_key, study.encode())

    def open(self, stored: bytes, study: str) -> bytes:
        """The signing key that was stored for a study."""
        if len(stored) == PLAIN_BYTES:
            return stored
        name, nonce, sealed = stored[:_NAME_BYTES], stored[_NAME_BYTES:][:_NONCE_BYTES], stored[20:]
        try:
            return self._ciphers[name].decrypt(nonce, sealed, study.encode())
        except (KeyError, ValueError, InvalidTag):
            raise InvalidInput(
                "storage-key", "another one", "that with which this database was sealed (DAME_STORAGE_KEY)"
            ) from None

    def is_current(self, stored: bytes) -> bool:
        """Whether a key is stored as `seal` would store it now."""
        newest = self._newest
        return len(stored) == PLAIN_BYTES if newest is None else stored[:_NAME_BYTES] == newest and len(stored) > 32
