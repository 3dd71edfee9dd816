"""The shapes of requests and answers. Answers are made from these models, and the OpenAPI description is too."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from dame.service.administrators import FIRST_NAME, LONGEST_NAME
from dame.service.exact import Exact, Where
from dame.service.study_limits import LONGEST_GROUP, MINIMUM_REPORTS, MOST_INVITATIONS

Hex = Annotated[str, Field(pattern=r"^[0-9a-f]+$")]


class AboutDocument(Exact):
    """Who asks, why, whom to write to, and the text that people agree to; what is empty was not told."""

    asker: str
    purpose: str
    contact: str
    consent: str


class About(Exact):
    """The same, as whoever creates a study says it."""

    asker: Annotated[StrictStr, Field(max_length=200)] = ""
    purpose: Annotated[StrictStr, Field(max_length=1000)] = ""
    contact: Annotated[StrictStr, Field(max_length=200)] = ""
    consent: Annotated[StrictStr, Field(max_length=10_000)] = ""


class LogDocument(Exact):
    """A part of the public log, how many entries it has, and the hash of the last one."""

    size: int
    head: Hex
    entries: list[dict[str, Any]]


class NewStudy(Exact):
    """A plan (as `dame plan --out` writes it), and when its rounds close by themselves.

    Lists have an entry for each slot of the plan, or one for each round: then those of all targets close together.
    """

    plan: dict[str, Any]
    title: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    close_at_count: list[Annotated[StrictInt, Field(ge=1)] | None] | None = None
    deadlines: list[StrictStr | None] | None = None
    about: About | None = None
    minimum_reports: Annotated[StrictInt, Field(ge=0, le=10**12)] = MINIMUM_REPORTS
    keep_reports_days: Annotated[float, Field(ge=0, le=36_500)] | None = None
    administrator: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)] = FIRST_NAME


class Closing(Exact):
    """Whether a round shall be closed although it has fewer reports than the study waits for."""

    anyway: StrictBool = False


class Invite(Exact):
    """How many people to invite, of which group, where the plan has groups, and until when they may answer."""

    count: Annotated[StrictInt, Field(ge=1, le=MOST_INVITATIONS)]
    group: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_GROUP)] | None = None
    expires: StrictStr | None = None


class CreatedDocument(Exact):
    """A new study; the administrator's key is told here and never again."""

    study: str
    administrator_key: Hex
    public_key: Hex
    plan_id: Hex


class InvitationDocument(Exact):
    """What one participant gets; for whoever invites, the number of her round, and when it is expected."""

    token: Hex
    link: str
    round: int
    expected: str


class InvitationsDocument(Exact):
    """Tokens and links of new participants."""

    study: str
    key: Hex
    group: str | None
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
    """A round as everybody may see it; `slot` is its place in addresses, `round` that among those of its machine.

    `target` is what the machine is called: a target, or a part of one.
    """

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
    about: AboutDocument
    alpha: float
    group: str
    minimum_reports: int
    open_rounds: list[int]
    shares: list[float]
    rounds: list[PublicRoundDocument]


class AskedDocument(Exact):
    """The question of an open round; the signature is over the plan's identity and the canonical text."""

    question: dict[str, Any]
    question_id: Hex
    plan_id: Hex
    signature: Hex
    canonical: str


class Asking(Exact):
    """Whose answers are asked for: SHA-256 of each token, in hexadecimal digits."""

    tokens: Annotated[list[Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]], Field(max_length=100_000)]


class AnsweredDocument(Exact):
    """For each token whether a report came with it; null where it was not given out for this study."""

    answered: list[bool | None]


class InvitationStateDocument(Exact):
    """For whoever holds a token: whether a report came with it."""

    answered: bool


class Claim(Exact):
    """A random value that a device keeps to itself, by which it is known when it asks again for the right to draw."""

    claim: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]


class ClaimDocument(InvitationStateDocument):
    """The same, and whether the device that asks may draw a report: only the first one that asked may."""

    granted: bool


class CountsDocument(Exact):
    """What was counted: for each window the reports and their sums."""

    reports: list[int]
    sums: list[list[int]]


class TallyDocument(CountsDocument):
    """The tally of a closed round: the question that was asked, what was counted, and that of each public group."""

    question: dict[str, Any]
    groups: dict[str, CountsDocument] | None = None


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
    purged_at: str | None
    histogram: HistogramDocument | None
    window: WindowDocument | None


class EstimateDocument(Where):
    """What a study tells of one target: `users` counts all reports, `reports` those of each round."""

    name: str
    kind: str
    users: int
    estimate: float
    standard_error: float
    interval: list[float]
    level: float
    weights: str
    failure_probability: float
    notes: list[str]
    reports: list[int]


class Figures(Where):
    """What a study tells of all its targets; where there is but one, its figures stand beside."""

    targets: list[EstimateDocument]
    name: str | None = None
    kind: str | None = None
    users: int | None = None
    estimate: float | None = None
    standard_error: float | None = None
    interval: list[float] | None = None
    level: float | None = None
    weights: str | None = None
    failure_probability: float | None = None
    notes: list[str] | None = None
    reports: list[int] | None = None


class GroupResultDocument(Figures):
    """What a study tells of one public group."""

    group: str


class DifferenceDocument(Exact):
    """By how much a target is larger in one group than in another."""

    name: str
    kind: str
    group: str
    than: str
    estimate: float
    standard_error: float
    interval: list[float]
    level: float


class PrivacyDocument(Exact):
    """What whoever reads a result, and sees no single upload, learns of a person: (ε, δ), beside her own α."""

    alpha: float
    central_epsilon: float
    central_delta: float
    smallest_set: int


class ResultDocument(Figures):
    """What a finished study tells, of everybody and of its groups, if it has some."""

    groups: list[GroupResultDocument] | None = None
    differences: list[DifferenceDocument] | None = None
    privacy: PrivacyDocument | None = None


class MachineDocument(Exact):
    """How one mean is measured that a target needs; `range` is what its statistic lies within."""

    name: str
    words: str
    protocol: str
    users_planned: int
    range: list[float]
    rounds: list[int]


class TargetStatusDocument(Exact):
    """A target as its administrator sees it: how far it is, and what it comes to once its last round is closed.

    `shift_by_1_percent` is there soon after the study was created. `counted` says whose distribution is told, where
    one is, and `scale` how it is drawn.
    """

    name: str
    kind: str
    words: str
    counted: str
    scale: str
    range: list[float]
    users_planned: int
    invited: int
    reports: int
    predicted_rmse: float
    machines: list[MachineDocument]
    shift_by_1_percent: float | None
    estimate: EstimateDocument | None


class GroupStatusDocument(Exact):
    """A public group as the administrator sees it; its reports are counted when a round closes."""

    group: str
    invited: int
    counted: int


class StatusDocument(ListedStudyDocument):
    """A study as its administrator sees it."""

    alpha: float
    users_planned: int
    invited: int
    group: str
    minimum_reports: int
    keep_reports_days: float | None
    open_rounds: list[int]
    targets: list[TargetStatusDocument]
    groups: list[GroupStatusDocument]
    rounds: list[RoundStatusDocument]
    rejected: dict[str, int]
    result: ResultDocument | None


class LiveDocument(Exact):
    """That the server runs."""

    status: str
    version: str


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
