"""Simulation: drives a protocol over a population, many times, with the law of the device but without its coins.

Reports are never drawn one by one where their sum has a known law: the bits of a vote are binomial given how many
people marked each bin. The generator is fast, not secure; nothing drawn here may leave a device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame import checks
from dame.vectorised import crowd
from dame.device.exact import WORD
from dame.device.questions import Measure, PlaceVote, Question, Vote
from dame.device.randomisers import POSITION_STEPS, DiscreteLaplace, OneBit
from dame.estimates import Estimate, Played, to_units
from dame.planning.plans import Plan
from dame.populations.population import USERS_AT_ONCE, Chunk, Population, Reporting
from dame.protocols import next as next_step
from dame.tally import Tally

Ints = NDArray[np.int64]


def run(plan: Plan, population: Population, seed: int | None = None) -> Estimate:
    """The estimate of one study: simulated, or, on a table, with each user's own report."""
    if isinstance(population, Reporting):
        return population.estimate(plan, _seed(seed))
    return play(plan, population, np.random.default_rng(_seed(seed))).estimate


def play(plan: Plan, population: Population, rng: Generator) -> Played:
    """One simulated study: ask, let the users of the round answer, tally, and go on until there is an estimate."""
    tallies: list[Tally] = []
    for group in population.groups(plan.users, plan.shares, rng):
        question = next_step(plan, tallies)
        assert not isinstance(question, Estimate)
        tallies.append(draw_tally(question, group, rng))
    estimate = next_step(plan, tallies)
    assert isinstance(estimate, Estimate)
    return Played(estimate=estimate, tallies=tuple(tallies))


def _seed(seed: int | None) -> int | None:
    return None if seed is None else checks.whole("seed", seed, 0, 2**64)


def draw_tally(question: Question, group: Iterable[Chunk], rng: Generator) -> Tally:
    """The tally of a group's reports, drawn from exactly the law that the devices' reports would give it."""
    if isinstance(question, PlaceVote):
        return _place_tally(question, group, rng)
    if isinstance(question, Vote):
        return _vote_tally(question, group, rng)
    if isinstance(question.noise, OneBit):
        return _bit_tally(question, question.noise, group, rng)
    return _laplace_tally(question, question.noise, group, rng)


def _vote_tally(question: Vote, group: Iterable[Chunk], rng: Generator) -> Tally:
    users, marked = 0, np.zeros(question.bins, dtype=np.int64)
    for chunk in group:
        users += chunk.users
        marked += _ballots(question, chunk, rng)
    yes, no = question.code.yes / WORD, question.code.no / WORD
    ones = rng.binomial(marked, yes) + rng.binomial(users - marked, no)
    return Tally(question=question, reports=users, sums=tuple(ones.tolist()))


def _place_tally(question: PlaceVote, group: Iterable[Chunk], rng: Generator) -> Tally:
    tally = Tally.zero(question)
    for chunk in group:
        near, part = crowd.between_places(question, chunk.means)
        moves = part / POSITION_STEPS
        if chunk.chances is None:
            own = np.bincount(near + (rng.random(len(near)) < moves), minlength=question.bins)
        else:
            shares = [
                np.bincount(near + step, chunk.chances * chance, question.bins)
                for step, chance in ((0, 1 - moves), (1, moves))
            ]
            own = rng.multinomial(chunk.users, np.minimum(shares[0] + shares[1], 1.0) / np.sum(shares))
        tally = tally.merge(_marked(question, own, rng))
    return tally


def _marked(question: PlaceVote, own: Ints, rng: Generator) -> Tally:
    """The tally of so many people at each place: a person marks her own or, with the same chance each, another."""
    chances = np.full((question.bins, question.bins), question.code.no / WORD)
    np.fill_diagonal(chances, question.code.yes / WORD)
    sums = rng.multinomial(own, chances).sum(axis=0)
    return Tally(question=question, reports=int(own.sum()), sums=tuple(sums.tolist()))


def _ballots(question: Vote, chunk: Chunk, rng: Generator) -> Ints:
    if chunk.chances is None:
        return crowd.ballots(question, chunk.sizes, chunk.means)
    votes = chunk.sizes >= question.min_size
    bins = crowd.own_bins(question, chunk.sizes[votes], chunk.means[votes])
    shares = np.bincount(bins, chunk.chances[votes], question.bins)
    np.minimum(shares, 1.0, out=shares)  # a sum of chances may round to more
    own = rng.multinomial(chunk.users, np.append(shares, max(1 - shares.sum(), 0.0)))[:-1]
    return crowd.with_neighbours(question, own)


def _bit_tally(question: Measure, noise: OneBit, group: Iterable[Chunk], rng: Generator) -> Tally:
    tally = Tally.zero(question)
    for chunk in group:
        for arm, part in _arms(question, chunk, rng):
            ones = _draw_ones(question, noise, part, arm, rng)
            arms = [(0, 0)] * len(tally.arms)
            arms[arm] = part.users, ones
            tally = tally.merge(Tally.of_arms(question, arms))
    return tally


