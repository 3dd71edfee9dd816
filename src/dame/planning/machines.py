"""Plans of machines: the public, frozen description of how one mean is measured, from which the protocol runs.

A `Brief` is what is asked for; a planner turns it into a `MachinePlan`. The plan of a study has one or several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dame import checks
from dame.device.questions import MOST_ROUNDS, Slot
from dame.errors import InvalidInput
from dame.planning.brief import Brief
from dame.planning.rounds import Round

RARE = 1e-6
"""Failures up to this chance are reported beside the error; more likely ones count in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a plan promises, in the study's units: errors given a right window, the chance of a wrong one, and bounds.

    `predicted_rmse_with_failures` counts a wrong window as an error of the whole range.

    `limit_mse` is the information limit, `lower_bound` and `upper_bound` are Theorems 1 and 2 of the paper; all three
    are mean squared errors.
    """

    predicted_rmse: float
    predicted_rmse_with_failures: float
    failure_probability: float
    limit_mse: float
    lower_bound: float
    upper_bound: float

    @property
    def counted_rmse(self) -> float:
        """The predicted error, in which a wrong window counts unless it is a matter of one in a million."""
        return self.predicted_rmse if self.failure_probability <= RARE else self.predicted_rmse_with_failures


@dataclass(frozen=True, slots=True, kw_only=True)
class MachinePlan:
    """How one statistic is measured, on people of its own.

    What was asked, the protocol and its version, its rounds, the forecast, and the protocol's own `details`.

    A study that has begun is finished by whatever release knows the version: see docs/deploy.md.
    """

    protocol: str
    protocol_version: int = 1
    brief: Brief
    rounds: tuple[Round, ...]
    forecast: Forecast
    details: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __hash__(self) -> int:
        # Details are a mapping, which has no hash; what is left tells most machines apart.
        return hash((self.protocol, self.protocol_version, self.brief, self.rounds))

    def __post_init__(self) -> None:
        checks.text("protocol", self.protocol, 32)
        checks.whole("protocol_version", self.protocol_version, 1, 10**6)
        if not 1 <= len(self.rounds) <= MOST_ROUNDS:
            raise InvalidInput("rounds", len(self.rounds), f"a list of 1 to {MOST_ROUNDS} rounds")
        object.__setattr__(self, "details", dict(self.details))

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots of the machine, one for each round."""
        return tuple(Slot(self.brief.target, index) for index in range(len(self.rounds)))

    @property
    def name(self) -> str:
        """What the slots of this machine are called: a target, or a part of one."""
        return self.brief.target

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of its users that each slot is given."""
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
