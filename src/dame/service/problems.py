"""Every refusal has one shape (application/problem+json), and a reason of one word that is counted."""

from __future__ import annotations

from collections.abc import Mapping

from dame.errors import DameError

MEDIA_TYPE = "application/problem+json"

STATUS: Mapping[str, int] = {
    "unknown-token": 401,
    "forbidden": 403,
    "wrong-origin": 403,
    "unknown-study": 404,
    "unknown-round": 404,
    "unknown-group": 404,
    "unknown-administrator": 404,
    "unknown-page": 404,
    "wrong-method": 405,
    "conflict": 409,
    "wrong-round": 409,
    "too-early": 409,
    "not-finished": 409,
    "too-few": 409,
    "too-late": 410,
    "over": 410,
    "expired": 410,
    "purged": 410,
    "oversized": 413,
    "malformed": 422,
    "invalid": 422,
    "rate-limited": 429,
    "failed": 500,
    "unavailable": 503,
}
COUNTED = (
    "unknown-token",
    "conflict",
    "wrong-round",
    "too-early",
    "too-late",
    "expired",
    "oversized",
    "malformed",
)
"""Reasons for which reports are refused; an administrator sees how often."""


class Problem(DameError):
    """A request that is refused: the reason in one word, the detail in one sentence, and what else may help.

    `why` is what is wrong with a report, in one word; `opens_after` is the time from which to ask again.
    """

    def __init__(self, reason: str, detail: str, *, why: str | None = None, opens_after: str | None = None) -> None:
        self.reason = reason
        self.status = STATUS[reason]
        self.detail = detail
        self.why = why
        self.opens_after = opens_after
        super().__init__(detail)
