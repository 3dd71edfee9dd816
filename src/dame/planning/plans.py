"""Plans: the public, frozen description of a study, from which the protocol's state machine runs.

A `Brief` is what people ask for; a planner turns it into a `Plan`. Plans travel as JSON and come back equal.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dame import checks
from dame.vectorised.crowd import mean_weight
from dame.device.questions import MOST_RECORDS, Measure, PartMeasure, PlaceVote, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.errors import InvalidInput
from dame.sizes import Sizes, effective

MOST_USERS = 10**12
VERSION = 1
WEIGHTS = ("equal", "precision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a study is asked to do: so many users, α each, sizes as in M, values between low and high.

    Users' own means may differ: `between_sd` is their standard deviation on the inner scale, 0 where all draw from one
    law, None where it is to be learnt. `weights` says whose mean is wanted: that of all users alike ("equal"), or with
    more weight on users who know theirs better ("precision", the square root of the effective size).
    """

    users: int
    alpha: float
    sizes: Sizes
    low: float = -1.0
    high: float = 1.0
    weights: str = WEIGHTS[0]
    between_sd: float | None = 0.0
    study: str = field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        object.__setattr__(self, "users", checks.whole("users", self.users, 1, MOST_USERS))
        object.__setattr__(self, "alpha", checks.alpha(self.alpha))
        low, high = checks.bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        checks.text("study", self.study, 128)
        checks.one_of("weights", self.weights, WEIGHTS)
        if self.between_sd is not None:
            object.__setattr__(self, "between_sd", checks.real("between_sd", self.between_sd, 0.0, 1.0) + 0.0)
        elif self.weights != WEIGHTS[0]:
            raise InvalidInput("between_sd", "learn", "a number from 0 to 1 with weights by precision")
        if not isinstance(self.sizes, Sizes):
            raise InvalidInput("sizes", self.sizes, "a dame.Sizes, such as dame.Sizes.parse('poisson:5')")

    @property
    def half_range(self) -> float:
        """Units of the study per unit of the inner scale."""
        return (self.high - self.low) / 2

    def asked(self, index: int) -> dict[str, Any]:
        """What every question of this study names, in the round of that index."""
        return {"study": self.study, "round": index, "alpha": self.alpha, "low": self.low, "high": self.high}

    @property
    def spread(self) -> float:
        """The standard deviation between users that weights by size count with."""
        return self.between_sd or 0.0

    def effective(self, size: Any) -> Any:
        """What so many records of one user are worth in this study."""
        return effective(size, self.spread)

    @property
    def users_differ(self) -> bool:
        """Whether every user must count alike, since the users' means differ."""
        return self.weights == WEIGHTS[0] and self.between_sd != 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRound:
    """A round of voting: its whole question is known before the study begins.

    `voters` is the share P(m ≥ min_size) of users that mark a bin; `error_after` is the error that the planner expects
    of the centre after this round, for the worst law, on the inner scale.
    """

    name: str
    share: float
    bins: int
    width: float
    origin: float = -1.0
    neighbours: int
    min_size: int
    voters: float = 1.0
    error_after: float = 1.0
    code: UnaryCode

    def ask(self, brief: Brief, index: int) -> Vote:
        """The question of this round."""
        return Vote(
            **brief.asked(index),
            bins=self.bins,
            width=self.width,
            origin=self.origin,
            neighbours=self.neighbours,
            min_size=min(self.min_size, MOST_RECORDS),
            code=self.code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRound:
    """A round of measuring: window and weights are known, the centre follows from the rounds before.

    `half_width` is in units of z (see `Measure`). A `fitted` round gives people with few records the weight at which
    their means just reach the ends of the window. With a `dither`, a coin of each device moves the centre so far to the
    left or to the right.
    """

    name: str
    share: float
    half_width: float
    cap: float | None
    fitted: bool = False
    between_sd: float = 0.0
    dither: float = 0.0
    error_after: float = 1.0
    noise: OneBit | DiscreteLaplace

    @classmethod
    def everybody_alike(
        cls, name: str, share: float, noise: OneBit | DiscreteLaplace, squared_error: float = 1.0
    ) -> MeasureRound:
        """A round over the whole range in which every user counts once, as if she had a single record."""
        after = min(math.sqrt(squared_error), 1.0)
        return cls(name=name, share=share, half_width=1.0, cap=1.0, error_after=after, noise=noise)

    def ask(self, brief: Brief, index: int, centre: float, window: tuple[float, float] | None = None) -> Measure:
        """The question of this round around a centre; `window` narrows [-half_width, half_width]."""
        left, right = window or (-self.half_width, self.half_width)
        farthest = 1 + abs(centre) + self.dither
        return Measure(
            **brief.asked(index),
            centre=centre,
            left=left,
            right=right,
            cap=self.cap,
            between_sd=self.between_sd,
            least_weight=self.half_width / farthest if self.fitted else 0.0,
            dither=self.dither,
            noise=self.noise,
        )

    def gain(self, brief: Brief, question: Measure) -> float:
        """By how much the mean z rises with θ where nobody's z is cut: the mean weight under M."""
        return mean_weight(question, brief.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRound:
    """A survey of sizes, before all other rounds: these are then designed anew, for the sizes that it found."""

    name: str
    share: float
    bins: int
    code: UnaryCode
    error_after: ClassVar[float] = 1.0
    """Nothing is learnt of the mean."""

    def ask(self, brief: Brief, index: int) -> SizeVote:
        """The question of this round."""
        return SizeVote(
            **brief.asked(index),
            bins=self.bins,
            code=self.code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRound:
    """A round of votes for one of a few places; no places where they follow from the rounds before."""

    name: str
    share: float
    places: tuple[float, ...] = ()
    error_after: float = 1.0

    def ask(self, brief: Brief, index: int, places: tuple[float, ...] = ()) -> PlaceVote:
        """The question of this round, about its own places or those given."""
        asked = places or self.places
        code = OneOfMany.spending(brief.alpha, len(asked))
        return PlaceVote(**brief.asked(index), places=asked, code=code)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRound:
    """A round of bits on one of a few parts of the range; no borders where they follow from the rounds before."""

    name: str
    share: float
    borders: tuple[float, ...] = ()
    error_after: float = 1.0

    def ask(self, brief: Brief, index: int, borders: tuple[float, ...] = ()) -> PartMeasure:
        """The question of this round, about the parts between its own borders or those given."""
        return PartMeasure(**brief.asked(index), borders=borders or self.borders, noise=OneBit.spending(brief.alpha))


MeanRound = VoteRound | MeasureRound
Round = MeanRound | PlaceRound | PartRound | SizeRound


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a plan promises, in the study's units: errors given a right location, the chance of a wrong one, and bounds.

    `predicted_rmse_with_failures` counts a wrong location as an error of the whole range.

    `limit_mse` is the information limit, `lower_bound` and `upper_bound` are Theorems 1 and 2 of the paper; all three
    are mean squared errors.
    """

    predicted_rmse: float
    predicted_rmse_with_failures: float
    failure_probability: float
    limit_mse: float
    lower_bound: float
    upper_bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A frozen study: what was asked, the protocol, its rounds, the forecast, and the protocol's own `details`."""

    protocol: str
    brief: Brief
    rounds: tuple[Round, ...]
    forecast: Forecast
    details: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.text("protocol", self.protocol, 32)
        if not self.rounds:
            raise InvalidInput("rounds", [], "a list of at least one round")
        for share in self.shares:
            checks.positive("share", share, 1.0)
        object.__setattr__(self, "details", dict(self.details))

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the users that each round is given."""
        return tuple(round_.share for round_ in self.rounds)

    @property
    def users(self) -> int:
        """Number of users that the plan was made for."""
        return self.brief.users

    @property
    def alpha(self) -> float:
        """The budget of each user."""
        return self.brief.alpha

    @property
    def study(self) -> str:
        """The identity of the study."""
        return self.brief.study
