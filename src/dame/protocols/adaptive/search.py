"""The planner: tries ways to locate, numbers of rounds and splits of the users, for the least worst-case error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.device.statistics import Value
from dame.planning.brief import Brief
from dame.planning.rounds import Round, mean_weight, windows_around_zero
from dame.protocols.adaptive.error_path import ErrorState, MeasureDesign, best_measure
from dame.protocols.adaptive.forecasting import SOME, after_each, reporting
from dame.protocols.adaptive.locate import missed_bound, state_after, vote_round, vote_split
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.whole_range import whole_range_round
from dame.theory import privacy_factor
from dame.theory.response import ResponseTable
from dame.vectorised.lenses import weights

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A first round, the state after it, and the chance that it misleads."""

    round: Round
    after: ErrorState
    failure: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A whole study that the planner considers, and the state of a reader who takes the slope for granted."""

    rounds: tuple[Round, ...]
    after: ErrorState
    failure: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A whole study, the mean squared error expected of it for the worst distribution, and the chance of failure."""

    rounds: tuple[Round, ...]
    outcome: float
    failure: float


def best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    """The design with the least predicted worst-case error among those whose chance of failure is small enough."""
    # Neither its name nor its units make a study another one: what was found for one is found for all.
    return _best_design(replace(brief, study="any", target="any", statistic=Value()), most_rounds, most_failure)


@lru_cache(maxsize=128)
def _best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    search = _Search(brief, most_failure)
    plain = search.plain()
    alone = Design(rounds=plain.rounds, outcome=plain.after.worst, failure=0.0)
    promising = _promising(search, most_rounds)
    if not promising:
        return alone
    best = min(promising, key=partial(_least_error, brief))
    around = sorted(search.around(best), key=_score)[: TUNING.neighbours]
    best = min([best, *around], key=partial(_least_error, brief))
    return min(alone, _worked_out(brief, best), key=lambda design: design.outcome)


def _promising(search: _Search, most_rounds: int) -> list[Sketch]:
    """The best sketches of several kinds; none, if plain bits seem to be better than all."""
    sketches = [search.plain()]
    for rounds in range(2, most_rounds + 1):
        # Up to three rounds the whole grid is searched; a further round starts from what was best without it.
        best = _better(sketches)
        firsts = TUNING.first_shares if rounds <= 3 or len(best.rounds) == 1 else _near(best.rounds[0].share)
        sketches += search.designs(rounds, firsts)
    kinds: dict[tuple[Hashable, ...], Sketch] = {}
    for sketch in sorted(sketches, key=_score):
        kinds.setdefault(_kind(sketch), sketch)
    chosen = list(kinds.values())[: TUNING.kinds]
    if len(chosen[0].rounds) == 1:
        return []
    return [sketch for sketch in chosen if len(sketch.rounds) > 1]


def _kind(sketch: Sketch) -> tuple[Hashable, ...]:
    """What tells sketches apart but for the share of the first round: who votes, and how shares grow after that."""
    first, *rest = sketch.rounds
    return (first.lens, len(rest), *(round(round_.share / rest[0].share, 6) for round_ in rest[1:]))


def rounds_with_shares(brief: Brief, shares: Sequence[float], most_failure: float) -> tuple[Round, ...]:
    """Good rounds with the given shares of the users, without working out what to expect of them."""
    search = _Search(brief, most_failure)
    if len(shares) == 1:
        return search.plain().rounds
    return _with_dithers(brief, _better(list(search.with_shares(shares))).rounds)


def _least_error(brief: Brief, sketch: Sketch) -> float:
    return min(
        _expected_error(brief, _with_dithers(brief, sketch.rounds, *stretches))
        for stretches in (TUNING.stretches[0], TUNING.stretches[-1])
    )


def _expected_error(brief: Brief, rounds: Sequence[Round]) -> float:
    return after_each(brief, rounds, SOME)[-1].worst


def _worked_out(brief: Brief, sketch: Sketch) -> Design:
    """The sketch with dithers, the best widths of its windows, and what to expect of it."""
    variants = [_with_dithers(brief, sketch.rounds, *stretches) for stretches in TUNING.stretches]
    rounds = min(variants, key=partial(_expected_error, brief))
    states = after_each(brief, rounds)
    expected = tuple(
        replace(round_, error_after=min(math.sqrt(state.worst), 1.0))
        for round_, state in zip(rounds, states, strict=True)
    )
    return Design(rounds=expected, outcome=states[-1].worst, failure=sketch.failure)


def _with_dithers(brief: Brief, rounds: Sequence[Round], before: float = 1.0, last: float = 1.0) -> tuple[Round, ...]:
    """The rounds with two windows each, which are wider or narrower."""
    first, *measuring = rounds
    stretches = [*([before] * (len(measuring) - 1)), last]
    return (first, *(_with_dither(brief, *pair) for pair in zip(measuring, stretches, strict=True)))


