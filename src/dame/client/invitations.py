"""Invitations: the link that a participant gets, or its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from dame import checks
from dame.client.http import checked_base
from dame.errors import InvalidInput

_TOKEN = re.compile(r"[0-9a-f]{32}", re.ASCII)
_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)
PAGE = "/join"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Where a study is, and the token to take part in it; the study's key if the link told it."""

    base: str
    token: str = field(repr=False)
    study: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):
            raise InvalidInput("token", "another text", "32 hexadecimal digits")
        if self.key is not None and not _KEY.fullmatch(self.key):
            raise InvalidInput("key", self.key, "64 hexadecimal digits")
        if self.study is not None:
            checks.text("study", self.study, 128)


def invitation(address: str, token: str | None = None, study: str | None = None, key: str | None = None) -> Invitation:
    """The invitation in a link (`…/join#study=…&token=…&key=…`), or at an address with a token."""
    parts = urlsplit(address)
    told = dict(parse_qsl(parts.fragment))
    given = {"token": token, "study": study, "key": key}
    for name, value in given.items():
        if value is not None and told.get(name, value) != value:
            raise InvalidInput(name, "one thing in the link and another beside it", "told once")
    chosen = {name: value if value is not None else told.get(name) for name, value in given.items()}
    if chosen["token"] is None:
        raise InvalidInput("token", None, "in the link (…#token=…), or given with --token")
    path = parts.path.rstrip("/").removesuffix(PAGE)
    base = checked_base(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
    return Invitation(base=base, token=chosen["token"], study=chosen["study"], key=chosen["key"])
