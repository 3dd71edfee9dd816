"""What malicious users can do to an estimate: the largest shift that a share of them can cause.

Nobody can tell a malicious report from an honest one, as honest ones are random. But a report is a few bits or a
clamped integer, so that its pull on a tally is bounded. Here the protocol's own state machine is driven with expected
tallies, honest and malicious users together, and compared with what it says without them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dame import checks
from dame.device.exact import WORD
from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import POSITION_STEPS, DiscreteLaplace, OneBit
from dame.device.reports import tally_entries, value_range
from dame.estimates import Estimate
from dame.planning.plans import Brief, Plan, VoteRound
from dame.protocols import next as next_step
from dame.sizes import Sizes
from dame.tally import Tally
from dame.theory.response import mean_atoms
from dame.vectorised import crowd

SHARE = 0.01
FEWEST_REPORTS = 10_000
"""Reports of an expected tally: as many as the plan expects, but so many that rounding to integers hardly shows."""
THETAS = (-1.0, -0.5, 0.03)
"""Where the honest users' mean lies: at a bound, where the room to push is largest, and inside."""
MOST_GROUPS = 48
MOST_ARMS = 4
MOST_BINS = 256
FAR = 16
"""Bins beyond which an attack is taken to reach any place."""

Mix = tuple[tuple[int, float], ...]
"""What attackers send in a round: values of reports, and the part of the attackers that sends each."""


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


def largest_shift(plan: Plan, share: float = SHARE) -> float:
    """The largest shift of the estimate, in the study's units, that a share of malicious users can cause."""
    return worst_attack(plan, share).shift


def worst_attack(plan: Plan, share: float = SHARE) -> Attack:
    """The attack that shifts the expected estimate most, over extreme reports in every round and places of the mean.

    The attackers are spread over the rounds like anybody else, and know the honest users' tallies.
    """
    checks.real("share", share, 0.0, 0.5)
    few = _with_few_sizes(plan)
    return max((_worst_at(few, theta, share) for theta in THETAS), key=lambda attack: attack.shift)


def _worst_at(plan: Plan, theta: float, share: float) -> Attack:
    near = _near(plan, theta)
    honest = _Honest.of(near.brief, theta)
    truth = _without_attack(near, honest)
    outcomes = [(abs(value - truth), mixes) for mixes, value in _attacked(near, honest, share)]
    shift, mixes = max(outcomes, key=lambda outcome: outcome[0])
    if near is not plan and shift > FAR * _bin_width(near):
        # Whoever can elect a bin so far away can elect any of those that were left out.
        shift = 2 * plan.brief.half_range
    return Attack(theta=theta, mixes=mixes, shift=shift)


def _without_attack(plan: Plan, honest: _Honest) -> float:
    tallies: list[Tally] = []
    while not isinstance(step := next_step(plan, tallies), Estimate):
        tallies.append(honest.tally(step, _reports(plan, len(tallies))))
    return step.value


def _reports(plan: Plan, index: int) -> int:
    return max(round(plan.users * plan.shares[index]), FEWEST_REPORTS)


def _attacked(plan: Plan, honest: _Honest, share: float) -> Iterator[tuple[tuple[Mix, ...], float]]:
    """Attacks, and the estimates that they lead to."""
    paths = [_Path(mixes=(), tallies=(), step=next_step(plan, []))]
    for index in range(len(plan.rounds)):
        reports = _reports(plan, index)
        longer = [path for before in paths for path in _continued(plan, honest, before, reports, share)]
        paths = _telling(longer)
    for path in paths:
        assert isinstance(path.step, Estimate)
        yield path.mixes, path.step.value


def _continued(plan: Plan, honest: _Honest, path: _Path, reports: int, share: float) -> Iterator[_Path]:
    """The path with everything that attackers may send in its next round."""
    question, malicious = path.step, round(reports * share)
    assert not isinstance(question, Estimate)
    good = honest.tally(question, reports - malicious)
    for mix in mixes_for(question, good):
        bad = attackers_tally(question, mix, malicious) if mix else honest.tally(question, malicious)
        tallies = (*path.tallies, good.merge(bad))
        yield _Path(mixes=(*path.mixes, mix), tallies=tallies, step=next_step(plan, tallies))


