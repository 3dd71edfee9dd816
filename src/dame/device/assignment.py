"""Who answers in which slot: a public hash of the study and the participant, never the order of arrival."""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from dame.device.exact import WORD
from dame.errors import InvalidInput


@lru_cache(maxsize=256)
def slot_borders(shares: tuple[float, ...]) -> tuple[int, ...]:
    """For each slot but the last, the 64-bit hash value at which the next slot begins."""
    total = sum(map(Fraction, shares))
    return tuple(int(WORD * part / total) for part in itertools.accumulate(map(Fraction, shares)))[:-1]


def participant_hash(study: str, participant: str) -> int:
    """A 64-bit number that anybody can compute: the first 8 bytes of SHA-256 of study, line feed and participant."""
    try:
        text = f"{study}\n{participant}".encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise InvalidInput("participant", participant, "a text of whole characters") from None
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


def slot_of(study: str, shares: Sequence[float], participant: str) -> int:
    """The place, in the list of a study's slots with these shares, of the one in which a participant answers."""
    return bisect_right(slot_borders(tuple(shares)), participant_hash(study, participant))
