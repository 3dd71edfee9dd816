"""Estimates out of estimates: differences, ratios and standard deviations, with intervals from the intervals.

All of them carry the ends of intervals over one by one (the "method of variance estimates recovery"): an end of the
result is as far away as the ends that lead to it are together, in quadrature. Where the estimates are normal, that is
the delta method; where their intervals lean to one side, so does the result's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dame.estimates import Estimate, normal_quantile

_HALVINGS = 60


def difference(one: Estimate, other: Estimate) -> Estimate:
    """How much larger the first is than the second; both were found from different people."""
    value = one.value - other.value
    (low, high), (other_low, other_high) = one.interval, other.interval
    return replace(
        _both(one, other),
        value=value,
        standard_error=math.hypot(one.standard_error, other.standard_error),
        interval=(
            value - math.hypot(one.value - low, other_high - other.value),
            value + math.hypot(high - one.value, other.value - other_low),
        ),
    )


def among_present(total: Estimate, present: Estimate, bounds: tuple[float, float]) -> Estimate:
    """The mean among people who have the column, from that of all, in which the others count as the middle.

    `present` estimates the share of people who have it.
    """
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    away, low, high = (place - middle for place in (total.value, *total.interval))
    share, (fewest, most) = present.value, present.interval
    value = min(max(away / share, -half), half) if share > 0 else 0.0
    upper = _ratio_end(away, high - away, share, share - fewest, most - share, half)
    lower = -_ratio_end(-away, away - low, share, share - fewest, most - share, half)
    return replace(
        _both(total, present),
        value=middle + value,
        standard_error=(upper - lower) / (2 * normal_quantile()),
        interval=(middle + min(lower, value), middle + max(upper, value)),
    )


def _ratio_end(away: float, above: float, share: float, fewer: float, more: float, most: float) -> float:
    """The largest ratio r ≤ most for which share·r - away is not above what their errors explain."""

    def beyond(ratio: float) -> float:
        return ratio * share - away - math.hypot(above, ratio * (fewer if ratio > 0 else more))

    return _first_beyond(beyond, max(away / share, -most), most) if share > 0 else most


def _first_beyond(beyond: Callable[[float], float], inside: float, outside: float) -> float:
    """Where a function passes from below 0 to above, between two places; the outer one where it does not."""
    if not inside < outside or beyond(outside) <= 0:
        return outside
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if beyond(middle) <= 0 else (inside, middle)
    return outside


def standard_deviation(mean: Estimate, square: Estimate, bounds: tuple[float, float]) -> Estimate:
    """The standard deviation from the mean, and from the mean squared distance from the middle of the bounds."""
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    away, ends = mean.value - middle, [end - middle for end in mean.interval]
    nearest = 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends))
    shift = replace(mean, value=away**2, interval=(nearest**2, max(map(abs, ends)) ** 2))
    variance = difference(square, shift)
    low, high = variance.interval
    # A variance that came out below 0 is 0; what is above it stays as uncertain as it was.
    high -= min(variance.value, 0.0)
    lower, value, upper = (min(math.sqrt(max(place, 0.0)), half) for place in (low, variance.value, high))
    return replace(
        variance, value=value, standard_error=(upper - lower) / (2 * normal_quantile()), interval=(lower, upper)
    )


def _both(one: Estimate, other: Estimate) -> Estimate:
    """What two estimates have together beside their numbers."""
    return replace(
        one,
        users=(*one.users, *other.users),
        failure_probability=min(one.failure_probability + other.failure_probability, 1.0),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        quantiles=(),
        distribution=None,
    )
