"""Invitations: the link that a participant gets, or its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from dame import checks
from dame.client.http import checked_base
from dame.errors import InvalidInput

_TOKEN = re.compile(r"[0-9a-f]{32}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
PAGE = "/join"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Where a study is, the token to take part in it, and what the study is: its key, its plan and its α.

    Whoever invites says all of it, so that a service cannot show different people different studies of one name. The
    plan's identity fixes α; an invitation that names α lets a device refuse it before it asks anybody.
    """

    base: str
    token: str = field(repr=False)
    study: str
    key: str
    plan_id: str
    alpha: float | None = None

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):
            raise InvalidInput("token", "another text", "32 hexadecimal digits")
        for name, value in {"key": self.key, "plan": self.plan_id}.items():
            if not _HASH.fullmatch(value):
                raise InvalidInput(name, value, "64 hexadecimal digits")
        checks.text("study", self.study, 128)
        if self.alpha is not None:
            checks.alpha(self.alpha)


def invitation(
    address: str,
    token: str | None = None,
    study: str | None = None,
    key: str | None = None,
    plan: str | None = None,
) -> Invitation:
    """The invitation in a link (`…/join#study=…&token=…&key=…&plan=…&alpha=…`), or at an address with these parts."""
    parts = urlsplit(address)
    told = dict(parse_qsl(parts.fragment))
    given = {"token": token, "study": study, "key": key, "plan": plan}
    for name, value in given.items():
        if value is not None and told.get(name, value) != value:
            raise InvalidInput(name, "one thing in the link and another beside it", "told once")
    chosen = {name: _told(name, value if value is not None else told.get(name)) for name, value in given.items()}
    path = parts.path.rstrip("/").removesuffix(PAGE)
    return Invitation(
        base=checked_base(urlunsplit((parts.scheme, parts.netloc, path, "", ""))),
        token=chosen["token"],
        study=chosen["study"],
        key=chosen["key"],
        plan_id=chosen["plan"],
        alpha=checks.number_from_text("alpha", told["alpha"]) if "alpha" in told else None,
    )


def _told(name: str, value: str | None) -> str:
    if value is None:
        raise InvalidInput(name, None, f"in the link (…#{name}=…), or given with --{name}")
    return value
