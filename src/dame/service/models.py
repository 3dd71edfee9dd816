"""The shapes of requests and answers. Answers are made from these models, and the OpenAPI description is too."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from dame.service.studies import MOST_INVITATIONS

Hex = Annotated[str, Field(pattern=r"^[0-9a-f]+$")]


class Exact(BaseModel):
    """A request or an answer: nothing that is not described, and no number that JSON does not have."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class NewStudy(Exact):
    """A plan (as `dame plan --out` writes it), and when its rounds close by themselves."""

    plan: dict[str, Any]
    title: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    close_at_count: list[Annotated[StrictInt, Field(ge=1)] | None] | None = None
    deadlines: list[StrictStr | None] | None = None


class Invite(Exact):
    """How many people to invite."""

    count: Annotated[StrictInt, Field(ge=1, le=MOST_INVITATIONS)]


class CreatedDocument(Exact):
    """A new study; the administrator's key is told here and never again."""

    study: str
    administrator_key: Hex
    public_key: Hex
    plan_id: Hex


class InvitationDocument(Exact):
    """What one participant gets."""

    token: Hex
    link: str


class InvitationsDocument(Exact):
    """Tokens and links of new participants."""

    study: str
    key: Hex
    invitations: list[InvitationDocument]


class ListedStudyDocument(Exact):
    """A study in the list of all."""

    study: str
    title: str
    state: str


class ListedDocument(Exact):
    """All studies of this server."""

    studies: list[ListedStudyDocument]


class PublicRoundDocument(Exact):
    """A round as everybody may see it; `slot` is its place in addresses, `round` that among those of its target."""

    slot: int
    target: str
    round: int
    name: str
    lens: str
    state: str
    deadline: str | None


class PublicStudyDocument(ListedStudyDocument):
    """A study as everybody may see it."""

    plan: dict[str, Any]
    plan_id: Hex
    plan_canonical: str
    public_key: Hex
    alpha: float
    bounds: list[float]
    current_round: int | None
    shares: list[float]
    rounds: list[PublicRoundDocument]


class AskedDocument(Exact):
    """The question of an open round; the signature is over the plan's identity and the canonical text."""

    question: dict[str, Any]
    question_id: Hex
    plan_id: Hex
    signature: Hex
    canonical: str


class TallyDocument(Exact):
    """The tally of a closed round: the question that was asked, and for each window the reports and their sums."""

    question: dict[str, Any]
    reports: list[int]
    sums: list[list[int]]


class HistogramDocument(Exact):
    """Debiased votes, in the study's units."""

    edges: list[float]
    shares: list[float]
    standard_error: float
    chosen: list[float]


class WindowDocument(Exact):
    """What a round looks at, in the study's units, for a person of the mean weight."""

    centre: float
    low: float
    high: float


class RoundStatusDocument(PublicRoundDocument):
    """A round as its administrator sees it."""

    expected: int
    invited: int
    reports: int
    opened_at: str | None
    closed_at: str | None
    close_at_count: int | None
    histogram: HistogramDocument | None
    window: WindowDocument | None


class ResultDocument(Exact):
    """The estimate of a finished study."""

    estimate: float
    standard_error: float
    interval: list[float]
    level: float
    weights: str
    users: list[int]
    failure_probability: float
    notes: list[str]


class StatusDocument(ListedStudyDocument):
    """A study as its administrator sees it."""

    protocol: str
    alpha: float
    bounds: list[float]
    users_planned: int
    invited: int
    current_round: int | None
    rounds: list[RoundStatusDocument]
    rejected: dict[str, int]
    estimate: ResultDocument | None
    shift_by_1_percent: float


class HealthDocument(Exact):
    """Whether the server and its database work."""

    status: str
    database: str
    version: str


class AcceptedDocument(Exact):
    """A report that is stored."""

    accepted: Literal[True]


class VerdictsDocument(Exact):
    """What became of each report of a batch: `accepted`, or the reason why not."""

    results: list[str]


class ProblemDocument(Exact):
    """Every refusal; `why` and `opens_after` are there where they help."""

    type: str
    title: str
    status: int
    detail: str
    reason: str
    why: str | None = None
    opens_after: str | None = None
