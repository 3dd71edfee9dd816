"""The other way round: how many users a target error takes."""

from __future__ import annotations

from collections.abc import Callable

from dame import checks
from dame.errors import InvalidInput
from dame.plans import MOST_USERS, Plan


def error_with_failures(plan: Plan) -> float:
    """Root mean squared error when a wrong location, which may cost the whole range, is counted too."""
    forecast = plan.forecast
    whole_range = 2 * plan.brief.half_range
    return float((forecast.predicted_rmse**2 + forecast.failure_probability * whole_range**2) ** 0.5)


def users_needed(make: Callable[[int], Plan], target_error: float) -> Plan:
    """The plan with the fewest users whose error, failures counted, is at most the target (doubling, bisection)."""
    target = checks.positive("target error", target_error, 1e300)
    few, enough = 0, 1
    while error_with_failures(make(enough)) > target:
        if enough >= MOST_USERS:
            raise InvalidInput("target error", target_error, f"one that {MOST_USERS} users can reach")
        few, enough = enough, min(enough * 2, MOST_USERS)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if error_with_failures(make(middle)) > target else (few, middle)
    return make(enough)
