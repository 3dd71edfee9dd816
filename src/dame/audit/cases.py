"""The questions to audit: all that plans of every protocol can ask, reached by driving their state machines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dame.audit.expected import expected_tally
from dame.checks import ALPHA_RANGE
from dame.device import Bins, Bits, Choice, Level, SizeClasses, Stripes, Windows
from dame.device.channels import Channel
from dame.device.lenses import Lens
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round, windows_around_zero
from dame.protocols import PROTOCOLS, plan_mean
from dame.protocols import next as next_step
from dame.protocols.adaptive.survey import survey_round
from dame.protocols.base import forecast
from dame.sizes import Sizes
from dame.tally import Tally

ALPHAS = (0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0)
REPORTS, MOST_REPORTS = 1000, 10**12
"""Reports of a tally that steers a study; up to so many, where fewer cannot tell people apart."""
STUDY = "audit"

POPULATIONS = {
    "adaptive": ((100_000, "constant:100"), (10_000, "constant:100000")),
    "paper": ((10_000, "poisson:5"), (10**6, "constant:1000"), (10**9, "two-point:1000:1000000:0.5")),
    "kent": ((10_000, "uniform:20:99"), (10**9, "constant:100000")),
    "one-round": ((10_000, "poisson:50"), (100_000, "constant:100000")),
}
"""Users and sizes for which each protocol is planned: from a single bin to thousands."""
SMALL = (10_000, "poisson:5")
CLASSES = (2, 3, 4, 5, 8, 12, 16, 24)
"""Numbers of classes of sizes to ask about."""
SEGMENTS = (2, 4, 8)
WAVELENGTHS = (4.0, 0.5, 1e-5)
"""Of stripes: a threshold, a coarse digit and a fine one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and how it came about."""

    name: str
    question: Question


def all_cases(protocols: Sequence[str] = tuple(PROTOCOLS), alphas: Sequence[float] | None = None) -> Iterator[Case]:
    """Every question of every protocol at every α, each once; without a choice of α, the extreme ones too."""
    usual, extreme = (ALPHAS, ALPHA_RANGE) if alphas is None else (alphas, ())
    plans = [
        (protocol, alpha, population)
        for protocol, alpha in itertools.product(protocols, usual)
        for population in POPULATIONS.get(protocol, (SMALL,))
    ]
    # The smallest and the largest α that a device accepts, where any population shows what they do to the coins.
    plans += [(protocol, alpha, SMALL) for protocol, alpha in itertools.product(protocols, extreme)]
    found: list[Iterable[Iterator[Case]]] = [itertools.starmap(_planned, plans)]
    if "adaptive" in protocols:
        rare = (make(alpha) for alpha in usual for make in (four_rounds, surveyed, varying))
        found += [(reachable(plan, _name(plan)) for plan in rare), map(by_hand, (*usual, *extreme))]
    seen = set()
    for case in itertools.chain.from_iterable(itertools.chain.from_iterable(found)):
        if question_id(case.question) not in seen:
            seen.add(question_id(case.question))
            yield case


def _planned(protocol: str, alpha: float, population: tuple[int, str]) -> Iterator[Case]:
    users, sizes = population
    plan = plan_mean(
        users=users,
        alpha=alpha,
        sizes=Sizes.parse(sizes),
        protocol=protocol,
        between_sd=0.0,
        study=f"{STUDY}-{protocol}",
    )
    return reachable(plan, _name(plan))


def _name(plan: MachinePlan) -> str:
    return f"{plan.protocol} alpha={plan.alpha:.4g} users={plan.users} sizes={plan.brief.sizes.spec}"


# --- plans and questions that planners choose rarely


def four_rounds(alpha: float) -> MachinePlan:
    """A study of more rounds than planners mostly choose, each of which goes on from all before it."""
    brief = Brief(users=1000, alpha=alpha, sizes=Sizes.parse("constant:100"), study=f"{STUDY}-four-rounds")
    votes = Bins(bins=5, width=0.4, min_size=10)
    vote = Round(name="locate", share=0.25, lens=votes, channel=Bits.optimised(alpha, votes.bins))
    rounds = [
        Round(
            name=name,
            share=0.25,
            lens=windows_around_zero(2.0, cap=None, dither=dither, fitted=True),
            channel=Bits.single(alpha),
        )
        for name, dither in (("refine", 0.0), ("refine", 0.1), ("finish", 0.1))
    ]
    return MachinePlan(protocol="adaptive", brief=brief, rounds=(vote, *rounds), forecast=forecast(brief, 1.0))


def surveyed(alpha: float) -> MachinePlan:
    """A study that asks for sizes first: two rounds follow, of whatever kind suits the sizes that it finds."""
    brief = Brief(users=30_000, alpha=alpha, sizes=Sizes.parse("constant:100"), study=f"{STUDY}-survey")
    rounds = (survey_round(brief, 0.1), *four_rounds(alpha).rounds[:2])
    return MachinePlan(protocol="adaptive", brief=brief, rounds=rounds, forecast=forecast(brief, 1.0))


def varying(alpha: float) -> MachinePlan:
    """A study under between-user variation, of so many users that they are asked in three rounds, whatever α is."""
    users, sizes = math.ceil(1000 / math.tanh(alpha / 2) ** 2), Sizes.parse("constant:1")
    return plan_mean(users=users, alpha=alpha, sizes=sizes, between_sd="learn", study=f"{STUDY}-varying")


def by_hand(alpha: float) -> Iterator[Case]:
    """Surveys of sizes with few classes and with many, in both ways; bits on segments of the whole range, all as wide,
    and of some of it, of widths that differ; bits on stripes, asked of everybody and of people with many records.
    """
    bit = Bits.single(alpha)
    parts: dict[str, tuple[Lens, Channel]] = {"whole range": (Windows.whole_range(), bit)}
    for count in CLASSES:
        parts[f"bits classes={count}"] = SizeClasses(classes=count), Bits.optimised(alpha, count)
        parts[f"choice classes={count}"] = SizeClasses(classes=count), Choice.spending(alpha, count)
    for count in SEGMENTS:
        even = [2 * border / count - 1 for border in range(count + 1)]
        parts[f"whole segments={count}"] = Windows.segments(even), bit
        parts[f"window segments={count}"] = Windows.segments([0.2 + 0.01 * border**3 for border in even]), bit
    for length, fewest in itertools.product(WAVELENGTHS, (1, 100)):
        parts[f"stripes={length:g} records={fewest}"] = Stripes.single(length, min_size=fewest), bit
    levels = [
        Level(length, phases, fewest)
        for length, phases, fewest in zip(WAVELENGTHS, (5, 3, 120), (1, 4, 100), strict=True)
    ]
    parts[f"stripes of {len(levels)} widths"] = Stripes(levels=tuple(levels)), bit
    for name, (lens, channel) in parts.items():
        question = Question(study=f"{STUDY}-by-hand", round=0, alpha=alpha, lens=lens, channel=channel)
        yield Case(name=f"adaptive alpha={alpha:.4g} {name}", question=question)


# --- what can follow


def reachable(plan: MachinePlan, name: str, tallies: Sequence[Tally] = ()) -> Iterator[Case]:
    """The questions that a plan can ask, whatever was reported: extreme, middling or no reports in every round."""
    step = next_step(plan, tallies)
    if isinstance(step, Estimate):
        return
    yield Case(name=f"{name} round={len(tallies) + 1}", question=step)
    if len(tallies) + 1 < len(plan.rounds):
        for outcome, tally in outcomes(step):
            yield from reachable(plan, f"{name} {outcome}", [*tallies, tally])


def outcomes(question: Question) -> Iterator[tuple[str, Tally]]:
    """Tallies that steer a study to the ends and the middle of what can happen next: nobody, or everybody alike."""
    yield "silence", Tally.zero(question)
    people, reports = telling_people(question.lens), REPORTS
    while _close(tallies := [_alike(question, person, reports) for person in people]) and reports < MOST_REPORTS:
        reports *= 10
    for person, tally in zip(people, tallies, strict=True):
        yield f"all-at-{person.mean:g}-with-{person.size}", tally


def _close(tallies: Sequence[Tally]) -> bool:
    """Whether two of the tallies differ by little more than rounding."""
    sums = [np.array([window.sums for window in tally.windows], np.float64) for tally in tallies]
    return any(np.abs(one - other).max() <= 2 for one, other in itertools.combinations(sums, 2))


def telling_people(lens: Lens) -> list[Summary]:
    """The person whose reading is the least, the one whose is the largest, and one between them."""
    windows = range(lens.window_count)
    readings = {tuple(lens.reading(person, window) for window in windows): person for person in lens.extremes()}
    order = sorted(readings)
    return [readings[order[place]] for place in sorted({0, len(order) // 2, len(order) - 1})]


def _alike(question: Question, person: Summary, reports: int) -> Tally:
    sizes, means = np.array([person.size], np.int64), np.array([person.mean])
    return expected_tally(question, sizes, means, np.ones(1), reports)
