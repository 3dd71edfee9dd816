"""What is known of tokens: whether a report came with one, never which, and which device may draw it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text

from dame.service.database import Database
from dame.service.models import ClaimDocument
from dame.service.stored import StoredStudy
from dame.service.uploads import EXPIRED, UNKNOWN_TOKEN

_ROUNDS = text("SELECT id FROM rounds WHERE study_id = :study")
_CLAIM = text(
    "UPDATE participants SET claim = :claim WHERE id = :participant AND answered = 0"
    " AND (claim IS NULL OR claim = :claim)"
)


def answered(database: Database, study: StoredStudy, hashes: Sequence[bytes]) -> list[bool | None]:
    """For each hash of a token whether a report came with it; None where it was not given out for this study."""
    with database.reading() as connection:
        rounds = set(connection.execute(_ROUNDS, {"study": study.id}).scalars())
        found = {bytes(one.token_hash): one for one in database.find(connection, hashes)}
    known = [found.get(each) for each in hashes]
    return [None if one is None or one.round_id not in rounds else one.report is not None for one in known]


def answered_with(database: Database, study: StoredStudy, token_hash: bytes) -> bool:
    """Whether a report came with the token of this hash, for whoever holds it."""
    (found,) = answered(database, study, [token_hash])
    if found is None:
        raise UNKNOWN_TOKEN
    return found


def claimed(database: Database, study: StoredStudy, token_hash: bytes, claim: bytes, now: float) -> ClaimDocument:
    """Whether the device that knows a claim may draw with a token: the first that asks may, and it alone ever after.

    Two devices that ask at the same moment change the same row, one after the other: the second finds it claimed.
    """
    with database.writing() as connection:
        rounds = set(connection.execute(_ROUNDS, {"study": study.id}).scalars())
        found = next((one for one in database.find(connection, [token_hash]) if one.round_id in rounds), None)
        if found is None:
            raise UNKNOWN_TOKEN
        if found.report is not None:
            return ClaimDocument(answered=True, granted=False)
        if found.until is not None and found.until <= now:
            raise EXPIRED
        row = {"claim": claim, "participant": found.participant}
        return ClaimDocument(answered=False, granted=connection.execute(_CLAIM, row).rowcount == 1)
