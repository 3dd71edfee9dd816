"""The plan of a study: public and frozen. It travels as JSON (`dame.studies.codec`) and comes back equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dame import checks
from dame.device.questions import MOST_ROUNDS, Slot
from dame.errors import InvalidInput, Mismatch
from dame.planning.machines import MachinePlan
from dame.studies.targets import Target
from dame.theory.shuffling import CentralPrivacy

MOST_SLOTS = 16 * MOST_ROUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPlan:
    """A target, and the machines that measure what it needs, each on people of its own."""

    target: Target
    machines: tuple[MachinePlan, ...]

    def __post_init__(self) -> None:
        measures, briefs = self.target.measures, [machine.brief for machine in self.machines]
        wanted = [(measure.name, measure.statistic) for measure in measures]
        if [(brief.target, brief.statistic) for brief in briefs] != wanted:
            raise InvalidInput("machines", [brief.target for brief in briefs], f"those of target {self.target.name}")

    @property
    def means(self) -> tuple[MachinePlan, ...]:
        """The machines that measure means of the column; another may ask who has it."""
        return self.machines if self.target.present == 1 else self.machines[:-1]

    @property
    def users(self) -> int:
        """How many people the target gets."""
        return sum(machine.users for machine in self.machines)

    @property
    def predicted_rmse(self) -> float:
        """The error that is predicted for the target, in its own units."""
        return self._felt(lambda machine: machine.forecast.predicted_rmse)

    @property
    def counted_rmse(self) -> float:
        """The same, where a wrong window counts as an error of the whole range unless it is one in a million."""
        return self._felt(lambda machine: machine.forecast.counted_rmse)

    @property
    def failure_probability(self) -> float:
        """The chance that some machine looks in a wrong window."""
        return min(sum(machine.forecast.failure_probability for machine in self.machines), 1.0)

    def _felt(self, error: Callable[[MachinePlan], float]) -> float:
        pairs = zip(self.target.sensitivities, self.machines, strict=True)
        return math.hypot(*(felt * error(machine) for felt, machine in pairs))

    def shift(self, shift_of: Callable[[MachinePlan], float]) -> float:
        """The largest shift of the target that attackers can cause, from that of each machine."""
        pairs = zip(self.target.sensitivities, self.machines, strict=True)
        return math.fsum(felt * shift_of(machine) for felt, machine in pairs)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A frozen study: what it shall tell, and by which machines. Each person answers in one slot, with her whole α.

    `group` names what the collector knows of every person (a country, an arm of an experiment), where the study shall
    tell its targets for each such group. A study that has begun is finished by whatever release knows the versions of
    its protocols: see docs/deploy.md.
    """

    targets: tuple[TargetPlan, ...]
    group: str = ""

    def __post_init__(self) -> None:
        if not self.targets:
            raise InvalidInput("targets", [], "at least one")
        if self.group != "":
            checks.text("group", self.group, 64)
        if len({(machine.study, machine.alpha) for machine in self.machines}) != 1:
            raise InvalidInput("machines", [machine.study for machine in self.machines], "of one study, with one α")
        if len(set(self.slots)) != len(self.slots) or len(self.slots) > MOST_SLOTS:
            raise InvalidInput("targets", len(self.slots), f"targets of different names, with up to {MOST_SLOTS} slots")

    @cached_property
    def machines(self) -> tuple[MachinePlan, ...]:
        """The machines of all targets."""
        return tuple(machine for target in self.targets for machine in target.machines)

    @property
    def only(self) -> MachinePlan:
        """The one machine of a study that has no other."""
        if len(self.machines) > 1:
            raise Mismatch(f"this study has {len(self.machines)} machines: one was expected")
        return self.machines[0]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots of the study, in the order in which the public hash gives them to people."""
        return tuple(slot for machine in self.machines for slot in machine.slots)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The share of the users that each slot is given."""
        if len(self.machines) == 1:
            return self.only.shares
        return tuple(machine.users * share / self.users for machine in self.machines for share in machine.shares)

    @cached_property
    def users(self) -> int:
        """Number of users that the plan was made for."""
        return sum(machine.users for machine in self.machines)

    @property
    def alpha(self) -> float:
        """The budget of each user."""
        return self.machines[0].alpha

    @property
    def study(self) -> str:
        """The identity of the study."""
        return self.machines[0].study

    def machine_of(self, slot: Slot) -> MachinePlan:
        """The machine that a slot belongs to."""
        for machine in self.machines:
            if slot in machine.slots:
                return machine
        raise Mismatch(f"round {slot.round + 1} of target '{slot.target}' belongs to no round of this plan")

    @property
    def central(self) -> CentralPrivacy:
        """What a reader of the result will learn of a person, if everybody answers: of one in the smallest round."""
        return CentralPrivacy(alpha=self.alpha, reports=max(round(self.users * min(self.shares)), 1))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for people about all machines, each once."""
        return tuple(dict.fromkeys(note for machine in self.machines for note in machine.notes))
