"""The planner: tries ways to locate, numbers of rounds and splits of the users, for the least worst-case error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from dame.vectorised.crowd import mean_weight, weights
from dame.device.randomisers import OneBit
from dame.planning.plans import Brief, MeanRound, MeasureRound, VoteRound
from dame.protocols.adaptive.error_path import APART, Course, MeasureDesign, best_measure, known_within
from dame.protocols.adaptive.forecasting import SOME, after_each, reporting
from dame.protocols.adaptive.locate import course_after_vote, missed_bound, vote_round, vote_split
from dame.theory import privacy_factor
from dame.theory.response import ResponseTable

Floats = NDArray[np.float64]

CLIPS: Floats = np.array([0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0])
FIRST_SHARES = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.16, 0.19, 0.23, 0.29, 0.36)
GROWTHS = (1.0, 2.0, 4.0, 7.0, 12.0, 20.0)
"""By what factor each measuring round has more users than the one before."""
SPACINGS = (1.5, 2.0, 2.5, 3.0)
STRETCHES = ((1.0, 1.0), (1.0, 0.8), (1.0, 1.25), (0.75, 1.0), (0.75, 0.8))
"""Widths to try for the windows before the last and for the last, as parts of what is best for a reader who takes the
slope for granted."""
EXTREMES = (STRETCHES[0], STRETCHES[-1])
"""Those that are enough to compare sketches."""
KINDS, NEIGHBOURS = 3, 2
"""So many sketches are compared by what all their rounds say together: the best of their kinds, then some that are like
the best of these."""
FEWEST_VOTING_RECORDS = 16
"""Below this size plain bits over the whole range locate better than votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A first round, the course after it, and the chance that it misleads."""

    round: MeanRound
    after: Course
    failure: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A whole study that the planner considers, and the course of a reader who takes the slope for granted."""

    rounds: tuple[MeanRound, ...]
    after: Course
    failure: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A whole study, the mean squared error that is expected of it for the worst law, and the chance of failure."""

    rounds: tuple[MeanRound, ...]
    outcome: float
    failure: float


def best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    """The design with the least predicted worst-case error among those whose chance of failure is small enough."""
    # Neither its name nor its units make a study another one: what was found for one is found for all.
    return _best_design(replace(brief, study="any", low=-1.0, high=1.0), most_rounds, most_failure)


@lru_cache(maxsize=128)
def _best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    search = _Search(brief, most_failure)
    plain = search.plain()
    alone = Design(rounds=plain.rounds, outcome=plain.after.worst, failure=0.0)
    promising = _promising(search, most_rounds)
    if not promising:
        return alone
    best = min(promising, key=partial(_least_error, brief))
    around = sorted(search.around(best), key=_score)[:NEIGHBOURS]
    best = min([best, *around], key=partial(_least_error, brief))
    return min(alone, _worked_out(brief, best), key=lambda design: design.outcome)


def _promising(search: _Search, most_rounds: int) -> list[Sketch]:
    """The best sketches of several kinds; none, if plain bits seem to be better than all."""
    sketches = [search.plain()]
    for rounds in range(2, most_rounds + 1):
        # Up to three rounds the whole grid is searched; a further round starts from what was best without it.
        best = _better(sketches)
        firsts = FIRST_SHARES if rounds <= 3 or len(best.rounds) == 1 else _near(best.rounds[0].share)
        sketches += search.designs(rounds, firsts)
    kinds: dict[tuple[float, ...], Sketch] = {}
    for sketch in sorted(sketches, key=_score):
        kinds.setdefault(_kind(sketch), sketch)
    chosen = list(kinds.values())[:KINDS]
    if len(chosen[0].rounds) == 1:
        return []
    return [sketch for sketch in chosen if len(sketch.rounds) > 1]


def _kind(sketch: Sketch) -> tuple[float, ...]:
    """What tells sketches apart but for the share of the first round: who votes, and how shares grow after that."""
    first, *rest = sketch.rounds
    voters = float(first.min_size) if isinstance(first, VoteRound) else 0.0
    return (voters, len(rest), *(round(round_.share / rest[0].share, 6) for round_ in rest[1:]))


def rounds_with_shares(brief: Brief, shares: Sequence[float], most_failure: float) -> tuple[MeanRound, ...]:
    """Good rounds with the given shares of the users, without working out what to expect of them."""
    search = _Search(brief, most_failure)
    if len(shares) == 1:
        return search.plain().rounds
    return _with_arms(brief, _better(list(search.with_shares(shares))).rounds)


def _least_error(brief: Brief, sketch: Sketch) -> float:
    return min(_expected_error(brief, _with_arms(brief, sketch.rounds, *stretches)) for stretches in EXTREMES)


def _expected_error(brief: Brief, rounds: Sequence[MeanRound]) -> float:
    return after_each(brief, rounds, SOME)[-1].worst


def _worked_out(brief: Brief, sketch: Sketch) -> Design:
    """The sketch with arms, the best widths of its windows, and what to expect of it."""
    variants = [_with_arms(brief, sketch.rounds, *stretches) for stretches in STRETCHES]
    rounds = min(variants, key=partial(_expected_error, brief))
    courses = after_each(brief, rounds)
    expected = tuple(
        replace(round_, error_after=min(math.sqrt(course.worst), 1.0))
        for round_, course in zip(rounds, courses, strict=True)
    )
    return Design(rounds=expected, outcome=courses[-1].worst, failure=sketch.failure)


def _with_arms(
    brief: Brief, rounds: Sequence[MeanRound], before: float = 1.0, last: float = 1.0
) -> tuple[MeanRound, ...]:
    """The rounds with two arms each, and with windows that are wider or narrower."""
    first, *measuring = rounds
    stretches = [*([before] * (len(measuring) - 1)), last]
    return (first, *(_with_dither(brief, *pair) for pair in zip(measuring, stretches, strict=True)))


def _with_dither(brief: Brief, round_: MeanRound, stretch: float) -> MeasureRound:
    """The round with a stretched window, and two arms at a good distance from its centre.

    Far apart, they tell how steep the ramp is and whether sizes are as assumed; close together, they see more of it.
    Where sizes are unequal, large users matter most, and the distance is what is good for them.
    """
    assert isinstance(round_, MeasureRound)
    stretched = replace(round_, half_width=round_.half_width * stretch)
    question = stretched.ask(brief, 1, centre=0.0)
    of_large = brief.sizes.expectation(lambda sizes: weights(question, sizes) ** 2) / mean_weight(question, brief.sizes)
    return replace(stretched, dither=min(APART / of_large, 1.0))


def _score(sketch: Sketch) -> float:
    return sketch.after.score


def _better(sketches: Sequence[Sketch]) -> Sketch:
    return min(sketches, key=_score)


def _near(share: float) -> tuple[float, ...]:
    return (share / 1.5, share, min(share * 1.5, FIRST_SHARES[-1]))


class _Search:
    def __init__(self, brief: Brief, most_failure: float) -> None:
        self._brief = brief
        self._most_failure = most_failure
        self._privacy = privacy_factor(brief.alpha)
        self._noise = OneBit.spending(brief.alpha)
        self._table = ResponseTable.of(brief.sizes, _caps(brief), CLIPS, brief.spread)
        pairs = itertools.product(_voting_sizes(brief), SPACINGS)
        self._splits = {pair: vote_split(brief, *pair) for pair in pairs}

    def plain(self) -> Sketch:
        """One bit from everybody over the whole range."""
        only = self._start(self._whole_range("measure", 1.0), self._wide(1.0), 0.0)
        return Sketch(rounds=(only.round,), after=only.after, failure=0.0)

    def designs(self, rounds: int, firsts: Sequence[float]) -> Iterator[Sketch]:
        """Designs with so many rounds, for each share of the first."""
        growths = GROWTHS if rounds > 2 else (1.0,)
        for first in firsts:
            for start in self._starts(first):
                for growth in growths:
                    yield self._follow(start, _shares(first, growth, rounds))

    def with_shares(self, shares: Sequence[float]) -> Iterator[Sketch]:
        """A design for each way to begin."""
        return (self._follow(start, shares) for start in self._starts(shares[0]))

    def around(self, best: Sketch) -> Iterator[Sketch]:
        """Designs like the best one, with somewhat other shares."""
        shares = [round_.share for round_ in best.rounds]
        if len(shares) == 1:
            return
        growth = shares[2] / shares[1] if len(shares) > 2 else 1.0
        for factor, stretch in itertools.product((0.8, 0.9, 1.0, 1.12, 1.25), (0.75, 1.0, 1.33)):
            first = min(shares[0] * factor, 0.6)
            for start in self._starts(first):
                if type(start.round) is type(best.rounds[0]):
                    yield self._follow(start, _shares(first, growth * stretch, len(shares)))

    def _starts(self, share: float) -> Iterator[Start]:
        yield self._start(self._whole_range("locate", share), self._wide(share), 0.0)
        for (size, spacing), split in self._splits.items():
            vote = vote_round(self._brief, size, spacing, share)
            failure = missed_bound(self._brief, vote, split)
            if failure <= self._most_failure:
                yield self._start(vote, course_after_vote(vote, self._users(share)), failure)

    def _start(self, round_: MeanRound, after: Course, failure: float) -> Start:
        return Start(round=replace(round_, error_after=math.sqrt(after.worst)), after=after, failure=failure)

    def _follow(self, start: Start, shares: Sequence[float]) -> Sketch:
        rounds, course = [start.round], start.after
        for index, share in enumerate(shares[1:], start=2):
            design = best_measure(self._table, course, self._privacy, self._users(share))
            rounds.append(self._measure("finish" if index == len(shares) else "refine", share, design))
            course = design.after
        return Sketch(rounds=tuple(rounds), after=course, failure=start.failure)

    def _users(self, share: float) -> float:
        return reporting(self._brief, share)

    def _wide(self, share: float) -> Course:
        return known_within(self._privacy, self._users(share))

    def _whole_range(self, name: str, share: float) -> MeasureRound:
        return MeasureRound.everybody_alike(name, share, self._noise)

    def _measure(self, name: str, share: float, design: MeasureDesign) -> MeasureRound:
        cap = None if math.isinf(design.cap) else design.cap
        return MeasureRound(
            name=name,
            share=share,
            half_width=design.clip,
            cap=cap,
            fitted=True,
            between_sd=self._brief.spread,
            error_after=min(math.sqrt(design.after.worst), 1.0),
            noise=self._noise,
        )


def _shares(first: float, growth: float, rounds: int) -> list[float]:
    """The first share, then measuring rounds that grow by a factor and use up the rest."""
    steps = [growth**index for index in range(rounds - 1)]
    return [first, *((1 - first) * step / sum(steps) for step in steps)]


def _quantiles(brief: Brief, levels: Sequence[float]) -> list[int]:
    sizes, weights = brief.sizes.nodes()
    places = np.searchsorted(np.cumsum(weights), np.asarray(levels) * (1 - 1e-12))
    return [max(int(sizes[min(place, len(sizes) - 1)]), 1) for place in places]


def _apart(sizes: Sequence[int]) -> list[int]:
    """The sizes in their order, without those that are within half of one that is kept before them."""
    kept: list[int] = []
    for size in sizes:
        if all(size * 1.5 <= other or size >= other * 1.5 for other in kept):
            kept.append(size)
    return kept


def _caps(brief: Brief) -> Floats:
    """Caps to try: none, and sizes that only the larger users reach."""
    largest, *caps = _apart([int(brief.sizes.nodes()[0][-1]), *_quantiles(brief, (0.99, 0.95, 0.8, 0.5, 0.1))])
    between = [math.sqrt(one * other) for one, other in itertools.pairwise([largest, *caps]) if one > 4 * other]
    return np.array([math.inf, *sorted(map(brief.effective, [*caps, *between]), reverse=True)])


def _voting_sizes(brief: Brief) -> list[int]:
    """Sizes from which on users may vote."""
    return [size for size in _apart(_quantiles(brief, (0.02, 0.2, 0.5))) if size >= FEWEST_VOTING_RECORDS]
