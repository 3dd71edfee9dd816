"""Users who differ, asked for bits on parts of the range (`dame.between_users.parts`): for any α, and as few as a hundred.

The first users are asked about eighths of the range, the others about parts that are narrow where the many were found.
All rounds are read together, as the likeliest population of all (`dame.between_users.likeliest`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dame.device.questions import PartMeasure
from dame.device.randomisers import OneBit
from dame.estimates import Estimate, Reading, estimate_from_reading, normal_quantile
from dame.planning.plans import Brief, PartRound, Plan, Round
from dame.protocols.adaptive.outlook import Outlook, Widths, plausible, widths_of
from dame.between_users import Part, Population, Sight, bell, next_borders, sight, trimmed_mean
from dame.between_users.parts import EIGHTHS, Borders
from dame.tally import Tally

SHARES = ((1.0,), (0.4, 0.6), (0.25, 0.3, 0.45))
"""Shares of the rounds, by how many there are; more than three bring nothing."""
NAMES = (("measure",), ("locate", "finish"), ("locate", "refine", "finish"))
_STUDIES = 12
"""So many studies of each width are played to foretell the error: within about 12 %."""


def plan_rounds(brief: Brief, most_rounds: int) -> tuple[tuple[Round, ...], Outlook]:
    """As many rounds as may be asked, up to three, and what they are expected to bring."""
    count = min(most_rounds, len(SHARES))
    outlook = _outlook(brief.alpha, brief.users, widths_of(brief), SHARES[count - 1])
    rounds = [
        PartRound(name=name, share=share, error_after=min(math.sqrt(error), 1.0))
        for name, share, error in zip(NAMES[count - 1], SHARES[count - 1], outlook.after, strict=True)
    ]
    return (replace(rounds[0], borders=EIGHTHS), *rounds[1:]), outlook


def knows(rounds: Sequence[Round]) -> bool:
    """Whether all rounds ask about parts, the first of all of the range."""
    first = rounds[0]
    return (
        all(isinstance(round_, PartRound) for round_ in rounds)
        and isinstance(first, PartRound)
        and first.borders[:1] == (-1.0,)
        and first.borders[-1:] == (1.0,)
    )


def question(plan: Plan, tallies: Sequence[Tally]) -> PartMeasure:
    """Parts that were planned, or that follow from what was heard."""
    index, round_ = len(tallies), plan.rounds[len(tallies)]
    assert isinstance(round_, PartRound)
    return round_.ask(plan.brief, index, round_.borders or _learnt(plan, tallies))


def estimate(plan: Plan, tallies: Sequence[Tally]) -> Estimate:
    """What all rounds together say of the mean of the users' means."""
    seen = sight(heard(tallies), *_asked(plan, tallies))
    width = seen.population.width * plan.brief.half_range
    note = f"the users' means differ, with a standard deviation of about {width:.2g}"
    return estimate_from_reading(_reading(seen, len(tallies)), [tally.reports for tally in tallies], [note])


def _reading(seen: Sight, rounds: int) -> Reading:
    low, high = seen.population.interval(normal_quantile() ** 2)
    value = _mean(seen, rounds)
    return Reading(
        value=value,
        standard_error=(high - low) / (2 * normal_quantile()),
        low=min(low, value),
        high=max(high, value),
    )


def _mean(seen: Sight, rounds: int) -> float:
    """The mean, its tails trimmed where others than those in the first round have looked at the window."""
    return trimmed_mean(seen) if rounds > 1 else seen.population.mean


def heard(tallies: Sequence[Tally]) -> list[Part]:
    """What the tallies say of each part that somebody answered for."""
    return [part for tally in tallies for part in _parts(tally)]


def _parts(tally: Tally) -> Iterator[Part]:
    asked = tally.question
    assert isinstance(asked, PartMeasure)
    for (left, right), (reports, ones) in zip(pairwise(asked.borders), tally.arms, strict=True):
        if reports:
            yield Part(left, right, asked.noise.debias(ones / reports), reports)


def _learnt(plan: Plan, tallies: Sequence[Tally]) -> Borders:
    """The borders that follow from what was heard, if anybody was."""
    parts = heard(tallies)
    return next_borders(sight(parts, *_asked(plan, tallies))) if parts else EIGHTHS


def _asked(plan: Plan, tallies: Sequence[Tally]) -> tuple[OneBit, float, Widths]:
    """The noise of the bits, all users of the study, and how widely they may be spread."""
    users = max(sum(tally.reports for tally in tallies), plan.users)
    return OneBit.spending(plan.alpha), users, widths_of(plan.brief)


@lru_cache(maxsize=256)
def _outlook(alpha: float, users: int, widths: Widths, shares: tuple[float, ...]) -> Outlook:
    """What rounds with these shares bring, by playing a few studies of bells at all places, with normal noise."""
    noise, each = OneBit.spending(alpha), plausible(widths)
    errors = []
    for width in each:
        rng = np.random.default_rng(1)  # the same noise for every plan: what is foretold changes smoothly
        places = np.linspace(-0.5, 0.5, _STUDIES)
        squares = [_played(noise, users, widths, shares, bell(width, float(place)), rng) for place in places]
        # A further round never hurts; of so few studies, the average may say so.
        errors.append(np.minimum.accumulate(np.mean(squares, axis=0)).tolist())
    return Outlook.over(each, errors)


def _played(
    noise: OneBit,
    users: int,
    widths: Widths,
    shares: tuple[float, ...],
    crowd: Population,
    rng: np.random.Generator,
) -> list[float]:
    """The squared errors after each round of a study."""
    values, weights = crowd
    parts: list[Part] = []
    errors: list[float] = []
    seen: Sight | None = None
    for number, share in enumerate(shares, start=1):
        parts += _noisy(EIGHTHS if seen is None else next_borders(seen), crowd, noise, users * share, rng)
        seen = sight(parts, noise, users, widths)
        errors.append((_mean(seen, number) - float(weights @ values)) ** 2)
    return errors


def _noisy(
    borders: Borders, crowd: Population, noise: OneBit, reports: float, rng: np.random.Generator
) -> Iterator[Part]:
    values, weights = crowd
    each = reports / (len(borders) - 1)
    for left, right in pairwise(borders):
        share = float(weights @ np.clip((values - left) / (right - left), 0.0, 1.0))
        error = math.sqrt(noise.variance(share) / each)
        yield Part(left, right, share + error * rng.normal(), each)
