"""The hard corners of `adaptive`: few people with many records, and a minority that holds most of the records.

python -m benchmarks.corners                       the table of docs/adaptive.md
python -m benchmarks.corners few --repetitions 50  one part of it
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import dame
from dame.populations.simulation import simulate
from dame.protocols import plan_mean

DATA = ("rademacher:0", "rademacher:0.37", "rademacher:-0.88", "two-point:-1:0.3:0.8")
THEIRS = 22 / 35


@dataclass(frozen=True, slots=True)
class Corner:
    """One row of the table."""

    sizes: str
    users: int
    alpha: float
    rounds: int


PARTS = {
    "few": (
        Corner("constant:100000", 1000, 1.0, 3),
        Corner("constant:5000", 2000, 1.0, 3),
        Corner("constant:20000", 1500, 1.0, 3),
        Corner("constant:100000", 1000, 0.6, 3),
        Corner("constant:5680", 2000, 0.6, 3),
        Corner("poisson:3000", 2500, THEIRS, 3),
    ),
    "minority": (
        Corner("two-point:1:1000000:0.2", 10**5, THEIRS, 4),
        Corner("two-point:10:1000000:0.3", 10**5, THEIRS, 4),
        Corner("two-point:1000:10000000:0.25", 10**5, THEIRS, 4),
        Corner("two-point:100000:100000000:0.05", 10**5, THEIRS, 4),
        Corner("two-point:100000:100000000:0.1", 10**5, THEIRS, 4),
        Corner("two-point:100000:100000000:0.2", 10**5, THEIRS, 4),
        Corner("two-point:100000:100000000:0.4", 10**5, THEIRS, 4),
        Corner("zipf:1.2:100000", 20_000, THEIRS, 4),
        Corner("zipf:1.1:1000000", 10**5, THEIRS, 4),
    ),
}


def measure(task: tuple[Corner, int, int]) -> list[str]:
    """One row of the table."""
    corner, repetitions, seed = task
    sizes = dame.Sizes.parse(corner.sizes)
    started = time.process_time()
    plan = plan_mean(users=corner.users, alpha=corner.alpha, sizes=sizes, max_rounds=corner.rounds)
    seconds = time.process_time() - started
    results = [
        simulate(plan, dame.Population.synthetic(sizes, dame.parse_distribution(data)), repetitions, seed=seed)
        for data in DATA
    ]
    worst = max(results, key=lambda result: result.mse)
    forecast = plan.forecast
    return [
        corner.sizes,
        f"{corner.users:,}",
        f"{corner.alpha:.3g}",
        ", ".join(f"{round_.name} {round_.share:.2f}" for round_ in plan.rounds),
        f"{worst.ratio_to_limit:.2f}",
        f"{forecast.counted_rmse**2 / forecast.limit_mse:.2f}",
        f"{forecast.counted_rmse / worst.rmse:.2f}",
        f"{min(result.coverage for result in results):.3f}–{max(result.coverage for result in results):.3f}",
        f"{forecast.failure_probability:.1g}",
        f"{seconds:.1f}",
    ]


HEADER = (
    *("sizes", "users", "alpha", "rounds", "risk/limit", "predicted", "predicted/measured RMSE"),
    *("coverage", "wrong place", "plan s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=list(PARTS))
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    tasks = [(corner, options.repetitions, options.seed) for part in options.parts for corner in PARTS[part]]
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER))
    with ProcessPoolExecutor(options.workers) as pool:
        for row in pool.map(measure, tasks):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
