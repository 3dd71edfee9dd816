"""What malicious users can do to an estimate: the largest shift that a share of them can cause.

Nobody can tell a malicious report from an honest one, as honest ones are random. But a report is a few bits or a
clamped integer, so that its pull on a tally is bounded. Here the protocol's own state machine is driven with expected
tallies, honest and malicious users together, and compared with what it says without them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, singledispatch
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.audit.expected import expected_tally
from dame.device.channels import Bits, Channel
from dame.device.lenses import Bins, Lens, Windows
from dame.device.parts import narrowed
from dame.device.questions import MEAN, Question
from dame.device.records import MOST_RECORDS, Summary
from dame.device.statistics import Value
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.protocols import drive_one, protocol_named
from dame.protocols import next as next_step
from dame.sizes import Sizes
from dame.tally import Tally, WindowTally
from dame.theory.response import mean_atoms
from dame.vectorised.lenses import read

SHARE = 0.01
FEWEST_REPORTS = 10_000
"""Reports of an expected tally: as many as the plan expects, but so many that rounding to integers hardly shows."""
THETAS = (-1.0, -0.5, 0.03)
"""Where the honest users' mean lies: at a bound, where the room to push is largest, and inside."""
MOST_GROUPS = 48
MANY_WINDOWS = 16
MOST_WINDOWS = 4
MOST_PATHS = 4
MOST_VALUES = 64
"""Of a channel with more values, attackers send the smallest and the largest."""
MOST_BINS = 256
FAR = 16
"""Bins beyond which an attack is taken to reach any place."""

_NOTHING = Forecast(
    predicted_rmse=0.0,
    predicted_rmse_with_failures=0.0,
    failure_probability=0.0,
    limit_mse=0.0,
    lower_bound=0.0,
    upper_bound=0.0,
)
"""What is promised plays no part in an attack."""

Mix = tuple[tuple[int, int, float], ...]
"""What attackers send in a round: windows and values of reports, and the part of the attackers that sends each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What attackers send in every round when the honest mean is θ (inner scale), and the shift that it causes."""

    theta: float
    mixes: tuple[Mix, ...]
    shift: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Path:
    """What attackers sent so far, the tallies with their reports in them, and what follows."""

    mixes: tuple[Mix, ...]
    tallies: tuple[Tally, ...]
    step: Question | Estimate


def largest_shift(plan: MachinePlan, share: float = SHARE) -> float:
    """The largest shift of the estimate, in the study's units, that a share of malicious users can cause.

    Machines that differ in names and units only are worked out once.
    """
    known = protocol_named(plan.protocol).known_shift(plan, share)
    if known is not None:
        return known
    brief = replace(plan.brief, study="any", target=MEAN, statistic=Value())
    return _inner_shift(replace(plan, brief=brief, forecast=_NOTHING, notes=()), share) * plan.brief.half_range


@lru_cache(maxsize=256)
def _inner_shift(plan: MachinePlan, share: float) -> float:
    return worst_attack(plan, share).shift


def worst_attack(plan: MachinePlan, share: float = SHARE) -> Attack:
    """The attack that shifts the expected estimate most, over extreme reports in every round and places of the mean.

    The attackers are spread over the rounds like anybody else, and know the honest users' tallies.
    """
    checks.real("share", share, 0.0, 0.5)
    few = _with_few_sizes(plan)
    return max((_worst_at(few, theta, share) for theta in THETAS), key=lambda attack: attack.shift)


def _worst_at(plan: MachinePlan, theta: float, share: float) -> Attack:
    near = _near(plan, theta)
    honest = _Honest.of(near.brief, theta)
    truth = _without_attack(near, honest)
    outcomes = [(abs(value - truth), mixes) for mixes, value in _attacked(near, honest, share)]
    shift, mixes = max(outcomes, key=lambda outcome: outcome[0])
    if near is not plan and shift > FAR * _bin_width(near):
        # Whoever can elect a bin so far away can elect any of those that were left out.
        shift = 2 * plan.brief.half_range
    return Attack(theta=theta, mixes=mixes, shift=shift)


def _without_attack(plan: MachinePlan, honest: _Honest) -> float:
    return drive_one(plan, lambda question: honest.tally(question, _reports(plan, question.round))).estimate.value


def _reports(plan: MachinePlan, index: int) -> int:
    return max(round(plan.users * plan.shares[index]), FEWEST_REPORTS)


