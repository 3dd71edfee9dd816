"""Speed: the same job by everybody, in one run, the contestants taking turns; each figure is the best of its turns.

Jobs within one process are measured in processor time, whole processes and the service by the clock.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dame
from benchmarks.coins import BINS, NO, YES, best_seconds, plain_count, plain_reports, plain_votes
from benchmarks.peers import packages
from benchmarks.peers.installed import MISSING, is_installed
from benchmarks.peers.rows import Row
from dame.device import Bins, Bits, Question
from dame.vectorised.reports import answer_many, report_totals
from dame.vectorised.unary import Ballots, count_votes, vote_matrix
from dame.vectorised.words import FastWords, SecureWords, Words

ALPHA = 1.0
RANDOMISE, COUNT, REPORTS = (
    f"{BINS}-bin vote: randomise",
    f"{BINS}-bin vote: randomise and count",
    f"{BINS}-bin vote: from means to reports to tally",
)
NUMBER = "one noisy number a user (Laplace)"
SECURE = "**DAME, secure exact coins**"
FAST = "DAME, fast coins (simulation)"
DEVICE = "DAME, device (one person at a time)"
PLAIN = "plain numpy (not exact, not secure)"
GRID = 2**20
"""OpenDP's exact noise is for whole numbers: the grid on which it gets the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How many users the batch paths treat, and how many turns everybody has."""

    users: int = 2**18
    called: int = 5_000
    turns: int = 5
    records: int = 10**7
    quick: bool = False


