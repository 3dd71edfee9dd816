"""What a study comes to: an estimate for each target, for each public group, and the differences between groups."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dame.errors import Mismatch
from dame.estimates import Estimate
from dame.studies.combining import difference
from dame.studies.plans import Plan
from dame.studies.targets import Target
from dame.theory.shuffling import CentralPrivacy

MOST_PAIRED = 8
"""Groups up to which every pair of them is compared; of more, each is compared with the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetResult:
    """What a study tells of one target."""

    target: Target
    estimate: Estimate

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object: `users` counts all reports, `reports` those of each round."""
        document = self.estimate.to_json()
        reports = document.pop("users")
        name, kind = self.target.name, self.target.kind
        return {"name": name, "kind": kind, "users": sum(self.estimate.users), **document, "reports": reports}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """What a study tells of one public group."""

    group: str
    targets: tuple[TargetResult, ...]

    @property
    def users(self) -> int:
        """How many people of the group sent a report."""
        return sum(sum(result.estimate.users) for result in self.targets)

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object; where there is but one target, its figures stand beside."""
        return {"group": self.group, "users": self.users, **_figures(self.targets)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """By how much a target is larger in one group than in another: in an experiment with two arms, its effect."""

    target: Target
    group: str
    than: str
    estimate: Estimate

    def to_json(self) -> dict[str, object]:
        """The difference as a JSON object."""
        estimate = self.estimate
        return {
            "name": self.target.name,
            "kind": self.target.kind,
            "group": self.group,
            "than": self.than,
            "estimate": estimate.value,
            "standard_error": estimate.standard_error,
            "interval": list(estimate.interval),
            "level": estimate.level,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a study tells, in the units of its targets."""

    targets: tuple[TargetResult, ...]
    groups: tuple[GroupResult, ...] = ()
    differences: tuple[Difference, ...] = ()
    privacy: CentralPrivacy | None = None

    @property
    def only(self) -> Estimate:
        """The estimate of a study that has a single target."""
        if len(self.targets) > 1:
            raise Mismatch(f"this study has {len(self.targets)} targets: see `targets`")
        return self.targets[0].estimate

    @property
    def estimate(self) -> float:
        """The value of a study that has a single target."""
        return self.only.value

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of a study that has a single target."""
        return self.only.interval

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object; where there is but one target, its figures stand beside."""
        document = _figures(self.targets)
        if self.privacy is not None:
            document["privacy"] = self.privacy.to_json()
        if self.groups:
            document["groups"] = [group.to_json() for group in self.groups]
            document["differences"] = [one.to_json() for one in self.differences]
        return document


def _figures(targets: Sequence[TargetResult]) -> dict[str, object]:
    listed: dict[str, object] = {"targets": [result.to_json() for result in targets]}
    return {**targets[0].to_json(), **listed} if len(targets) == 1 else listed


def result_of(
    plan: Plan, found: Mapping[str, Estimate], by_group: Mapping[str, Mapping[str, Estimate]], smallest: int
) -> Result:
    """The result from what each machine found, by its name, of everybody and of each group.

    `smallest` is the number of reports in the smallest tally, of a round or of a group in it, that is not empty.
    """
    privacy = CentralPrivacy(alpha=plan.alpha, reports=smallest) if smallest else None
    groups = tuple(GroupResult(group=name, targets=_read(plan, each)) for name, each in sorted(by_group.items()))
    differences = tuple(_differences(groups))
    return Result(targets=_read(plan, found), groups=groups, differences=differences, privacy=privacy)


def _read(plan: Plan, found: Mapping[str, Estimate]) -> tuple[TargetResult, ...]:
    return tuple(
        TargetResult(target=each.target, estimate=each.target.read([found[machine.name] for machine in each.machines]))
        for each in plan.targets
    )


def _differences(groups: Sequence[GroupResult]) -> list[Difference]:
    return [
        Difference(
            target=one.target, group=later.group, than=first.group, estimate=difference(two.estimate, one.estimate)
        )
        for first, later in _pairs(groups)
        for one, two in zip(first.targets, later.targets, strict=True)
    ]


def _pairs(groups: Sequence[GroupResult]) -> list[tuple[GroupResult, GroupResult]]:
    if len(groups) <= MOST_PAIRED:
        return list(itertools.combinations(groups, 2))
    largest = max(groups, key=lambda group: group.users)
    return [(largest, group) for group in groups if group is not largest]
