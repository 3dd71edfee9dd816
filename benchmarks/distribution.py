"""Quantiles and distributions of people, beside their limit and beside the square wave with EMS.

    python -m benchmarks.distribution [--repetitions 100] [--users 10000] [--alpha 1] [--tables FOLDER] [--seed 1]

For each population: the variance of the share below an estimated quantile over (B² - (2q - 1)²) / 4n, how often
intervals and bands hold the truth, and the Kolmogorov distance over that of the square wave on the same people.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks import square_wave
from dame.curves import Distribution
from dame.device.records import HALF_GRID
from dame.device.statistics import Value
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.populations.population import Population
from dame.populations.simulation import simulate_once
from dame.protocols import planned
from dame.sizes import Sizes

Floats = NDArray[np.float64]
People = Callable[[int, Generator], Floats]

MANY = 400_000
GRID_STEP = 1 / HALF_GRID
LEVELS = (0.5, 0.1, 0.9)
TABLES = {
    "flights": ("nycflights_delay.parquet", -60.0, 120.0),
    "prices": ("online_retail_price.parquet", 0.0, 10.0),
    "students": ("insteval_students.parquet", 1.0, 5.0),
}


def _bells(n: int, rng: Generator) -> Floats:
    first = rng.random(n) < 0.4
    return np.where(first, 0.3, 0.7) + np.where(first, 0.05, 0.08) * rng.standard_normal(n)


POPULATIONS: Mapping[str, People] = {
    "beta(2, 6)": lambda n, rng: rng.beta(2, 6, n),
    "two bells": _bells,
    "atom and tail": lambda n, rng: np.where(rng.random(n) < 0.3, 0.2, 0.2 + rng.exponential(0.15, n)),
    "uniform": lambda n, rng: rng.random(n),
    "incomes": lambda n, rng: np.exp(-2.3 + 0.7 * rng.standard_normal(n)),
}
"""On [0, 1], where values beyond count as the nearer end; none of them was used for choosing a constant."""


def populations(folder: Path | None) -> Iterator[tuple[str, People]]:
    """The populations, and the users' means of tables in a folder, if one is given."""
    yield from POPULATIONS.items()
    for name, (file, low, high) in TABLES.items() if folder else ():
        import pandas as pd

        table = pd.read_parquet(folder / file)
        means = table["value"].clip(low, high).groupby(table["user"]).mean().to_numpy(np.float64)
        users = (means - low) / (high - low)
        yield name, lambda n, rng, users=users: rng.choice(users, n)  # type: ignore[misc]


def study(values: Floats, alpha: float, level: float | None, rng: Generator) -> Estimate:
    """What a study of these people found: around a level, or of the whole distribution."""
    brief = Brief(
        users=len(values),
        alpha=alpha,
        sizes=Sizes.constant(1),
        statistic=Value(low=0.0, high=1.0),
        levels=(level,) if level else (),
        study="benchmark",
    )
    plan = planned(brief, "quantiles" if level else "distribution")
    return simulate_once(plan, Population.arrays(np.ones(len(values), np.int64), 2 * values - 1), rng).estimate


class Truth:
    """The true distribution of people, by a great many of them."""

    def __init__(self, people: People) -> None:
        """People that are drawn the same each time."""
        self.values = np.sort(np.clip(people(MANY, np.random.default_rng(123)), 0.0, 1.0))

    def below(self, points: Floats, side: str = "right") -> Floats:
        """The share of people at or below points; before them with side="left"."""
        return np.searchsorted(self.values, points, side=side) / MANY  # type: ignore[call-overload,no-any-return]

    def missed(self, point: float, level: float) -> float:
        """By how much the share below a point misses a level; nothing where an atom holds it."""
        # Devices round to a grid: somebody at a point is somebody within a step of it.
        before = float(self.below(np.array([point - GRID_STEP]), "left")[0])
        upto = float(self.below(np.array([point + GRID_STEP]))[0])
        return min(max(level, before), upto) - level

    def distance(self, edges: Floats, cdf: Floats) -> float:
        """The Kolmogorov distance of a curve."""
        fine = np.linspace(0.0, 1.0, 1025)
        return float(np.max(np.abs(np.interp(fine, edges, cdf) - self.below(fine))))

    def held(self, curve: Distribution) -> bool:
        """Whether the whole truth is within a band."""
        shares = self.below(np.array(curve.edges))
        noise = 3 / (2 * math.sqrt(MANY))
        return bool(np.all((np.array(curve.low) - noise <= shares) & (shares <= np.array(curve.high) + noise)))


def measured(people: People, users: int, alpha: float, repetitions: int, seed: int) -> dict[str, float]:
    """The figures of one population."""
    truth, rows = Truth(people), []
    started = time.process_time()
    for number in range(repetitions):
        rng = np.random.default_rng([seed, number])
        values = np.clip(people(users, rng), 0.0, 1.0)
        row = {}
        for level in LEVELS:
            (found,) = study(values, alpha, level, rng).quantiles
            noise = (1 / math.tanh(alpha / 2) ** 2 - (2 * level - 1) ** 2) / (4 * users)
            row[f"p{level:.0%}"] = truth.missed(found.value, level) ** 2 / noise
            true = truth.values[int(level * MANY)]
            row[f"in {level:.0%}"] = float(found.interval[0] <= true <= found.interval[1])
        curve = study(values, alpha, None, rng).distribution
        assert curve is not None
        row["KS"] = truth.distance(np.array(curve.edges), np.array(curve.cdf))
        row["wave KS"] = truth.distance(*square_wave.estimated_cdf(values, alpha, rng))
        row["in band"] = float(truth.held(curve))
        rows.append(row)
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    seconds = (time.process_time() - started) / repetitions
    return {**means, "KS ratio": means["KS"] / means["wave KS"], "seconds": seconds}


def main() -> None:
    """Prints a row for each population, and their mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = []
    for name, people in populations(given.tables):
        rows.append(measured(people, given.users, given.alpha, given.repetitions, given.seed))
        if len(rows) == 1:
            print(" " * 14, *(f"{heading:>8}" for heading in rows[0]))
        print(f"{name:14}", *(f"{figure:8.3f}" for figure in rows[-1].values()), flush=True)
    print(f"{'mean':14}", *(f"{np.mean([row[name] for row in rows]):8.3f}" for name in rows[0]))


if __name__ == "__main__":
    main()
