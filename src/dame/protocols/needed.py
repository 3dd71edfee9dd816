"""The other way round: how many users a target error takes."""

from __future__ import annotations

from collections.abc import Callable

from dame import checks
from dame.errors import InvalidInput
from dame.plans import MOST_USERS, Plan


def users_needed(make: Callable[[int], Plan], target_error: float) -> Plan:
    """The plan with the fewest users whose error, failures counted, is at most the target (doubling, bisection)."""
    target = checks.positive("target error", target_error, 1e300)
    few, enough = 0, 1
    while make(enough).forecast.predicted_rmse_with_failures > target:
        if enough >= MOST_USERS:
            raise InvalidInput("target error", target_error, f"one that {MOST_USERS} users can reach")
        few, enough = enough, min(enough * 2, MOST_USERS)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if make(middle).forecast.predicted_rmse_with_failures > target else (few, middle)
    return make(enough)
