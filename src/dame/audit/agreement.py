"""Do the paths for many people at once use the same integers as the device? One sentence where they do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dame.device.questions import Measure, PlaceVote, Question, Vote
from dame.device.randomisers import DiscreteLaplace, grid_point
from dame.device.records import Summary
from dame.vectorised import crowd, edge


def disagreement(question: Question, people: Sequence[Summary]) -> str:
    """Empty, or what the numpy path makes of these people that the device does not."""
    if isinstance(question, PlaceVote):
        return _place_disagreement(question, people)
    if isinstance(question, Vote):
        return _vote_disagreement(question, people)
    return _measure_disagreement(question, people)


def _arrays(people: Sequence[Summary]) -> tuple[crowd.Ints, crowd.Floats]:
    return np.array([one.size for one in people], np.int64), np.array([one.mean for one in people], np.float64)


def _vote_disagreement(vote: Vote, people: Sequence[Summary]) -> str:
    first, last = crowd.marks(vote, *_arrays(people))
    same = [vote.marks(person) for person in people] == list(zip(first.tolist(), last.tolist(), strict=True))
    return "" if same else "the crowd marks other bins than the device"


def _place_disagreement(vote: PlaceVote, people: Sequence[Summary]) -> str:
    _, means = _arrays(people)
    rows = zip(*(ends.tolist() for ends in edge.place_ends(vote, means)), strict=True)
    own = [vote.code.ends(vote.own_bin(person), vote.part(person), vote.bins)[:-1] for person in people]
    return "" if [list(row) for row in rows] == own else "the crowd has other chances of places than the device"


def _measure_disagreement(measure: Measure, people: Sequence[Summary]) -> str:
    for arm in range(measure.arms):
        places = crowd.positions(measure, *_arrays(people), np.full(len(people), arm))
        if places.tolist() != [measure.position(person, arm) for person in people]:
            return "the crowd has other places in the window than the device"
        if _integers(measure, places) != [_integer(measure, float(place)) for place in places]:
            return "the crowd has other thresholds than the device"
    return ""


def _integers(measure: Measure, places: crowd.Floats) -> list[int]:
    if isinstance(measure.noise, DiscreteLaplace):
        points: list[int] = crowd.grid_points(places, measure.noise.steps).tolist()
        return points
    return [int(threshold) for threshold in edge.thresholds(measure.noise, places)]


def _integer(measure: Measure, place: float) -> int:
    if isinstance(measure.noise, DiscreteLaplace):
        return grid_point(place, measure.noise.steps)
    return measure.noise.threshold(place)