def _telling(paths: list[_Path]) -> list[_Path]:
    """The paths worth following: after the last round all; before it those to the ends, and the one without attack."""
    chosen: list[_Path] = []
    for kind in (Measure, PlaceVote):  # windows of different kinds have different units
        alike = [path for path in paths if isinstance(path.step, kind)]
        chosen += _to_the_ends(alike) if alike else []
    # Others stay: the study is over, or a vote follows a survey of sizes.
    return [path for path in paths if path in chosen or not isinstance(path.step, (Measure, PlaceVote))]


def _to_the_ends(paths: list[_Path]) -> list[_Path]:
    """Those that lead farthest to the left, to the right and to the widest window, and the one without attack."""
    by_centre = sorted(paths, key=lambda path: _window(path.step)[0])
    by_width = sorted(paths, key=lambda path: _window(path.step)[1])
    return [by_centre[0], by_centre[-1], by_width[-1], paths[0]]


def _window(step: Question | Estimate) -> tuple[float, float]:
    """The centre and the width of what a question looks at."""
    if isinstance(step, (PlaceVote, PartMeasure)):
        first, *_, last = step.places if isinstance(step, PlaceVote) else step.borders
        return (first + last) / 2, last - first
    assert isinstance(step, Measure)
    return step.centre, step.right - step.left


# --- malicious users


def mixes_for(question: Question, honest: Tally) -> Iterator[Mix]:
    """What attackers may send: nothing special (the empty mix), or extreme reports."""
    yield ()
    if isinstance(question, SizeVote):
        # Every other survey leads to a design of its own: the two that distort M most are enough.
        yield from (((1 << class_, 1.0),) for class_ in {0, question.bins - 1})
    elif isinstance(question, PlaceVote):
        yield from (((1 << place, 1.0),) for place in range(question.bins))
    elif isinstance(question, Vote):
        yield from (((ballot, 1.0),) for ballot in _ballots(question, honest))
    elif question.arms > 1:
        yield from (((value, 1.0),) for value in range(2 * question.arms))
        for bits in _patterns(question.arms):
            yield tuple((arm << 1 | bit, 1 / question.arms) for arm, bit in enumerate(bits))
    else:
        yield from (((value, 1.0),) for value in value_range(question))


def _patterns(arms: int) -> Iterator[tuple[int, ...]]:
    """A bit for each arm, in every way; of many arms, as from somebody at a border or the opposite."""
    if arms <= MOST_ARMS:
        yield from itertools.product((0, 1), repeat=arms)
        return
    for above in range(arms + 1):
        yield (1,) * above + (0,) * (arms - above)
        yield (0,) * above + (1,) * (arms - above)


def _ballots(vote: Vote, honest: Tally) -> set[int]:
    """One to three neighbouring bins, at either end or beside the bin that wins: and none of the others."""
    winner = honest.sums.index(max(honest.sums))
    starts = {0, vote.bins - 1, *(winner + apart for apart in range(-4, 5))}
    runs = [(start, start + length) for start in starts for length in (1, 2, 3)]
    return {(1 << end) - (1 << start) for start, end in runs if start >= 0 and end <= vote.bins}


