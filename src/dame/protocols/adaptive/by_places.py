"""Users who differ, asked to mark one of a few places (`dame.between_users.places`): for many users and a large α.

The first users are asked about places all over the range, the others about those that are worth asking about by what
the rounds before have shown. Close together, places have little noise; places at the ends of the range, in the same
question, watch over those who are far away. What was cut off all the same is made up for by what the other rounds say
of the tails, as far as they can (`dame.between_users.beliefs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import PlaceVote
from dame.device.randomisers import OneBit, OneOfMany
from dame.estimates import LEVEL, Estimate, Reading, estimate_from_reading
from dame.planning.plans import Brief, PlaceRound, Plan, Round
from dame.protocols.adaptive.outlook import Outlook, Widths, plausible, widths_of
from dame.between_users import Beliefs, Places, Population, bell, best_places, family, marked, noise_of
from dame.tally import Tally

Floats = NDArray[np.float64]

FIRST_PLACES: Places = (-1.0, -0.375, 0.375, 1.0)
SHARES, SHARES_OF_TWO = (0.2, 0.25, 0.55), (0.35, 0.65)
"""Shares of the rounds. A far minority is best seen by users who are asked about the whole range, and the noise with
which it is seen shrinks like that of the mean itself: their share is the same for few users and for many."""
DEPARTURE = 0.9
"""By how much the mean may depart from every shape: in standard errors of bits from people at the ends of the range."""


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """A round about the whole range, then places that follow from the answers."""
    shares = SHARES_OF_TWO if most_rounds == 2 else SHARES
    outlook = _outlook(brief.alpha, brief.users, widths_of(brief), shares)
    errors = [min(math.sqrt(error), 1.0) for error in outlook.after]
    rounds = [
        PlaceRound(name="refine", share=share, error_after=error) for share, error in zip(shares, errors, strict=True)
    ]
    rounds[0] = replace(rounds[0], name="locate", places=FIRST_PLACES)
    rounds[-1] = replace(rounds[-1], name="finish")
    return tuple(rounds), outlook


def knows(rounds: Sequence[Round]) -> bool:
    """Whether several rounds ask for places, and those of the first are known."""
    first = rounds[0]
    places = all(isinstance(round_, PlaceRound) for round_ in rounds)
    return places and len(rounds) > 1 and isinstance(first, PlaceRound) and bool(first.places)


def question(plan: Plan, tallies: Sequence[Tally]) -> PlaceVote:
    """Places that were planned, or those that are best by what was learnt before."""
    index, round_ = len(tallies), plan.rounds[len(tallies)]
    assert isinstance(round_, PlaceRound)
    places = round_.places or _worth_asking(*_known(plan, tallies), plan.users * round_.share)
    return round_.ask(plan.brief, index, places)


def estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    """What all rounds together say of the mean of the users' means."""
    beliefs = _learnt(*_known(plan, tallies))
    mean = beliefs.of_mean()
    reading = Reading(
        value=float(mean.mean[0]),
        standard_error=math.sqrt(max(float(mean.covariance[0, 0]), 0.0)),
        low=mean.quantile((1 - LEVEL) / 2),
        high=mean.quantile((1 + LEVEL) / 2),
    )
    width = beliefs.width * plan.brief.half_range
    note = f"the users' means differ, with a standard deviation of about {width:.2g}"
    return estimate_from_reading(reading, [tally.reports for tally in tallies], [note])


def _known(plan: Plan, tallies: Sequence[Tally]) -> tuple[float, int, Widths, tuple[Tally, ...]]:
    """α, the users, how widely they may be spread, and what was heard of them: nothing in a round without reports."""
    users = max(sum(tally.reports for tally in tallies), plan.users)
    return plan.alpha, users, widths_of(plan.brief), tuple(tally for tally in tallies if tally.reports)


# What earlier rounds taught is remembered, and what to ask then: each step of a study asks for both again.
@lru_cache(maxsize=8)
def _worth_asking(alpha: float, users: int, widths: Widths, heard: tuple[Tally, ...], reports: float) -> Places:
    places, _ = best_places(_learnt(alpha, users, widths, heard), partial(OneOfMany.spending, alpha), reports)
    return places


@lru_cache(maxsize=8)
def _learnt(alpha: float, users: int, widths: Widths, heard: tuple[Tally, ...]) -> Beliefs:
    if not heard:
        return _before(alpha, users, widths)
    beliefs, last = _learnt(alpha, users, widths, heard[:-1]), heard[-1]
    asked = last.question
    assert isinstance(asked, PlaceVote)
    shares = np.array([asked.code.debias(last.mean(place)) for place in range(1, asked.bins)])
    return _after(beliefs, asked.places, asked.code, shares, last.reports)


def _after(beliefs: Beliefs, places: Places, code: OneOfMany, shares: Floats, reports: float) -> Beliefs:
    """What is believed once the shares of all places but the first are known from so many reports."""
    return beliefs.after(marked(places), shares, noise_of(code, shares, reports))


def _before(alpha: float, users: int, widths: Widths) -> Beliefs:
    ends, middle = (4 * OneBit.spending(alpha).variance(place) / users for place in (0.0, 0.5))
    return Beliefs.before(family(*widths, math.sqrt(middle)), departure=DEPARTURE**2 * ends, users=users)


@lru_cache(maxsize=256)
def _outlook(alpha: float, users: int, widths: Widths, shares: tuple[float, ...]) -> Outlook:
    """What to expect of rounds with these shares: for bells in the middle."""
    choose = partial(OneOfMany.spending, alpha)
    each, errors = plausible(widths), []
    for width in each:
        beliefs, places, risks = _before(alpha, users, widths), FIRST_PLACES, []
        for share, following in zip(shares, (*shares[1:], None), strict=True):
            beliefs = _expecting(beliefs, choose(len(places)), bell(width), places, users * share)
            risks.append(float(beliefs.of_mean().covariance[0, 0]))
            if following is not None:
                places, _ = best_places(beliefs, choose, users * following)
        errors.append(risks)
    return Outlook.over(each, errors)


def _expecting(beliefs: Beliefs, code: OneOfMany, crowd: Population, places: Places, users: float) -> Beliefs:
    means, weights = crowd
    return _after(beliefs, places, code, np.asarray(weights @ marked(places)(means)), users)