def _attacked(plan: MachinePlan, honest: _Honest, share: float) -> Iterator[tuple[tuple[Mix, ...], float]]:
    """Attacks, and the estimates that they lead to."""
    paths = [_Path(mixes=(), tallies=(), step=next_step(plan, []))]
    for index in range(len(plan.rounds)):
        reports = _reports(plan, index)
        longer = [path for before in paths for path in _continued(plan, honest, before, reports, share)]
        paths = _telling(longer)
    for path in paths:
        assert isinstance(path.step, Estimate)
        yield path.mixes, path.step.value


def _continued(plan: MachinePlan, honest: _Honest, path: _Path, reports: int, share: float) -> Iterator[_Path]:
    """The path with everything that attackers may send in its next round."""
    question, malicious = path.step, round(reports * share)
    assert not isinstance(question, Estimate)
    good = honest.tally(question, reports - malicious)
    for mix in mixes_for(question, good):
        bad = attackers_tally(question, mix, malicious) if mix else honest.tally(question, malicious)
        tallies = (*path.tallies, good.merge(bad))
        yield _Path(mixes=(*path.mixes, mix), tallies=tallies, step=next_step(plan, tallies))


def _telling(paths: list[_Path]) -> list[_Path]:
    """The paths worth following: all after the last round; before it those to the ends, and the one without attack."""
    if len(paths) <= MOST_PATHS or isinstance(paths[0].step, Estimate):
        return paths
    looks = [(*_looked_at(path.step.lens), path) for path in paths if isinstance(path.step, Question)]
    by_centre, by_width = (sorted(looks, key=itemgetter(place)) for place in (0, 1))
    chosen = [path for *_, path in (looks[0], by_centre[0], by_centre[-1], by_width[-1])]
    return [path for path in paths if path in chosen]


@singledispatch
def _looked_at(lens: Lens) -> tuple[float, float]:
    """The centre and the width of what a lens looks at: the whole range, unless its class is registered."""
    del lens
    return 0.0, 2.0


@_looked_at.register
def _windows_looked_at(lens: Windows) -> tuple[float, float]:
    weight = lens.weight(MOST_RECORDS)
    low = min(window.centre + window.left / weight for window in lens.windows)
    high = max(window.centre + window.right / weight for window in lens.windows)
    return (low + high) / 2, high - low


# --- malicious users


def mixes_for(question: Question, honest: Tally) -> Iterator[Mix]:
    """What attackers may send: nothing special (the empty mix), or extreme reports, in one window or in all."""
    yield ()
    values, count = worst_values(question.channel, honest.sums), question.lens.window_count
    if not _shows_means(question.lens):
        # What tells of sizes leads to a design of its own each time: the two that distort them most are enough.
        values = sorted({min(values), max(values)})
    yield from (((window, value, 1.0),) for window in range(0, count, _stride(count)) for value in values)
    if count > 1:
        for ends in _patterns(question.lens):
            yield tuple((window, values[end], 1 / count) for window, end in enumerate(ends))


@singledispatch
def worst_values(channel: Channel, honest: Sequence[int]) -> Sequence[int]:
    """The values by which attackers could do most, given the sums of honest entries: all, or the two ends.

    A channel whose values are no numbers, but many, registers a function of its own.
    """
    del honest
    low, high = channel.values
    return range(low, high + 1) if high - low < MOST_VALUES else (low, high)


@worst_values.register
def _ballots(channel: Bits, honest: Sequence[int]) -> Sequence[int]:
    """One to three neighbouring bins, at either end or beside the bin that wins: and none of the others."""
    if channel.bins == 1:
        return 0, 1
    winner = honest.index(max(honest))
    starts = {0, channel.bins - 1, *(winner + apart for apart in range(-4, 5))}
    runs = [(start, start + length) for start in starts for length in (1, 2, 3)]
    return sorted({(1 << end) - (1 << start) for start, end in runs if start >= 0 and end <= channel.bins})


def _shows_means(lens: Lens) -> bool:
    """Whether two people of one size can be told apart."""
    sizes = {person.size for person in lens.extremes()}
    pairs = [[Summary(size=size, mean=mean) for mean in (-1.0, 1.0)] for size in sizes]
    windows = range(lens.window_count)
    return any(lens.reading(low, window) != lens.reading(high, window) for low, high in pairs for window in windows)


