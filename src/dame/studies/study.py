"""What people ask of a study, and the planner that makes a plan of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dame import checks
from dame.errors import InvalidInput
from dame.planning.brief import MOST_USERS, WEIGHTS, Brief
from dame.planning.codec import LEARN
from dame.planning.machines import MachinePlan
from dame.protocols import DEFAULT, planned, protocol_named, spread_of
from dame.sizes import Sizes
from dame.studies.parsing import named
from dame.studies.plans import Plan, TargetPlan
from dame.studies.targets import Mean, Measure, Target

SizesByColumn = Sizes | str | Mapping[str, Sizes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What a study is asked to do: tell its targets of so many users, with α each and sizes as in M.

    `sizes` may differ by column. `between_sd` is the standard deviation of users' own means as a fraction of the
    half-range, "learn" where the study shall find out, 0 where all records share one distribution. `choices` go to the
    planner of the protocol: `adaptive` takes `max_rounds`, `failure` and `survey`.
    """

    users: int
    alpha: float
    sizes: SizesByColumn
    targets: Sequence[Target]
    protocol: str = DEFAULT
    weights: str = WEIGHTS[0]
    between_sd: float | str | None = LEARN
    group: str = ""
    study: str = field(default_factory=lambda: secrets.token_hex(16))
    choices: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.whole("users", self.users, 1, MOST_USERS)
        checks.alpha(self.alpha)
        targets = self.targets if isinstance(self.targets, (list, tuple)) else None
        if targets is None or not all(isinstance(target, Target) for target in targets):
            raise InvalidInput("targets", self.targets, "a list of targets, such as dame.mean('minutes', (0, 120))")
        object.__setattr__(self, "targets", named(targets))
        if isinstance(self.sizes, str):
            object.__setattr__(self, "sizes", Sizes.parse(self.sizes))

    def plan(self) -> Plan:
        """The plan: each target has people in proportion to its weight."""
        weights = [target.weight for target in self.targets]
        return self.plan_for(split(self.users, weights, [len(target.measures) for target in self.targets]))

    def plan_for(self, users: Sequence[int]) -> Plan:
        """The plan in which each target has so many people."""
        pairs = zip(self.targets, users, strict=True)
        plan = Plan(targets=tuple(self.plan_target(target, count) for target, count in pairs), group=self.group)
        if self.group and not all(counts_everybody(machine) for machine in plan.machines):
            raise InvalidInput(
                "group", self.group, "absent where all records are taken to share one distribution: learn between_sd"
            )
        return plan

    def plan_target(self, target: Target, users: int) -> TargetPlan:
        """The plan of one target with so many people."""
        counts = split(users, [measure.share for measure in target.measures], [1] * len(target.measures))
        each = zip(target.measures, counts, strict=True)
        machines = tuple(self._machine(target, measure, count) for measure, count in each)
        if target.present < 1 and not all(counts_everybody(machine) for machine in machines):
            raise InvalidInput(
                "present", target.present, "1 where all records are taken to share one distribution: learn between_sd"
            )
        return TargetPlan(target=target, machines=machines)

    def _machine(self, target: Target, measure: Measure, users: int) -> MachinePlan:
        brief = Brief(
            users=users,
            alpha=self.alpha,
            sizes=measure.sizes or self._sizes(target.column),
            statistic=measure.statistic,
            weights=self.weights,
            between_sd=spread_of(self.between_sd),
            levels=measure.levels,
            scale=measure.scale,
            target=measure.name,
            study=self.study,
        )
        if measure.protocol is None:
            return planned(brief, self.protocol, **self.choices)
        own = protocol_named(measure.protocol)
        choices = {name: value for name, value in self.choices.items() if name in own.choices}
        return planned(brief, measure.protocol, **choices)

    def _sizes(self, column: str) -> Sizes:
        if not isinstance(self.sizes, Mapping):
            return self.sizes  # type: ignore[return-value]  # texts were parsed, and the brief checks the rest
        if column not in self.sizes:
            raise InvalidInput("sizes", column, f"given for every column, not only for {', '.join(self.sizes)}")
        return self.sizes[column]


def plan(
    *,
    users: int,
    alpha: float,
    sizes: Sizes | str,
    bounds: tuple[float, float] = (-1.0, 1.0),
    protocol: str = DEFAULT,
    weights: str = WEIGHTS[0],
    between_sd: float | str | None = 0.0,
    study: str | None = None,
    **choices: float,
) -> Plan:
    """A plan for the mean of values within the bounds, for so many users, each with budget α and sizes as in M.

    `between_sd` is the standard deviation of users' own means, as a fraction of the half-range: 0 if all records are
    from one distribution, "learn" if the study shall find out. `weights` says whose mean is wanted: "equal" (each user
    counts once) or "precision" (by the square root of the effective size).

    `study` is the identity that keeps a device from answering twice; a random one is drawn when none is given.
    Further choices go to the planner: `adaptive` takes `max_rounds` (1 to 6), `failure` (the chance of a wrong
    window that it may accept) and `survey` (the share of the users that is first asked for sizes, such as 0.1, when
    M is but a guess). Several targets: see `dame.Study`.
    """
    identity = {} if study is None else {"study": study}
    return Study(
        users=users,
        alpha=alpha,
        sizes=sizes,
        targets=[Mean(column="", bounds=bounds)],
        protocol=protocol,
        weights=weights,
        between_sd=between_sd,
        choices=choices,
        **identity,
    ).plan()


def by_protocol(plan: Plan, protocol: str) -> Plan:
    """The same study with another protocol, wherever a target leaves that to the study."""

    def again(planned_target: TargetPlan) -> TargetPlan:
        each = zip(planned_target.target.measures, planned_target.machines, strict=True)
        machines = [machine if measure.protocol else planned(machine.brief, protocol) for measure, machine in each]
        return replace(planned_target, machines=tuple(machines))

    return replace(plan, targets=tuple(map(again, plan.targets)))


def counts_everybody(machine: MachinePlan) -> bool:
    """Whether a machine measures the mean of all its people, whoever they are, instead of where most of them are."""
    return protocol_named(machine.protocol).counts_everybody(machine)


def split(users: int, weights: Sequence[float], least: Sequence[int]) -> list[int]:
    """So many users shared out by weight, in whole numbers; each share has at least so many."""
    if users < sum(least):
        raise InvalidInput("users", users, f"at least {sum(least)}, one for each mean that is measured")
    exact = [users * weight / sum(weights) for weight in weights]
    counts = [max(int(each), fewest) for each, fewest in zip(exact, least, strict=True)]
    while sum(counts) != users:  # a step or two for each share
        short = sum(counts) < users
        places = [place for place in range(len(counts)) if short or counts[place] > least[place]]
        place = max(places, key=lambda place: (exact[place] - counts[place]) * (1 if short else -1))
        counts[place] += 1 if short else -1
    return counts
