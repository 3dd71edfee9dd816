"""Sketches of studies: ways to locate, splits of the users, windows; for a reader who takes the slope for granted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from dame.device.channels import Bits
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.planning.brief import Brief
from dame.planning.rounds import Round, windows_around_zero
from dame.protocols.adaptive.doubts import NO_DOUBT, Doubt, bit_clarity, doubt_after_vote, evidence_of, vote_clarity
from dame.protocols.adaptive.error_path import ErrorState, MeasureDesign, best_measure
from dame.protocols.adaptive.forecasting import reporting
from dame.protocols.adaptive.locate import state_after, vote_round
from dame.protocols.adaptive.size_grids import caps_of, voting_sizes
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.whole_range import whole_range_round
from dame.theory import privacy_factor
from dame.theory.response import ResponseTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The rounds that locate, the error after them if the place is right, and how sure that is."""

    rounds: tuple[Round, ...]
    after: ErrorState
    doubt: Doubt = NO_DOUBT


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A whole study that the planner considers, and the state of a reader who takes the slope for granted.

    `delayed` is what rounds in a wrong place, which later ones put right, add to the mean squared error.
    """

    rounds: tuple[Round, ...]
    after: ErrorState
    doubt: Doubt = NO_DOUBT
    delayed: float = 0.0

    @property
    def risk(self) -> float:
        """What wrong places add to the mean squared error."""
        return self.delayed + self.doubt.risk

    @property
    def score(self) -> float:
        """What the planner minimises at first."""
        return self.after.score + self.risk


class Sketches:
    """The studies that can be thought of for a brief."""

    def __init__(self, brief: Brief, most_failure: float) -> None:
        self._brief = brief
        self._most_failure = most_failure
        self._privacy = privacy_factor(brief.alpha)
        self._channel = Bits.single(brief.alpha)
        self._table = ResponseTable.of(brief.sizes, caps_of(brief), np.array(TUNING.clips), brief.spread)
        pairs = itertools.product(voting_sizes(brief), TUNING.spacings)
        self._votes = list(_different(vote_round(brief, *pair, share=0.5) for pair in pairs))
        self._clarities = [vote_clarity(brief, lens, channel) for lens, channel in map(_parts, self._votes)]

    def plain(self) -> Sketch:
        """One bit from everybody over the whole range."""
        only = self._plain("measure", 1.0)
        return Sketch(rounds=only.rounds, after=only.after)

    def designs(self, rounds: int, firsts: Sequence[float]) -> Iterator[Sketch]:
        """Designs with so many rounds, for each share of the first."""
        for first in firsts:
            for start in self._starts(first):
                yield from self._grown(start, rounds, TUNING.growths)

    def designs_after_plain(self, rounds: int) -> Iterator[Sketch]:
        """Designs with so many rounds that begin with plain bits and a vote."""
        for first, second in itertools.product(TUNING.plain_shares, TUNING.second_shares):
            for start in self._voted(self._plain("locate", first), second):
                yield from self._grown(start, rounds, TUNING.growths[::2])

    def with_shares(self, shares: Sequence[float]) -> Iterator[Sketch]:
        """A design for each way to begin, in which no minority votes alone: a survey may see one that is not there."""
        starts = (start for start in self._starts(shares[0]) if self._voting_share(start) >= TUNING.surveyed_voters)
        return self._allowed(self._follow(start, shares) for start in starts)

    def _voting_share(self, start: Start) -> float:
        """The share of the users who may vote; all of them where nobody is asked to."""
        votes = [bins for bins, _ in (_parts(round_) for round_ in start.rounds if round_.lens.bins > 1)]
        return min((self._brief.sizes.survival(bins.min_size) for bins in votes), default=1.0)

    def around(self, best: Sketch) -> Iterator[Sketch]:
        """Designs like the best one, with somewhat other shares."""
        shares = [round_.share for round_ in best.rounds]
        located = 2 if len(shares) > 2 and best.rounds[1].lens.bins > 1 else 1
        growth = shares[located + 1] / shares[located] if len(shares) > located + 1 else 1.0
        for factor in TUNING.near_first:
            first = min(shares[0] * factor, TUNING.largest_first)
            for start in self._starts(first) if located == 1 else self._twice(first, shares[1]):
                if [round_.shape for round_ in start.rounds] == [round_.shape for round_ in best.rounds[:located]]:
                    yield from self._grown(start, len(shares), [growth * stretch for stretch in TUNING.near_growths])

    def _twice(self, first: float, second: float) -> Iterator[Start]:
        for factor in TUNING.near_growths:
            if first + second * factor < TUNING.largest_first:
                yield from self._voted(self._plain("locate", first), second * factor)

    def _starts(self, share: float) -> Iterator[Start]:
        yield self._plain("locate", share)
        yield from self._voted(None, share)

    def _plain(self, name: str, share: float) -> Start:
        round_ = whole_range_round(name, share, self._channel)
        after = state_after(round_.lens, round_, self._brief, self._users(share))
        return Start(rounds=(_expecting(round_, after),), after=after)

    def _voted(self, before: Start | None, share: float) -> Iterator[Start]:
        """The most promising votes of a share, after nothing or after plain bits."""
        known = math.sqrt(before.after.worst) if before else 1.0
        earlier = before.rounds if before else ()
        left = 1 - share - sum(round_.share for round_ in earlier)
        # What the rounds after it can say at most, and how far they narrow the window.
        later = evidence_of(self._brief, left, bit_clarity(1.0, self._privacy))
        narrowing = 2 * self._privacy / math.sqrt(self._users(left) / 2)
        starts = []
        for vote, clarity in zip(self._votes, self._clarities, strict=True):
            round_ = replace(vote, share=share, name="narrow" if earlier else "locate")
            after = state_after(round_.lens, round_, self._brief, self._users(share))
            doubt = doubt_after_vote(self._brief, round_, clarity, known)
            outlook = doubt.heard(later).risk + (min(narrowing, 1.0) ** 2) * after.worst
            starts.append((outlook, Start(rounds=(*earlier, _expecting(round_, after)), after=after, doubt=doubt)))
        starts.sort(key=itemgetter(0))
        return (start for _, start in starts[: TUNING.votes_tried])

    def _grown(self, start: Start, rounds: int, growths: Sequence[float]) -> Iterator[Sketch]:
        """The study with measuring rounds after a start that grow by each of some factors."""
        measuring = rounds - len(start.rounds)
        if measuring < 1:
            return
        located = [round_.share for round_ in start.rounds]
        chosen = growths if measuring > 1 else (1.0,)
        shares = (_shares(located, growth, measuring) for growth in chosen)
        yield from self._allowed(self._follow(start, each) for each in shares)

    def _allowed(self, sketches: Iterable[Sketch]) -> Iterator[Sketch]:
        return (sketch for sketch in sketches if sketch.doubt.wrong <= self._most_failure)

    def _follow(self, start: Start, shares: Sequence[float]) -> Sketch:
        rounds, state, doubt, delayed = list(start.rounds), start.after, start.doubt, 0.0
        for index, share in enumerate(shares[len(rounds) :], start=len(rounds) + 1):
            design = best_measure(self._table, state, self._privacy, self._users(share))
            rounds.append(self._measure("finish" if index == len(shares) else "refine", share, design))
            delayed += doubt.wrong * min(state.worst, 1.0)
            clarity = bit_clarity(design.saturation(self._table, doubt.distance), self._privacy)
            state, doubt = design.after, doubt.heard(evidence_of(self._brief, share, clarity))
        return Sketch(rounds=tuple(rounds), after=state, doubt=doubt, delayed=delayed)

    def _users(self, share: float) -> float:
        return reporting(self._brief, share)

    def _measure(self, name: str, share: float, design: MeasureDesign) -> Round:
        cap, clip = float(self._table.caps[design.cap]), float(self._table.clips[design.clip])
        lens = windows_around_zero(
            clip, cap=None if math.isinf(cap) else cap, fitted=True, between_sd=self._brief.spread
        )
        return _expecting(Round(name=name, share=share, lens=lens, channel=self._channel), design.after)


def _expecting(round_: Round, after: ErrorState) -> Round:
    """The round with the error that is expected after it."""
    return replace(round_, error_after=min(math.sqrt(after.worst), 1.0))


def _parts(vote: Round) -> tuple[Bins, Bits]:
    return narrowed(Bins, vote.lens), narrowed(Bits, vote.channel)


def _different(votes: Iterable[Round]) -> Iterator[Round]:
    """Each vote once."""
    return iter({vote.lens: vote for vote in votes}.values())


def _shares(located: Sequence[float], growth: float, measuring: int) -> list[float]:
    """The shares of those who locate, then measuring rounds that grow by a factor and use up the rest."""
    steps, rest = [growth**index for index in range(measuring)], 1 - sum(located)
    return [*located, *(rest * step / sum(steps) for step in steps)]