def _patterns(lens: Lens) -> Iterator[tuple[int, ...]]:
    """The first value or the last for each window, in every way; of many, as from a border or from one of the people
    who differ most, or the opposite.
    """
    windows = lens.window_count
    if windows <= MOST_WINDOWS:
        yield from itertools.product((0, -1), repeat=windows)
        return
    borders = {(-1,) * above + (0,) * (windows - above) for above in range(0, windows + 1, _stride(windows))}
    marked = {tuple(-round(lens.reading(one, window).mark) for window in range(windows)) for one in lens.extremes()}
    for ends in sorted(borders | marked):
        yield ends
        yield tuple(-1 - end for end in ends)


def _stride(windows: int) -> int:
    """Of very many windows, every so many are tried: what attackers gain is much the same in neighbouring ones."""
    return max(windows // MANY_WINDOWS, 1)


def attackers_tally(question: Question, mix: Mix, count: int) -> Tally:
    """The tally of so many malicious reports."""
    windows, left = list(Tally.zero(question).windows), count
    for window, value, part in mix:
        reports = min(round(count * part), left)
        left -= reports
        before, sums = windows[window]
        more = [total + reports * entry for total, entry in zip(sums, question.channel.entries(value), strict=True)]
        windows[window] = WindowTally(before + reports, tuple(more))
    return Tally(question=question, windows=tuple(windows))


# --- honest users


@dataclass(frozen=True, slots=True, kw_only=True)
class _Honest:
    """Honest users: sizes, means and shares of groups that are alike, records being -1 or 1 with mean θ."""

    sizes: NDArray[np.int64]
    means: NDArray[np.float64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, brief: Brief, theta: float) -> _Honest:
        """The users of a brief."""
        sizes, shares = brief.sizes.nodes()
        atoms = [mean_atoms(1 - abs(theta), int(size)) for size in sizes]
        away = -math.copysign(1.0, theta)
        means = [np.clip(theta + away * values, -1.0, 1.0) for values, _ in atoms]
        return cls(
            sizes=np.repeat(sizes.astype(np.int64), [len(values) for values in means]),
            means=np.concatenate(means),
            shares=np.concatenate([share * chances for share, (_, chances) in zip(shares, atoms, strict=True)]),
        )

    def tally(self, question: Question, reports: int) -> Tally:
        """The tally that so many of them are expected to give."""
        return expected_tally(question, self.sizes, self.means, self.shares, reports)


# --- plans that are quick to follow and behave alike


def _with_few_sizes(plan: MachinePlan) -> MachinePlan:
    """The plan for sizes in a few groups, none of which mixes people who mark something with people who do not."""
    points, weights = plan.brief.sizes.nodes()
    group = np.minimum((np.cumsum(weights) / weights.sum() * MOST_GROUPS).astype(np.intp), MOST_GROUPS - 1)
    for round_ in plan.rounds:
        readings = read(round_.lens, points.astype(np.int64), np.zeros(len(points)))
        group = 2 * group + (readings.first <= readings.last)[readings.which]
    _, group = np.unique(group, return_inverse=True)
    shares = np.bincount(group, weights)
    sizes = np.bincount(group, weights * points) / np.maximum(shares, 1e-300)
    few: dict[int, float] = {}
    for size, part in zip(np.maximum(np.floor(sizes), 1).tolist(), shares.tolist(), strict=True):
        few[int(size)] = few.get(int(size), 0.0) + part
    return replace(plan, brief=replace(plan.brief, sizes=Sizes.from_weights(few)))


def _near(plan: MachinePlan, theta: float) -> MachinePlan:
    """The plan with only the bins around θ, where there are very many."""
    first, *rest = plan.rounds
    lens = _near_lens(first.lens, theta)
    if lens is first.lens:
        return plan
    try:
        channel = replace(cast(Any, first.channel), bins=lens.bins)
    except InvalidInput:  # its chances depend on how many bins there are
        return plan
    return replace(plan, rounds=(replace(first, lens=lens, channel=channel), *rest))


@singledispatch
def _near_lens(lens: Lens, theta: float) -> Lens:
    """The lens, with only the bins around θ where they are very many."""
    del theta
    return lens


@_near_lens.register
def _near_bins(lens: Bins, theta: float) -> Lens:
    if lens.bins <= MOST_BINS:
        return lens
    return replace(lens, bins=MOST_BINS, origin=max(theta - MOST_BINS / 2 * lens.width, -1.0))


def _bin_width(plan: MachinePlan) -> float:
    return narrowed(Bins, plan.rounds[0].lens).width * plan.brief.half_range