def _with_dither(brief: Brief, round_: Round, stretch: float) -> Round:
    """The round with two stretched windows at a good distance from its centre.

    Far apart, they tell how steep the ramp is and whether sizes are as assumed; close together, they see more of it.
    Where sizes are unequal, large users matter most, and the distance is what is good for them.
    """
    planned = narrowed(Windows, round_.lens)
    half_width = planned.windows[0].right * stretch
    kept = {"cap": planned.cap, "fitted": True, "between_sd": planned.between_sd}
    alone = windows_around_zero(half_width, **kept)  # type: ignore[arg-type]
    of_large = brief.sizes.expectation(lambda sizes: weights(alone, sizes) ** 2) / mean_weight(alone, brief.sizes)
    dither = min(TUNING.apart / of_large, 1.0)
    return replace(round_, lens=windows_around_zero(half_width, dither=dither, **kept))  # type: ignore[arg-type]


def _score(sketch: Sketch) -> float:
    return sketch.after.score


def _better(sketches: Sequence[Sketch]) -> Sketch:
    return min(sketches, key=_score)


def _near(share: float) -> tuple[float, ...]:
    return (share / 1.5, share, min(share * 1.5, TUNING.first_shares[-1]))


class _Search:
    def __init__(self, brief: Brief, most_failure: float) -> None:
        self._brief = brief
        self._most_failure = most_failure
        self._privacy = privacy_factor(brief.alpha)
        self._channel = Bits.single(brief.alpha)
        self._table = ResponseTable.of(brief.sizes, _caps(brief), np.array(TUNING.clips), brief.spread)
        pairs = itertools.product(_voting_sizes(brief), TUNING.spacings)
        self._splits = {pair: vote_split(brief, *pair) for pair in pairs}

    def plain(self) -> Sketch:
        """One bit from everybody over the whole range."""
        only = self._start(whole_range_round("measure", 1.0, self._channel), 0.0)
        return Sketch(rounds=(only.round,), after=only.after, failure=0.0)

    def designs(self, rounds: int, firsts: Sequence[float]) -> Iterator[Sketch]:
        """Designs with so many rounds, for each share of the first."""
        growths = TUNING.growths if rounds > 2 else (1.0,)
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
        for factor, stretch in itertools.product(TUNING.near_first, TUNING.near_growths):
            first = min(shares[0] * factor, TUNING.largest_first)
            for start in self._starts(first):
                if start.round.shape == best.rounds[0].shape:
                    yield self._follow(start, _shares(first, growth * stretch, len(shares)))

    def _starts(self, share: float) -> Iterator[Start]:
        yield self._start(whole_range_round("locate", share, self._channel), 0.0)
        for (size, spacing), split in self._splits.items():
            vote = vote_round(self._brief, size, spacing, share)
            failure = missed_bound(self._brief, vote, split)
            if failure <= self._most_failure:
                yield self._start(vote, failure)

    def _start(self, round_: Round, failure: float) -> Start:
        after = state_after(round_.lens, round_, self._brief, self._users(round_.share))
        error = min(math.sqrt(after.worst), 1.0)
        return Start(round=replace(round_, error_after=error), after=after, failure=failure)

    def _follow(self, start: Start, shares: Sequence[float]) -> Sketch:
        rounds, state = [start.round], start.after
        for index, share in enumerate(shares[1:], start=2):
            design = best_measure(self._table, state, self._privacy, self._users(share))
            rounds.append(self._measure("finish" if index == len(shares) else "refine", share, design))
            state = design.after
        return Sketch(rounds=tuple(rounds), after=state, failure=start.failure)

    def _users(self, share: float) -> float:
        return reporting(self._brief, share)

    def _measure(self, name: str, share: float, design: MeasureDesign) -> Round:
        cap = None if math.isinf(design.cap) else design.cap
        return Round(
            name=name,
            share=share,
            lens=windows_around_zero(design.clip, cap=cap, fitted=True, between_sd=self._brief.spread),
            channel=self._channel,
            error_after=min(math.sqrt(design.after.worst), 1.0),
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
    largest, *caps = _apart([int(brief.sizes.nodes()[0][-1]), *_quantiles(brief, TUNING.cap_quantiles)])
    between = [math.sqrt(one * other) for one, other in itertools.pairwise([largest, *caps]) if one > 4 * other]
    return np.array([math.inf, *sorted(map(brief.effective, [*caps, *between]), reverse=True)])


def _voting_sizes(brief: Brief) -> list[int]:
    """Sizes from which on users may vote."""
    return [size for size in _apart(_quantiles(brief, TUNING.voting_quantiles)) if size >= TUNING.fewest_voting_records]
