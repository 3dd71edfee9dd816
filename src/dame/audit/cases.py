"""The questions to audit: all that plans of every protocol can ask, reached by driving their state machines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dame.checks import ALPHA_RANGE
from dame.device.exact import WORD
from dame.device.questions import PARTS, Measure, PartMeasure, PlaceVote, Question, Vote, question_id
from dame.device.randomisers import OneBit, OneOfMany, UnaryCode
from dame.estimates import Estimate
from dame.planning.plans import Brief, MeasureRound, Plan, VoteRound
from dame.protocols import PROTOCOLS
from dame.protocols import next as next_step
from dame.protocols import plan as make_plan
from dame.protocols.adaptive.survey import survey_round
from dame.protocols.base import forecast
from dame.sizes import Sizes
from dame.tally import Tally

ALPHAS = (0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0)
REPORTS = 1000
STUDY = "audit"

POPULATIONS = {
    "adaptive": ((100_000, "constant:100"), (10_000, "constant:100000")),
    "paper": ((10_000, "poisson:5"), (10**6, "constant:1000"), (10**9, "two-point:1000:1000000:0.5")),
    "kent": ((10_000, "uniform:20:99"), (10**9, "constant:100000")),
}
"""Users and sizes for which each protocol is planned: from a single bin to thousands."""
SMALL = (10_000, "poisson:5")
PLACES = (2, 3, 4, 5, 8)
"""Numbers of places to vote among."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and how it came about."""

    name: str
    question: Question


def cases(protocols: Sequence[str] = tuple(PROTOCOLS), alphas: Sequence[float] | None = None) -> Iterator[Case]:
    """Every question of every protocol at every α, each once; without a choice of α, the extreme ones too."""
    chosen = itertools.product(protocols, ALPHAS if alphas is None else alphas)
    plans = [(protocol, alpha, population) for protocol, alpha in chosen for population in populations(protocol)]
    if alphas is None:
        # The smallest and the largest α that a device accepts, where any population shows what they do to the coins.
        plans += [(protocol, alpha, SMALL) for protocol, alpha in itertools.product(protocols, ALPHA_RANGE)]
    found = itertools.chain.from_iterable(itertools.starmap(_planned, plans))
    if "adaptive" in protocols:
        more = [
            make(alpha)
            for alpha in (ALPHAS if alphas is None else alphas)
            for make in (four_rounds, surveyed, differing)
        ]
        budgets = (*ALPHAS, *ALPHA_RANGE) if alphas is None else alphas
        by_hand = (make(alpha) for make in (place_votes, part_measures) for alpha in budgets)
        found = itertools.chain(found, *(reachable(plan, _name(plan)) for plan in more), *by_hand)
    seen = set()
    for case in found:
        if question_id(case.question) not in seen:
            seen.add(question_id(case.question))
            yield case


def populations(protocol: str) -> Sequence[tuple[int, str]]:
    """Users and sizes for which a protocol is planned."""
    return POPULATIONS.get(protocol, (SMALL,))


def _planned(protocol: str, alpha: float, population: tuple[int, str]) -> Iterator[Case]:
    users, sizes = population
    plan = make_plan(users=users, alpha=alpha, sizes=Sizes.parse(sizes), protocol=protocol, study=f"{STUDY}-{protocol}")
    return reachable(plan, _name(plan))


def _name(plan: Plan) -> str:
    return f"{plan.protocol} alpha={plan.alpha:.4g} users={plan.users} sizes={plan.brief.sizes.spec}"


def four_rounds(alpha: float) -> Plan:
    """A study of more rounds than planners mostly choose: only in such a one can two saturated rounds be mended."""
    brief = Brief(users=1000, alpha=alpha, sizes=Sizes.parse("constant:100"), study=f"{STUDY}-four-rounds")
    code, bits = UnaryCode.optimised(alpha), OneBit.spending(alpha)
    vote = VoteRound(name="locate", share=0.25, bins=5, width=0.4, neighbours=0, min_size=10, code=code)
    measures = [
        MeasureRound(name=name, share=0.25, half_width=2.0, cap=None, fitted=True, dither=dither, noise=bits)
        for name, dither in (("refine", 0.0), ("refine", 0.1), ("finish", 0.1))
    ]
    return Plan(protocol="adaptive", brief=brief, rounds=(vote, *measures), forecast=forecast(brief, 1.0))


