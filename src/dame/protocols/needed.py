"""The other way round: how many users, or what α, a target error takes, and what other protocols would need for it."""

from __future__ import annotations

import math
from collections.abc import Callable

from dame import checks
from dame.errors import InvalidInput
from dame.planning.brief import MOST_USERS
from dame.planning.machines import MachinePlan

RARE = 1e-6
"""Failures up to this chance are reported beside the error; more likely ones count in it."""
CLOSE = 0.01
"""Relative precision of a search: planning is not free, and no study is planned more closely than this."""
LARGEST_ALPHA = 8.0
SMALLEST_ALPHA = 1e-3


def counted_error(plan: MachinePlan) -> float:
    """The predicted error, in which a wrong location counts unless it is a matter of one in a million."""
    forecast = plan.forecast
    return forecast.predicted_rmse if forecast.failure_probability <= RARE else forecast.predicted_rmse_with_failures


def users_needed(make: Callable[[int], MachinePlan], target_error: float) -> MachinePlan:
    """A plan whose error is at most the target, with no more users than 1 % above the fewest."""
    target = checks.positive("target error", target_error, 1e300)
    few, enough, plan, before = 0, 1, make(1), math.inf
    while counted_error(plan) > target:
        if enough >= MOST_USERS:
            raise InvalidInput("target error", target_error, f"one that {MOST_USERS:,} users can reach")
        # Errors fall like 1/sqrt(users) or faster: the next guess aims at the target, and at least doubles.
        aim = enough * (counted_error(plan) / target) ** 2
        few, enough, before = enough, math.ceil(min(max(aim, 2 * enough), MOST_USERS)), counted_error(plan)
        plan = make(enough)
    while few and enough - few > max(1, CLOSE * few):
        middle = round(_between((few, before), (enough, counted_error(plan)), target))
        middle = min(max(middle, few + 1), enough - 1)
        trial = make(middle)
        if counted_error(trial) > target:
            few, before = middle, counted_error(trial)
        else:
            enough, plan = middle, trial
    return plan


def alpha_needed(make: Callable[[float], MachinePlan], target_error: float) -> MachinePlan:
    """A plan whose error is at most the target, with an α no more than 1 % above the smallest."""
    target = checks.positive("target error", target_error, 1e300)
    high, plan = LARGEST_ALPHA, make(LARGEST_ALPHA)
    if counted_error(plan) > target:
        best = counted_error(plan)
        raise InvalidInput(
            "target error", target_error, f"at least {best:.3g}, what these users reach at alpha {high:g}"
        )
    low, before = SMALLEST_ALPHA, counted_error(make(SMALLEST_ALPHA))
    while high > low * (1 + CLOSE) and before > target:
        middle = _between((low, before), (high, counted_error(plan)), target)
        trial = make(middle)
        if counted_error(trial) > target:
            low, before = middle, counted_error(trial)
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


def times_as_many(plan: MachinePlan, make: Callable[[int], MachinePlan]) -> float:
    """How many times as many users another protocol, planned by `make`, needs for the same error; inf if too many."""
    try:
        return users_needed(make, counted_error(plan)).users / plan.users
    except InvalidInput:
        return math.inf
