"""Speed of the simulation, as ratios in one run.

    python -m benchmarks.simulation

- one repetition of `paper` with 10^6 users and about 64 bins, against numpy drawing the sizes and the means alone;
- peak memory of that, and of one repetition with 10^7 users;
- one vote over 64 bins on the device.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import dame
from dame.device import Bins, Bits, Question
from dame.populations.population import USERS_AT_ONCE, Chunk, Population
from dame.populations.simulation import simulate_once
from dame.protocols import plan_mean

USERS = 10**6
ALPHA = 22 / 35


def fastest(job: Callable[[], object], times: int = 5) -> float:
    """The least of several times in seconds: what the machine can do when it is left alone."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def bare_numpy(rng: np.random.Generator) -> None:
    """Sizes and binomial means of all users, and nothing else."""
    for _ in range(0, USERS, USERS_AT_ONCE):
        sizes = rng.poisson(100_000, USERS_AT_ONCE)
        _ = 2 * rng.binomial(sizes, 0.6) / sizes - 1


class DrawnUsers(Population):
    """Users drawn one by one, as for distributions that have no shortcut."""

    truth = 0.2

    def groups(self, users, shares, rng):
        return [self._chunks(int(count), rng) for count in rng.multinomial(users, shares)]

    def _chunks(self, users, rng):
        for start in range(0, users, USERS_AT_ONCE):
            sizes = rng.poisson(100_000, min(USERS_AT_ONCE, users - start))
            yield Chunk(sizes, 2 * rng.binomial(sizes, 0.6) / sizes - 1)


def peak_megabytes(code: str) -> float:
    """Peak memory of a fresh interpreter that runs the code."""
    script = f"{code}\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[-1]) / 1024


LARGE = """
import dame
sizes = dame.Sizes.parse("constant:100")
plan = plan_mean(users=10**7, alpha=22/35, sizes=sizes, protocol="{protocol}")
run_machine(plan, dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.2")), seed=1)
"""


def main() -> None:
    rng = np.random.default_rng(1)
    sizes = dame.Sizes.parse("poisson:100000")
    plan = plan_mean(users=USERS, alpha=ALPHA, sizes=sizes, protocol="paper")
    shortcut = dame.Population.synthetic(sizes, dame.parse_distribution("rademacher:0.2"))
    bare = fastest(lambda: bare_numpy(rng))
    drawn = fastest(lambda: simulate_once(plan, DrawnUsers(), rng))
    atoms = fastest(lambda: simulate_once(plan, shortcut, rng))
    vote = Question(study="s", round=0, alpha=1.0, lens=Bins(bins=64, width=1 / 32), channel=Bits.optimised(1.0, 64))
    samples = [0.1] * 20
    scalar = fastest(lambda: [dame.device.answer(vote, samples) for _ in range(1000)]) / 1000
    print(f"bins of the vote: {plan.details['bins']}")
    print(f"numpy draws sizes and means of 1e6 users: {bare:.3f} s")
    print(f"one repetition of paper, users drawn:     {drawn:.3f} s, {drawn / bare:.2f} times numpy")
    print(f"one repetition of paper, by distribution: {atoms:.3f} s, {atoms / bare:.2f} times numpy")
    print(
        f"peak memory of all this:                  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
    for protocol in ("paper", "adaptive"):
        print(f"peak memory of 1e7 users, {protocol}: {peak_megabytes(LARGE.format(protocol=protocol)):.0f} MB")
    print(f"one 64-bin vote on the device: {scalar * 1e6:.0f} µs")


if __name__ == "__main__":
    main()
