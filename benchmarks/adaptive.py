"""Risk of the adaptive protocol over a grid: ratio to the information limit, prediction and coverage.

python -m benchmarks.adaptive                      the grid at α = 22/35, three rounds
python -m benchmarks.adaptive --alpha 1 --users 1000 --sizes poisson:50 --rounds 6
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import dame
from dame.populations.simulation import simulate
from dame.protocols import plan_mean

SIZES = (
    "constant:1",
    "poisson:5",
    "geometric:0.1",
    "poisson:50",
    "uniform:1:99",
    "poisson:500",
    "zipf:1.5:10000",
    "constant:100000",
    "two-point:100000:1000000:0.1",
    "two-point:100000:1000000:0.5",
    "two-point:100000:1000000:0.9",
)
DATA = (
    "rademacher:0",
    "rademacher:0.37",
    "rademacher:-0.88",
    "two-point:-1:0.3:0.8",
    "two-point:-0.2:1:0.1",
    "point:0.2",
)
DRAWN_DATA = ("beta:2:6",)
MOST_RECORDS_DRAWN = 1e8
"""Distributions whose records must be drawn one by one are left out where the grid point would need more records."""


def measure(task: tuple[str, int, float, int, int]) -> list[str]:
    """One row of the table."""
    spec, users, alpha, rounds, repetitions = task
    sizes = dame.Sizes.parse(spec)
    started = time.perf_counter()
    plan = plan_mean(users=users, alpha=alpha, sizes=sizes, max_rounds=rounds)
    seconds = time.perf_counter() - started
    data = DATA + (DRAWN_DATA if users * sizes.mean * repetitions <= MOST_RECORDS_DRAWN else ())
    results = {
        each: simulate(plan, dame.Population.synthetic(sizes, dame.parse_distribution(each)), repetitions, seed=7)
        for each in data
    }
    worst = max(results, key=lambda each: results[each].mse)
    coverages = [result.coverage for result in results.values()]
    widths = [result.interval_width / (3.92 * result.rmse) for result in results.values()]
    forecast = plan.forecast
    return [
        spec,
        f"{users:g}",
        f"{alpha:.3g}",
        str(len(plan.rounds)),
        f"{results[worst].ratio_to_limit:.2f}",
        f"{forecast.predicted_rmse**2 / forecast.limit_mse:.2f}",
        f"{forecast.predicted_rmse / results[worst].rmse:.2f}",
        f"{plan.details['frontier_ratio']:.2f}",
        f"{min(coverages):.3f}–{max(coverages):.3f}",
        f"{max(widths):.2f}",
        f"{sum(result.failures for result in results.values())}",
        worst,
        f"{seconds:.1f}",
    ]


HEADER = (
    *("sizes", "users", "alpha", "rounds", "risk/limit", "predicted", "predicted/measured RMSE", "frontier"),
    *("coverage", "width", "failures", "worst data", "plan s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--users", nargs="+", type=float, default=[1e4, 1e5, 1e6])
    parser.add_argument("--alpha", nargs="+", type=float, default=[22 / 35])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (spec, int(users), alpha, options.rounds, options.repetitions)
        for alpha in options.alpha
        for spec in options.sizes
        for users in options.users
    ]
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER))
    with ProcessPoolExecutor(options.workers) as pool:
        for row in pool.map(measure, tasks):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
