"""Runs experiments on a few processes and writes their files, each under a temporary name first."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dame import checks
from dame.errors import InvalidInput
from dame.experiments import style
from dame.experiments.base import Experiment, Task, stream_seed
from dame.experiments.report import report_text
from dame.experiments.tidy import Row, TidyTable
from dame.planning.files import drafted

SEED = 1
"""The seed of the published files, unless another is asked for."""
WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """What one experiment left: its table and its files."""

    experiment: Experiment
    table: TidyTable
    files: tuple[Path, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """What a run left: the results and the report about them."""

    results: tuple[ExperimentResult, ...]
    report: Path
    seconds: float


def steps(experiments: Sequence[Experiment], quick: bool) -> int:
    """How many steps `reproduce` will report."""
    return sum(len(experiment.tasks(quick)) for experiment in experiments)


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    seed: int = SEED,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Reproduction:
    """The files of some experiments in a directory: NAME.csv, NAME.png, NAME.svg, and one report.md about all of them.

    The same seed gives the same files, whatever the number of workers. A quick run stays in this process.
    """
    started = time.perf_counter()
    seed = checks.whole("seed", seed, 0, 2**63)
    _prepare(out)
    results: list[ExperimentResult] = []
    count = itertools.count(1)
    with _mapper(_worker_count(quick, workers)) as mapper:
        for experiment in experiments:
            results.append(_run(experiment, out, seed, quick, mapper, lambda: progress(next(count))))
    text = report_text([(result.experiment, result.table) for result in results], seed, quick)
    path = _write(out / "report.md", text.encode())
    return Reproduction(results=tuple(results), report=path, seconds=time.perf_counter() - started)


def _prepare(out: Path) -> None:
    """Makes the directory; minutes of work must not end at a place where nothing can be written."""
    if out.exists() and not (out.is_dir() and os.access(out, os.W_OK)):
        raise InvalidInput("out", str(out), "a directory that can be written to")
    out.mkdir(parents=True, exist_ok=True)


Mapper = Callable[[Sequence[Task], Sequence[int]], Iterator[list[Row]]]


def _run(
    experiment: Experiment, out: Path, seed: int, quick: bool, mapper: Mapper, step: Callable[[], None]
) -> ExperimentResult:
    started = time.perf_counter()
    tasks = experiment.tasks(quick)
    rows: list[Row] = []
    for found in mapper(tasks, [stream_seed(seed, experiment.name, task.stream) for task in tasks]):
        rows += found
        step()
    table = TidyTable.of(rows)
    contents = {".csv": table.csv().encode(), **style.images(experiment.draw, table)}
    files = tuple(_write(out / f"{experiment.name}{suffix}", content) for suffix, content in contents.items())
    return ExperimentResult(experiment=experiment, table=table, files=files, seconds=time.perf_counter() - started)


def _worker_count(quick: bool, workers: int | None) -> int:
    if workers is None:
        return 1 if quick else min(WORKERS, os.cpu_count() or 1)
    return checks.whole("workers", workers, 1, 256)


@contextmanager
def _mapper(workers: int) -> Iterator[Mapper]:
    """A function that maps tasks to rows in order, in this process or in several."""
    if workers == 1:
        yield lambda tasks, seeds: map(_rows, tasks, seeds)
        return
    # Fresh processes: a fork would copy the threads of the progress bar.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield lambda tasks, seeds: pool.map(_rows, tasks, seeds)
    finally:
        pool.shutdown(cancel_futures=True)


def _rows(task: Task, seed: int) -> list[Row]:
    return task.rows(seed)


def _write(path: Path, content: bytes) -> Path:
    with drafted(path) as draft:
        draft.write_bytes(content)
    return path
