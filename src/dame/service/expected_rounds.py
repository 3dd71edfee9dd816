"""When each person's round is expected: known when she is invited, as her token decides it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, text

from dame.client.signed import participant_name
from dame.device.assignment import slot_of
from dame.service.database import Database
from dame.service.models import InvitationDocument
from dame.service.schedule import iso
from dame.service.stored import StoredStudy

_ROUNDS = text("SELECT slot, target, round, state, deadline FROM rounds WHERE study_id = :study ORDER BY slot")
_WORDS = {"open": "now", "closing": "over", "closed": "over", "ended": "over"}


def with_rounds(
    database: Database, study: StoredStudy, links: Sequence[tuple[str, str]]
) -> Sequence[InvitationDocument]:
    """Invitations, from pairs of token and link: each with the number of its round, and when that is expected."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS, {"study": study.id}).mappings().all()
    expected = [_expected(row, rows) for row in rows]
    slots = [slot_of(study.study, study.plan.shares, participant_name(token)) for token, _ in links]
    return [
        InvitationDocument(token=token, link=link, round=slot + 1, expected=expected[slot])
        for (token, link), slot in zip(links, slots, strict=True)
    ]


def _expected(row: RowMapping, rows: Sequence[RowMapping]) -> str:
    if row["state"] != "waiting":
        return _WORDS[row["state"]]
    before = next(one for one in rows if (one["target"], one["round"]) == (row["target"], row["round"] - 1))
    when = iso(before["deadline"])
    return f"after {when}" if when else f"when round {before['slot'] + 1} is closed"