def attackers_tally(question: Question, mix: Mix, count: int) -> Tally:
    """The tally of so many malicious reports."""
    tally = Tally.zero(question)
    left = count
    for value, part in mix:
        reports = min(round(count * part), left)
        left -= reports
        sums = tuple(reports * entry for entry in tally_entries(question, value))
        tally = tally.merge(Tally(question=question, reports=reports, sums=sums))
    return tally


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
        """The tally that so many of them are expected to give, rounded to integers."""
        if isinstance(question, PlaceVote):
            return self._place_tally(question, reports)
        if isinstance(question, Vote):
            return self._vote_tally(question, reports)
        if isinstance(question.noise, DiscreteLaplace):
            return self._laplace_tally(question, question.noise, reports)
        return self._bit_tally(question, question.noise, reports)

    def _vote_tally(self, vote: Vote, reports: int) -> Tally:
        first, last = crowd.marks(vote, self.sizes, self.means)
        votes = first <= last
        # A share added where a run of marks starts and taken away behind its end, summed up over the bins.
        starts = np.bincount(first[votes], self.shares[votes], vote.bins + 1)
        marked = np.cumsum(starts - np.bincount(last[votes] + 1, self.shares[votes], vote.bins + 1))[:-1].clip(0, 1)
        chances = (vote.code.no + marked * (vote.code.yes - vote.code.no)) / WORD
        return Tally(question=vote, reports=reports, sums=tuple(np.rint(reports * chances).astype(np.int64).tolist()))

    def _place_tally(self, vote: PlaceVote, reports: int) -> Tally:
        first, part = crowd.between_places(vote, self.means)
        moved = self.shares * (part / POSITION_STEPS)
        own = np.bincount(first, self.shares - moved, vote.bins) + np.bincount(first + 1, moved, vote.bins)
        chances = vote.code.no + own * (vote.code.yes - vote.code.no)
        # Sums are rounded, not the places one by one: a report has exactly one mark.
        ends = np.rint(reports * np.cumsum(chances / chances.sum()))
        return Tally(question=vote, reports=reports, sums=tuple(np.diff(ends, prepend=0).astype(np.int64).tolist()))

    def _bit_tally(self, measure: Measure, noise: OneBit, reports: int) -> Tally:
        def ones(arm: int, count: int) -> int:
            return round(count * (noise.low + self._place(measure, arm) * (noise.high - noise.low)) / WORD)

        further = measure.arms - 1
        each = reports // (further + 1)
        counts = [reports - further * each, *[each] * further]
        return Tally.of_arms(measure, [(count, ones(arm, count)) for arm, count in enumerate(counts)])

    def _laplace_tally(self, measure: Measure, noise: DiscreteLaplace, reports: int) -> Tally:
        total = round(reports * self._place(measure, 0) * noise.steps)
        squares = -(-total * total // max(reports, 1)) + reports * 2 * noise.scale**2
        return Tally(question=measure, reports=reports, sums=(total, squares))

    def _place(self, measure: Measure, arm: int) -> float:
        return float(self.shares @ crowd.positions(measure, self.sizes, self.means, arm))


# --- plans that are quick to play and behave alike


def _with_few_sizes(plan: Plan) -> Plan:
    """The plan for sizes in a few groups, none of which mixes people who vote with people who do not."""
    borders = sorted(round_.min_size for round_ in plan.rounds if isinstance(round_, VoteRound))
    points, weights = plan.brief.sizes.nodes()
    place = np.minimum((np.cumsum(weights) / weights.sum() * MOST_GROUPS).astype(np.intp), MOST_GROUPS - 1)
    _, group = np.unique(
        place * (len(borders) + 1) + np.searchsorted(borders, points, side="right"), return_inverse=True
    )
    shares = np.bincount(group, weights)
    sizes = np.bincount(group, weights * points) / np.maximum(shares, 1e-300)
    few: dict[int, float] = {}
    for size, part in zip(np.maximum(np.floor(sizes), 1).tolist(), shares.tolist(), strict=True):
        few[int(size)] = few.get(int(size), 0.0) + part
    return replace(plan, brief=replace(plan.brief, sizes=Sizes.from_weights(few)))


def _near(plan: Plan, theta: float) -> Plan:
    """The plan with only the bins around θ, where there are very many."""
    vote, *rest = plan.rounds
    if not isinstance(vote, VoteRound) or vote.bins <= MOST_BINS:
        return plan
    origin = max(theta - MOST_BINS / 2 * vote.width, -1.0)
    return replace(plan, rounds=(replace(vote, bins=MOST_BINS, origin=origin), *rest))


def _bin_width(plan: Plan) -> float:
    vote = plan.rounds[0]
    assert isinstance(vote, VoteRound)
    return vote.width * plan.brief.half_range
