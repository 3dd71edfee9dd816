"""Risk of the protocol `one-round` over a grid: ratio to the information limit, prediction, coverage, wrong stripes.

python -m benchmarks.one_round                                    the grid of docs/one-round.md
python -m benchmarks.one_round --sizes poisson:200 --users 30000 --alpha 0.8 --studies 1000

Studies are simulated by their sums: the chance of a one in each pattern follows from the characteristic function of
user means, and the bits of each pattern are binomial. What is simulated is the reader, not the devices.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from numpy.typing import NDArray

import dame
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.stripes import Stripes
from dame.planning.machines import MachinePlan
from dame.populations.simulation import mistaken
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.protocols.one_round.responses import Records, Responses, frequency_of, grouped, signs
from dame.tally import Tally

SIZES = ("poisson:50", "poisson:500", "constant:100000")
USERS = (10_000, 100_000)
ALPHAS = (1.0, 22 / 35)
DATA = ("rademacher:0", "rademacher:0.37", "rademacher:-0.88", "two-point:-1:0.3:0.8")
HARMONICS = range(1, 400, 2)


def records_of(data: str) -> Records:
    """A distribution of two values."""
    kind, *numbers = data.split(":")
    if kind == "rademacher":
        return signs(np.array([float(numbers[0])]))
    low, high, share = (np.array([float(number)]) for number in numbers)
    return Records(low=low, high=high, chance=share)


def chances(question: Question, sizes: dame.Sizes, records: Records) -> NDArray[np.float64]:
    """The chance of a one in each pattern: all harmonics of the square wave."""
    lens, seen, theta = narrowed(Stripes, question.lens), Responses(records, grouped(sizes)), records.means[0]
    sides: list[float] = []
    for level in lens.levels:
        turns = (theta - np.array([level.offset(phase) for phase in range(level.phases)])) / level.wavelength
        side = np.zeros(level.phases)
        for k in HARMONICS:
            weight = seen.of(k * frequency_of(level), level.min_size)[0]
            side += 4 / (math.pi * k) * (weight * np.exp(2j * math.pi * k * turns)).imag
        sides += np.clip(side, -1.0, 1.0).tolist()
    return np.array([question.channel.probability((1 + side) / 2) for side in sides])


def studies(plan: MachinePlan, data: str, count: int, seed: int) -> NDArray[np.float64]:
    """Error, whether the interval held the truth, and whether the stripe was wrong, for each study."""
    question, records, rng = next_step(plan, []), records_of(data), np.random.default_rng(seed)
    assert isinstance(question, Question)
    theta, ones, rows = float(records.means[0]), chances(question, plan.brief.sizes, records), []
    for _ in range(count):
        reports = rng.multinomial(plan.users, np.full(len(ones), 1 / len(ones)))
        sums = rng.binomial(reports, ones)
        tally = Tally.of(question, [(int(n), (int(k),)) for n, k in zip(reports, sums, strict=True)])
        found = next_step(plan, [tally])
        assert not isinstance(found, Question)
        error, (low, high) = found.value - theta, found.interval
        rows.append((error, low <= theta <= high, mistaken(question.lens, error)))
    return np.array(rows, np.float64)


def measure(spec: str, users: int, alpha: float, count: int) -> str:
    """One row of the table."""
    sizes = dame.Sizes.parse(spec)
    sizes.nodes()
    started = time.process_time()
    plan = plan_mean(protocol="one-round", users=users, alpha=alpha, sizes=sizes, study="benchmark")
    seconds = time.process_time() - started
    if plan.rounds[0].lens.kind != Stripes.kind:
        return f"| {spec} | {alpha:.3g} | {users:,} | plain bits | | | | | {seconds:.2f} |"
    found = [studies(plan, data, count, seed=7000 + place) for place, data in enumerate(DATA)]
    floor = plan.forecast.limit_mse
    worst = max(float((rows[:, 0] ** 2).mean()) for rows in found)
    covered = [float(rows[:, 1].mean()) for rows in found]
    wrong = int(sum(rows[:, 2].sum() for rows in found))
    predicted = plan.forecast.predicted_rmse**2 / floor
    return (
        f"| {spec} | {alpha:.3g} | {users:,} | stripes | {worst / floor:.2f} ({predicted:.2f}) "
        f"| {min(covered):.3f} – {max(covered):.3f} | {wrong} of {count * len(DATA):,} "
        f"| {plan.forecast.failure_probability:.0e} | {seconds:.2f} |"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--users", nargs="+", type=int, default=USERS)
    parser.add_argument("--alpha", nargs="+", type=float, default=ALPHAS)
    parser.add_argument("--studies", type=int, default=400)
    chosen = parser.parse_args()
    print("| sizes | α | n | asked | risk / limit (predicted) | coverage | wrong stripes | bound | plan, s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for spec in chosen.sizes:
        for alpha in chosen.alpha:
            for users in chosen.users:
                print(measure(spec, users, alpha, chosen.studies), flush=True)


if __name__ == "__main__":
    main()
