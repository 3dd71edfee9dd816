"""`adaptive` for users who differ: each counts once, and her own mean may lie anywhere. No M and no law is needed.

Mostly they send bits on parts of the range (`by_parts`). Many users with a large α mark places instead (`by_places`),
which then say more; a handful sends plain bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dame.device.questions import Question
from dame.device.randomisers import OneBit
from dame.estimates import Estimate
from dame.planning.plans import Brief, MeasureRound, PartRound, Plan, Round
from dame.protocols.adaptive import by_parts, by_places
from dame.protocols.adaptive.outlook import Outlook
from dame.protocols.whole_range import read_alone, risk_alone
from dame.tally import Tally

FEW, PLAIN = 100, 5
"""Fewer users than this, or users whose bits are worth fewer exact answers, send plain bits: parts would be empty."""
WORTH_ROUNDS = 50
"""Users who are worth fewer exact answers are asked at once: they cannot tell reliably where the many are."""
SHARP_ALPHA, WORTH_PLACES = 1.5, 250
"""From this α on, and for users who are worth as many exact answers, marks of places are sharper than bits."""


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """The rounds that are best for so many users with this α, and what they are expected to bring."""
    noise = OneBit.spending(brief.alpha)
    risk = risk_alone(noise, brief.users)
    worth = 1 / risk
    if brief.users < FEW or worth < PLAIN:
        return (MeasureRound.everybody_alike("measure", 1.0, noise, risk),), Outlook(after=(risk,))
    if most_rounds > 1 and brief.alpha >= SHARP_ALPHA and worth > WORTH_PLACES:
        return by_places.plan_rounds(brief, most_rounds)
    return by_parts.plan_rounds(brief, most_rounds if worth >= WORTH_ROUNDS else 1)


def knows(rounds: Sequence[Round]) -> bool:
    """Whether these are rounds for users who differ: of parts, of places, or one of plain bits."""
    first, *later = rounds
    if isinstance(first, MeasureRound):
        return not later and not first.dither
    return by_parts.knows(rounds) or by_places.knows(rounds)


def notes(brief: Brief, outlook: Outlook) -> tuple[str, ...]:
    """What the forecast stands for, in words."""
    if not outlook.by_width:
        return ("users differ, and they are too few to learn how: one bit from everybody",)
    low, high = (math.sqrt(error) * brief.half_range for error in (outlook.by_width[0][1], outlook.by_width[-1][1]))
    return (
        f"users differ: the error lies between {low:.2g} (means close together) and {high:.2g} (far apart); "
        "the prediction is an average",
    )


def question(plan: Plan, tallies: Sequence[Tally]) -> Question:
    """What to ask after these answers."""
    first = plan.rounds[0]
    if isinstance(first, MeasureRound):
        return first.ask(plan.brief, 0, centre=0.0)
    ask = by_parts.question if isinstance(first, PartRound) else by_places.question
    return ask(plan, tallies)


def estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    """What all rounds together say of the mean of the users' means."""
    first = plan.rounds[0]
    if isinstance(first, MeasureRound):
        return read_alone(plan, tallies[0])
    read = by_parts.estimate if isinstance(first, PartRound) else by_places.estimate
    return read(plan, tallies)
