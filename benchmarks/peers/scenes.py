"""The populations on which everybody is measured: users with sizes, means and one record each, on the scale -1 … 1."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import dame

SIZES = ("poisson:5", "poisson:500", "zipf:1.5:10000", "two-point:100000:1000000:0.5")
DISTRIBUTIONS = ("rademacher:0", "rademacher:0.37", "two-point:-1:0.3:0.8")
"""That of the limit, one off the middle, and a skewed one; a risk is the worst over them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Users:
    """Some users: the size and the mean of each, and one record that was picked at random.

    `fixed` users are the whole population: the mean of their means is the truth. Others stand for the distribution that
    they were drawn from.
    """

    sizes: NDArray[np.int64]
    means: NDArray[np.float64]
    records: NDArray[np.float64]
    fixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RealTable:
    """A table of real records: its users, their sizes as a distribution, and the spread between them."""

    name: str
    users: Users
    sizes: dame.Sizes
    between_sd: float


def synthetic(rng: Generator, sizes: dame.Sizes, distribution: str, count: int) -> Users:
    """Fresh users whose records have one distribution."""
    records = dame.parse_distribution(distribution)
    drawn = sizes.sample(rng, count)
    one = np.ones(count, dtype=np.int64)
    return Users(sizes=drawn, means=records.user_means(rng, drawn), records=records.user_means(rng, one))


def real_tables(folder: Path) -> list[RealTable]:
    """The tables of a folder: each NAME.parquet with columns user and value, beside NAME.json with `value_bounds`."""
    return [_read(path) for path in sorted(folder.glob("*.parquet")) if path.with_suffix(".json").exists()]


def _read(path: Path) -> RealTable:
    import pyarrow.parquet as pq

    low, high = json.loads(path.with_suffix(".json").read_text("utf-8"))["value_bounds"]
    table = pq.read_table(path, columns=["user", "value"])
    _, user = np.unique(table["user"].to_numpy(), return_inverse=True)
    values = np.clip(table["value"].to_numpy().astype(np.float64), low, high)
    values = 2 * (values - low) / (high - low) - 1
    sizes = np.bincount(user)
    means = np.clip(np.bincount(user, values) / sizes, -1, 1)
    shuffled = np.random.default_rng(1).permutation(len(values))
    records = np.empty(len(sizes))
    records[user[shuffled]] = values[shuffled]
    counts, users = np.unique(sizes, return_counts=True)
    observed = dame.Sizes.from_weights(dict(zip(counts.tolist(), users.astype(float).tolist(), strict=True)))
    spread = _between_sd(sizes, means, np.bincount(user, values**2) / sizes)
    return RealTable(
        name=path.stem,
        users=Users(sizes=sizes.astype(np.int64), means=means, records=records, fixed=True),
        sizes=observed,
        between_sd=spread,
    )


def _between_sd(sizes: np.ndarray, means: np.ndarray, squares: np.ndarray) -> float:
    """Spread of users' own means: the spread of the observed means less what their few records explain."""
    within = ((squares - means**2) * sizes).sum() / (sizes - 1).sum()
    return float(np.sqrt(max(means.var(ddof=1) - within * np.mean(1 / sizes), 0.0)))
