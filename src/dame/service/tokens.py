"""What is known of tokens: whether a report came with one, and never which."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text

from dame.service.database import Database
from dame.service.stored import StoredStudy
from dame.service.uploads import UNKNOWN_TOKEN

_ROUNDS = text("SELECT id FROM rounds WHERE study_id = :study")


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
