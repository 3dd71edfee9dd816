"""Several targets in one study: what each column costs beside a study of its own, and beside others' ways.

    python -m benchmarks.targets columns [--studies 100] [--between-sd learn]
    python -m benchmarks.targets piecewise [--studies 100]
    python -m benchmarks.targets outside [--studies 100]

`columns`: the risk of each of d columns relative to a study with one column and n/d people. `piecewise`: the error of
four columns beside the piecewise mechanism (Wang et al. 2019) on people's means, one sampled column a person with her
whole budget. `outside`: the setting of the stored multivariate results of DAME-BS (2025; 2,000 people with 20 normal
records each, α = 0.6), whose public code draws one coin for two bits and is not α-private.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import dame
from dame.populations.distributions import TwoPoint, rademacher
from dame.populations.simulation import simulate, simulate_once
from dame.populations.studies import simulate_targets
from dame.protocols import plan_mean

DATA = (rademacher(0.3), rademacher(-0.5), TwoPoint(-0.2, 0.6, 0.3), rademacher(0.0))
"""Records of the columns, in turns."""
SETTINGS = tuple(itertools.product((10_000, 100_000), ("poisson:50", "zipf:1.5:10000"), (22 / 35, 1.0)))
STORED = {2: 0.0051, 4: 0.0168, 8: 0.0649}
"""Mean sums of squared errors of DAME-BS, by the number of columns."""
Floats = NDArray[np.float64]


def study_of(columns: int, users: int, alpha: float, sizes: str, between_sd: str | float) -> dame.Plan:
    """A study of the means of so many columns."""
    targets = [dame.mean(f"c{place}", (-1, 1)) for place in range(columns)]
    return dame.Study(
        users=users, alpha=alpha, sizes=sizes, targets=targets, between_sd=between_sd, study="columns"
    ).plan()


def columns(studies: int, between_sd: str | float) -> None:
    """Prints the mean, over columns, of the risk relative to a study of one column with n/d people."""
    print("users    sizes            alpha  d   risk / risk alone   coverage")
    for (users, sizes, alpha), d in itertools.product(SETTINGS, (4, 16)):
        plan = study_of(d, users, alpha, sizes, between_sd)
        found = simulate_targets(plan, {f"c{place}": DATA[place % 4] for place in range(d)}, studies, seed=1)
        alone = [_alone(record, users // d, alpha, sizes, between_sd, studies * d // 4) for record in DATA]
        risks = [found[f"c{place}"].mse / alone[place % 4] for place in range(d)]
        error = math.sqrt(2 / (studies * d) * 2)  # of the mean ratio, if squared errors were those of a normal
        covered = np.mean([one.coverage for one in found.values()])
        print(
            f"{users:7d}  {sizes:15}  {alpha:.3f}  {d:2}  {np.mean(risks):.3f} ± {error:.3f}       {covered:.3f}",
            flush=True,
        )


def _alone(records: TwoPoint, users: int, alpha: float, sizes: str, between_sd: str | float, studies: int) -> float:
    plan = plan_mean(users=users, alpha=alpha, sizes=dame.Sizes.parse(sizes), between_sd=between_sd, study="alone")
    return simulate(plan, dame.Population.synthetic(dame.Sizes.parse(sizes), records), studies, seed=2).mse


def piecewise(studies: int) -> None:
    """Prints the errors of four columns, ours and those of the piecewise mechanism, on the same people's means."""
    print("users    alpha  between-sd  ours      piecewise  ratio")
    for users, alpha, spread in itertools.product((10_000, 100_000), (22 / 35, 1.0), ("learn", 0.0)):
        plan = study_of(4, users, alpha, "poisson:50", spread)
        found = simulate_targets(plan, {f"c{place}": DATA[place] for place in range(4)}, studies, seed=3)
        ours = math.sqrt(np.mean([one.mse for one in found.values()]))
        theirs = math.sqrt(np.mean([_piecewise_risk(record, users // 4, alpha) for record in DATA]))
        print(f"{users:7d}  {alpha:.3f}  {spread!s:10}  {ours:.5f}   {theirs:.5f}    {ours / theirs:.3f}", flush=True)


def _piecewise_risk(records: TwoPoint, users: int, alpha: float) -> float:
    """The mean squared error of the mechanism by its published variance, for the means of people drawn from M."""
    means = _means(records, dame.Sizes.parse("poisson:50"), 10**6, np.random.default_rng(4))
    noise = piecewise_variance(math.sqrt(float(np.mean(means**2))), alpha)
    return (noise + float(np.var(means))) / users


def _means(records: TwoPoint, sizes: dame.Sizes, users: int, rng: Generator) -> Floats:
    return records.user_means(rng, sizes.sample(rng, users))


def piecewise_reports(values: Floats, alpha: float, rng: Generator) -> Floats:
    """Unbiased reports in [-c, c] of values in [-1, 1]: mostly from a piece around the value, else from the rest."""
    half = math.exp(alpha / 2)
    reach = (half + 1) / (half - 1)
    left = (reach + 1) / 2 * values - (reach - 1) / 2
    near = left + (reach - 1) * rng.random(len(values))
    # The rest has length reach + 1: a place on it, which jumps over the piece where it meets it.
    far = -reach + (reach + 1) * rng.random(len(values))
    far = np.where(far < left, far, far + reach - 1)
    return np.where(rng.random(len(values)) < half / (half + 1), near, far)


def piecewise_variance(value: float, alpha: float) -> float:
    """The published variance of a report: x²/(e^{α/2} - 1) + (e^{α/2} + 3) / (3 (e^{α/2} - 1)²)."""
    half = math.exp(alpha / 2)
    return value**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)


def outside(studies: int) -> None:
    """Prints sums of squared errors in the setting of the stored results, ours beside theirs."""
    print("d   ours (one distribution)   ours (between-user variation)   DAME-BS, stored")
    for d, theirs in STORED.items():
        ours = [_sum_of_squares(d, spread, studies) for spread in (0.0, "learn")]
        shown = "   ".join(f"{value:.4f} ± {error:.4f}           " for value, error in ours)
        print(f"{d}   {shown}   {theirs}", flush=True)


def _sum_of_squares(d: int, between_sd: str | float, studies: int) -> tuple[float, float]:
    """The mean sum of squared errors over d columns, and its standard error."""
    plan = plan_mean(users=2000 // d, alpha=0.6, sizes=dame.Sizes.constant(20), between_sd=between_sd, study="outside")
    sums = [_one_trial(plan, d, np.random.default_rng([5, d, trial])) for trial in range(studies)]
    return float(np.mean(sums)), float(np.std(sums) / math.sqrt(studies))


def _one_trial(plan: object, d: int, rng: Generator) -> float:
    """Normal records around 0.1, stretched so that the largest and the smallest of all are 1 and -1, as there."""
    records = rng.normal(0.1, 1.0, (d, 2000, 20))
    low, high = records.min(), records.max()
    truth = 2 * (0.1 - low) / (high - low) - 1
    means = 2 * (records.mean(axis=2) - low) / (high - low) - 1
    return sum(_squared_error(plan, means[column, : 2000 // d], truth, rng) for column in range(d))


def _squared_error(plan: object, means: Floats, truth: float, rng: Generator) -> float:
    population = dame.Population.arrays(np.full(len(means), 20), means)
    return (simulate_once(plan, population, rng).estimate.value - truth) ** 2  # type: ignore[arg-type]


def main(words: Sequence[str] | None = None) -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("columns", "piecewise", "outside"))
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--between-sd", default="learn")
    given = parser.parse_args(words)
    spread = given.between_sd if given.between_sd == "learn" else float(given.between_sd)
    if given.what == "columns":
        columns(given.studies, spread)
    else:
        {"piecewise": piecewise, "outside": outside}[given.what](given.studies)


if __name__ == "__main__":
    main()
