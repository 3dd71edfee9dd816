"""Simulation: drives a protocol over a population, many times: reports as from devices, but without their coins.

Reports are never drawn one by one where their sum has a known distribution: the bits of a vote are binomial given how
many people marked each bin. The generator is fast, not secure; nothing drawn here may leave a device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame import checks
from dame.device.lenses import Lens, Windows
from dame.device.questions import Question
from dame.device.stripes import Stripes
from dame.estimates import Outcome, to_units
from dame.planning.machines import MachinePlan
from dame.planning.rounds import mean_weight
from dame.populations.population import Chunk, Population
from dame.protocols import drive_one
from dame.sizes import Sizes
from dame.tally import Tally
from dame.vectorised.channels import CHANNEL_FORMS
from dame.vectorised.lenses import read


def simulate_once(plan: MachinePlan, population: Population, rng: Generator, users: int | None = None) -> Outcome:
    """The outcome of one simulated run of a machine, with as many users as planned, or another number."""
    people = population.groups(plan.users if users is None else users, plan.shares, rng)
    return drive_one(plan, lambda question: draw_tally(question, people[question.round], rng))


def seed_of(seed: int | None) -> int | None:
    """A seed that generators take, if there is one."""
    return None if seed is None else checks.whole("seed", seed, 0, 2**64)


def draw_tally(question: Question, people: Iterable[Chunk], rng: Generator) -> Tally:
    """The tally of some people's reports, drawn from exactly the distribution that devices' reports would give it."""
    channel, form, count = question.channel, CHANNEL_FORMS.of(question.channel), question.lens.window_count
    reports = [0] * count
    sums = [[0] * len(channel.entry_limits) for _ in range(count)]
    for chunk in people:
        for window, part in _in_windows(count, chunk, rng):
            readings = read(question.lens, part.sizes, part.means, window)
            drawn = form.simulated_sums(channel, readings, part.chances, part.users, rng)
            reports[window] += part.users
            sums[window] = [before + int(more) for before, more in zip(sums[window], drawn, strict=True)]
    return Tally.of(question, zip(reports, sums, strict=True))


def _in_windows(count: int, chunk: Chunk, rng: Generator) -> Iterator[tuple[int, Chunk]]:
    """The users in each window; all of them in the only one where there is no other."""
    if count == 1:
        yield 0, chunk
        return
    if chunk.chances is not None and count * len(chunk.means) > chunk.users:
        chunk = _drawn(chunk, rng)  # cheaper than looking at the whole distribution in every window
    if chunk.chances is None:
        windows = rng.integers(count, size=len(chunk.sizes))
        for window in range(count):
            yield window, Chunk(chunk.sizes[windows == window], chunk.means[windows == window])
    else:
        for window, users in enumerate(rng.multinomial(chunk.users, np.full(count, 1 / count))):
            yield window, chunk._replace(drawn=int(users))


def _drawn(chunk: Chunk, rng: Generator) -> Chunk:
    """As many users as a chunk stands for, drawn from the distribution that it holds."""
    assert chunk.chances is not None
    below = np.cumsum(chunk.chances)
    which = np.searchsorted(below, rng.random(chunk.drawn) * below[-1], side="right")
    return Chunk(chunk.sizes[which], chunk.means[which])


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
    plan: MachinePlan,
    population: Population,
    repetitions: int,
    seed: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Simulation:
    """Summary of so many simulated runs of a machine; `progress` is told after each how many are done."""
    checks.whole("repetitions", repetitions, 1, 10**9)
    started = time.perf_counter()
    truth = to_units(population.truth, plan.brief.low, plan.brief.high)
    rows = np.empty((repetitions, 3))
    failures = 0
    for index, child in enumerate(np.random.SeedSequence(seed_of(seed)).spawn(repetitions)):
        outcome = simulate_once(plan, population, np.random.default_rng(child))
        rows[index] = (outcome.estimate.value, *outcome.estimate.interval)
        failures += wrong_window(plan, outcome, population.truth)
        progress(index + 1)
    return summarised(rows, truth, plan.forecast.limit_mse, failures, time.perf_counter() - started)


def wrong_window(plan: MachinePlan, outcome: Outcome, theta: float) -> bool:
    """Whether a study looked in a wrong window or took a wrong stripe; θ is given on the inner scale."""
    low, high = plan.brief.low, plan.brief.high
    found = 2 * (outcome.estimate.value - low) / (high - low) - 1
    lens = outcome.tallies[-1].question.lens
    return missed(lens, plan.brief.sizes, theta) or mistaken(lens, found - theta)


@singledispatch
def mistaken(lens: Lens, error: float) -> bool:
    """Whether an error on the inner scale is one of a stripe: never, where there are none."""
    del lens, error
    return False


@mistaken.register
def _mistaken_stripe(lens: Stripes, error: float) -> bool:
    return abs(error) > min(level.wavelength for level in lens.levels) / 2


@singledispatch
def missed(lens: Lens, sizes: Sizes, theta: float) -> bool:
    """Whether a lens does not hold θ (given on the inner scale) in any of its windows: never, where there is none."""
    del lens, sizes, theta
    return False


@missed.register
def _missed_windows(lens: Windows, sizes: Sizes, theta: float) -> bool:
    if lens.thin:  # thresholds hold everybody, on one side or the other
        return False
    weight = mean_weight(lens, sizes)
    low = min(window.centre + window.left / weight for window in lens.windows)
    high = max(window.centre + window.right / weight for window in lens.windows)
    return not low <= theta <= high


def summarised(rows: NDArray[np.float64], truth: float, limit: float, failures: int, seconds: float) -> Simulation:
    """The summary of studies, each a row of an estimate and the two ends of its interval."""
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
        limit_mse=limit,
        ratio_to_limit=mse / limit,
        coverage=float(np.mean((lows <= truth) & (truth <= highs))),
        interval_width=float(np.mean(highs - lows)),
        failures=failures,
        repetitions=len(errors),
        seconds=seconds,
    )
