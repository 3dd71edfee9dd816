"""The other way round: how many users, or what α, a target error takes, and what other protocols would need for it."""

from __future__ import annotations

import math
from collections.abc import Callable

from dame import checks
from dame.errors import InvalidInput
from dame.plans import MOST_USERS, Plan

RARE = 1e-6
"""Failures up to this chance are reported beside the error; more likely ones count in it."""
CLOSE = 0.01
"""Relative precision of a search: planning is not free, and no study is planned more closely than this."""
LARGEST_ALPHA = 8.0
SMALLEST_ALPHA = 1e-3


def counted_error(plan: Plan) -> float:
    """The predicted error, in which a wrong location counts unless it is a matter of one in a million."""
    forecast = plan.forecast
    return forecast.predicted_rmse if forecast.failure_probability <= RARE else forecast.predicted_rmse_with_failures


def users_needed(make: Callable[[int], Plan], target_error: float) -> Plan:
    """A plan whose error is at most the target, with no more users than 1 % above the fewest."""
    target = checks.positive("target error", target_error, 1e300)
    few, enough, plan = 0, 1, make(1)
    while counted_error(plan) > target:
        if enough >= MOST_USERS:
            raise InvalidInput("target error", target_error, f"one that {MOST_USERS:,} users can reach")
        # Errors fall like 1/sqrt(users) or faster: the next guess aims at the target, and at least doubles.
        aim = enough * (counted_error(plan) / target) ** 2
        few, enough = enough, math.ceil(min(max(aim, 2 * enough), MOST_USERS))
        plan = make(enough)
    while enough - few > max(1, CLOSE * few):
        middle = math.isqrt(max(few, 1) * enough) if few else enough // 2
        middle = min(max(middle, few + 1), enough - 1)
        trial = make(middle)
        if counted_error(trial) > target:
            few = middle
        else:
            enough, plan = middle, trial
    return plan


def alpha_needed(make: Callable[[float], Plan], target_error: float) -> Plan:
    """A plan whose error is at most the target, with an α no more than 1 % above the smallest."""
    target = checks.positive("target error", target_error, 1e300)
    low, high, plan = SMALLEST_ALPHA, LARGEST_ALPHA, make(LARGEST_ALPHA)
    if counted_error(plan) > target:
        best = counted_error(plan)
        raise InvalidInput(
            "target error", target_error, f"at least {best:.3g}, what these users reach at alpha {high:g}"
        )
    while high > low * (1 + CLOSE):
        middle = math.sqrt(low * high)
        trial = make(middle)
        if counted_error(trial) > target:
            low = middle
        else:
            high, plan = middle, trial
    return plan


def times_as_many(plan: Plan, make: Callable[[int], Plan]) -> float:
    """How many times as many users another protocol, planned by `make`, needs for the same error; inf if too many."""
    try:
        return users_needed(make, counted_error(plan)).users / plan.users
    except InvalidInput:
        return math.inf