QUICK = Effort(users=2**15, called=300, turns=1, records=10**5, quick=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A contestant of a job: how many users it treats in one go."""

    job: str
    name: str
    users: int
    run: Callable[[], object]
    package: str | None = None


def measure(effort: Effort, say: Callable[[str], None] = lambda _: None) -> Iterator[Row]:
    """All rows of this part."""
    for make in (vote_entries, number_entries):
        entries = list(make(effort))
        say(f"speed: {', '.join(sorted({entry.job for entry in entries}))}")
        for job in dict.fromkeys(entry.job for entry in entries):
            yield from timed([entry for entry in entries if entry.job == job], effort.turns)
    say("speed: growth")
    yield from growth(effort)
    say("speed: dame pilot against the bare group-by")
    yield from pilot_rows(effort)
    say("speed: service")
    yield from service_rows(effort)


def timed(entries: list[Entry], turns: int) -> Iterator[Row]:
    """Users per second of each entry, and how many times as fast ours is."""
    present = [entry for entry in entries if entry.package is None or is_installed(entry.package)]
    for entry in present:
        if entry.package:  # compilers and lazy imports are not part of the job
            entry.run()
    speeds = {
        entry.name: entry.users / second
        for entry, second in zip(present, processor_seconds([entry.run for entry in present], turns), strict=True)
    }
    for entry in entries:
        speed = speeds.get(entry.name)
        yield Row(
            part="speed",
            setting=entry.job,
            contestant=entry.name,
            value=speed,
            unit="users/s",
            ratio=None if speed is None else speeds[SECURE] / speed,
            note="" if speed is not None else MISSING,
        )


def processor_seconds(runs: list[Callable[[], object]], turns: int) -> list[float]:
    """The least processor time of each run, the runs taking turns: all have one thread, and others use the machine."""

    def once(run: Callable[[], object]) -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    return [min(times) for times in zip(*([once(run) for run in runs] for _ in range(turns)), strict=True)]


def vote(bins: int = BINS) -> Question:
    """The question that everybody answers."""
    lens = Bins(bins=bins, width=2 / bins)
    return Question(study="s", round=0, alpha=ALPHA, lens=lens, channel=Bits.optimised(ALPHA, bins))


def tallied(question: Question, sizes: np.ndarray, means: np.ndarray, words: Words | None = None) -> dame.Tally:
    """Everybody's report is made as bytes, and all of them are checked and added up."""
    return dame.Tally.of(question, report_totals(question, answer_many(question, sizes, means, words)))


def vote_entries(effort: Effort) -> Iterator[Entry]:
    """A vote over 64 bins, by reports that are never written, counted at once, and with reports as bytes."""
    rng = np.random.default_rng(1)
    secure, fast = SecureWords(), FastWords(np.random.Generator(np.random.SFC64(1)))
    hot = rng.integers(0, BINS, effort.users)
    ballots = Ballots(yes=YES, no=NO, bins=BINS, first=hot, last=hot)
    few = hot[: effort.called]
    for name, words in ((SECURE, secure), (FAST, fast)):
        yield Entry(
            job=RANDOMISE,
            name=name,
            users=effort.users,
            run=lambda words=words: vote_matrix(words, ballots),
        )
        yield Entry(
            job=COUNT,
            name=name,
            users=effort.users,
            run=lambda words=words: count_votes(words, ballots),
        )
    yield Entry(job=RANDOMISE, name=PLAIN, users=effort.users, run=lambda: sum(1 for _ in plain_votes(rng, hot)))
    yield Entry(
        job=COUNT,
        name=PLAIN,
        users=effort.users,
        run=lambda: sum(np.add.reduce(votes, axis=0, dtype=np.int32) for votes in plain_votes(rng, hot)),
    )
    yield from peer_votes(few)
    yield from edge_entries(effort, rng, secure, fast)


def peer_votes(few: np.ndarray) -> Iterator[Entry]:
    """The packages."""
    for package, run in (
        ("multi-freq-ldpy", packages.multi_freq_reports),
        ("multi-freq-ldpy", packages.multi_freq_votes),
        ("pure-ldp", packages.pure_ldp_votes),
        ("opendp", packages.opendp_bit_vectors),
    ):
        job = RANDOMISE if run is packages.multi_freq_reports else COUNT
        yield Entry(job=job, name=package, users=len(few), package=package, run=lambda run=run: run(few, ALPHA))


def edge_entries(effort: Effort, rng: np.random.Generator, secure: SecureWords, fast: FastWords) -> Iterator[Entry]:
    """The whole way of an edge site and its collector, and of one device."""
    question = vote()
    sizes = rng.integers(1, 100, effort.users)
    means = rng.random(effort.users) * 2 - 1
    for name, words in ((SECURE, secure), (FAST, fast)):
        yield Entry(
            job=REPORTS,
            name=name,
            users=effort.users,
            run=lambda words=words: tallied(question, sizes, means, words),
        )
    yield Entry(
        job=REPORTS,
        name=PLAIN,
        users=effort.users,
        run=lambda: sum(plain_count(block) for block in plain_reports(rng, plain_bins(means))),
    )
    few = means[: effort.called]
    yield Entry(
        job=REPORTS,
        name="multi-freq-ldpy",
        users=len(few),
        package="multi-freq-ldpy",
        run=lambda: packages.multi_freq_votes(plain_bins(few), ALPHA),
    )
    yield Entry(
        job=REPORTS, name=DEVICE, users=effort.called, run=lambda: device_votes(question, means[: effort.called])
    )


def plain_bins(means: np.ndarray) -> np.ndarray:
    """Bins as people write them in numpy."""
    return np.clip(((means + 1) * (BINS / 2)).astype(np.int64), 0, BINS - 1)


def device_votes(question: Question, means: np.ndarray) -> dame.Tally:
    """Each person's device answers from one record, and the collector decodes and adds."""
    tally = dame.Tally.zero(question)
    for mean in means.tolist():
        tally = tally.add(dame.device.answer(question, [mean]))
    return tally


def number_entries(effort: Effort) -> Iterator[Entry]:
    """Laplace noise of scale 2/α on every user's mean, and the sum."""
    sizes = dame.Sizes.constant(1)
    question = dame.first(dame.plan(users=effort.users, alpha=ALPHA, sizes=sizes, protocol="duchi"))
    rng = np.random.default_rng(2)
    one, means = np.ones(effort.users, dtype=np.int64), rng.random(effort.users) * 2 - 1
    few = means[: effort.called]
    secure, fast = SecureWords(), FastWords(np.random.Generator(np.random.SFC64(1)))
    for name, words in ((SECURE, secure), (FAST, fast)):
        yield Entry(
            job=NUMBER,
            name=name,
            users=effort.users,
            run=lambda words=words: tallied(question, one, means, words),
        )
    yield Entry(
        job=NUMBER, name=DEVICE, users=len(few), run=lambda: [dame.device.answer(question, [x]) for x in few.tolist()]
    )
    yield Entry(
        job=NUMBER,
        name=PLAIN,
        users=effort.users,
        run=lambda: plain_laplace(rng, means),
    )
    whole = np.round(few * GRID).astype(np.int64)
    for name, package, run in (
        ("diffprivlib", "diffprivlib", lambda: packages.diffprivlib_laplace(few, ALPHA).sum()),
        ("opendp, vector of floats", "opendp", lambda: packages.opendp_laplace(few, ALPHA).sum()),
        ("opendp, vector of whole numbers", "opendp", lambda: packages.opendp_whole_laplace(whole, 2 * GRID).sum()),
        ("python-dp", "python-dp", lambda: packages.python_dp_laplace(few, ALPHA).sum()),
    ):
        yield Entry(job=NUMBER, name=name, users=len(few), package=package, run=run)


def plain_laplace(rng: np.random.Generator, means: np.ndarray) -> float:
    """The sum of noisy numbers, as people write it in numpy."""
    return float((means + rng.laplace(scale=2 / ALPHA, size=len(means))).sum())


def growth(effort: Effort) -> Iterator[Row]:
    """How many times as long ten times as much takes."""
    question = vote()
    many = effort.users
    means = np.random.default_rng(3).random(many) * 2 - 1
    sizes = np.full(many, 9)
    wide = vote(10 * BINS)
    records = np.random.default_rng(4).random(100_000).tolist()
    few = many // 10

    def batch(asked: Question, count: int) -> Callable[[], object]:
        return lambda: tallied(asked, sizes[:count], means[:count])

    for what, small, large in (
        ("n: ten times the users (batch, reports and tally)", batch(question, few), batch(question, many)),
        ("K: ten times the bins (batch, reports and tally)", batch(question, few), batch(wide, few)),
        (
            "m: ten times the records (device, 1e4 to 1e5)",
            lambda: dame.device.answer(question, records[: len(records) // 10]),
            lambda: dame.device.answer(question, records),
        ),
    ):
        before, after = processor_seconds([small, large], max(3, effort.turns))
        yield Row(part="speed", setting="growth", contestant=what, value=after / before, unit="times as long")


def pilot_rows(effort: Effort) -> Iterator[Row]:
    """`dame pilot` as a process, against a process that only streams the bare group-by."""
    from benchmarks import engines

    with tempfile.TemporaryDirectory() as folder:
        table = str(engines.table_of(Path(folder), effort.records, effort.records // 50))
        asked = ["--user", "user", "--value", "value", "--bounds", str(engines.LOW), str(engines.HIGH), "--alpha", "1"]
        pilot, bare = best_seconds(
            [
                lambda: run_python("-m", "dame", "pilot", table, *asked, "--seed", "1", "--json"),
                lambda: run_python("-c", engines.BARE_PROCESS, table),
            ],
            effort.turns,
        )
    job = f"{effort.records:.0e} records to an estimate".replace("e+0", "e")
    for name, second in (("**`dame pilot`**, with start and plan", pilot), ("bare DuckDB group-by, with start", bare)):
        speed, ratio = effort.records / second, second / pilot
        yield Row(part="speed", setting=job, contestant=name, value=speed, unit="records/s", ratio=ratio)


def run_python(*words: str) -> None:
    """A process of Python that must succeed."""
    subprocess.run([sys.executable, *words], check=True, capture_output=True)


def service_rows(effort: Effort) -> Iterator[Row]:
    """Durable reports a second of the collection service on SQLite, server and load on this machine."""
    if effort.quick:
        note = "not in the quick run: `python -m benchmarks.service`"
        yield Row(part="speed", setting="service", contestant="reports a second", note=note)
        return
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "service.json"
        words = ["--database", "sqlite", "--seconds", "2", "--reports", "0", "--json", str(found)]
        run_python("-m", "benchmarks.service", *words)
        figures = json.loads(found.read_text("utf-8"))["sqlite"]
    for name, key in (
        ("**DAME**, one report a request, durable", "uploads_per_second"),
        ("**DAME**, 500 reports a request, durable", "batched_per_second"),
        ("the same server, a request that does nothing", "nothing_per_second"),
    ):
        speed, ratio = figures[key], figures["uploads_per_second"] / figures[key]
        yield Row(part="speed", setting="service", contestant=name, value=speed, unit="reports/s", ratio=ratio)


def load() -> str:
    """How busy the machine is, for the page."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def parse_records(words: str) -> int:
    """A number of records from the command line."""
    value = float(words)
    if not (math.isfinite(value) and 1 <= value <= 1e10):
        raise argparse.ArgumentTypeError(f"{words} is not a number of records between 1 and 1e10")
    return int(value)
