"""The planner: tries ways to locate, numbers of rounds and splits of the users, for the least worst-case error."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, singledispatch
from operator import attrgetter

from dame.device.lenses import Lens, Windows
from dame.device.statistics import Value
from dame.planning.brief import Brief
from dame.planning.rounds import Round, mean_weight, windows_around_zero
from dame.protocols.adaptive.doubts import WHOLE_RANGE
from dame.protocols.adaptive.forecasting import SOME, after_each
from dame.protocols.adaptive.sketches import Sketch, Sketches
from dame.protocols.adaptive.tuning import TUNING
from dame.vectorised.lenses import weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A whole study, the mean squared error expected of it for the worst distribution if it ends in the right place;
    and the chance that it does not, and the mean squared error that it has then.
    """

    rounds: tuple[Round, ...]
    outcome: float
    failure: float = 0.0
    cost: float = WHOLE_RANGE

    @property
    def counted(self) -> float:
        """The mean squared error with that of studies which end in a wrong place."""
        return self.outcome + self.failure * self.cost


def best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    """The design with the least predicted worst-case error among those whose chance of failure is small enough."""
    # Neither its name nor its units make a study another one: what was found for one is found for all.
    return _best_design(replace(brief, study="any", target="any", statistic=Value()), most_rounds, most_failure)


@lru_cache(maxsize=128)
def _best_design(brief: Brief, most_rounds: int, most_failure: float) -> Design:
    search = Sketches(brief, most_failure)
    plain = search.plain()
    alone = Design(rounds=plain.rounds, outcome=plain.after.worst)
    promising = _promising(search, most_rounds)
    if not promising:
        return alone
    best = min(promising, key=partial(_least_error, brief))
    around = sorted(search.around(best), key=attrgetter("score"))[: TUNING.neighbours]
    best = min([best, *around], key=partial(_least_error, brief))
    return min(alone, _worked_out(brief, best), key=lambda design: design.counted)


def _promising(search: Sketches, most_rounds: int) -> list[Sketch]:
    """The best sketches of several kinds; none, if plain bits seem to be better than all."""
    sketches = [search.plain()]
    for rounds in range(2, most_rounds + 1):
        # Up to three rounds the whole grid is searched; a further round starts from what was best without it.
        best = _better(sketches)
        firsts = TUNING.first_shares if rounds <= 3 or len(best.rounds) == 1 else _near(best.rounds[0].share)
        sketches += search.designs(rounds, firsts)
        if _unsure(_better(sketches)):
            sketches += search.designs_after_plain(rounds)
    kinds: dict[tuple[Hashable, ...], Sketch] = {}
    for sketch in sorted(sketches, key=attrgetter("score")):
        kinds.setdefault(_kind(sketch), sketch)
    best, *others = kinds.values()
    if len(best.rounds) == 1:
        return []
    # Another way to locate is among them, if it is not hopeless: sketches do not compare these well.
    other_ways = (sketch for sketch in others if sketch.rounds[0].shape != best.rounds[0].shape)
    different = [sketch for sketch in other_ways if sketch.score < TUNING.not_hopeless * best.score][:1]
    chosen = [best, *different, *(sketch for sketch in others if sketch not in different)][: TUNING.kinds]
    return [sketch for sketch in chosen if len(sketch.rounds) > 1]


def _unsure(sketch: Sketch) -> bool:
    """Whether plain bits might help a vote: the best study has none, or may well end in a wrong place."""
    return all(round_.lens.bins == 1 for round_ in sketch.rounds) or sketch.risk > TUNING.unsure * sketch.score


def _kind(sketch: Sketch) -> tuple[Hashable, ...]:
    """What tells sketches apart but for the share of the first round: who votes, and how shares grow after that."""
    first, *rest = sketch.rounds
    votes = tuple(round_.lens for round_ in sketch.rounds if round_.lens.bins > 1)
    return (first.lens, *votes, len(rest), *(round(round_.share / rest[0].share, 6) for round_ in rest[1:]))


def rounds_with_shares(brief: Brief, shares: Sequence[float], most_failure: float) -> tuple[Round, ...]:
    """Good rounds with the given shares of the users, without working out what to expect of them."""
    search = Sketches(brief, most_failure)
    if len(shares) == 1:
        return search.plain().rounds
    return _with_dithers(brief, _better(list(search.with_shares(shares))).rounds)


def _least_error(brief: Brief, sketch: Sketch) -> float:
    errors = (
        _expected_error(brief, _with_dithers(brief, sketch.rounds, *stretches))
        for stretches in (TUNING.stretches[0], TUNING.stretches[-1])
    )
    return min(errors) + sketch.risk


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
    return Design(
        rounds=expected,
        outcome=states[-1].worst + sketch.delayed,
        failure=sketch.doubt.wrong,
        cost=sketch.doubt.cost,
    )


def _with_dithers(brief: Brief, rounds: Sequence[Round], before: float = 1.0, last: float = 1.0) -> tuple[Round, ...]:
    """The rounds with two windows each, which are wider or narrower."""
    first, *rest = rounds
    stretches = [*([before] * (len(rest) - 1)), last]
    pairs = zip(rest, stretches, strict=True)
    return (first, *(_with_dither(round_.lens, brief, round_, stretch) for round_, stretch in pairs))


@singledispatch
def _with_dither(lens: Lens, brief: Brief, round_: Round, stretch: float) -> Round:
    """The round as it is, unless it measures."""
    del lens, brief, stretch
    return round_


@_with_dither.register
def _with_two_windows(planned: Windows, brief: Brief, round_: Round, stretch: float) -> Round:
    """The round with two stretched windows at a good distance from its centre.

    Far apart, they tell how steep the ramp is and whether sizes are as assumed; close together, they see more of it.
    Where sizes are unequal, large users matter most, and the distance is what is good for them.
    """
    half_width = planned.windows[0].right * stretch
    kept = {"cap": planned.cap, "fitted": True, "between_sd": planned.between_sd}
    alone = windows_around_zero(half_width, **kept)  # type: ignore[arg-type]
    of_large = brief.sizes.expectation(lambda sizes: weights(alone, sizes) ** 2) / mean_weight(alone, brief.sizes)
    dither = min(TUNING.apart / of_large, 1.0)
    return replace(round_, lens=windows_around_zero(half_width, dither=dither, **kept))  # type: ignore[arg-type]


def _better(sketches: Sequence[Sketch]) -> Sketch:
    return min(sketches, key=attrgetter("score"))


def _near(share: float) -> tuple[float, ...]:
    return (share / 1.5, share, min(share * 1.5, TUNING.first_shares[-1]))