def surveyed(alpha: float) -> Plan:
    """A study that asks for sizes first: two rounds follow, of whatever kind suits the sizes that it finds."""
    brief = Brief(users=30_000, alpha=alpha, sizes=Sizes.parse("constant:100"), study=f"{STUDY}-survey")
    rounds = (survey_round(brief, 0.1), *four_rounds(alpha).rounds[:2])
    return Plan(protocol="adaptive", brief=brief, rounds=rounds, forecast=forecast(brief, 1.0))


def differing(alpha: float) -> Plan:
    """A study of users who differ, so many that they are asked in three rounds, whatever α is."""
    users, sizes = math.ceil(1000 / math.tanh(alpha / 2) ** 2), Sizes.parse("constant:1")
    return make_plan(users=users, alpha=alpha, sizes=sizes, between_sd="learn", study=f"{STUDY}-differing")


def place_votes(alpha: float) -> Iterator[Case]:
    """Votes for one of a few places, as the rounds for users who differ ask them: over the whole range, and within a
    window whose places are at unequal distances.
    """
    for count in PLACES:
        code = OneOfMany.spending(alpha, count)
        even = [2 * place / (count - 1) - 1 for place in range(count)]
        for name, places in (("whole", even), ("window", [0.2 + 0.01 * place**3 for place in even])):
            vote = PlaceVote(study=f"{STUDY}-places", round=0, alpha=alpha, places=tuple(places), code=code)
            yield Case(name=f"adaptive alpha={alpha:.4g} {name} places={count}", question=vote)


def part_measures(alpha: float) -> Iterator[Case]:
    """Bits on one of a few parts: of the whole range, all as wide, and of some of it, of widths that differ."""
    for count in PARTS:
        even = [2 * border / count - 1 for border in range(count + 1)]
        for name, borders in (("whole", even), ("window", [0.2 + 0.01 * border**3 for border in even])):
            measure = PartMeasure(
                study=f"{STUDY}-parts", round=0, alpha=alpha, borders=tuple(borders), noise=OneBit.spending(alpha)
            )
            yield Case(name=f"adaptive alpha={alpha:.4g} {name} parts={count}", question=measure)


def reachable(plan: Plan, name: str, tallies: Sequence[Tally] = ()) -> Iterator[Case]:
    """The questions that a plan can ask, whatever was reported: extreme, middling or no reports in every round."""
    step = next_step(plan, tallies)
    if isinstance(step, Estimate):
        return
    yield Case(name=f"{name} round={len(tallies) + 1}", question=step)
    if len(tallies) + 1 < len(plan.rounds):
        for outcome, tally in outcomes(step):
            yield from reachable(plan, f"{name} {outcome}", [*tallies, tally])


def outcomes(question: Question) -> Iterator[tuple[str, Tally]]:
    """Tallies that steer a study to the ends and the middle of what can happen next."""
    yield "silence", Tally.zero(question)
    if isinstance(question, Vote):
        for bin_ in sorted({0, question.bins // 2, question.bins - 1}):
            yield f"bin-{bin_}", _votes_for(question, bin_)
        return
    assert isinstance(question.noise, OneBit), "Laplace noise is for last rounds only"
    base, rise = question.noise.low / WORD, (question.noise.high - question.noise.low) / WORD
    for place in (0.0, 0.45, 1.0):
        yield f"place-{place:g}", _bits(question, round(REPORTS * (base + rise * place)))


def _votes_for(vote: Vote, bin_: int) -> Tally:
    blank, full = (round(REPORTS * threshold / WORD) for threshold in (vote.code.no, vote.code.yes))
    if isinstance(vote, PlaceVote):  # a report has exactly one mark, and so the marks of all add up to the reports
        blank = min(blank, (REPORTS - 1) // vote.bins)
        full = REPORTS - (vote.bins - 1) * blank
    ones = [blank] * vote.bins
    ones[bin_] = max(full, blank + 1)
    return Tally(question=vote, reports=REPORTS, sums=tuple(ones))


def _bits(question: Measure, ones: int) -> Tally:
    share = REPORTS // question.arms, ones // question.arms
    return Tally.of_arms(question, [share] * question.arms)
