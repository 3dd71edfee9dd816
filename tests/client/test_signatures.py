"""Ed25519 with integers: the vectors of RFC 8032, and agreement with a library on good and damaged signatures."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.client.ed25519 import ORDER, PRIME, verify

VECTORS = [  # RFC 8032, section 7.1: public key, message, signature
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_vectors(key: str, message: str, signature: str) -> None:
    given_ = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)
    assert verify(*given_)
    assert not verify(given_[0], given_[1] + b"x", given_[2])


@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(max_size=200), bit=st.integers(0, 511))
@settings(max_examples=25)
def test_agrees_with_a_library_and_notices_any_flipped_bit(seed: bytes, message: bytes, bit: int) -> None:
    secret = Ed25519PrivateKey.from_private_bytes(seed)
    key, signature = secret.public_key().public_bytes_raw(), secret.sign(message)
    assert verify(key, message, signature)
    damaged = bytearray(signature)
    damaged[bit // 8] ^= 1 << bit % 8
    assert not verify(key, message, bytes(damaged))
    other = bytearray(key)
    other[bit % 32] ^= 1 << bit // 32 % 8
    assert not verify(bytes(other), message, signature)


def test_signatures_cannot_be_rewritten() -> None:
    """Adding the order of the group to the scalar gives other bytes for the same point: they are refused."""
    secret = Ed25519PrivateKey.from_private_bytes(bytes(32))
    key, signature = secret.public_key().public_bytes_raw(), secret.sign(b"m")
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    assert not verify(key, b"m", signature[:32] + scalar.to_bytes(32, "little"))


@pytest.mark.parametrize("key", [b"", b"x" * 31, b"\xff" * 32, (PRIME + 1).to_bytes(32, "little"), b"\2" + bytes(31)])
def test_keys_that_are_no_points_verify_nothing(key: bytes) -> None:
    assert not verify(key, b"", bytes(64))
    assert not verify(bytes(32), b"", b"short")
