"""`adaptive` under between-user variation: each user counts once, and her own mean may lie anywhere.

No M and no distribution is needed. Users send bits on segments of the range (`segments`); a handful sends plain bits.
"""

from __future__ import annotations

import math

from dame.device.channels import Bits
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.protocols.adaptive import segments
from dame.protocols.adaptive.expected_errors import ExpectedErrors
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.whole_range import bit_risk, whole_range_round


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], ExpectedErrors]:
    """The rounds that are best for so many users with this α, and the errors that are expected of them."""
    channel = Bits.single(brief.alpha)
    risk = bit_risk(channel, brief.users)
    sample_size = 1 / risk
    if brief.users < TUNING.few_users or sample_size < TUNING.plain_sample:
        return (whole_range_round("measure", 1.0, channel, risk),), ExpectedErrors(after=(risk,))
    return segments.plan_rounds(brief, most_rounds if sample_size >= TUNING.rounds_sample else 1)


def notes(brief: Brief, expected: ExpectedErrors) -> tuple[str, ...]:
    """What the forecast stands for, in words."""
    if not expected.by_width:
        return ("users' own means vary, and users are too few to learn how: one bit from everybody",)
    ends = (expected.by_width[0][1], expected.by_width[-1][1])
    low, high = (math.sqrt(error) * brief.half_range for error in ends)
    return (
        f"users' own means vary: the error lies between {low:.2g} (means close together) and {high:.2g} (far apart); "
        "the prediction is an average",
    )
