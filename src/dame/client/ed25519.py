"""Verification of Ed25519 signatures (RFC 8032) with integers alone: a device has no cryptography library.

Only public values are handled here, so that the time it takes betrays nothing.
"""

from __future__ import annotations

import hashlib

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
"""The number of points in the group that the base point generates."""
_D = -121665 * pow(121666, -1, PRIME) % PRIME
_ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)

Point = tuple[int, int, int, int]
"""A point (x, y) as (X, Y, Z, T) with x = X/Z, y = Y/Z and x·y = T/Z."""

_NEUTRAL: Point = (0, 1, 1, 0)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature under the message was made with the secret half of the key."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, commitment = _decoded(public_key), _decoded(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    challenge = _hashed(signature[:32] + public_key + message)
    return _same(_times(scalar, _BASE), _plus(commitment, _times(challenge, key)))


def _hashed(data: bytes) -> int:
    return int.from_bytes(hashlib.sha512(data).digest(), "little") % ORDER


def _plus(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % PRIME
    c = 2 * one[3] * other[3] * _D % PRIME
    d = 2 * one[2] * other[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def _times(scalar: int, point: Point) -> Point:
    product = _NEUTRAL
    while scalar:
        if scalar & 1:
            product = _plus(product, point)
        point = _plus(point, point)
        scalar >>= 1
    return product


def _same(one: Point, other: Point) -> bool:
    same_x = (one[0] * other[2] - other[0] * one[2]) % PRIME == 0
    return same_x and (one[1] * other[2] - other[1] * one[2]) % PRIME == 0


def _decoded(data: bytes) -> Point | None:
    """The point that 32 bytes stand for: its y, and the lowest bit of its x on top."""
    encoded = int.from_bytes(data, "little")
    sign, y = encoded >> 255, encoded & ((1 << 255) - 1)
    x = _x_of(y, sign) if y < PRIME else None
    return None if x is None else (x, y, 1, x * y % PRIME)


def _x_of(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * _ROOT_OF_MINUS_ONE % PRIME
    if (x * x - square) % PRIME or (x == 0 and sign):
        return None
    return x if x & 1 == sign else PRIME - x


_BASE_BYTES = (4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little")
_BASE: Point = _decoded(_BASE_BYTES) or _NEUTRAL
