"""Between-user variation, read from bits on segments of the range: for any α, and as few as a hundred users.

The first users are asked about segments of one width, the others about segments that are narrow where most people were
found. All rounds are read together, as the NPMLE of user means (`dame.between_users.npmle`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dame.between_users.bells import Atoms, bell
from dame.between_users.npmle import SegmentMean
from dame.between_users.segments import EVEN, Borders, Overview, Widths, next_borders, overview, trimmed_mean
from dame.device.channels import Bits, Channel
from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.estimates import Estimate, Measured, estimate_from, normal_quantile
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round
from dame.protocols.adaptive.expected_errors import ExpectedErrors, plausible_widths, widths_of
from dame.protocols.adaptive.strategies import Strategy
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.whole_range import read_alone
from dame.tally import Tally

_NAMES = (("measure",), ("locate", "finish"), ("locate", "refine", "finish"))


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], ExpectedErrors]:
    """As many rounds as may be asked, up to three, and the errors that are expected of them."""
    count = min(most_rounds, len(TUNING.segment_shares))
    shares = TUNING.segment_shares[count - 1]
    expected = _expected(brief.alpha, brief.users, widths_of(brief), plausible_widths(brief), shares)
    lens, channel = Windows.segments(EVEN), Bits.single(brief.alpha)
    rounds = [
        Round(name=name, share=share, lens=lens, channel=channel, error_after=min(math.sqrt(error), 1.0))
        for name, share, error in zip(_NAMES[count - 1], shares, expected.after, strict=True)
    ]
    return tuple(rounds), expected


class Segments(Strategy):
    """The first round as planned; then segments that follow from the answers. A single window is plain bits."""

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """Segments that were planned, or that follow from what was heard."""
        round_ = plan.rounds[len(history)]
        told = segment_means(history)
        lens = Windows.segments(next_borders(overview(told, *_asked(plan, history)))) if told else round_.lens
        return round_.ask(plan.brief, len(history), lens)

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """What all rounds together say of the mean of the users' means."""
        if plan.rounds[0].lens.window_count == 1:
            return read_alone(plan.brief, history[0])
        seen = overview(segment_means(history), *_asked(plan, history))
        width = seen.population.width * plan.brief.half_range
        note = f"users' own means vary, with a standard deviation of about {width:.2g}"
        return estimate_from(_measured(seen, len(history)), [tally.reports for tally in history], [note])

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why the planner chose this, in sentences."""
        if len(plan.rounds) == 1:
            return ["Users' own means vary, and everybody is asked at once: too few to find out first where they are."]
        return ["The first users show where people's means lie: that decides where and how finely to look."]


def _measured(seen: Overview, rounds: int) -> Measured:
    low, high = seen.population.interval(normal_quantile() ** 2)
    value = _mean(seen, rounds)
    error = (high - low) / (2 * normal_quantile())
    return Measured(value=value, standard_error=error, low=min(low, value), high=max(high, value))


def _mean(seen: Overview, rounds: int) -> float:
    """The mean, its tails trimmed where others than those in the first round have looked at the middle."""
    return trimmed_mean(seen) if rounds > 1 else seen.population.mean


def segment_means(history: Sequence[Tally]) -> list[SegmentMean]:
    """What the tallies say of each segment that somebody answered for."""
    return [segment for tally in history for segment in _segments(tally)]


def _segments(tally: Tally) -> Iterator[SegmentMean]:
    lens, debias = narrowed(Windows, tally.question.lens), tally.question.channel.debias
    for (centre, left, right), told in zip(lens.windows, tally.windows, strict=True):
        if told.reports:
            yield SegmentMean(centre + left, centre + right, debias(told.sums[0] / told.reports), told.reports)


def _asked(plan: MachinePlan, history: Sequence[Tally]) -> tuple[Channel, float, Widths]:
    """The channel of the bits, all users of the study, and how far their means may be apart."""
    users = max(sum(tally.reports for tally in history), plan.users)
    return history[0].question.channel, users, widths_of(plan.brief)


@lru_cache(maxsize=256)
def _expected(
    alpha: float, users: int, widths: Widths, each: tuple[float, ...], shares: tuple[float, ...]
) -> ExpectedErrors:
    """What rounds with these shares bring, by simulating a few studies of bells at all places, with normal noise."""
    channel = Bits.single(alpha)
    errors = []
    for width in each:
        rng = np.random.default_rng(1)  # the same noise for every plan: predictions change smoothly
        places = np.linspace(-0.5, 0.5, TUNING.predicted_studies)
        squares = [_simulated(channel, users, widths, shares, bell(width, float(place)), rng) for place in places]
        # A further round never hurts; of so few studies, the average may say so.
        errors.append(np.minimum.accumulate(np.mean(squares, axis=0)).tolist())
    return ExpectedErrors.over(each, errors)


def _simulated(
    channel: Bits, users: int, widths: Widths, shares: tuple[float, ...], people: Atoms, rng: np.random.Generator
) -> list[float]:
    """The squared errors after each round of a study."""
    values, weights = people
    told: list[SegmentMean] = []
    errors: list[float] = []
    seen: Overview | None = None
    for number, share in enumerate(shares, start=1):
        told += _noisy(EVEN if seen is None else next_borders(seen), people, channel, users * share, rng)
        seen = overview(told, channel, users, widths)
        errors.append((_mean(seen, number) - float(weights @ values)) ** 2)
    return errors


def _noisy(
    borders: Borders, people: Atoms, channel: Bits, reports: float, rng: np.random.Generator
) -> Iterator[SegmentMean]:
    values, weights = people
    each = reports / (len(borders) - 1)
    for left, right in pairwise(borders):
        share = float(weights @ np.clip((values - left) / (right - left), 0.0, 1.0))
        error = math.sqrt(channel.variance(share) / each)
        yield SegmentMean(left, right, share + error * rng.normal(), each)
