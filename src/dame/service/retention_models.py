"""The shapes of requests and answers about what is kept, and who administers it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictStr

from dame.service.administrators import LONGEST_NAME
from dame.service.exact import Exact
from dame.service.models import Hex
from dame.service.retention import MOST_WITHDRAWN


class Deletion(Exact):
    """The name of the study that shall be deleted, once more."""

    study: StrictStr


class Withdrawal(Exact):
    """Tokens of invitations that shall be worthless from now on."""

    tokens: Annotated[list[StrictStr], Field(min_length=1, max_length=MOST_WITHDRAWN)]


class NewAdministrator(Exact):
    """What another administrator is called."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]


class PurgedDocument(Exact):
    """The rounds whose reports were deleted just now."""

    rounds: list[int]


class WithdrawnDocument(Exact):
    """What became of invitations: withdrawn, answered before, or never given out for this study."""

    withdrawn: int
    answered: int
    unknown: int


class AdministratorsDocument(Exact):
    """Who administers a study."""

    administrators: list[str]


class AdministratorKeyDocument(Exact):
    """A new administrator; her key is told here and never again."""

    name: str
    administrator_key: Hex


class ActDocument(Exact):
    """Who did what to which study, and when."""

    at: str
    study: str
    who: str
    act: str
    details: dict[str, Any]


class ActsDocument(Exact):
    """The audit trail of a study, the earliest first; or of a server, the latest first."""

    acts: list[ActDocument]


class DeletedDocument(Exact):
    """A study that is no more."""

    deleted: str
