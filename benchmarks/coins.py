"""Speed of the exact coins, secure and fast, against plain numpy floats doing the same job in the same run.

    python -m benchmarks.coins [--users N] [--rounds R]

Plain numpy is neither exact nor secure; it works in blocks of a size that suits it. Each figure is the best of
several rounds, in which the contestants take turns, so that a busy machine is unfair to all of them alike.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dame.vectorised.bernoulli import packed_bits
from dame.vectorised.laplace import discrete_laplace
from dame.vectorised.unary import Ballots, count_rows, count_votes, vote_matrix, vote_rows
from dame.vectorised.words import FastWords, SecureWords, Words

BINS = 64
YES, NO = 2**63, int(2**64 / (1 + math.e))
P_YES, P_NO = YES / 2**64, NO / 2**64
BLOCK = 4096
"""Users that plain numpy treats together: the fastest of the sizes from 256 to 131,072 here."""

Run = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job, done with our coins and by plain numpy; `work` items are made each time."""

    name: str
    unit: str
    work: int
    ours: Callable[[Words], object]
    plain: Run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=2**19)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print("| job | unit | secure | fast | plain numpy | secure / numpy | fast / numpy |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for job in jobs(arguments.users):
        print(row(job, arguments.rounds), flush=True)


def row(job: Job, rounds: int) -> str:
    """A line of the table."""
    secure, fast = SecureWords(), FastWords(np.random.Generator(np.random.SFC64(1)))
    seconds = best_seconds([lambda: job.ours(secure), lambda: job.ours(fast), job.plain], rounds)
    speeds = [job.work / second / 1e6 for second in seconds]
    figures = [f"{speed:,.1f}" for speed in speeds] + [f"{speed / speeds[2]:.2f}" for speed in speeds[:2]]
    return f"| {job.name} | {job.unit} | {' | '.join(figures)} |"


def best_seconds(runs: list[Run], rounds: int) -> list[float]:
    """The shortest time of each run, the runs taking turns."""
    return [min(times) for times in zip(*([seconds(run) for run in runs] for _ in range(rounds)), strict=True)]


def seconds(run: Run) -> float:
    """The time that one run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def jobs(users: int) -> Iterator[Job]:
    """All jobs, in the order of the table."""
    yield from vote_jobs(users)
    rng = np.random.default_rng(4)
    yield Job(
        name="bits of one probability",
        unit="M bits/s",
        work=users * BINS,
        ours=lambda words: packed_bits(words, NO, users * BINS),
        plain=lambda: [rng.random(BLOCK * 8) < P_NO for _ in range(users * BINS // (BLOCK * 8))],
    )
    for scale in (1, 1000, 2**40):
        yield from laplace_jobs(scale, users, rng)


def vote_jobs(users: int) -> Iterator[Job]:
    """One-hot votes over 64 bins: randomised only, as reports, counted at once, and counted from the reports."""
    rng = np.random.default_rng(2)
    hot = rng.integers(0, BINS, users)
    ballots = Ballots(yes=YES, no=NO, bins=BINS, first=hot, last=hot)
    vote = f"one-hot vote, {BINS} bins: "
    yield Job(
        name=vote + "randomise",
        unit="M users/s",
        work=users,
        ours=lambda words: vote_matrix(words, ballots),
        plain=lambda: sum(1 for _ in plain_votes(rng, hot)),
    )
    yield Job(
        name=vote + "reports",
        unit="M users/s",
        work=users,
        ours=lambda words: vote_rows(words, ballots),
        plain=lambda: np.concatenate(list(plain_reports(rng, hot))),
    )
    yield Job(
        name=vote + "randomise and count",
        unit="M users/s",
        work=users,
        ours=lambda words: count_votes(words, ballots),
        plain=lambda: sum(np.add.reduce(votes, axis=0, dtype=np.int32) for votes in plain_votes(rng, hot)),
    )
    yield Job(
        name=vote + "reports, then count them",
        unit="M users/s",
        work=users,
        ours=lambda words: count_rows(vote_rows(words, ballots), BINS),
        plain=lambda: sum(plain_count(reports) for reports in plain_reports(rng, hot)),
    )


def laplace_jobs(scale: int, count: int, rng: np.random.Generator) -> Iterator[Job]:
    """Discrete Laplace noise, against the same distribution from floats and against continuous noise."""
    p = -math.expm1(-1 / scale)
    power = f"2^{scale.bit_length() - 1}" if scale > 10**6 else str(scale)
    for name, plain in (
        ("two geometrics", lambda: rng.geometric(p, count) - rng.geometric(p, count)),
        ("continuous", lambda: rng.laplace(scale=scale, size=count)),
    ):
        yield Job(
            name=f"Laplace, scale {power} (numpy: {name})",
            unit="M values/s",
            work=count,
            ours=lambda words: discrete_laplace(words, scale, count),
            plain=plain,
        )


def plain_votes(rng: np.random.Generator, hot: np.ndarray) -> Iterator[np.ndarray]:
    """Blocks of noisy votes, as people write them in numpy."""
    for start in range(0, hot.size, BLOCK):
        block = hot[start : start + BLOCK]
        votes = rng.random((block.size, BINS)) < P_NO
        votes[np.arange(block.size), block] = rng.random(block.size) < P_YES
        yield votes


def plain_reports(rng: np.random.Generator, hot: np.ndarray) -> Iterator[np.ndarray]:
    """The same, packed into bytes."""
    for votes in plain_votes(rng, hot):
        yield np.packbits(votes, axis=1, bitorder="little")


def plain_count(reports: np.ndarray) -> np.ndarray:
    """The ones on each bin of packed reports."""
    return np.add.reduce(np.unpackbits(reports, axis=1, bitorder="little"), axis=0, dtype=np.int32)


if __name__ == "__main__":
    main()