def _arms(question: Measure, chunk: Chunk, rng: Generator) -> Iterator[tuple[int, Chunk]]:
    """The users of each arm; all of them in arm 0 where there is no other."""
    if question.arms == 1:
        yield 0, chunk
    elif chunk.chances is None:
        arms = question.arms - 1 - (rng.random(len(chunk.sizes)) * question.arms).astype(np.int64)
        for arm in range(question.arms):
            yield arm, Chunk(chunk.sizes[arms == arm], chunk.means[arms == arm])
    else:
        shares = np.full(question.arms, 1 / question.arms)
        for arm, users in enumerate(rng.multinomial(chunk.users, shares)[::-1]):
            yield arm, chunk._replace(drawn=int(users))


def _draw_ones(question: Measure, noise: OneBit, chunk: Chunk, arm: int, rng: Generator) -> int:
    chances = crowd.positions(question, chunk.sizes, chunk.means, arm)
    chances *= (noise.high - noise.low) / WORD
    chances += noise.low / WORD
    if chunk.chances is None:
        return int(np.count_nonzero(rng.random(len(chances)) < chances))
    # Users drawn from one law toss one and the same coin, whose chance is the mean of theirs.
    return int(rng.binomial(chunk.users, float(chunk.chances @ chances)))


def _laplace_tally(question: Measure, noise: DiscreteLaplace, group: Iterable[Chunk], rng: Generator) -> Tally:
    users = total = squares = 0
    for chunk in group:
        points = crowd.grid_points(crowd.positions(question, chunk.sizes, chunk.means), noise.steps)
        for block in _everybody(points, chunk, rng):
            values = block + _fast_discrete_laplace(noise.scale, len(block), rng)
            np.clip(values, -noise.reach, noise.steps + noise.reach, out=values)
            total += int(values.sum())
            squares += crowd.sum_of_squares(values)
        users += chunk.users
    return Tally(question=question, reports=users, sums=(total, squares))


def _everybody(points: Ints, chunk: Chunk, rng: Generator) -> Iterator[Ints]:
    """The point of each user, in blocks of bounded memory."""
    if chunk.chances is None:
        yield points
        return
    ends = np.cumsum(rng.multinomial(chunk.users, chunk.chances))
    for start in range(0, chunk.users, USERS_AT_ONCE):
        places = np.arange(start, min(start + USERS_AT_ONCE, chunk.users))
        yield points[np.searchsorted(ends, places, side="right")]


def _fast_discrete_laplace(scale: int, count: int, rng: Generator) -> Ints:
    # The whole part of an exponential variable of mean `scale` is geometric, and the difference of two such is the law.
    one, other = np.floor(rng.standard_exponential((2, count)) * scale)
    return np.asarray(one - other, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What many simulated studies showed, in the study's units; names as in the JSON that others rely on.

    `failures` counts the studies that measured in a window without θ; `bias_se` is the standard error of `bias`.
    """

    mse: float
    rmse: float
    bias: float
    bias_se: float
    theta: float
    limit_mse: float
    ratio_to_limit: float
    coverage: float
    interval_width: float
    failures: int
    repetitions: int
    seconds: float


def simulate(
    plan: Plan,
    population: Population,
    repetitions: int,
    seed: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Simulation:
    """Summary of so many simulated studies; `progress` is told after each how many are done."""
    checks.whole("repetitions", repetitions, 1, 10**9)
    started = time.perf_counter()
    truth = to_units(population.truth, plan.brief.low, plan.brief.high)
    rows = np.empty((repetitions, 3))
    failures = 0
    for index, child in enumerate(np.random.SeedSequence(_seed(seed)).spawn(repetitions)):
        played = play(plan, population, np.random.default_rng(child))
        rows[index] = (played.estimate.value, *played.estimate.interval)
        failures += missed(plan, played, population.truth)
        progress(index + 1)
    return _summary(plan, rows, truth, failures, time.perf_counter() - started)


def missed(plan: Plan, played: Played, theta: float) -> bool:
    """Whether the last round measured in a window that does not hold θ (given on the inner scale)."""
    question = played.tallies[-1].question
    if isinstance(question, PlaceVote):
        return not question.places[0] <= theta <= question.places[-1]
    assert isinstance(question, Measure)
    z = crowd.mean_weight(question, plan.brief.sizes) * (theta - question.centre)
    return not question.left <= z <= question.right


def _summary(plan: Plan, rows: NDArray[np.float64], truth: float, failures: int, seconds: float) -> Simulation:
    values, lows, highs = rows.T
    errors = values - truth
    mse = float(np.mean(errors**2))
    spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else math.inf
    return Simulation(
        mse=mse,
        rmse=math.sqrt(mse),
        bias=float(np.mean(errors)),
        bias_se=spread / math.sqrt(len(errors)),
        theta=truth,
        limit_mse=plan.forecast.limit_mse,
        ratio_to_limit=mse / plan.forecast.limit_mse,
        coverage=float(np.mean((lows <= truth) & (truth <= highs))),
        interval_width=float(np.mean(highs - lows)),
        failures=failures,
        repetitions=len(errors),
        seconds=seconds,
    )
