"""What rounds are expected to achieve: the posterior that they would lead to, for each law of the family."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import Measure
from dame.planning.plans import Brief, MeanRound, MeasureRound, VoteRound
from dame.protocols.adaptive.error_path import Course, known_within
from dame.protocols.adaptive.locate import course_after_vote
from dame.protocols.adaptive.posterior import Arm, Bits, Place, expected_bit, posterior
from dame.protocols.adaptive.models import LEANINGS, ROOMS, Spot, Worlds, a_few
from dame.theory import privacy_factor

Floats = NDArray[np.float64]

_NODES = np.array([-math.sqrt(3), 0.0, math.sqrt(3)])
_CHANCES = np.array([1 / 6, 2 / 3, 1 / 6])
MOST = tuple(range(0, len(ROOMS), 2))
SOME = (0, 4, 8, 10, 14)
"""Laws by their places in ROOMS: enough to foretell, and enough to compare designs."""
HALFWAY = 0.2
"""Laws with less room than this are tried halfway between the middle and a bound, where more is possible than at the
bound; the others are those of records of -1 and 1."""


def after_each(brief: Brief, rounds: Sequence[MeanRound], laws: Sequence[int] = MOST) -> list[Course]:
    """What to expect after each round, for some of the laws, if sizes are as assumed."""
    worlds = a_few(brief)
    first, *rest = rounds
    courses = [_located(brief, first)]
    for index, round_ in enumerate(rest, start=1):
        assert isinstance(round_, MeasureRound)
        courses.append(_measured(worlds, brief, round_, index, courses[-1], laws))
    return courses


def reporting(brief: Brief, share: float) -> float:
    """Effective number of users of a round: the hash splits them at random, which costs where there are few."""
    expected = brief.users * share
    return expected / (1 + (1 - share) / expected)


def _located(brief: Brief, first: MeanRound) -> Course:
    users = reporting(brief, first.share)
    if isinstance(first, VoteRound):
        return course_after_vote(first, users, ROOMS)
    return known_within(privacy_factor(brief.alpha), users, ROOMS)


def _measured(
    worlds: Worlds, brief: Brief, round_: MeasureRound, index: int, before: Course, laws: Sequence[int]
) -> Course:
    """The course after one more round around a centre that is off as before it."""
    users = reporting(brief, round_.share)
    bias, spread = np.zeros(len(ROOMS)), np.zeros(len(ROOMS))
    for law in laws:
        room = float(ROOMS[law])
        theta = -(1 - room) * (0.5 if room < HALFWAY else 1.0)
        errors, variances = np.empty((2, len(_NODES)))
        for node, sigmas in enumerate(_NODES):
            centre = min(max(theta + float(before.bias[law] + sigmas * before.spread[law]), -1.0), 1.0)
            question = round_.ask(brief, index, centre)
            place, bits = Place(centre=centre, spread=before.spread), _answers(worlds, question, users, theta, law)
            found = posterior(worlds, [place, bits], centre, float(before.spread[law]))
            errors[node], variances[node] = found.mean - theta, found.spread**2
        # Where the centre was off, the reading leans back to it; this part of the error is already in its spread.
        bias[law], spread[law] = errors @ _CHANCES, math.sqrt(variances @ _CHANCES)
    for law in set(range(len(ROOMS))) - set(laws):
        near = min(laws, key=lambda other: abs(other - law))
        bias[law], spread[law] = bias[near], spread[near]
    return Course(bias=bias, spread=spread)


def _answers(worlds: Worlds, question: Measure, users: float, theta: float, law: int) -> Bits:
    """What the arms of a round would say without any chance, if one law of the family is true."""
    spot = Spot(place=theta, crowds=np.array([0]), leanings=LEANINGS[-1:])
    arms = []
    for arm in (0, 1):
        centre = question.window(arm).centre
        z = worlds.heard(question, np.array([theta]), centre, spot)[0, 0, law]
        arms.append(Arm(centre, users / 2, float(expected_bit(question, z)[0])))
    return Bits(question=question, arms=tuple(arms))
