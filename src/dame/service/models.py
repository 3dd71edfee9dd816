"""The shapes of requests and answers, as the OpenAPI description shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from dame.service.studies import MOST_INVITATIONS

Hex = Annotated[str, Field(pattern=r"^[0-9a-f]+$")]


class Wanted(BaseModel):
    """A request: nothing that is not described."""

    model_config = ConfigDict(extra="forbid")


class NewStudy(Wanted):
    """A plan (as `dame plan --out` writes it), and when its rounds close by themselves."""

    plan: dict[str, Any]
    title: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    close_at_count: list[Annotated[StrictInt, Field(ge=1)] | None] | None = None
    deadlines: list[StrictStr | None] | None = None


class Invite(Wanted):
    """How many people to invite."""

    count: Annotated[StrictInt, Field(ge=1, le=MOST_INVITATIONS)]


class Created(BaseModel):
    """A new study; the administrator's key is told here and never again."""

    study: str
    administrator_key: Hex
    public_key: Hex
    plan_id: Hex


class InvitationDocument(BaseModel):
    """What one participant gets."""

    token: Hex
    link: str


class Invitations(BaseModel):
    """Tokens and links of new participants."""

    study: str
    key: Hex
    invitations: list[InvitationDocument]


class ListedStudy(BaseModel):
    """A study in the list of all."""

    study: str
    title: str
    state: str


class Listed(BaseModel):
    """All studies of this server."""

    studies: list[ListedStudy]


class PublicRound(BaseModel):
    """A round as everybody may see it; `slot` is its place in addresses, `round` that among those of its target."""

    slot: int
    target: str
    round: int
    name: str
    lens: str
    state: str
    deadline: str | None


class PublicStudy(ListedStudy):
    """A study as everybody may see it."""

    plan: dict[str, Any]
    plan_id: Hex
    plan_canonical: str
    public_key: Hex
    alpha: float
    bounds: list[float]
    current_round: int | None
    shares: list[float]
    rounds: list[PublicRound]


class AskedQuestion(BaseModel):
    """The question of an open round; the signature is over the plan's identity and the canonical text."""

    question: dict[str, Any]
    question_id: Hex
    plan_id: Hex
    signature: Hex
    canonical: str


class TallyDocument(BaseModel):
    """The tally of a closed round: the question that was asked, and for each window the reports and their sums."""

    question: dict[str, Any]
    reports: list[int]
    sums: list[list[int]]


class Histogram(BaseModel):
    """Debiased votes, in the study's units."""

    edges: list[float]
    shares: list[float]
    standard_error: float
    chosen: list[float]


class WindowDocument(BaseModel):
    """What a round looks at, in the study's units, for a person of the mean weight."""

    centre: float
    low: float
    high: float


class RoundStatus(PublicRound):
    """A round as its administrator sees it."""

    expected: int
    invited: int
    reports: int
    opened_at: str | None
    closed_at: str | None
    close_at_count: int | None
    histogram: Histogram | None
    window: WindowDocument | None


class Result(BaseModel):
    """The estimate of a finished study."""

    estimate: float
    standard_error: float
    interval: list[float]
    level: float
    users: list[int]
    failure_probability: float
    notes: list[str]


class Status(ListedStudy):
    """A study as its administrator sees it."""

    protocol: str
    alpha: float
    bounds: list[float]
    users_planned: int
    invited: int
    current_round: int | None
    rounds: list[RoundStatus]
    rejected: dict[str, int]
    estimate: Result | None
    shift_by_1_percent: float


class Health(BaseModel):
    """Whether the server and its database work."""

    status: str
    database: str
    version: str


class ProblemDocument(BaseModel):
    """Every refusal."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    reason: str
