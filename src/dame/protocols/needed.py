"""The other way round: how many users, or what α, a target error takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from dame import checks
from dame.errors import InvalidInput
from dame.planning.brief import MOST_USERS

P = TypeVar("P")
"""A plan, of whatever."""
Error = Callable[[P], float]
"""The predicted error of a plan."""

CLOSE = 0.01
"""Relative precision of a search: planning is not free, and no study is planned more closely than this."""
LARGEST_ALPHA = 8.0
SMALLEST_ALPHA = 1e-3


def users_needed(make: Callable[[int], P], error: Error[P], target_error: float, fewest: int = 1) -> P:
    """A plan whose error is at most the target, with no more users than 1 % above the fewest."""
    target = checks.positive("target error", target_error, 1e300)
    few, enough, plan, before = 0, fewest, make(fewest), math.inf
    while error(plan) > target:
        if enough >= MOST_USERS:
            raise InvalidInput("target error", target_error, f"one that {MOST_USERS:,} users can reach")
        # Errors fall like 1/sqrt(users) or faster: the next guess aims at the target, and at least doubles.
        aim = enough * (error(plan) / target) ** 2
        few, enough, before = enough, math.ceil(min(max(aim, 2 * enough), MOST_USERS)), error(plan)
        plan = make(enough)
    while few and enough - few > max(1, CLOSE * few):
        middle = round(_between((few, before), (enough, error(plan)), target))
        middle = min(max(middle, few + 1), enough - 1)
        trial = make(middle)
        if error(trial) > target:
            few, before = middle, error(trial)
        else:
            enough, plan = middle, trial
    return plan


def alpha_needed(make: Callable[[float], P], error: Error[P], target_error: float) -> P:
    """A plan whose error is at most the target, with an α no more than 1 % above the smallest."""
    target = checks.positive("target error", target_error, 1e300)
    high, plan = LARGEST_ALPHA, make(LARGEST_ALPHA)
    if error(plan) > target:
        best = error(plan)
        raise InvalidInput(
            "target error", target_error, f"at least {best:.3g}, what these users reach at alpha {high:g}"
        )
    low, before = SMALLEST_ALPHA, error(make(SMALLEST_ALPHA))
    while high > low * (1 + CLOSE) and before > target:
        middle = _between((low, before), (high, error(plan)), target)
        trial = make(middle)
        if error(trial) > target:
            low, before = middle, error(trial)
        else:
            high, plan = middle, trial
    return plan


def _between(low: tuple[float, float], high: tuple[float, float], target: float) -> float:
    """Where the error should meet the target between two points, if it falls like a power.

    Never close to the nearer end, and a little beyond the guess on the other side, so that both ends close in.
    """
    (first, above), (last, below) = low, high
    span = math.log(last / first)
    part = math.log(above / target) / math.log(above / below) if above > target >= below > 0 and above > below else 0.5
    beyond = CLOSE / (2.5 * span)
    part += -beyond if part > 0.5 else beyond
    return first * math.exp(span * min(max(part, 0.1), 0.9))
