"""Between-user variation: errors of `adaptive` relative to plain bits, and how often intervals hold the truth.

    python -m benchmarks.between_users [--repetitions 100] [--seed 1] [--table FILE USER VALUE LOW HIGH]

Mixtures that follow no assumption, or the users of a CSV or Parquet table, each with several numbers of users and α.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

import dame
from dame.populations.simulation import simulate_once
from dame.protocols import plan_mean

Floats = NDArray[np.float64]
Mixture = Callable[[int, Generator], Floats]

STUDIES = ((300, 2.0), (1000, 1.0), (3000, 2.0), (3000, 22 / 35), (10_000, 22 / 35))


def minority(share: float, far: float, near: float, width: float = 0.05) -> Mixture:
    """A share of the users far away from a bell of others."""

    def means(users: int, rng: Generator) -> Floats:
        away = np.arange(users) < round(share * users)
        return np.where(away, far, near) + np.where(away, 0.02, width) * rng.normal(size=users)

    return means


def clusters(one: float, other: float, share: float, width: float = 0.05) -> Mixture:
    """A share of the users near one point, the rest near another."""

    def means(users: int, rng: Generator) -> Floats:
        return np.where(rng.random(users) < share, one, other) + width * rng.normal(size=users)

    return means


MIXTURES: Mapping[str, Mixture] = {
    "bell of width 0.05": lambda n, rng: 0.2 + 0.05 * rng.normal(size=n),
    "bell of width 0.2": lambda n, rng: -0.3 + 0.2 * rng.normal(size=n),
    "heavy shoulders": lambda n, rng: -0.3 + 0.12 * rng.standard_t(2, size=n),
    "skewed, beta(1, 6)": lambda n, rng: 2 * rng.beta(1, 6, size=n) - 1,
    "uniform": lambda n, rng: rng.uniform(-1, 1, size=n),
    "half at -0.5, half at 0.5": clusters(-0.5, 0.5, 0.5),
    "40 % at -1, 60 % at 1": clusters(-1.0, 1.0, 0.4, 0.0),
    "2 % at 1, others at 0": minority(0.02, 1.0, 0.0),
    "3 % at 0.9, others at -0.2": minority(0.03, 0.9, -0.2),
    "5 % at 0.9, others at -0.2": minority(0.05, 0.9, -0.2),
    "10 % at 0.9, others at -0.2": minority(0.1, 0.9, -0.2),
    "20 % at 0.9, others at -0.2": minority(0.2, 0.9, -0.2),
    "10 % at -1, others at 0.1": minority(0.1, -1.0, 0.1),
    "5 % at 1, others at -0.8": minority(0.05, 1.0, -0.8),
    "10 % at 1, others at -0.8": minority(0.1, 1.0, -0.8),
    "20 % at -0.6, others at 0.6": minority(0.2, -0.6, 0.6, 0.1),
}


def compared(means: Floats, alpha: float, repetitions: int, seed: int) -> tuple[float, float, float]:
    """RMSE relative to that of plain bits (which is exact), its standard error, and the coverage."""
    users, truth = len(means), float(means.mean())
    sizes = dame.Sizes.parse("constant:1")
    plan = plan_mean(users=users, alpha=alpha, sizes=sizes, between_sd="learn", study="between-users")
    population = dame.Population.arrays(np.ones(users, dtype=np.int64), means)
    studies = (np.random.default_rng([seed, number, 2]) for number in range(repetitions))
    estimates = [simulate_once(plan, population, rng).estimate for rng in studies]
    squares = np.array([(estimate.value - truth) ** 2 for estimate in estimates])
    covered = np.mean([estimate.interval[0] <= truth <= estimate.interval[1] for estimate in estimates])
    plain = math.sqrt((1 / math.tanh(alpha / 2) ** 2 - float(np.mean(means**2))) / users)
    rmse = math.sqrt(squares.mean())
    return rmse / plain, float(squares.std() / math.sqrt(repetitions) / (2 * rmse) / plain), float(covered)


def users_of(path: str, user: str, value: str, low: float, high: float) -> Floats:
    """The means of a table's users, on the scale from -1 to 1."""
    table = (pd.read_csv if path.endswith(".csv") else pd.read_parquet)(path, columns=[user, value]).dropna()
    scaled = np.clip((table[value] - low) / (high - low) * 2 - 1, -1, 1)
    return np.asarray(scaled.groupby(table[user]).mean(), dtype=np.float64)


def line(name: str, means: Floats, alpha: float, repetitions: int, seed: int) -> str:
    """One study in words."""
    ratio, error, covered = compared(means, alpha, repetitions, seed)
    return f"{name:30} n = {len(means):6} α = {alpha:4.2f}: {ratio:.2f} ± {error:.2f} of one-bit, covered {covered:.2f}"


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", nargs=5, metavar=("FILE", "USER", "VALUE", "LOW", "HIGH"))
    given = parser.parse_args()
    if given.table:
        path, user, value, low, high = given.table
        means = users_of(path, user, value, float(low), float(high))
        for alpha in (22 / 35, 2.0):
            print(line(value, means, alpha, given.repetitions, given.seed), flush=True)
        return
    for name, mixture in MIXTURES.items():
        for users, alpha in STUDIES:
            means = np.clip(mixture(users, np.random.default_rng([given.seed, 1])), -1, 1)
            print(line(name, means, alpha, given.repetitions, given.seed), flush=True)


if __name__ == "__main__":
    main()
