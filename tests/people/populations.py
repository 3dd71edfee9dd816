"""People with known distributions, on the inner scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dame.device.statistics import Value
from dame.estimates import Estimate
from dame.planning.brief import Brief
from dame.populations.population import Population
from dame.populations.simulation import simulate_once
from dame.protocols import planned
from dame.sizes import Sizes

Floats = NDArray[np.float64]
People = Callable[[int, Generator], Floats]

BELL: People = lambda n, rng: np.clip(0.2 + 0.15 * rng.standard_normal(n), -1, 1)  # noqa: E731
SKEWED: People = lambda n, rng: 2 * rng.beta(1.5, 6, n) - 1  # noqa: E731
FLOOR: People = lambda n, rng: np.where(rng.random(n) < 0.35, -1.0, 2 * rng.beta(2, 3, n) - 1)  # noqa: E731
ATOM: People = lambda n, rng: np.full(n, 0.3)  # noqa: E731
CLUSTERS: People = lambda n, rng: np.where(rng.random(n) < 0.4, -0.5, 0.5) + 0.05 * rng.standard_normal(n)  # noqa: E731


def study(
    people: People,
    seed: int,
    *,
    users: int = 10_000,
    protocol: str = "quantiles",
    levels: tuple[float, ...] = (0.1, 0.5, 0.9),
    **choices: float,
) -> Estimate:
    """What one simulated study of fresh people found, between -1 and 1."""
    rng = np.random.default_rng(seed)
    brief = Brief(
        users=users,
        alpha=1.0,
        sizes=Sizes.constant(1),
        statistic=Value(),
        levels=levels if protocol == "quantiles" else (),
        study="people",
    )
    plan = planned(brief, protocol, **choices)
    means = np.clip(people(users, rng), -1.0, 1.0)
    return simulate_once(plan, Population.arrays(np.ones(users, np.int64), means), rng).estimate


def true_share(people: People, point: float) -> float:
    """The share of a great many people at or below a point."""
    return float(np.mean(people(400_000, np.random.default_rng(99)) <= point))
