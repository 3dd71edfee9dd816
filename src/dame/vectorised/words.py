"""Sources of uniform 64-bit words: secure ones for real reports, fast ones for simulation and tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dame import checks

WordArray = NDArray[np.uint64]

_MOST_WORDS = 2**40
_PIECE = 2**20
"""Bytes asked of the cipher at once: beyond this size it gains nothing, and the plaintext stays small."""

_ZEROS = memoryview(bytes(_PIECE))
"""The plaintext. A block cipher in counter mode, applied to zeros, returns its key stream."""

KEY_LIFETIME = 2**30
"""Bytes drawn with one key: 2^26 cipher blocks differ from uniform ones by less than 2^-76."""


class Words(Protocol):
    """A source of independent, uniform 64-bit words, each handed out once."""

    def take(self, count: int) -> WordArray:
        """The next `count` words; the caller does not write into them."""


class SecureWords:
    """Words that nobody can predict: AES-256 in counter mode, keyed by the operating system.

    Without the package `cryptography` every word comes from the operating system itself: as secure, about twenty
    times slower. A forked process gets a key of its own. One source serves one thread.
    """

    def __init__(self) -> None:
        self._renew()

    def take(self, count: int) -> WordArray:
        """The next `count` words; the caller does not write into them."""
        size = 8 * checks.whole("count", count, 0, _MOST_WORDS)
        pieces = [self._draw(min(_PIECE, size - start)) for start in range(0, size, _PIECE)]
        return np.frombuffer(pieces[0] if len(pieces) == 1 else b"".join(pieces), np.uint64)

    def _draw(self, size: int) -> bytes:
        """The next `size` bytes of the stream, which starts afresh when the key is old or was copied by a fork."""
        if self._left < size or self._forks != _forks:
            self._renew()
        self._left -= size
        return self._stream(size)

    def _renew(self) -> None:
        self._stream = _key_stream()
        self._left = KEY_LIFETIME
        self._forks = _forks


class FastWords:
    """Words from a numpy generator, for simulation and tests. Not secure: never use it for a report that is sent."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def take(self, count: int) -> WordArray:
        """The next `count` words; the caller does not write into them."""
        return self._rng.integers(2**64 - 1, size=count, dtype=np.uint64, endpoint=True)


def _key_stream() -> Callable[[int], bytes]:
    """A function that returns the next bytes, at most `_PIECE` at once, of a stream under a fresh key."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        return os.urandom
    encryptor = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
    return lambda size: encryptor.update(_ZEROS[:size])


_forks = 0
"""How many forks lie between this process and the one that imported the module: a key must not outlive one."""


def _count_fork() -> None:
    global _forks  # noqa: PLW0603  the operating system calls this without arguments
    _forks += 1


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_count_fork)
